/* unit_metrics.c - the metrics against float64 values (tests/golden/metrics_*.npz; metrics_2 is fully smoothed), and
 * edge cases: no labels, one class, an empty class, zero rows. labels: opencl */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "metrics/metrics.h"
#include "support/golden.h"
#include "support/support.h"

static be_device *devices[GOLDEN_DEVICES];

void setUp(void) {}
void tearDown(void) {}

/* 1e-5 relative or 1e-6 absolute. */
static void near(const char *what, double want, double got) {
    char message[160];
    snprintf(message, sizeof message, "%s is %.9g, not %.9g", what, got, want);
    if (!(fabs(got - want) <= 1e-6 || fabs(got - want) <= 1e-5 * fabs(want)))
        TEST_FAIL_MESSAGE(message);
}

static metrics_input input_of(const data_set *set, const float *h, int64_t width) {
    return (metrics_input){.nodes = set->graph.nodes,
                           .width = width,
                           .h = h,
                           .labels = set->labels,
                           .classes = set->classes,
                           .features = &set->features,
                           .graph = &set->graph};
}

static void check_file(be_device *dev, const char *name) {
    npz_file *file = golden_open(name);
    int32_t *edges = NULL, *labels = NULL;
    int64_t edge_count, nodes, numbers, features;
    metrics_values v;
    golden_ok(npz_int32(&edges, &edge_count, file, "edge_index", 0, 100000));
    golden_ok(npz_int32(&labels, &nodes, file, "y", 0, 1000));
    float *h = golden_floats(file, "H", &numbers), *x = golden_floats(file, "X", &features);
    int32_t classes = 0;
    for (int64_t i = 0; i < nodes; i++)
        classes = labels[i] >= classes ? labels[i] + 1 : classes;
    data_set *set = golden_set((int32_t)nodes, (int32_t)(features / nodes), classes, edges, edges + edge_count / 2,
                               edge_count / 2, x, labels, 3);
    metrics_input in = input_of(set, h, numbers / nodes);
    golden_ok(metrics_compute(&v, dev, &in, METRICS_AUTHORS));
    near("gain", golden_number(file, "instance_information_gain_bits"), v.instance_information_gain);
    near("ratio authors", golden_number(file, "ratio_authors"), v.group_distance_ratio);
    near("intra authors", golden_number(file, "intra_squared"), v.intra_group_distance);
    near("inter authors", golden_number(file, "inter_squared"), v.inter_group_distance);
    near("Dirichlet energy", golden_number(file, "dirichlet_energy"), v.dirichlet_energy);
    near("mean Dirichlet energy", golden_number(file, "dirichlet_energy_mean"), v.dirichlet_energy_mean);
    near("mean average distance", golden_number(file, "mean_average_distance"), v.mean_average_distance);
    data_features dense = {.rows = (int32_t)nodes, .cols = (int32_t)(features / nodes), .dense = true, .values = x};
    in.features = &dense;
    golden_ok(metrics_compute(&v, dev, &in, METRICS_PAPER));
    near("gain of dense features", golden_number(file, "instance_information_gain_bits"), v.instance_information_gain);
    near("ratio paper", golden_number(file, "ratio_paper"), v.group_distance_ratio);
    near("intra paper", golden_number(file, "intra_euclidean"), v.intra_group_distance);
    near("inter paper", golden_number(file, "inter_euclidean") * classes / (classes - 1.0), v.inter_group_distance);
    golden_ok(metrics_compute(&v, dev, &in, METRICS_PYG));
    near("ratio pyg", golden_number(file, "ratio_pyg"), v.group_distance_ratio);
    TEST_ASSERT_EQUAL_INT32(0, v.empty_classes);
    golden_set_free(set);
    mem_free(edges);
    mem_free(labels);
    mem_free(h);
    mem_free(x);
    npz_close(file);
}

static void on_all(const char *name) {
    for (int d = 0; d < GOLDEN_DEVICES; d++)
        if (devices[d])
            check_file(devices[d], name);
}
static void test_small(void) { on_all("metrics_0"); }
static void test_larger(void) { on_all("metrics_1"); }
static void test_fully_smoothed(void) { on_all("metrics_2"); }

static const int32_t chain_from[] = {0, 1}, chain_to[] = {1, 2};
static const float chain_x[] = {1, 0, 0, 1, 1, 1, 0, 0};

/* Four nodes, the last one isolated with features and representation 0. */
static data_set *chain(int32_t classes, const int32_t *labels) {
    return golden_set(4, 2, classes, chain_from, chain_to, 2, chain_x, labels, 2);
}

static void test_what_is_missing_is_nan(void) {
    const float h[] = {1, 0, 0, 1, 1, 1, 0, 0};
    metrics_values v;
    metrics_input in = {.nodes = 4, .width = 2, .h = h};
    golden_ok(metrics_compute(&v, devices[0], &in, METRICS_AUTHORS));
    TEST_ASSERT_TRUE(isnan(v.instance_information_gain) && isnan(v.group_distance_ratio));
    TEST_ASSERT_TRUE(isnan(v.intra_group_distance) && isnan(v.inter_group_distance));
    TEST_ASSERT_TRUE(isnan(v.dirichlet_energy) && isnan(v.dirichlet_energy_mean));
    double c = sqrt(0.5); /* rows (1,0), (0,1), (1,1): cosines 0, c, c; the row of zeros has none */
    near("mean average distance", ((1 + 1 - c) / 2 + (1 + 1 - c) / 2 + (1 - c)) / 3, v.mean_average_distance);
}

static void test_one_class_has_nothing_between(void) {
    const float h[] = {1, 0, 0, 1, 1, 1, 0, 0};
    data_set *set = chain(1, (const int32_t[]){0, 0, 0, 0});
    metrics_values v;
    metrics_input in = input_of(set, h, 2);
    for (int definition = 0; definition < METRICS_DEFINITIONS; definition++) {
        golden_ok(metrics_compute(&v, devices[0], &in, (metrics_definition)definition));
        TEST_ASSERT_TRUE(isnan(v.group_distance_ratio) && isnan(v.inter_group_distance));
        TEST_ASSERT_TRUE(v.intra_group_distance > 0);
    }
    golden_set_free(set);
}

static void test_empty_class_and_unlabelled_nodes(void) {
    const float h[] = {1, 0, 0, 1, 1, 1, 0, 0};
    data_set *set = chain(3, (const int32_t[]){0, 2, -1, 2});
    metrics_values v;
    metrics_input in = input_of(set, h, 2);
    golden_ok(metrics_compute(&v, devices[0], &in, METRICS_AUTHORS));
    TEST_ASSERT_EQUAL_INT32(1, v.empty_classes);
    near("intra", 0.5 * (0 + 0.5), v.intra_group_distance); /* class 2: (0,1) and (0,0): mean of 0, 1, 1, 0 */
    near("inter", 0.5 * (2 + 1), v.inter_group_distance);
    golden_set_free(set);
}

static void test_only_intra_is_zero(void) {
    const float h[] = {2, 0, 3, 0, 0, 1, 0, 5};
    data_set *set = chain(2, (const int32_t[]){0, 0, 1, 1});
    metrics_values v;
    metrics_input in = input_of(set, h, 2);
    golden_ok(metrics_compute(&v, devices[0], &in, METRICS_AUTHORS));
    TEST_ASSERT_TRUE(isinf(v.group_distance_ratio));
    near("inter", 2, v.inter_group_distance);
    golden_set_free(set);
}

static void scaled_chain(metrics_values *v, be_device *dev, const data_set *set, int exponent) {
    float h[] = {1, 0.25f, -0.5f, 1, 2, 1, 0, 0};
    for (int i = 0; i < 8; i++)
        h[i] = ldexpf(h[i], exponent);
    metrics_input in = input_of(set, h, 2);
    golden_ok(metrics_compute(v, dev, &in, METRICS_PYG));
}

/* Squares of what a float32 holds do not fit in one, at both ends. */
static void test_any_scale_is_measured(void) {
    static const int exponents[] = {41, 80, 126, -41, -80, -120};
    data_set *set = chain(2, (const int32_t[]){0, 1, 1, 0});
    for (int d = 0; d < GOLDEN_DEVICES && devices[d]; d++) {
        metrics_values plain, v;
        scaled_chain(&plain, devices[d], set, 0);
        for (size_t i = 0; i < sizeof exponents / sizeof *exponents; i++) {
            scaled_chain(&v, devices[d], set, exponents[i]);
            double down = ldexp(1, -exponents[i]);
            near("energy", plain.dirichlet_energy, v.dirichlet_energy * down * down);
            near("mean energy", plain.dirichlet_energy_mean, v.dirichlet_energy_mean * down * down);
            near("inter", plain.inter_group_distance, v.inter_group_distance * down);
            near("intra", plain.intra_group_distance, v.intra_group_distance * down);
            near("mean average distance", plain.mean_average_distance, v.mean_average_distance);
            near("gain", plain.instance_information_gain, v.instance_information_gain);
        }
    }
    golden_set_free(set);
}

static void test_bad_input_is_refused(void) {
    const float h[] = {1, 0, NAN, 1, 1, 1, 0, 0};
    const int32_t labels[] = {0, 1, 2, 0};
    metrics_values v;
    metrics_input in = {.nodes = 4, .width = 2, .h = h};
    TEST_ASSERT_EQUAL(FATHOM_NUMERIC, metrics_compute(&v, devices[0], &in, METRICS_AUTHORS));
    TEST_ASSERT_NOT_NULL(strstr(fathom_last_error(), "node 1"));
    const float good[] = {1, 0, 0, 1, 1, 1, 0, 0};
    in = (metrics_input){.nodes = 4, .width = 2, .h = good, .labels = labels, .classes = 2};
    TEST_ASSERT_EQUAL(FATHOM_DATA, metrics_compute(&v, devices[0], &in, METRICS_AUTHORS));
    data_features few = {.rows = 3, .cols = 2, .dense = true};
    in = (metrics_input){.nodes = 4, .width = 2, .h = good, .features = &few};
    TEST_ASSERT_EQUAL(FATHOM_DATA, metrics_compute(&v, devices[0], &in, METRICS_AUTHORS));
}

static void test_opencl_was_there(void) {
    if (!devices[1])
        TEST_IGNORE_MESSAGE("no OpenCL device: the metrics ran on the CPU back end only");
}

int main(void) {
    UNITY_BEGIN();
    for (int d = 0; d < GOLDEN_DEVICES; d++)
        devices[d] = golden_device(d);
    RUN_TEST(test_small);
    RUN_TEST(test_larger);
    RUN_TEST(test_fully_smoothed);
    RUN_TEST(test_what_is_missing_is_nan);
    RUN_TEST(test_one_class_has_nothing_between);
    RUN_TEST(test_empty_class_and_unlabelled_nodes);
    RUN_TEST(test_only_intra_is_zero);
    RUN_TEST(test_any_scale_is_measured);
    RUN_TEST(test_bad_input_is_refused);
    RUN_TEST(test_opencl_was_there);
    for (int d = 0; d < GOLDEN_DEVICES; d++)
        be_close(devices[d]);
    return support_end();
}
