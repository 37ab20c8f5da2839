/* unit_nn_plan.c - the memory plan of a network: its size, the depth that fits, what is allocated; and the ranges of a
 * configuration. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "nn/nn.h"
#include "support/golden.h"
#include "support/support.h"

static be_device *dev;
static data_set *graph;

void setUp(void) {}
void tearDown(void) {}

static void test_plan_names_the_depth_that_fits(void) {
    nn_shape shape = {.nodes = 1000, .features = 50, .classes = 4, .entries = 5000, .feature_entries = 10000};
    nn_config config = golden_config(NN_GCN, NN_GROUP, 100), fitting;
    nn_bytes bytes, need;
    be_info info = {.name = "a small device", .memory_bytes = 800 * 1000};
    golden_ok(nn_recompute_choose(&config, &shape, &info));
    golden_ok(nn_plan_bytes(&bytes, &config, &shape));
    TEST_ASSERT_EQUAL(FATHOM_MEMORY, nn_plan_check(&bytes, &config, &shape, &info));
    const char *text = strstr(fathom_last_error(), " layers would fit");
    TEST_ASSERT_NOT_NULL(text);
    while (text[-1] >= '0' && text[-1] <= '9')
        text--;
    long long depth;
    TEST_ASSERT_EQUAL_INT(1, sscanf(text, "%lld", &depth));
    fitting = config;
    fitting.recompute = NN_RECOMPUTE_SEGMENTS;
    fitting.layers = depth;
    golden_ok(nn_plan_bytes(&need, &fitting, &shape));
    TEST_ASSERT_TRUE(need.total <= info.memory_bytes);
    fitting.layers = depth + 1;
    golden_ok(nn_plan_bytes(&need, &fitting, &shape));
    TEST_ASSERT_TRUE(need.total > info.memory_bytes);
    info.memory_bytes = 1000;
    TEST_ASSERT_EQUAL(FATHOM_MEMORY, nn_plan_check(&bytes, &config, &shape, &info));
    TEST_ASSERT_NOT_NULL(strstr(fathom_last_error(), "not even one layer"));
    info = (be_info){.name = "a device", .memory_bytes = INT64_C(1) << 40, .max_alloc_bytes = 1000};
    TEST_ASSERT_EQUAL(FATHOM_MEMORY, nn_plan_check(&bytes, &config, &shape, &info));
    TEST_ASSERT_NOT_NULL(strstr(fathom_last_error(), "in one piece"));
}

/* Group norm adds n (d + G) floats a layer (its input is saved, and S), and small G x d statistics. */
static void test_group_norm_memory_is_linear_in_d_plus_g(void) {
    nn_shape shape = {.nodes = 10000, .features = 50, .classes = 4, .entries = 50000, .feature_entries = 10000};
    nn_config none = golden_config(NN_GCN, NN_NONE, 50), group = golden_config(NN_GCN, NN_GROUP, 50);
    nn_bytes a, b;
    none.hidden = group.hidden = 32;
    group.groups = 10;
    golden_ok(nn_plan_bytes(&a, &none, &shape));
    golden_ok(nn_plan_bytes(&b, &group, &shape));
    double extra = (double)(b.total - a.total) / 50 / 4;
    TEST_ASSERT_TRUE(extra < 1.2 * 10000 * (32 + 10));
}

/* One n x d matrix for each layer with a skip, where the norm needs its input; two n x d matrices for all of them. */
static void test_skip_connections_cost_a_matrix_per_layer(void) {
    nn_shape shape = {.nodes = 10000, .features = 50, .classes = 4, .entries = 50000, .feature_entries = 10000};
    const double matrix = 10000 * 32 * 4;
    for (int norm = 0; norm < NN_NORM_COUNT; norm++) {
        nn_config config = golden_config(NN_GCN, (nn_norm_kind)norm, 50);
        nn_bytes none, residual, initial;
        config.hidden = 32;
        golden_ok(nn_plan_bytes(&none, &config, &shape));
        config.skip = NN_SKIP_RESIDUAL;
        golden_ok(nn_plan_bytes(&residual, &config, &shape));
        config.skip = NN_SKIP_INITIAL;
        golden_ok(nn_plan_bytes(&initial, &config, &shape));
        bool in_place = norm == NN_NONE || norm == NN_MEAN; /* every layer gets an H of its own */
        double more = in_place ? 51 : 48;
        double extra = (double)(residual.total - none.total) / matrix;
        TEST_ASSERT_TRUE(fabs(extra - more - 1) < (in_place ? 2 : 0.01));
        TEST_ASSERT_EQUAL_INT64((int64_t)matrix, initial.total - residual.total);
    }
}

/* A depth without skips, 2, may be what fits. */
static void test_the_depth_that_fits_with_skips(void) {
    nn_shape shape = {.nodes = 1000, .features = 50, .classes = 4, .entries = 5000, .feature_entries = 10000};
    nn_config config = golden_config(NN_GCN, NN_GROUP, 100), fitting;
    nn_bytes bytes, need;
    be_info info = {.name = "a small device"};
    config.skip = NN_SKIP_INITIAL;
    fitting = config;
    fitting.layers = 2;
    golden_ok(nn_plan_bytes(&bytes, &config, &shape));
    golden_ok(nn_plan_bytes(&need, &fitting, &shape));
    info.memory_bytes = need.total;
    TEST_ASSERT_EQUAL(FATHOM_MEMORY, nn_plan_check(&bytes, &config, &shape, &info));
    TEST_ASSERT_NOT_NULL(strstr(fathom_last_error(), ": 2 layers would fit"));
}

static void test_planned_is_what_is_allocated(void) {
    for (int i = 0; i < NN_CONV_COUNT * NN_SKIP_COUNT; i++) {
        nn_input *input = NULL;
        nn_model *m = NULL;
        nn_config config = golden_config((nn_conv_kind)(i % NN_CONV_COUNT), NN_GROUP, 7);
        config.skip = (nn_skip_kind)(i / NN_CONV_COUNT);
        config.skip_weight = 0.5;
        config.heads = config.model == NN_GAT ? 4 : 1;
        config.bias = nn_takes_bias(config.model) ? NN_ON : NN_OFF;
        config.last_norm = i % 2 ? NN_OFF : NN_ON;
        int64_t before = be_count(dev).live_bytes;
        golden_ok(nn_input_make(&input, dev, graph, config.model));
        golden_ok(nn_model_make(&m, &config, input));
        double used = (double)(be_count(dev).live_bytes - before), planned = (double)nn_model_bytes(m)->total;
        TEST_ASSERT_TRUE(fabs(used - planned) < 0.02 * planned);
        nn_model_free(m);
        nn_input_free(input);
        TEST_ASSERT_EQUAL_INT64(before, be_count(dev).live_bytes);
    }
}

static void test_bad_configurations_are_named(void) {
    nn_bytes bytes;
    nn_shape shape = nn_shape_of(graph);
    const struct {
        const char *word;
        size_t offset;
        double real;
        int64_t whole;
    } bad[] = {{"layers", offsetof(nn_config, layers), 0, 0},
               {"layers", offsetof(nn_config, layers), 0, 1001},
               {"hidden", offsetof(nn_config, hidden), 0, -3},
               {"groups", offsetof(nn_config, groups), 0, 0},
               {"dropout", offsetof(nn_config, dropout), 1, 0},
               {"dropout", offsetof(nn_config, dropout), -0.1, 0},
               {"lambda", offsetof(nn_config, lambda), NAN, 0},
               {"alpha", offsetof(nn_config, alpha), 2, 0},
               {"theta", offsetof(nn_config, theta), -1, 0},
               {"momentum", offsetof(nn_config, momentum), 7, 0},
               {"skip-weight", offsetof(nn_config, skip_weight), 1, 0},
               {"heads", offsetof(nn_config, heads), 0, 0},
               {"heads", offsetof(nn_config, heads), 0, 257},
               {"--model gat", offsetof(nn_config, heads), 0, 2}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        nn_config config = golden_config(NN_GCN, NN_GROUP, 2);
        bool whole = bad[i].offset >= offsetof(nn_config, layers) && bad[i].offset <= offsetof(nn_config, groups);
        whole = whole || bad[i].offset == offsetof(nn_config, heads);
        char *member = (char *)&config + bad[i].offset;
        memcpy(member, whole ? (const void *)&bad[i].whole : (const void *)&bad[i].real, 8);
        TEST_ASSERT_EQUAL_MESSAGE(FATHOM_USAGE, nn_plan_bytes(&bytes, &config, &shape), bad[i].word);
        TEST_ASSERT_NOT_NULL(strstr(fathom_last_error(), bad[i].word));
    }
    nn_config config = golden_config(NN_GAT, NN_GROUP, 2);
    config.heads = 3;
    TEST_ASSERT_EQUAL(FATHOM_USAGE, nn_plan_bytes(&bytes, &config, &shape));
    TEST_ASSERT_NOT_NULL(strstr(fathom_last_error(), "take --hidden 9"));
    config.layers = 1; /* no hidden columns to share */
    golden_ok(nn_plan_bytes(&bytes, &config, &shape));
}

int main(void) {
    UNITY_BEGIN();
    dev = golden_device(0);
    graph = golden_graph();
    RUN_TEST(test_plan_names_the_depth_that_fits);
    RUN_TEST(test_group_norm_memory_is_linear_in_d_plus_g);
    RUN_TEST(test_skip_connections_cost_a_matrix_per_layer);
    RUN_TEST(test_the_depth_that_fits_with_skips);
    RUN_TEST(test_planned_is_what_is_allocated);
    RUN_TEST(test_bad_configurations_are_named);
    golden_set_free(graph);
    be_close(dev);
    return support_end();
}
