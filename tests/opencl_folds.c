/* opencl_folds.c - pairwise folds large enough to be split into several launches: the sums are those of one launch, and
 * a launch covers at most 2^26 pairs (opencl_model.sh checks what each covers). Also denormals, which a device may
 * flush; TEST_DENORMALS=0 requires it. labels: opencl asan-skip */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "support/support.h"

enum { N = 12001, CLASSES = 3 };
#define PAIRS ((int64_t)N * N)
#define LAUNCHES (PAIRS / (INT64_C(1) << 26) + 1)

static be_device *dev;
static be_buf *in, *out;
static float *host;

void setUp(void) {
    if (!dev)
        TEST_IGNORE_MESSAGE("no OpenCL device; install pocl-opencl-icd");
}

void tearDown(void) {}

static void ok(fathom_status status) { TEST_ASSERT_EQUAL_INT_MESSAGE(FATHOM_OK, status, fathom_last_error()); }

/* x_i = i mod 7 of class i mod 3: sums of squared differences are integers that float32 represents exactly. */
static float x_of(int i) { return (float)(i % 7); }

static void fill_rows(void) {
    float *x = host;
    int32_t *labels = (int32_t *)(host + N);
    for (int i = 0; i < N; i++) {
        x[i] = x_of(i);
        labels[i] = i % CLASSES;
    }
    ok(be_upload(dev, in, 0, host, be_floats(2 * N)));
}

static void a_dense_fold_is_split(void) {
    double want[7][CLASSES] = {{0}};
    fill_rows();
    for (int v = 0; v < 7; v++)
        for (int j = 0; j < N; j++)
            want[v][j % CLASSES] += (v - j % 7) * (v - j % 7);
    int64_t before = be_count(dev).launches;
    ok(be_pair_fold(dev, &(be_pair_fold_args){.out = be_view(out, 0, N, CLASSES),
                                              .x = be_view(in, 0, N, 1),
                                              .labels = be_int_view(in, N, N),
                                              .kind = BE_FOLD_SQUARED}));
    TEST_ASSERT_EQUAL_INT64(LAUNCHES, be_count(dev).launches - before);
    ok(be_download(dev, host, out, 0, be_floats(N * CLASSES)));
    for (int i = 0; i < N; i++)
        for (int c = 0; c < CLASSES; c++)
            TEST_ASSERT_EQUAL_FLOAT((float)want[i % 7][c], host[i * CLASSES + c]);
}

static void a_distance_fold_is_split(void) {
    for (int i = 0; i < N; i++) {
        host[i] = i % 3 == 0 ? -1.0f : 1.0f;
        host[N + i] = 1.0f;
    }
    ok(be_upload(dev, in, 0, host, be_floats(2 * N)));
    int64_t before = be_count(dev).launches;
    ok(be_mad_fold(dev, &(be_mad_fold_args){.sum = be_vector(out, 0, N),
                                            .count = be_int_view(out, N, N),
                                            .x = be_view(in, 0, N, 1),
                                            .norm = be_vector(in, N, N)}));
    TEST_ASSERT_EQUAL_INT64(LAUNCHES, be_count(dev).launches - before);
    ok(be_download(dev, host, out, 0, be_floats(2 * N)));
    const int32_t *counts = (const int32_t *)(host + N);
    int minus = (N + 2) / 3;
    for (int i = 0; i < N; i++) { /* rows of opposite sign have distance 2 */
        int others = i % 3 == 0 ? N - minus : minus;
        TEST_ASSERT_EQUAL_FLOAT(2.0f * (float)others, host[i]);
        TEST_ASSERT_EQUAL_INT32(others, counts[i]);
    }
}

static void denormals_are_kept_or_flushed(void) {
    const char *setting = getenv("TEST_DENORMALS");
    float value = -1.0f;
    ok(be_fill(dev, &(be_fill_args){.y = be_view(in, 0, 4, 4), .value = 1e-20f}));
    ok(be_axpby(dev, &(be_axpby_args){.y = be_view(in, 16, 4, 4), .x = be_view(in, 0, 4, 4), .a = 1e-20f}));
    ok(be_download(dev, &value, in, be_floats(16), sizeof value));
    if (setting && strcmp(setting, "0") == 0)
        TEST_ASSERT_TRUE(value == 0.0f);
    else
        TEST_ASSERT_TRUE(value == 0.0f || fabsf(value - 1e-40f) < 1e-44f);
}

int main(void) {
    if (be_open(&dev, "opencl:0", NULL) != FATHOM_OK)
        dev = NULL;
    host = calloc((size_t)N * CLASSES, sizeof *host);
    if (dev && (!host || be_alloc(dev, &in, be_floats(2 * N), "rows") != FATHOM_OK ||
                be_alloc(dev, &out, be_floats(N * CLASSES), "sums") != FATHOM_OK))
        return 1;
    UNITY_BEGIN();
    RUN_TEST(a_dense_fold_is_split);
    RUN_TEST(a_distance_fold_is_split);
    RUN_TEST(denormals_are_kept_or_flushed);
    be_close(dev);
    free(host);
    return support_end();
}
