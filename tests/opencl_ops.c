/* opencl_ops.c - every operation on an OpenCL device: cases against their oracles, equal bits on repetition, dropout
 * masks equal to the host's, and limits on launches, reads, builds and memory.
 *   TEST_DEVICE   another device than opencl:0
 *   TEST_LARGEST  skips cases with more elements (for simulators)
 * labels: opencl */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "core/random.h"
#include "selftest/cases.h"
#include "support/support.h"

static be_device *dev;
static long largest;
static char text[512];

void setUp(void) {
    if (!dev)
        TEST_IGNORE_MESSAGE("no OpenCL device; install pocl-opencl-icd");
}

void tearDown(void) {}

static bool is_skipped(const op_case *c) {
    long k = c->k > 0 ? c->k : 1, n = c->n, d = c->d > 0 ? c->d : 1;
    bool pairs = c->op == BE_OP_pair_fold || c->op == BE_OP_pair_fold_sparse || c->op == BE_OP_mad_fold;
    return largest > 0 && (pairs ? n * n * d : n * d * k) > largest;
}

static void every_case_passes(void) {
    int count, ran = 0;
    const op_case *cases = cases_all(&count);
    for (int i = 0; i < count; i++) {
        case_result r;
        if (is_skipped(&cases[i]))
            continue;
        fathom_status status = case_run(dev, &cases[i], &r);
        snprintf(text, sizeof text, "%s, %s: %s", be_op_name(cases[i].op), cases[i].name,
                 status == FATHOM_OK ? r.detail : fathom_last_error());
        TEST_ASSERT_TRUE_MESSAGE(status == FATHOM_OK && r.passed, text);
        ran++;
    }
    TEST_ASSERT_GREATER_OR_EQUAL_INT_MESSAGE(largest ? BE_OP_COUNT : count, ran, "too few cases ran");
}

static void every_operation_has_a_case_here(void) {
    int count, cases_of[BE_OP_COUNT] = {0};
    const op_case *cases = cases_all(&count);
    for (int i = 0; i < count; i++)
        cases_of[cases[i].op] += !is_skipped(&cases[i]);
    for (int op = 0; op < BE_OP_COUNT; op++)
        TEST_ASSERT_GREATER_THAN_INT_MESSAGE(0, cases_of[op], be_op_name((be_op)op));
}

static void the_same_call_gives_the_same_bits(void) {
    int count;
    const op_case *cases = cases_all(&count);
    for (int i = 0; i < count; i++) {
        case_result first, second;
        if (is_skipped(&cases[i]))
            continue;
        TEST_ASSERT_EQUAL_INT(FATHOM_OK, case_run(dev, &cases[i], &first));
        TEST_ASSERT_EQUAL_INT(FATHOM_OK, case_run(dev, &cases[i], &second));
        snprintf(text, sizeof text, "%s, %s", be_op_name(cases[i].op), cases[i].name);
        TEST_ASSERT_TRUE_MESSAGE(first.bits == second.bits, text);
    }
}

/* Dropout of a matrix of ones is the mask itself. */
static void masks_are_those_of_the_host(void) {
    enum { ROWS = 37, COLS = 29, SIZE = ROWS * COLS };
    const uint64_t seed = 0x123456789abcdef0u;
    static float host[SIZE];
    be_buf *buf = NULL;
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, be_alloc(dev, &buf, be_floats(SIZE), "mask"));
    be_mat x = be_view(buf, 0, ROWS, COLS);
    be_act act = {.drop = be_drop_make(0.6f, seed, RANDOM_DROPOUT, 7, 3)};
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, be_fill(dev, &(be_fill_args){.y = x, .value = 1.0f}));
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, be_activate(dev, &(be_activate_args){.y = x, .x = x, .act = act}));
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, be_download(dev, host, buf, 0, be_floats(SIZE)));
    be_free(dev, buf);
    int kept = 0;
    for (uint64_t i = 0; i < SIZE; i++) {
        float want = random_bits(seed, RANDOM_DROPOUT, 7, 3, i) < act.drop.threshold ? 0.0f : act.drop.scale;
        TEST_ASSERT_EQUAL_MEMORY(&want, &host[i], sizeof want);
        kept += want > 0.0f;
    }
    TEST_ASSERT_INT_WITHIN(SIZE / 10, SIZE * 4 / 10, kept);
}

/* Maximum launches of an operation; 1 unless listed. */
static int64_t max_launches(be_op op) {
    switch (op) {
    case BE_OP_pair_fold_sparse:
    case BE_OP_label_counts:
    case BE_OP_group_stats:
        return 3;
    case BE_OP_spmm: /* rows longer than LONG_ROW are summed in parts before */
    case BE_OP_aggregate:
    case BE_OP_gat_backward_scores:
    case BE_OP_gemm:
    case BE_OP_norm_sums:
    case BE_OP_col_sum:
    case BE_OP_col_stats:
    case BE_OP_pair_apply:
    case BE_OP_pair_backward:
    case BE_OP_group_apply:
    case BE_OP_group_backward_sums:
    case BE_OP_group_backward_rows:
    case BE_OP_softmax_xent:
    case BE_OP_sigmoid_xent:
    case BE_OP_clip_norm:
    case BE_OP_accuracy:
        return 2;
    default:
        return 1;
    }
}

static void a_steady_operation_only_launches(void) {
    int count;
    const op_case *cases = cases_all(&count);
    for (int i = 0; i < count; i++) {
        case_job *job = NULL;
        if (is_skipped(&cases[i]))
            continue;
        TEST_ASSERT_EQUAL_INT(FATHOM_OK, case_open(&job, dev, &cases[i]));
        TEST_ASSERT_EQUAL_INT(FATHOM_OK, case_launch(job));
        be_counters before = be_count(dev);
        fathom_status status = case_launch(job);
        be_counters after = be_count(dev);
        case_close(job);
        TEST_ASSERT_EQUAL_INT(FATHOM_OK, status);
        snprintf(text, sizeof text, "%s, %s", be_op_name(cases[i].op), cases[i].name);
        TEST_ASSERT_EQUAL_INT64_MESSAGE(before.blocking_reads, after.blocking_reads, text);
        TEST_ASSERT_EQUAL_INT64_MESSAGE(before.bytes_written, after.bytes_written, text);
        TEST_ASSERT_EQUAL_INT64_MESSAGE(before.builds, after.builds, text);
        TEST_ASSERT_EQUAL_INT64_MESSAGE(before.allocations, after.allocations, text);
        int64_t launches = after.launches - before.launches;
        TEST_ASSERT_TRUE_MESSAGE(launches >= 1 && launches <= max_launches(cases[i].op), text);
    }
}

/* More rows than 256 blocks of 64, so that blocks hold several runs; compared with sums in double. The deviation of a
 * column is a hundredth of its mean, so that sums that are not centred fail. */
static void long_columns_are_summed_exactly(void) {
    enum { N = 40001, D = 5, SUMS = D + D * D, OUT = 2 * D + SUMS };
    float *x = calloc((size_t)N * D, sizeof *x), got[OUT] = {0};
    double mean[D] = {0}, var[D] = {0}, product[D * D] = {0};
    const double rows = N;
    be_buf *in = NULL, *out = NULL;
    TEST_ASSERT_NOT_NULL(x);
    for (int i = 0; i < N * D; i++)
        x[i] = 3.0f + 0.03f * (2.0f * random_unit(random_bits(5, RANDOM_TEST, 0, 0, (uint64_t)i)) - 1.0f);
    for (int i = 0; i < N * D; i++)
        mean[i % D] += (double)x[i] / rows;
    for (int v = 0; v < N; v++)
        for (int j = 0; j < D; j++) {
            var[j] += ((double)x[v * D + j] - mean[j]) * ((double)x[v * D + j] - mean[j]) / rows;
            for (int k = 0; k < D; k++)
                product[j * D + k] += (double)x[v * D + j] * (double)x[v * D + k];
        }
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, be_alloc(dev, &in, be_floats(N * D), "long columns"));
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, be_alloc(dev, &out, be_floats(OUT), "their sums"));
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, be_upload(dev, in, 0, x, be_floats(N * D)));
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, be_upload(dev, out, 0, got, be_floats(OUT)));
    be_mat m = be_view(in, 0, N, D), sums = be_vector(out, 2 * D, D);
    be_col_stats_args stats = {.mean = be_vector(out, 0, D), .var = be_vector(out, D, D), .x = m};
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, be_col_stats(dev, &stats));
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, be_col_sum(dev, &(be_col_sum_args){.s = sums, .x = m}));
    be_gemm_args gemm = {.c = be_view(out, 3 * D, D, D), .a = m, .b = m, .ta = true, .alpha = 1.0f};
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, be_gemm(dev, &gemm));
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, be_download(dev, got, out, 0, be_floats(OUT)));
    be_free(dev, in);
    be_free(dev, out);
    free(x);
    for (int j = 0; j < D; j++) {
        TEST_ASSERT_FLOAT_WITHIN(1e-6f * 3.0f, (float)mean[j], got[j]);
        TEST_ASSERT_FLOAT_WITHIN(1e-4f * (float)var[j], (float)var[j], got[D + j]);
        TEST_ASSERT_FLOAT_WITHIN(1e-5f * 3.0f * (float)rows, (float)(mean[j] * rows), got[2 * D + j]);
    }
    for (int i = 0; i < D * D; i++)
        TEST_ASSERT_FLOAT_WITHIN(1e-5f * 9.0f * (float)rows, (float)product[i], got[3 * D + i]);
}

static int64_t launches(void) { return be_count(dev).launches; }

/* Sums for gradients wait for a launch that adds several of them: whatever reads or writes a result comes after it.
 * Entries are small integers, whose sums are exact. */
static void held_sums_are_added_before_they_are_read(void) {
    enum { N = 20000, D = 8, SIZE = D * D };
    float *x = calloc((size_t)N * D, sizeof *x), got[3 * SIZE] = {0}, product[SIZE] = {0};
    const float zeros[SIZE] = {0};
    be_buf *in = NULL, *out = NULL;
    TEST_ASSERT_NOT_NULL(x);
    for (int i = 0; i < N * D; i++)
        x[i] = (float)(i * 7 % 11 % 5 - 2);
    for (int i = 0; i < N * SIZE; i++)
        product[i % SIZE] += x[i / SIZE * D + i % SIZE / D] * x[i / SIZE * D + i % D];
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, be_alloc(dev, &in, be_floats(N * D), "long columns"));
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, be_alloc(dev, &out, be_floats(3 * SIZE), "their products"));
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, be_upload(dev, in, 0, x, be_floats(N * D)));
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, be_upload(dev, out, 0, got, be_floats(3 * SIZE)));
    be_mat m = be_view(in, 0, N, D), first = be_view(out, 0, D, D), second = be_view(out, SIZE, D, D);
    be_gemm_args add = {.c = first, .a = m, .b = m, .ta = true, .alpha = 1.0f, .beta = 1.0f};
    be_gemm_args add_second = add, read = {.c = be_view(out, 2 * SIZE, D, D), .a = first, .b = second, .alpha = 1e-4f};
    add_second.c = second;
    int64_t before = launches();
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, be_gemm(dev, &add));
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, be_gemm(dev, &add_second));
    TEST_ASSERT_EQUAL_INT64(before + 2, launches());
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, be_gemm(dev, &read)); /* of both sums, in one launch before */
    TEST_ASSERT_EQUAL_INT64(before + 4, launches());
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, be_download(dev, got, out, 0, be_floats(3 * SIZE)));
    for (int i = 0; i < SIZE; i++) {
        double sum = 0.0;
        for (int k = 0; k < D; k++)
            sum += 1e-4 * (double)product[i / D * D + k] * (double)product[k * D + i % D];
        TEST_ASSERT_EQUAL_FLOAT(product[i], got[i]);
        TEST_ASSERT_EQUAL_FLOAT(product[i], got[SIZE + i]);
        TEST_ASSERT_FLOAT_WITHIN(1e-5f * (float)fabs(sum) + 1e-2f, (float)sum, got[2 * SIZE + i]);
    }
    for (int i = 0; i < 2; i++)
        TEST_ASSERT_EQUAL_INT(FATHOM_OK, be_gemm(dev, &add)); /* the second after the first has been added */
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, be_gemm(dev, &add_second));
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, be_fill(dev, &(be_fill_args){.y = second}));
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, be_download(dev, got, out, 0, be_floats(2 * SIZE)));
    for (int i = 0; i < SIZE; i++) {
        TEST_ASSERT_EQUAL_FLOAT(3.0f * product[i], got[i]);
        TEST_ASSERT_EQUAL_FLOAT(0.0f, got[SIZE + i]);
    }
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, be_gemm(dev, &add));
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, be_upload(dev, out, 0, zeros, be_floats(SIZE)));
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, be_download(dev, got, out, 0, be_floats(SIZE)));
    for (int i = 0; i < SIZE; i++)
        TEST_ASSERT_EQUAL_FLOAT(0.0f, got[i]);
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, be_gemm(dev, &add));
    be_free(dev, out); /* its sum is not added to other memory */
    be_free(dev, in);
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, be_sync(dev));
    free(x);
}

/* Kernels are built on first use: opening builds the file of the product check, `fill` one more. */
static void kernels_are_built_when_needed(void) {
    be_device *fresh = NULL;
    be_buf *buf = NULL;
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, be_open(&fresh, be_device_info(dev)->selector, NULL));
    int64_t opened = be_count(fresh).builds;
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, be_alloc(fresh, &buf, 64, "a line"));
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, be_fill(fresh, &(be_fill_args){.y = be_view(buf, 0, 4, 4), .value = 1.0f}));
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, be_fill(fresh, &(be_fill_args){.y = be_view(buf, 0, 4, 4), .value = 2.0f}));
    int64_t filled = be_count(fresh).builds;
    be_close(fresh); /* frees buf */
    TEST_ASSERT_EQUAL_INT64(1, opened);
    TEST_ASSERT_EQUAL_INT64(2, filled);
}

static void operations_are_timed_on_demand(void) {
    be_device *timed = NULL;
    be_buf *buf = NULL;
    be_op_time time = {0}, none = {-1.0, -1, -1};
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, be_open(&timed, be_device_info(dev)->selector, &(be_options){.profile = true}));
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, be_alloc(timed, &buf, be_floats(1 << 16), "activations"));
    for (int i = 0; i < 3; i++)
        TEST_ASSERT_EQUAL_INT(FATHOM_OK, be_fill(timed, &(be_fill_args){.y = be_view(buf, 0, 256, 256)}));
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, be_profile(timed, BE_OP_fill, &time));
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, be_profile(timed, BE_OP_adam, &none));
    be_close(timed);
    TEST_ASSERT_EQUAL_INT64(3, time.calls);
    TEST_ASSERT_EQUAL_INT64(3, time.launches);
    TEST_ASSERT_TRUE(time.seconds > 1e-7 && time.seconds < 60.0);
    TEST_ASSERT_EQUAL_INT64(0, none.calls);
    TEST_ASSERT_TRUE(none.seconds == 0.0);
}

int main(void) {
    const char *selector = getenv("TEST_DEVICE"), *limit = getenv("TEST_LARGEST");
    largest = limit ? atol(limit) : 0;
    if (be_open(&dev, selector ? selector : "opencl:0", NULL) != FATHOM_OK)
        fprintf(stderr, "%s\n", fathom_last_error());
    UNITY_BEGIN();
    RUN_TEST(
        masks_are_those_of_the_host); /* first: Oclgrind 21.10 keeps the shadow of a smaller buffer at an address */
    RUN_TEST(every_operation_has_a_case_here);
    RUN_TEST(every_case_passes);
    if (!largest) { /* on a simulator costs are not tested */
        RUN_TEST(long_columns_are_summed_exactly);
        RUN_TEST(held_sums_are_added_before_they_are_read);
        RUN_TEST(the_same_call_gives_the_same_bits);
        RUN_TEST(a_steady_operation_only_launches);
        RUN_TEST(kernels_are_built_when_needed);
        RUN_TEST(operations_are_timed_on_demand);
    }
    be_close(dev);
    return support_end();
}
