/* unit_backend.c - buffers, transfers, sparse matrices, counters and timing of the
 * contract, and what happens when memory runs out at any allocation. */
#include <math.h>
#include <string.h>

#include "backend/cpu/cpu.h"
#include "core/mem.h"
#include "core/random.h"
#include "support/small_case.h"
#include "support/support.h"

#define OK(call) TEST_ASSERT_EQUAL_INT_MESSAGE(FATHOM_OK, (call), fathom_last_error())
#define USAGE(call, words)                                                                     \
    do {                                                                                       \
        TEST_ASSERT_EQUAL_INT(FATHOM_USAGE, (call));                                           \
        TEST_ASSERT_NOT_NULL_MESSAGE(strstr(fathom_last_error(), words), fathom_last_error()); \
    } while (0)

static be_device *dev;
static int64_t live_before;

void setUp(void) {
    live_before = mem_live();
    OK(be_open(&dev, "cpu", NULL));
}

void tearDown(void) {
    mem_fail_at(0, false);
    be_close(dev);
    TEST_ASSERT_EQUAL_INT64_MESSAGE(live_before, mem_live(), "the test leaks memory");
}

/* ---- buffers ---- */

static void bytes_go_there_and_back(void) {
    be_buf *buf;
    uint8_t there[1000], back[1000] = {0};
    for (int i = 0; i < 1000; i++)
        there[i] = (uint8_t)(i * 7);
    OK(be_alloc(dev, &buf, 1000, "bytes"));
    OK(be_upload(dev, buf, 0, there, 1000));
    OK(be_upload(dev, buf, 100, there, 9)); /* at an offset */
    OK(be_download(dev, back, buf, 0, 1000));
    memcpy(there + 100, there, 9);
    TEST_ASSERT_EQUAL_UINT8_ARRAY(there, back, 1000);
    OK(be_download(dev, back, buf, 993, 7));
    TEST_ASSERT_EQUAL_UINT8_ARRAY(there + 993, back, 7);
    be_free(dev, buf);
}

static void transfers_stay_inside(void) {
    be_buf *buf, *foreign;
    be_device *other;
    char bytes[64] = {0};
    OK(be_open(&other, "cpu", NULL));
    OK(be_alloc(dev, &buf, 64, "small"));
    OK(be_alloc(other, &foreign, 64, "foreign"));
    OK(be_upload(dev, buf, 64, bytes, 0));
    OK(be_download(dev, bytes, buf, 64, 0));
    USAGE(be_upload(dev, buf, 60, bytes, 5), "upload: bytes 60 to 65 of a buffer of 64");
    USAGE(be_upload(dev, buf, 65, bytes, 0), "upload");
    USAGE(be_upload(dev, buf, SIZE_MAX, bytes, 2), "upload");
    USAGE(be_download(dev, bytes, buf, 1, 64), "download: bytes 1 to 65 of a buffer of 64");
    USAGE(be_upload(dev, NULL, 0, bytes, 1), "missing");
    USAGE(be_upload(dev, foreign, 0, bytes, 1), "another device");
    USAGE(be_download(dev, bytes, foreign, 0, 1), "another device");
    be_close(other);
    be_free(dev, buf);
    be_free(dev, NULL);
}

static void an_upload_is_a_copy(void) {
    be_buf *buf;
    float value = 3;
    OK(be_alloc(dev, &buf, be_floats(2), "two"));
    OK(be_upload(dev, buf, 0, &value, sizeof value));
    be_axpby_args twice = {.y = be_vector(buf, 1, 1), .x = be_vector(buf, 0, 1), .a = 2.0f};
    OK(be_axpby(dev, &twice)); /* enqueued: it reads 3, not what follows */
    value = 100;
    OK(be_upload(dev, buf, 0, &value, sizeof value));
    OK(be_download(dev, &value, buf, sizeof value, sizeof value));
    TEST_ASSERT_EQUAL_FLOAT(6, value);
    be_free(dev, buf);
}

static void memory_is_counted(void) {
    be_buf *a, *b;
    be_counters start = be_count(dev);
    OK(be_alloc(dev, &a, 1000, "a"));
    OK(be_alloc(dev, &b, 500, "b"));
    TEST_ASSERT_EQUAL_INT64(start.live_bytes + 1500, be_count(dev).live_bytes);
    TEST_ASSERT_EQUAL_INT64(start.allocations + 2, be_count(dev).allocations);
    be_free(dev, a);
    TEST_ASSERT_EQUAL_INT64(start.live_bytes + 500, be_count(dev).live_bytes);
    TEST_ASSERT_TRUE(be_count(dev).peak_bytes >= start.live_bytes + 1500);
    (void)b; /* left to be_close */
}

static void transfers_and_launches_are_counted(void) {
    be_buf *buf;
    float four[4] = {1, 2, 3, 4};
    OK(be_alloc(dev, &buf, sizeof four, "four"));
    be_counters start = be_count(dev);
    OK(be_upload(dev, buf, 0, four, sizeof four));
    for (int i = 0; i < 3; i++)
        OK(be_fill(dev, &(be_fill_args){.y = be_vector(buf, 0, 4), .value = 1.0f}));
    OK(be_sync(dev));
    OK(be_download(dev, four, buf, 0, 8));
    be_counters now = be_count(dev);
    TEST_ASSERT_EQUAL_INT64(16, now.bytes_written - start.bytes_written);
    TEST_ASSERT_EQUAL_INT64(8, now.bytes_read - start.bytes_read);
    TEST_ASSERT_EQUAL_INT64(1, now.blocking_reads - start.blocking_reads);
    TEST_ASSERT_EQUAL_INT64(3, now.launches - start.launches);
}

static void too_much_memory_is_a_message(void) {
    be_buf *buf;
    TEST_ASSERT_EQUAL_INT(FATHOM_MEMORY, be_alloc(dev, &buf, SIZE_MAX / 2, "the universe"));
    TEST_ASSERT_NULL(buf);
    TEST_ASSERT_NOT_NULL(strstr(fathom_last_error(), "the universe"));
}

/* ---- names, numbers, time ---- */

static void operations_have_names(void) {
    TEST_ASSERT_EQUAL_STRING("fill", be_op_name(BE_OP_fill));
    TEST_ASSERT_EQUAL_STRING("dirichlet", be_op_name(BE_OP_dirichlet));
    TEST_ASSERT_EQUAL_STRING("?", be_op_name(BE_OP_COUNT));
}

static void dropout_numbers(void) {
    be_drop none = be_drop_make(0.0f, 1, 2, 3, 4), half = be_drop_make(0.5f, 0x1122334455667788u, 2, 3, 4);
    TEST_ASSERT_EQUAL_HEX32(0, none.threshold);
    TEST_ASSERT_EQUAL_FLOAT(1, none.scale);
    TEST_ASSERT_EQUAL_HEX32(0x80000000u, half.threshold);
    TEST_ASSERT_EQUAL_FLOAT(2, half.scale);
    TEST_ASSERT_EQUAL_HEX32(0x55667788u, half.key[0]);
    TEST_ASSERT_EQUAL_HEX32(0x11223344u, half.key[1]);
    TEST_ASSERT_EQUAL_UINT32(2, half.stream);
    TEST_ASSERT_EQUAL_UINT32(3, half.epoch);
    TEST_ASSERT_EQUAL_UINT32(4, half.layer);
}

static void operations_are_timed_when_asked(void) {
    be_device *timed;
    be_buf *buf;
    be_op_time time;
    OK(be_open(&timed, "cpu", &(be_options){.profile = true}));
    OK(be_alloc(timed, &buf, be_floats(100000), "floats"));
    for (int i = 0; i < 5; i++)
        OK(be_fill(timed, &(be_fill_args){.y = be_vector(buf, 0, 100000)}));
    OK(be_profile(timed, BE_OP_fill, &time));
    TEST_ASSERT_EQUAL_INT64(5, time.calls);
    TEST_ASSERT_EQUAL_INT64(5, time.launches);
    TEST_ASSERT_TRUE(time.seconds > 0 && time.seconds < 60);
    OK(be_profile(timed, BE_OP_copy, &time));
    TEST_ASSERT_EQUAL_INT64(0, time.calls);
    be_close(timed);
    OK(be_alloc(dev, &buf, be_floats(10), "floats"));
    OK(be_fill(dev, &(be_fill_args){.y = be_vector(buf, 0, 10)}));
    OK(be_profile(dev, BE_OP_fill, &time));
    TEST_ASSERT_EQUAL_INT64(0, time.calls);
    TEST_ASSERT_EQUAL_DOUBLE(0, time.seconds);
}

static void wrong_numbers_are_refused(void) {
    be_buf *buf;
    OK(be_alloc(dev, &buf, be_floats(100), "floats"));
    be_mat x = be_view(buf, 0, 4, 4), y = be_view(buf, 16, 4, 4), v = be_vector(buf, 40, 4), w = be_vector(buf, 44, 4);
    be_ints some = be_int_view(buf, 60, 4);
    be_act bad = {.drop = {.rate = 1.0f}}, nan = {.drop = {.rate = NAN}}, below = {.drop = {.rate = -0.1f}};
    USAGE(be_activate(dev, &(be_activate_args){.y = y, .x = x, .act = bad}), "activate: the dropout rate");
    USAGE(be_activate(dev, &(be_activate_args){.y = y, .x = x, .act = nan}), "activate: the dropout rate");
    USAGE(be_activate(dev, &(be_activate_args){.y = y, .x = x, .act = below}), "activate: the dropout rate");
    USAGE(be_row_normalise(dev, &(be_row_normalise_args){.y = y, .x = x, .kind = (be_row_norm)9}), "unknown kind");
    USAGE(be_col_stats(dev, &(be_col_stats_args){.mean = v, .var = w, .x = x, .rmean = be_vector(buf, 48, 4)}),
          "rmean and rvar");
    USAGE(be_col_stats(dev, &(be_col_stats_args){.mean = v,
                                                 .var = w,
                                                 .x = x,
                                                 .rmean = be_vector(buf, 48, 4),
                                                 .rvar = be_vector(buf, 52, 4),
                                                 .momentum = 1.5f}),
          "momentum");
    be_softmax_xent_args loss = {.loss = be_vector(buf, 90, 1), .z = x, .labels = some, .sets = some, .set = 31};
    USAGE(be_softmax_xent(dev, &loss), "softmax_xent: the set");
    loss.set = 0;
    loss.count = 5;
    USAGE(be_softmax_xent(dev, &loss), "softmax_xent: count");
    be_adam_args adam = {.w = v, .m = w, .v = be_vector(buf, 48, 4), .g = be_vector(buf, 52, 4)};
    USAGE(be_adam(dev, &adam), "adam: steps count from 1");
    be_pair_fold_args fold = {.out = be_view(buf, 20, 2, 4), .x = x, .labels = some, .first = 3};
    USAGE(be_pair_fold(dev, &fold), "pair_fold: the rows");
    fold.first = -1;
    USAGE(be_pair_fold(dev, &fold), "pair_fold: the rows");
    be_accuracy_args nine = {.correct = be_int_view(buf, 0, 9), .pred = some, .z = x, .labels = some, .sets = some};
    USAGE(be_accuracy(dev, &nine), "accuracy: between 1 and 8 sets");
}

/* ---- sparse matrices ---- */

static const int64_t good_indptr[] = {0, 2, 2, 3};
static const int32_t good_indices[] = {0, 3, 1}, good_eids[] = {2, 0, 1};

static void a_sparse_matrix_is_uploaded(void) {
    be_csr a;
    be_buf *buf;
    float x[4] = {1, 10, 100, 1000}, val[3] = {2, 3, 4}, y[3];
    OK(be_csr_upload(dev, &a, 3, 4, good_indptr, good_indices, good_eids, "graph"));
    TEST_ASSERT_EQUAL_INT64(3, a.nnz);
    OK(be_alloc(dev, &buf, be_floats(10), "floats"));
    OK(be_upload(dev, buf, 0, x, sizeof x));
    OK(be_upload(dev, buf, sizeof x, val, sizeof val));
    OK(be_spmm(dev, &(be_spmm_args){.y = be_view(buf, 7, 3, 1),
                                    .a = a,
                                    .val = be_vector(buf, 4, 3),
                                    .x = be_view(buf, 0, 4, 1),
                                    .alpha = 1.0f}));
    OK(be_download(dev, y, buf, be_floats(7), sizeof y));
    TEST_ASSERT_EQUAL_FLOAT(4 * 1 + 2 * 1000, y[0]);
    TEST_ASSERT_EQUAL_FLOAT(0, y[1]);
    TEST_ASSERT_EQUAL_FLOAT(3 * 10, y[2]);
    be_csr_free(dev, &a);
    TEST_ASSERT_NULL(a.indptr.buf);
    be_csr_free(dev, &a); /* an empty one */
    OK(be_csr_upload(dev, &a, 1, 1, (int64_t[]){0, 0}, NULL, NULL, "no entry"));
    TEST_ASSERT_EQUAL_INT64(0, a.nnz);
    be_csr_free(dev, &a);
}

/* Row r of 1000 has 7 r mod 131 entries: some share the last bucket. */
static void rows_are_ordered_by_length_in_windows(void) {
    enum { ROWS = 1000 };
    static int64_t indptr[ROWS + 1];
    static int32_t indices[ROWS * 131], order[ROWS], seen[ROWS];
    be_csr a;
    for (int r = 0; r < ROWS; r++)
        indptr[r + 1] = indptr[r] + 7 * r % 131;
    memset(seen, 0, sizeof seen);
    OK(be_csr_upload(dev, &a, ROWS, 1, indptr, indices, NULL, "graph"));
    OK(be_download(dev, order, a.plan, offsetof(cpu_csr_plan, order), sizeof order));
    for (int p = 0; p < ROWS; p++) {
        TEST_ASSERT_EQUAL_INT(p / CPU_WINDOW, order[p] / CPU_WINDOW);
        TEST_ASSERT_EQUAL_INT(0, seen[order[p]]++);
        if (p % CPU_WINDOW > 0 && 7 * order[p] % 131 < 127)
            TEST_ASSERT_LESS_OR_EQUAL_INT(7 * order[p] % 131, 7 * order[p - 1] % 131);
    }
    be_csr_free(dev, &a);
}

/* y = X' x with X of 4 x 3, by the rows of X' and, once its plan knows X, by those of X. */
static void a_known_transpose_changes_no_bit(void) {
    const int64_t x_ptr[] = {0, 2, 3, 6, 7}, t_ptr[] = {0, 2, 4, 7};
    const int32_t x_idx[] = {0, 2, 1, 0, 1, 2, 2}, t_idx[] = {0, 2, 1, 2, 0, 2, 3}, ids[] = {0, 3, 2, 4, 1, 5, 6};
    float values[7 + 4], y[2][3];
    be_csr x, t;
    be_buf *buf;
    for (int i = 0; i < 11; i++)
        values[i] = 1.0f / (float)(3 + i);
    OK(be_csr_upload(dev, &x, 4, 3, x_ptr, x_idx, NULL, "features"));
    OK(be_csr_upload(dev, &t, 3, 4, t_ptr, t_idx, ids, "transposed features"));
    OK(be_alloc(dev, &buf, be_floats(14), "floats"));
    OK(be_upload(dev, buf, 0, values, sizeof values));
    USAGE(be_csr_prepare(dev, &t, &t), "not the transpose");
    for (int known = 0; known < 2; known++) {
        if (known)
            OK(be_csr_prepare(dev, &t, &x));
        OK(be_spmm(dev, &(be_spmm_args){.y = be_view(buf, 11, 3, 1),
                                        .a = t,
                                        .val = be_vector(buf, 0, 7),
                                        .x = be_view(buf, 7, 4, 1),
                                        .alpha = 1.0f}));
        OK(be_download(dev, y[known], buf, be_floats(11), sizeof y[known]));
    }
    TEST_ASSERT_FLOAT_WITHIN(1e-6f, 1.0f / 30 + 1.0f / 72, y[0][0]); /* entries 0 and 3 times rows 0 and 2 */
    TEST_ASSERT_EQUAL_MEMORY(y[0], y[1], sizeof y[0]);
    be_free(dev, buf);
    be_csr_free(dev, &t);
    be_csr_free(dev, &x);
}

/* As in cblas.h, which only the CPU back end includes. */
extern int openblas_get_num_threads(void);
extern void openblas_set_num_threads(int threads);

static void the_thread_count_of_openblas_is_restored(void) {
    enum { N = 200 }; /* too wide for the loops of the back end: OpenBLAS multiplies */
    be_buf *buf;
    int before = openblas_get_num_threads(), set;
    openblas_set_num_threads(2);
    set = openblas_get_num_threads();
    OK(be_alloc(dev, &buf, be_floats(3 * N * N), "floats"));
    be_mat a = be_view(buf, 0, N, N), c = be_view(buf, 2 * N * N, N, N);
    OK(be_fill(dev, &(be_fill_args){.y = be_view(buf, 0, 2 * N, N), .value = 0.5f}));
    OK(be_gemm(dev, &(be_gemm_args){.c = c, .a = a, .b = be_view(buf, N * N, N, N), .alpha = 1.0f}));
    float product;
    OK(be_download(dev, &product, buf, be_floats(2 * N * N), sizeof product));
    TEST_ASSERT_EQUAL_FLOAT(0.25f * N, product);
    TEST_ASSERT_EQUAL_INT(set, openblas_get_num_threads());
    openblas_set_num_threads(before);
    be_free(dev, buf);
}

static void no_csr(int64_t rows, int64_t cols, const int64_t *indptr, const int32_t *indices, const int32_t *eids,
                   const char *words) {
    be_csr a = {.rows = 77};
    int64_t live = mem_live();
    TEST_ASSERT_EQUAL_INT(FATHOM_DATA, be_csr_upload(dev, &a, rows, cols, indptr, indices, eids, "graph"));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(fathom_last_error(), words), fathom_last_error());
    TEST_ASSERT_EQUAL_INT(0, strncmp(fathom_last_error(), "graph: ", 7));
    TEST_ASSERT_EQUAL_INT64(0, a.rows);
    TEST_ASSERT_EQUAL_INT64(live, mem_live());
}

static void broken_sparse_matrices_are_refused(void) {
    no_csr(0, 4, good_indptr, good_indices, NULL, "0 x 4");
    no_csr(3, 0, good_indptr, good_indices, NULL, "3 x 0");
    no_csr(3, (int64_t)1 << 31, good_indptr, good_indices, NULL, "2147483648");
    no_csr(3, 4, (int64_t[]){1, 2, 2, 3}, good_indices, NULL, "cannot be used");
    no_csr(3, 4, (int64_t[]){0, 2, 1, 3}, good_indices, NULL, "row 2");
    no_csr(3, 4, (int64_t[]){0, 2, 2, -3}, good_indices, NULL, "row 3");
    no_csr(3, 3, good_indptr, good_indices, NULL, "entry 1 names column 3 of 3");
    no_csr(3, 4, good_indptr, (int32_t[]){0, -1, 1}, NULL, "entry 1 names column -1");
    no_csr(3, 4, good_indptr, good_indices, (int32_t[]){0, 1, 3}, "entry 2 has the id 3 of 3");
    no_csr(3, 4, good_indptr, good_indices, (int32_t[]){0, -1, 2}, "entry 1 has the id -1");
}

/* ---- memory that runs out ---- */

/* Lets the first, second, ... allocation of `attempt` fail until it succeeds; every failure must be
 * FATHOM_MEMORY with its message, and leak nothing. */
static void survives(fathom_status (*attempt)(const void *), const void *what) {
    for (int nth = 1; nth < 100; nth++) {
        int64_t live = mem_live();
        mem_fail_at(nth, false);
        fathom_status status = attempt(what);
        mem_fail_at(0, false);
        TEST_ASSERT_EQUAL_INT64(live, mem_live());
        if (status == FATHOM_OK) {
            TEST_ASSERT_GREATER_THAN_INT_MESSAGE(1, nth, "nothing was allocated");
            return;
        }
        TEST_ASSERT_EQUAL_INT_MESSAGE(FATHOM_MEMORY, status, fathom_last_error());
        TEST_ASSERT_NOT_NULL_MESSAGE(strstr(fathom_last_error(), "bytes"), fathom_last_error());
    }
    TEST_FAIL_MESSAGE("100 allocations");
}

static fathom_status open_and_close(const void *unused) {
    be_device *made;
    (void)unused;
    fathom_status status = be_open(&made, "cpu", NULL);
    be_close(made);
    return status;
}

static fathom_status alloc_and_free(const void *unused) {
    be_buf *buf;
    (void)unused;
    fathom_status status = be_alloc(dev, &buf, 4000, "a buffer");
    be_free(dev, buf);
    return status;
}

static fathom_status csr_and_free(const void *unused) {
    be_csr a;
    (void)unused;
    fathom_status status = be_csr_upload(dev, &a, 3, 4, good_indptr, good_indices, good_eids, "graph");
    be_csr_free(dev, &a);
    return status;
}

/* On a device of its own, so that the scratch it grows is among the failing allocations. */
static fathom_status run_case(const void *c) {
    be_device *made;
    case_result r = {0};
    TRY(be_open(&made, "cpu", &(be_options){.threads = 1}));
    fathom_status status = case_run(made, c, &r);
    if (status == FATHOM_OK && !r.passed)
        status = fail(FATHOM_NUMERIC, "%s", r.detail);
    be_close(made);
    return status;
}

static void opening_survives(void) { survives(open_and_close, NULL); }
static void buffers_survive(void) { survives(alloc_and_free, NULL); }
static void sparse_matrices_survive(void) { survives(csr_and_free, NULL); }

static void every_operation_survives(void) {
    for (int op = 0; op < BE_OP_COUNT; op++) {
        op_case small = small_case((be_op)op, 130);
        survives(run_case, &small);
    }
}

int main(void) {
    UNITY_BEGIN();
    RUN_TEST(bytes_go_there_and_back);
    RUN_TEST(transfers_stay_inside);
    RUN_TEST(an_upload_is_a_copy);
    RUN_TEST(memory_is_counted);
    RUN_TEST(transfers_and_launches_are_counted);
    RUN_TEST(too_much_memory_is_a_message);
    RUN_TEST(operations_have_names);
    RUN_TEST(dropout_numbers);
    RUN_TEST(operations_are_timed_when_asked);
    RUN_TEST(wrong_numbers_are_refused);
    RUN_TEST(a_sparse_matrix_is_uploaded);
    RUN_TEST(rows_are_ordered_by_length_in_windows);
    RUN_TEST(a_known_transpose_changes_no_bit);
    RUN_TEST(the_thread_count_of_openblas_is_restored);
    RUN_TEST(broken_sparse_matrices_are_refused);
    RUN_TEST(opening_survives);
    RUN_TEST(buffers_survive);
    RUN_TEST(sparse_matrices_survive);
    RUN_TEST(every_operation_survives);
    return support_end();
}
