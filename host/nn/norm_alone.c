/* norm_alone.c - see norm_alone.h. The caller's arrays are borrowed where the device computes in host memory; elsewhere
 * they are sent there and back. What forward keeps for backward, n x G + 2 G d numbers, stays on the device. */
#include "nn/norm_alone.h"

#include <string.h>

#include "core/mem.h"
#include "nn/layers.h"

struct nn_alone {
    nn_model model; /* of one layer, and that only its norm */
    nn_layer layer;
    nn_acts acts[2]; /* training, evaluation */
    be_buf *fixed;   /* statistics, sums and gradients: their size is known from the start */
    be_mat grads;    /* 1 x all of them: gamma, beta, u, c */
    be_buf *rows;    /* assignments: grow with the number of rows */
    int64_t row_room;
    int64_t trained_rows;            /* of the last forward in training; 0: there was none */
    uint64_t x_print, weights_print; /* fingerprints of its x and of its weights */
};

/* ---- the caller's arrays on the device, for one call ---- */

typedef struct piece {
    be_buf *buf;
    size_t bytes;
    float *back; /* where to download it to, or NULL */
} piece;

typedef struct call {
    be_device *dev;
    piece pieces[10];
    int count;
} call;

/* *view = the array as a matrix; absent for NULL. `back` is the array again when the device changes it. */
static fathom_status bind(call *c, be_mat *view, const float *array, float *back, int64_t rows, int64_t cols) {
    size_t bytes = be_floats(rows * cols);
    *view = (be_mat){0};
    if (!array)
        return FATHOM_OK;
    piece *p = &c->pieces[c->count++];
    p->bytes = bytes;
    if (be_borrows(c->dev)) {
        TRY(be_borrow(c->dev, &p->buf, array, bytes));
    } else {
        p->back = back;
        TRY(be_alloc(c->dev, &p->buf, bytes, "an array of the normalisation"));
        TRY(be_upload(c->dev, p->buf, 0, array, bytes));
    }
    *view = be_view(p->buf, 0, rows, cols);
    return FATHOM_OK;
}

static fathom_status bind_weights(call *c, nn_weights *to, const nn_alone_weights *w, int64_t groups, int64_t d) {
    TRY(bind(c, &to->gamma, w->gamma, NULL, groups, d));
    TRY(bind(c, &to->beta, w->beta, NULL, groups, d));
    TRY(bind(c, &to->u, w->u, NULL, groups, d));
    TRY(bind(c, &to->c, w->c, NULL, 1, groups));
    TRY(bind(c, &to->rmean, w->rmean, w->rmean, groups, d));
    return bind(c, &to->rvar, w->rvar, w->rvar, groups, d);
}

static fathom_status bring_back(const call *c) {
    for (int i = 0; i < c->count; i++)
        if (c->pieces[i].back)
            TRY(be_download(c->dev, c->pieces[i].back, c->pieces[i].buf, 0, c->pieces[i].bytes));
    return be_sync(c->dev);
}

static void let_go(call *c) {
    for (int i = 0; i < c->count; i++)
        be_free(c->dev, c->pieces[i].buf);
}

/* ---- rooms ---- */

static int64_t take(int64_t *off, int64_t count) {
    int64_t at = *off;
    *off += (count + 15) / 16 * 16;
    return at;
}

/* Statistics of both passes and the sums of backward, then gradients without gaps, since they are zeroed together. */
static fathom_status make_fixed(nn_alone *a, int64_t groups, int64_t d) {
    nn_model *m = &a->model;
    nn_weights *g = &a->layer.g;
    int64_t off = 0, block = groups * d, mean[2], var[2];
    for (int i = 0; i < 2; i++) {
        mean[i] = take(&off, block);
        var[i] = take(&off, block);
    }
    int64_t db = take(&off, d), q = take(&off, block), grads = off, all = 3 * block + groups;
    TRY(be_alloc(m->dev, &a->fixed, be_floats(off + all), "statistics of the normalisation"));
    for (int i = 0; i < 2; i++) {
        a->acts[i].mean = be_view(a->fixed, mean[i], groups, d);
        a->acts[i].var = be_view(a->fixed, var[i], groups, d);
    }
    m->db = be_vector(a->fixed, db, d);
    m->q = be_view(a->fixed, q, groups, d);
    a->grads = be_vector(a->fixed, grads, all);
    g->gamma = be_view(a->fixed, grads, groups, d);
    g->beta = be_view(a->fixed, grads + block, groups, d);
    if (groups > 1) { /* of one group the assignment has no gradient: it stays at the zeros */
        g->u = be_view(a->fixed, grads + 2 * block, groups, d);
        g->c = be_vector(a->fixed, grads + 3 * block, groups);
    }
    return FATHOM_OK;
}

/* Assignments of both passes and their gradient, for so many rows; larger ones replace smaller ones. */
static fathom_status make_rows(nn_alone *a, int64_t rows) {
    nn_model *m = &a->model;
    int64_t groups = m->config.groups;
    if (m->config.norm != NN_GROUP)
        return FATHOM_OK;
    if (rows > a->row_room) {
        be_free(m->dev, a->rows);
        a->rows = NULL;
        a->row_room = a->trained_rows = 0;
        TRY(be_alloc(m->dev, &a->rows, be_floats(3 * rows * groups), "assignments to groups"));
        a->row_room = rows;
    }
    a->acts[1].assign = be_view(a->rows, a->row_room * groups, rows, groups);
    return FATHOM_OK;
}

fathom_status nn_alone_make(nn_alone **norm, be_device *dev, const nn_config *config, int64_t width) {
    nn_alone *a = NULL;
    *norm = NULL;
    TRY(nn_config_check(config));
    if (width < 1 || width > NN_HIDDEN_MAX)
        return fail(FATHOM_USAGE, "the width of a normalisation must be from 1 to %d, not %lld", NN_HIDDEN_MAX,
                    (long long)width);
    TRY(mem_new(&a, 1, 1, sizeof *a, "normalisation"));
    a->layer = (nn_layer){.in = width, .out = width};
    a->model =
        (nn_model){.config = *config, .norm = nn_norms[config->norm], .dev = dev, .layers = &a->layer, .acts = a->acts};
    a->model.config.layers = 1;
    if (config->norm != NN_GROUP)
        a->model.config.groups = 1;
    fathom_status status = make_fixed(a, a->model.config.groups, width);
    if (status != FATHOM_OK)
        nn_alone_free(a);
    else
        *norm = a;
    return status;
}

void nn_alone_free(nn_alone *a) {
    if (!a)
        return;
    be_free(a->model.dev, a->fixed);
    be_free(a->model.dev, a->rows);
    mem_free(a);
}

int64_t nn_alone_width(const nn_alone *a) { return a->layer.out; }

/* ---- what must be there ---- */

static fathom_status check_weights(const nn_alone *a, const nn_alone_weights *w, bool training) {
    nn_norm_kind kind = a->model.config.norm;
    if (kind == NN_PAIR)
        return FATHOM_OK;
    if (!w->gamma || !w->beta)
        return fail(FATHOM_USAGE, "%s norm needs weight and bias", nn_norm_name(kind));
    if (kind == NN_GROUP && !w->u)
        return fail(FATHOM_USAGE, "group norm needs lin_weight, the assignment to groups");
    if (!w->rmean != !w->rvar)
        return fail(FATHOM_USAGE, "running_mean and running_var are needed both, or none of them");
    if (!training && !w->rmean)
        return fail(FATHOM_USAGE, "without training %s norm needs running_mean and running_var", nn_norm_name(kind));
    return FATHOM_OK;
}

static bool overlap(const float *a, const float *b, int64_t count) {
    uintptr_t x = (uintptr_t)a, y = (uintptr_t)b, bytes = be_floats(count);
    return x < y + bytes && y < x + bytes;
}

static fathom_status check_rows(const nn_alone *a, const float *out, const float *in, int64_t rows) {
    if (rows < 1 || rows > INT32_MAX)
        return fail(FATHOM_USAGE, "a normalisation works on 1 to %d rows, not on %lld", INT32_MAX, (long long)rows);
    if (overlap(out, in, rows * a->layer.out))
        return fail(FATHOM_USAGE, "the output of a normalisation must not lie over its input x");
    return FATHOM_OK;
}

/* ---- which forward a backward belongs to ---- */

#define PRINT_WORDS 4 /* side by side: one multiplication need not wait for the one before */

/* 64 bits that change with the array: every step is a permutation of its word, and shifts mix the upper bits into the
 * lower ones. Not meant against an adversary. */
static uint64_t print_of(const float *array, int64_t count, uint64_t seed) {
    uint64_t state[PRINT_WORDS], words[PRINT_WORDS];
    const int64_t step = PRINT_WORDS * 2; /* floats: two in a word */
    for (int i = 0; i < PRINT_WORDS; i++)
        state[i] = seed + (uint64_t)i;
    for (int64_t at = 0; array && at < count; at += step) {
        int64_t some = count - at < step ? count - at : step;
        if (some < step)
            memset(words, 0, sizeof words);
        memcpy(words, array + at, be_floats(some));
        for (int i = 0; i < PRINT_WORDS; i++) {
            state[i] = (state[i] ^ words[i]) * 0x9E3779B97F4A7C15u;
            state[i] ^= state[i] >> 32;
        }
    }
    for (int i = 1; i < PRINT_WORDS; i++) {
        state[0] = (state[0] ^ state[i]) * 0x9E3779B97F4A7C15u;
        state[0] ^= state[0] >> 32;
    }
    return state[0];
}

static uint64_t print_of_x(const nn_alone *a, const float *x, int64_t rows) {
    return print_of(x, rows * a->layer.out, 0);
}

/* Of gamma and u: backward reads no other. */
static uint64_t print_of_weights(const nn_alone *a, const nn_alone_weights *w) {
    int64_t block = a->model.config.groups * a->layer.out;
    nn_norm_kind kind = a->model.config.norm;
    uint64_t gamma = print_of(kind == NN_PAIR ? NULL : w->gamma, block, 0);
    return print_of(kind == NN_GROUP ? w->u : NULL, block, gamma);
}

static fathom_status check_same(const nn_alone *a, const float *x, int64_t rows, const nn_alone_weights *weights) {
    if (a->trained_rows == 0)
        return fail(FATHOM_USAGE, "backward comes after a forward in training");
    if (rows != a->trained_rows)
        return fail(FATHOM_USAGE, "backward of %lld rows after a forward of %lld", (long long)rows,
                    (long long)a->trained_rows);
    TRY(check_weights(a, weights, true));
    if (print_of_x(a, x, rows) != a->x_print)
        return fail(FATHOM_USAGE, "backward does not belong to the last forward in training: x differs; a layer that "
                                  "is used twice in a network needs a fathom_norm for each use");
    if (print_of_weights(a, weights) != a->weights_print)
        return fail(FATHOM_USAGE, "backward does not belong to the last forward in training: weight or lin_weight "
                                  "differs; change them after backward");
    return FATHOM_OK;
}

/* ---- forward and backward ---- */

fathom_status nn_alone_forward(nn_alone *a, float *y, const float *x, int64_t rows, const nn_alone_weights *weights,
                               bool training) {
    nn_model *m = &a->model;
    int64_t groups = m->config.groups, d = a->layer.out;
    nn_pass pass = {.training = training};
    nn_acts *acts = &a->acts[training ? 0 : 1];
    call c = {.dev = m->dev};
    fathom_status status;
    TRY(check_weights(a, weights, training));
    TRY(check_rows(a, y, x, rows));
    TRY_OUT(make_rows(a, rows));
    if (training && m->config.norm == NN_GROUP)
        acts->assign = be_view(a->rows, 0, rows, groups);
    if (training)
        a->trained_rows = 0;
    TRY_OUT(bind(&c, &acts->z, x, NULL, rows, d));
    TRY_OUT(bind(&c, &acts->h, y, y, rows, d));
    TRY_OUT(bind_weights(&c, &a->layer.w, weights, groups, d));
    TRY_OUT(m->norm->forward(m, &pass, 0, (be_act){.drop = be_drop_make(0.0f, 0, 0, 0, 0)}));
    TRY_OUT(bring_back(&c));
    if (training) {
        a->trained_rows = rows;
        a->x_print = print_of_x(a, x, rows);
        a->weights_print = print_of_weights(a, weights);
    }
out:
    let_go(&c);
    return status;
}

static fathom_status give_gradients(const nn_alone *a, const nn_alone_gradients *to) {
    int64_t groups = a->model.config.groups, block = groups * a->layer.out;
    float *const targets[] = {to->gamma, to->beta, to->u, to->c};
    const int64_t counts[] = {block, block, block, groups};
    int64_t at = a->grads.off;
    for (int i = 0; i < 4; i++) {
        if (targets[i])
            TRY(be_download(a->model.dev, targets[i], a->fixed, be_floats(at), be_floats(counts[i])));
        at += counts[i];
    }
    return FATHOM_OK;
}

fathom_status nn_alone_backward(nn_alone *a, float *gx, const nn_alone_gradients *gradients, const float *gy,
                                const float *x, int64_t rows, const nn_alone_weights *weights) {
    nn_model *m = &a->model;
    int64_t groups = m->config.groups, d = a->layer.out;
    call c = {.dev = m->dev};
    fathom_status status;
    TRY(check_same(a, x, rows, weights));
    TRY(check_rows(a, gx, x, rows));
    if (m->config.norm == NN_GROUP) /* of these rows: an evaluation of others may have come between */
        m->gassign = be_view(a->rows, 2 * a->row_room * groups, rows, groups);
    if (gx != gy)
        memmove(gx, gy, be_floats(rows * d)); /* the norms turn the one into the other in place */
    TRY_OUT(bind(&c, &a->acts[0].z, x, NULL, rows, d));
    TRY_OUT(bind(&c, &m->flow, gx, gx, rows, d));
    TRY_OUT(bind_weights(&c, &a->layer.w, weights, groups, d));
    TRY_OUT(be_fill(m->dev, &(be_fill_args){.y = a->grads}));
    TRY_OUT(m->norm->backward(m, 0, NULL));
    TRY_OUT(bring_back(&c));
    TRY_OUT(give_gradients(a, gradients));
out:
    let_go(&c);
    return status;
}
