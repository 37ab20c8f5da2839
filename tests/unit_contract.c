/* unit_contract.c - the checked wrappers: each view of each operation is broken in
 * turn, and the call must return FATHOM_USAGE, name the operation and the field, and
 * enqueue nothing. Overlaps are refused but where the contract allows them. */
#include <stdio.h>
#include <string.h>

#include "selftest/job.h"
#include "support/fields.h"
#include "support/idle.h"
#include "support/small_case.h"
#include "support/support.h"

static be_device *dev, *other, nowhere = {.driver = &idle}; /* nothing runs on the last one */
static be_buf *foreign;

void setUp(void) {
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, be_open(&dev, "cpu", &(be_options){.threads = 1}));
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, be_open(&other, "cpu", &(be_options){.threads = 1}));
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, be_alloc(other, &foreign, 1 << 20, "foreign"));
}

void tearDown(void) {
    be_close(dev);
    be_close(other);
}

static case_job *valid_on(be_device *where, be_op op) {
    static op_case shape;
    case_job *job;
    shape = small_case(op, 6);
    TEST_ASSERT_EQUAL_INT_MESSAGE(FATHOM_OK, case_open(&job, where, &shape), fathom_last_error());
    return job;
}

static case_job *valid(be_op op) { return valid_on(dev, op); }

/* Launches and gives the field's view back as it was. */
static void refused(case_job *job, const field *f, const void *kept, size_t size, const char *how) {
    int64_t launches = be_count(dev).launches;
    fathom_status status = case_launch(job);
    char text[600];
    snprintf(text, sizeof text, "%s.%s %s: status %s: %.400s", be_op_name(f->op), f->name, how,
             fathom_status_name(status), status == FATHOM_OK ? "" : fathom_last_error());
    TEST_ASSERT_EQUAL_INT_MESSAGE(FATHOM_USAGE, status, text);
    TEST_ASSERT_EQUAL_INT64_MESSAGE(launches, be_count(dev).launches, text);
    TEST_ASSERT_EQUAL_INT_MESSAGE(0, strncmp(fathom_last_error(), be_op_name(f->op), strlen(be_op_name(f->op))), text);
    char named[40];
    snprintf(named, sizeof named, " %s ", f->name);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(fathom_last_error(), named), text);
    memcpy((char *)&job->args + f->offset, kept, size);
}

static void break_matrix(case_job *job, const field *f) {
    be_mat *m = (be_mat *)(void *)((char *)&job->args + f->offset), kept = *m;
    TEST_ASSERT_NOT_NULL_MESSAGE(m->buf, f->name);
    if (!f->optional) {
        m->buf = NULL;
        refused(job, f, &kept, sizeof kept, "missing");
    }
    m->buf = foreign;
    m->off = 0;
    refused(job, f, &kept, sizeof kept, "on another device");
    m->off = -1;
    refused(job, f, &kept, sizeof kept, "with offset -1");
    m->off = INT64_MAX - 3;
    refused(job, f, &kept, sizeof kept, "far outside");
    m->off = (int64_t)(m->buf->bytes / 4) - ((m->rows - 1) * m->ld + m->cols) + 1;
    refused(job, f, &kept, sizeof kept, "one element outside");
    m->rows = 0;
    refused(job, f, &kept, sizeof kept, "without rows");
    m->ld = m->cols - 1;
    refused(job, f, &kept, sizeof kept, "with ld below cols");
    m->ld = INT64_MAX / 2;
    m->rows = m->rows > 3 ? m->rows : 1;
    if (m->rows > 3)
        refused(job, f, &kept, sizeof kept, "with a leading dimension that overflows");
    *m = kept;
}

static void break_ints(case_job *job, const field *f) {
    be_ints *v = (be_ints *)(void *)((char *)&job->args + f->offset), kept = *v;
    v->buf = NULL;
    refused(job, f, &kept, sizeof kept, "missing");
    v->buf = foreign;
    v->off = 0;
    refused(job, f, &kept, sizeof kept, "on another device");
    v->off = -1;
    refused(job, f, &kept, sizeof kept, "with offset -1");
    v->off = (int64_t)(v->buf->bytes / 4) - v->len + 1;
    refused(job, f, &kept, sizeof kept, "one element outside");
}

static void break_csr(case_job *job, const field *f) {
    be_csr *a = (be_csr *)(void *)((char *)&job->args + f->offset), kept = *a;
    a->indptr.buf = NULL;
    refused(job, f, &kept, sizeof kept, "without indptr");
    a->indices.buf = NULL;
    refused(job, f, &kept, sizeof kept, "without indices");
    a->plan = foreign;
    refused(job, f, &kept, sizeof kept, "with a plan of another device");
    a->indptr.buf = foreign;
    a->indptr.off = 0;
    refused(job, f, &kept, sizeof kept, "with indptr on another device");
    a->indices.off = (int64_t)(a->indices.buf->bytes / 4);
    refused(job, f, &kept, sizeof kept, "with indices outside");
    a->rows = 0;
    refused(job, f, &kept, sizeof kept, "without rows");
    a->nnz = -1;
    refused(job, f, &kept, sizeof kept, "with a negative number of entries");
}

static void every_view_is_checked(void) {
    for (int i = 0; i < FIELDS; i++) {
        case_job *job = valid(fields[i].op);
        if (fields[i].kind == FIELD_CSR)
            break_csr(job, &fields[i]);
        else if (fields[i].kind == FIELD_INTS_IN || fields[i].kind == FIELD_INTS_OUT)
            break_ints(job, &fields[i]);
        else
            break_matrix(job, &fields[i]);
        case_result r;
        TEST_ASSERT_EQUAL_INT_MESSAGE(FATHOM_OK, case_launch(job), fathom_last_error()); /* it was whole again */
        TEST_ASSERT_EQUAL_INT(FATHOM_OK, case_judge(job, &r));
        TEST_ASSERT_TRUE_MESSAGE(r.passed, r.detail);
        case_close(job);
    }
}

static bool listed(const char *list, const char *name) {
    size_t length = strlen(name);
    for (const char *at = strstr(list, name); at; at = strstr(at + 1, name))
        if ((at == list || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
            return true;
    return false;
}

/* Sizes that no other view gives. */
static const char free_rows[] = "accuracy.correct col_sum.x col_stats.x pair_fold.out pair_fold_sparse.out fill.y";
static const char free_cols[] = "accuracy.z pair_fold.x pair_fold.out pair_fold_sparse.out mad_fold.x dirichlet.x "
                                "accuracy.correct fill.y";

/* The field's view with one row or column less. */
static void smaller(const field *f, bool column) {
    char name[60];
    snprintf(name, sizeof name, "%s.%s", be_op_name(f->op), f->name);
    case_job *job = valid_on(&nowhere, f->op);
    be_mat *m = (be_mat *)(void *)((char *)&job->args + f->offset);
    idle_calls = 0;
    if (f->kind == FIELD_INTS_IN || f->kind == FIELD_INTS_OUT)
        ((be_ints *)(void *)m)->len--;
    else if (column)
        m->cols--;
    else
        m->rows--;
    TEST_ASSERT_EQUAL_INT_MESSAGE(FATHOM_USAGE, case_launch(job), name);
    TEST_ASSERT_EQUAL_INT_MESSAGE(0, strncmp(fathom_last_error(), be_op_name(f->op), strlen(be_op_name(f->op))), name);
    TEST_ASSERT_EQUAL_INT(0, idle_calls);
    case_close(job);
}

static void every_shape_is_checked(void) {
    int checked = 0;
    for (int i = 0; i < FIELDS; i++) {
        char name[60];
        snprintf(name, sizeof name, "%s.%s", be_op_name(fields[i].op), fields[i].name);
        if (fields[i].kind == FIELD_CSR)
            continue;
        for (int column = 0; column < 2; column++)
            if (!listed(column ? free_cols : free_rows, name)) {
                smaller(&fields[i], column);
                checked++;
            }
    }
    TEST_ASSERT_GREATER_THAN_INT(200, checked);
}

/* Moves output `o` to start at the same element as `other_field`, its own shape kept; 0 when refused as it must be. */
static int overlap_passes(const field *o, const field *other_field) {
    case_job *job = valid_on(&nowhere, o->op);
    be_ints target; /* buf and off are the first members of every view */
    memcpy(&target, (char *)&job->args + other_field->offset, sizeof target);
    if (other_field->kind == FIELD_CSR)
        target = ((be_csr *)(void *)((char *)&job->args + other_field->offset))->indices;
    be_ints *out = (be_ints *)(void *)((char *)&job->args + o->offset);
    int shift = listed(o->may_be, other_field->name) ? 1 : 0; /* where the same view is allowed, the next one is not */
    idle_calls = 0;
    out->off = target.off + shift;
    int passes = case_launch(job) != FATHOM_USAGE || idle_calls != 0;
    if (passes)
        printf("%s: %s may overlap %s\n", be_op_name(o->op), o->name, other_field->name);
    case_close(job);
    return passes;
}

static void outputs_never_overlap_anything_else(void) {
    int passed = 0;
    for (int o = 0; o < FIELDS; o++)
        for (int i = 0; i < FIELDS; i++)
            if (fields[o].op == fields[i].op && o != i &&
                (fields[o].kind == FIELD_OUT || fields[o].kind == FIELD_INTS_OUT))
                passed += overlap_passes(&fields[o], &fields[i]);
    TEST_ASSERT_EQUAL_INT_MESSAGE(0, passed, "overlaps that are not refused (listed above)");
}

static void every_operation_is_in_the_table(void) {
    int outputs[BE_OP_COUNT] = {0};
    for (int i = 0; i < FIELDS; i++)
        outputs[fields[i].op] += fields[i].kind == FIELD_OUT || fields[i].kind == FIELD_INTS_OUT;
    for (int op = 0; op < BE_OP_COUNT; op++)
        TEST_ASSERT_GREATER_THAN_INT_MESSAGE(0, outputs[op], be_op_name((be_op)op));
}

int main(void) {
    UNITY_BEGIN();
    RUN_TEST(every_operation_is_in_the_table);
    RUN_TEST(every_view_is_checked);
    RUN_TEST(every_shape_is_checked);
    RUN_TEST(outputs_never_overlap_anything_else);
    return support_end();
}
