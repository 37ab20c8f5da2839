/* job.c - creates the tensors of a case and lays them out in one device block with sentinels between them, so that
 * wrong offsets, wrong leading dimensions and writes outside a view are detected. */
#include "selftest/job.h"

#include <math.h>
#include <string.h>

#include "core/mem.h"
#include "core/random.h"
#include "selftest/sentinel.h"

double f32(double value) { return (double)(float)value; }

/* ---- tensors ---- */

static random_source draws(const tensor *t) {
    const op_case *c = t->job->c;
    uint32_t number = (uint32_t)(t - t->job->tensors);
    return random_from((uint64_t)c->n * 1000003u + (uint64_t)c->d, RANDOM_TEST, (uint32_t)c->op, number);
}

static tensor *add(case_job *job, const char *name, tensor_role role, tensor_type type, int64_t rows, int64_t cols) {
    tensor *t = &job->tensors[job->count];
    if (job->status == FATHOM_OK && job->count == JOB_TENSORS)
        job->status = fail(FATHOM_FAILURE, "case %s: more than %d tensors", job->c->name, JOB_TENSORS);
    if (job->status != FATHOM_OK)
        return t;
    job->count++;
    *t = (tensor){.job = job, .name = name, .role = role, .type = type, .rows = rows, .cols = cols};
    if (type == TYPE_FLOAT) {
        job->status = mem_new(&t->v, rows, cols, sizeof *t->v, name);
        if (job->status == FATHOM_OK && role != ROLE_IN)
            job->status = mem_new(&t->want, rows, cols, sizeof *t->want, name);
    } else if (type == TYPE_INT) {
        job->status = mem_new(&t->i, rows, cols, sizeof *t->i, name);
        if (job->status == FATHOM_OK && role != ROLE_IN)
            job->status = mem_new(&t->iwant, rows, cols, sizeof *t->iwant, name);
    } else {
        job->status = mem_new(&t->l, rows, cols, sizeof *t->l, name);
    }
    return t;
}

static tensor *add_normal(case_job *job, const char *name, tensor_role role, int64_t rows, int64_t cols) {
    tensor *t = add(job, name, role, TYPE_FLOAT, rows, cols);
    if (job->status == FATHOM_OK) {
        random_source source = draws(t);
        for (int64_t i = 0; i < rows * cols; i++)
            t->v[i] = f32(random_next_normal(&source));
        if (role == ROLE_ACC)
            memcpy(t->want, t->v, (size_t)(rows * cols) * sizeof *t->v);
    }
    return t;
}

tensor *in(case_job *job, const char *name, int64_t rows, int64_t cols) {
    return add_normal(job, name, ROLE_IN, rows, cols);
}
tensor *acc(case_job *job, const char *name, int64_t rows, int64_t cols) {
    return add_normal(job, name, ROLE_ACC, rows, cols);
}
tensor *out(case_job *job, const char *name, int64_t rows, int64_t cols) {
    return add(job, name, ROLE_OUT, TYPE_FLOAT, rows, cols);
}
tensor *ints_in(case_job *job, const char *name, int64_t len) { return add(job, name, ROLE_IN, TYPE_INT, 1, len); }
tensor *ints_out(case_job *job, const char *name, int64_t len) { return add(job, name, ROLE_OUT, TYPE_INT, 1, len); }
tensor *longs_in(case_job *job, const char *name, int64_t len) { return add(job, name, ROLE_IN, TYPE_LONG, 1, len); }

tensor *packed(tensor *t) {
    t->packed = true;
    return t;
}

tensor *alias(tensor *output, const tensor *input) {
    output->alias_of = input;
    return output;
}

/* ---- values ---- */

void uniform(tensor *t, double lo, double hi) {
    random_source source = draws(t);
    for (int64_t i = 0; i < t->rows * t->cols; i++)
        t->v[i] = f32(lo + (hi - lo) * random_next_double(&source));
    if (t->role == ROLE_ACC)
        memcpy(t->want, t->v, (size_t)(t->rows * t->cols) * sizeof *t->v);
}

void shift_scale(tensor *t, double shift, double scale) {
    for (int64_t i = 0; i < t->rows * t->cols; i++)
        t->v[i] = f32(shift + scale * t->v[i]);
}

void round_to_float(tensor *t) { shift_scale(t, 0, 1); }

void want_overflow(tensor *t, int64_t j) {
    for (int64_t i = j; i < t->rows * t->cols; i += t->cols)
        t->want[i] = (double)NAN;
}

void random_ints(tensor *t, int lo, int hi) {
    random_source source = draws(t);
    for (int64_t i = 0; i < t->cols; i++)
        t->i[i] = lo + (int)random_below(&source, (uint32_t)(hi - lo));
}

be_drop case_drop(const op_case *c) {
    be_drop drop = be_drop_make(c->rate, 0x9e3779b97f4a7c15u, RANDOM_DROPOUT, 7, 3);
    drop.first = c->first;
    return drop;
}
be_act case_act(const op_case *c) { return (be_act){.relu = c->relu, .drop = case_drop(c)}; }

/* ---- layout ---- */

/* Words of the block from the start of `t` to the end of its last row. */
static int64_t extent(const tensor *t) { return t->type == TYPE_LONG ? 2 * t->cols : (t->rows - 1) * t->ld + t->cols; }

static void lay_out(case_job *job) {
    const int64_t line = MEM_ALIGN / 4;
    int layout = job->c->layout;
    int64_t next = 2 * line;
    for (int k = 0; k < job->count; k++) {
        tensor *t = &job->tensors[k];
        if (t->alias_of)
            continue;
        bool spread = t->type == TYPE_FLOAT && !t->packed;
        t->ld = t->cols + (!spread ? 0 : layout == LAYOUT_LD ? 3 : layout == LAYOUT_ODD ? 5 : 0);
        t->off = next + (layout != LAYOUT_ODD ? 0 : t->type == TYPE_LONG ? 6 : 5);
        next = mem_pad_words(t->off + extent(t)) + line;
    }
    for (int k = 0; k < job->count; k++) {
        tensor *t = &job->tensors[k];
        if (t->alias_of) {
            t->ld = t->alias_of->ld;
            t->off = t->alias_of->off;
        }
    }
    job->words = next;
}

static void write_row(const tensor *t, int64_t row, uint32_t *words) {
    for (int64_t j = 0; j < t->cols; j++) {
        float value = (float)t->v[row * t->cols + j];
        memcpy(&words[j], &value, sizeof value);
    }
}

/* Writes `t` to the block; an output stays NaN unless it accumulates or is an input. */
static void write_tensor(const tensor *t, uint32_t *block) {
    if (t->role == ROLE_OUT)
        return;
    if (t->type == TYPE_LONG)
        memcpy(block + t->off, t->l, (size_t)t->cols * sizeof *t->l);
    else if (t->type == TYPE_INT)
        memcpy(block + t->off, t->i, (size_t)t->cols * sizeof *t->i);
    else
        for (int64_t r = 0; r < t->rows; r++)
            write_row(t, r, block + t->off + r * t->ld);
}

fathom_status job_upload(case_job *job) {
    TRY(job->status);
    lay_out(job);
    TRY(mem_new(&job->before, job->words, 1, sizeof *job->before, "case"));
    TRY(mem_new(&job->after, job->words, 1, sizeof *job->after, "case"));
    for (int64_t w = 0; w < job->words; w++)
        job->before[w] = sentinel(w);
    for (int k = 0; k < job->count; k++)
        write_tensor(&job->tensors[k], job->before);
    TRY(be_alloc(job->dev, &job->block, (size_t)job->words * 4, "case"));
    return be_upload(job->dev, job->block, 0, job->before, (size_t)job->words * 4);
}

be_mat mat(const tensor *t) { return t ? be_view_ld(t->job->block, t->off, t->rows, t->cols, t->ld) : (be_mat){0}; }
be_ints ints(const tensor *t) { return t ? be_int_view(t->job->block, t->off, t->cols) : (be_ints){0}; }
be_longs longs(const tensor *t) { return (be_longs){t->job->block, t->off / 2, t->cols}; }
