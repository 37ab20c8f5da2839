/* unit_recompute.c - recomputation of activations: the same bits as keeping them, for every model and norm on both back
 * ends; the planned bytes; the level that is chosen; the layer that is named after a non-finite loss.
 * labels: opencl */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "nn/nn.h"
#include "support/golden.h"
#include "support/support.h"

#define LAYERS 7

static be_device *devices[GOLDEN_DEVICES];
static data_set *graph;

void setUp(void) {}
void tearDown(void) {}

typedef struct trained {
    nn_input *input;
    nn_model *model;
} trained;

static trained make(be_device *dev, const nn_config *config) {
    trained t = {0};
    golden_ok(nn_input_make(&t.input, dev, graph, config->model));
    golden_ok(nn_model_make(&t.model, config, t.input));
    golden_ok(nn_init(t.model, 11));
    return t;
}

static void release(trained *t) {
    nn_model_free(t->model);
    nn_input_free(t->input);
}

static void epoch(nn_model *m, int64_t number, nn_epoch_stats *stats) {
    nn_pass training = {.training = true, .seed = 5, .epoch = (uint32_t)number};
    golden_ok(nn_forward(m, &training));
    golden_ok(nn_loss(m));
    golden_ok(nn_backward(m, &training));
    golden_ok(nn_step(m, 0.01, 5e-4, number));
    golden_ok(nn_forward(m, &(nn_pass){.training = false}));
    golden_ok(nn_count_correct(m));
    golden_ok(nn_read_stats(stats, m));
}

/* ---- bits ---- */

static uint64_t digest(uint64_t hash, const void *bytes, size_t count) {
    const unsigned char *b = bytes;
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ b[i]) * 0x100000001b3u;
    return hash;
}

/* Of losses, scores, weights, running estimates, gradients and moments of three epochs with dropout, and of the logits
 * and the assignment at their end. */
static uint64_t digest_of(be_device *dev, const nn_config *config) {
    const nn_block blocks[] = {NN_WEIGHTS, NN_GRADS, NN_MOMENT1, NN_MOMENT2};
    trained t = make(dev, config);
    uint64_t hash = 0xcbf29ce484222325u;
    float *values = NULL;
    nn_epoch_stats stats = {0};
    int64_t outputs = graph->graph.nodes * (graph->classes + config->groups);
    for (int64_t i = 1; i <= 3; i++) {
        epoch(t.model, i, &stats);
        TEST_ASSERT_TRUE(isfinite(stats.loss));
        hash = digest(hash, &stats, sizeof stats);
    }
    golden_ok(mem_new(&values, nn_block_len(t.model, NN_WEIGHTS) + outputs, 1, sizeof *values, "values"));
    for (int i = 0; i < 4; i++) {
        golden_ok(nn_get_block(values, t.model, blocks[i]));
        hash = digest(hash, values, (size_t)nn_block_len(t.model, blocks[i]) * sizeof *values);
    }
    nn_pass evaluation = {.training = false};
    golden_ok(nn_get_logits(values, t.model, &evaluation));
    hash = digest(hash, values, (size_t)(graph->graph.nodes * graph->classes) * sizeof *values);
    if (config->norm == NN_GROUP) {
        golden_ok(nn_get_assignment(values, t.model, &evaluation));
        hash = digest(hash, values, (size_t)(graph->graph.nodes * config->groups) * sizeof *values);
    }
    mem_free(values);
    release(&t);
    return hash;
}

static void check_levels(be_device *dev, nn_config config) {
    const int64_t levels[] = {NN_RECOMPUTE_NORM, NN_RECOMPUTE_SEGMENTS, 1, 2, 3, LAYERS - 1, LAYERS};
    config.recompute = NN_RECOMPUTE_NONE;
    uint64_t kept = digest_of(dev, &config);
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        char what[128], level[NN_RECOMPUTE_TEXT];
        config.recompute = levels[i];
        nn_recompute_text(level, levels[i]);
        snprintf(what, sizeof what, "%s, %s norm, skip %s, width %d, recompute %s, on %s", nn_conv_name(config.model),
                 nn_norm_name(config.norm), nn_skip_name(config.skip), (int)config.hidden, level,
                 be_device_info(dev)->selector);
        TEST_ASSERT_EQUAL_HEX64_MESSAGE(kept, digest_of(dev, &config), what);
    }
}

/* Narrow layers take the fused step of GCN. */
static void test_recomputed_bits_are_those_of_keeping_all(void) {
    for (int d = 0; d < GOLDEN_DEVICES; d++)
        for (int model = 0; model < NN_CONV_COUNT && devices[d]; model++)
            for (int norm = 0; norm < NN_NORM_COUNT; norm++) {
                nn_config config = golden_config((nn_conv_kind)model, (nn_norm_kind)norm, LAYERS);
                check_levels(devices[d], config);
                config.hidden = 72;
                if (d == 0)
                    check_levels(devices[d], config);
            }
}

/* With as many hidden columns as classes the last layer has a skip too. */
static void test_recomputed_bits_with_skips(void) {
    const struct {
        nn_conv_kind model;
        nn_norm_kind norm;
    } rows[] = {{NN_GCN, NN_GROUP}, {NN_GAT, NN_BATCH}, {NN_GCN, NN_NONE}, {NN_GAT, NN_NONE}, {NN_GCN, NN_PAIR}};
    for (int d = 0; d < GOLDEN_DEVICES; d++)
        for (size_t i = 0; i < sizeof rows / sizeof *rows && devices[d]; i++)
            for (int skip = NN_SKIP_RESIDUAL; skip < NN_SKIP_COUNT; skip++) {
                nn_config config = golden_config(rows[i].model, rows[i].norm, LAYERS);
                config.skip = (nn_skip_kind)skip;
                config.skip_weight = 0.4;
                check_levels(devices[d], config);
                config.hidden = graph->classes;
                if (d == 0)
                    check_levels(devices[d], config);
            }
}

static void test_recomputed_bits_of_modules(void) {
    for (int d = 0; d < GOLDEN_DEVICES; d++)
        for (int i = 0; i < 2 * NN_NORM_COUNT && devices[d]; i++) {
            nn_config config = golden_config(i % 2 ? NN_GAT : NN_GCN, (nn_norm_kind)(i / 2), LAYERS);
            config.bias = NN_ON;
            config.heads = i % 2 ? 4 : 1;
            config.last_norm = NN_OFF;
            config.last_act = i / 2 % 2 ? NN_ON : NN_OFF;
            check_levels(devices[d], config);
            config.skip = NN_SKIP_INITIAL;
            config.skip_weight = 0.4;
            config.hidden = config.heads * graph->classes;
            if (d == 0)
                check_levels(devices[d], config);
        }
}

static void test_backward_follows_its_forward(void) {
    nn_config config = golden_config(NN_GCN, NN_GROUP, LAYERS);
    nn_pass training = {.training = true, .seed = 5, .epoch = 1};
    config.recompute = 2;
    trained t = make(devices[0], &config);
    golden_ok(nn_forward(t.model, &training));
    golden_ok(nn_forward(t.model, &(nn_pass){.training = false}));
    TEST_ASSERT_EQUAL(FATHOM_FAILURE, nn_backward(t.model, &training));
    golden_ok(nn_forward(t.model, &training));
    golden_ok(nn_loss(t.model));
    golden_ok(nn_backward(t.model, &training));
    TEST_ASSERT_EQUAL(FATHOM_FAILURE, nn_backward(t.model, &training));
    release(&t);
}

/* ---- which layer was not finite ---- */

/* The step that follows leaves no finite weight. */
static void break_layer_4(nn_model *m) {
    float *values = NULL;
    golden_ok(mem_new(&values, nn_block_len(m, NN_WEIGHTS), 1, sizeof *values, "weights"));
    golden_ok(nn_get_block(values, m, NN_WEIGHTS));
    for (int64_t i = 0; i < nn_param_count(m); i++) {
        const nn_param *p = nn_param_at(m, i);
        for (int64_t e = 0; strncmp(p->name, "convs.3.", 8) == 0 && e < p->rows * p->cols; e++)
            values[p->off + e] = NAN;
    }
    golden_ok(nn_set_block(m, NN_WEIGHTS, values));
    mem_free(values);
}

static void test_the_layer_with_non_finite_values_is_named(void) {
    const int64_t levels[] = {NN_RECOMPUTE_NONE, NN_RECOMPUTE_NORM, 1, 2, 3, LAYERS};
    for (int d = 0; d < GOLDEN_DEVICES; d++)
        for (size_t i = 0; i < sizeof levels / sizeof *levels && devices[d]; i++)
            for (int row = 0; row < NN_NORM_COUNT * NN_SKIP_COUNT; row++) {
                nn_config config = golden_config(NN_GCN, (nn_norm_kind)(row % NN_NORM_COUNT), LAYERS);
                config.skip = (nn_skip_kind)(row / NN_NORM_COUNT);
                config.skip_weight = 0.4;
                config.bias = config.last_norm = row % 2 ? NN_ON : NN_OFF;
                nn_pass pass = {.training = true, .seed = 5, .epoch = 2};
                nn_epoch_stats stats = {0};
                int64_t layer;
                config.recompute = levels[i];
                trained t = make(devices[d], &config);
                epoch(t.model, 1, &stats);
                break_layer_4(t.model);
                epoch(t.model, 2, &stats);
                TEST_ASSERT_FALSE(isfinite(stats.loss));
                golden_ok(nn_first_nonfinite_layer(&layer, t.model, &pass));
                TEST_ASSERT_EQUAL_INT64(4, layer);
                release(&t);
            }
}

/* ---- memory ---- */

static const nn_shape arxiv = {
    .nodes = 169343, .features = 128, .classes = 40, .entries = 2 * 1166243 + 169343, .dense = true};

static nn_config wide(nn_conv_kind model, nn_norm_kind norm, int64_t layers) {
    nn_config config = golden_config(model, norm, layers);
    config.hidden = 256;
    config.groups = 10;
    config.recompute = NN_RECOMPUTE_SEGMENTS;
    return config;
}

/* A graph of ogbn-arxiv's size. */
static void test_segments_of_a_deep_network_fit(void) {
    const struct {
        int64_t layers;
        double most[NN_CONV_COUNT]; /* GB */
    } bars[] = {{32, {3.6, 4.1, 0.7, 4.6}}, {128, {6.6, 7.8, 1.2, 8.2}}, {1000, {18.1, 21.9, 2.9, 22}}};
    for (size_t i = 0; i < sizeof bars / sizeof *bars; i++)
        for (int model = 0; model < NN_CONV_COUNT; model++) {
            nn_config config = wide((nn_conv_kind)model, NN_GROUP, bars[i].layers);
            nn_bytes bytes;
            char what[128];
            golden_ok(nn_plan_bytes(&bytes, &config, &arxiv));
            snprintf(what, sizeof what, "%s, %d layers: %.2f GB in segments of %d", nn_conv_name(config.model),
                     (int)config.layers, (double)bytes.total / 1e9, (int)bytes.recompute);
            puts(what);
            TEST_ASSERT_TRUE_MESSAGE((double)bytes.total <= 1e9 * bars[i].most[model], what);
        }
}

static void test_segments_have_the_length_of_the_fewest_bytes(void) {
    for (int model = 0; model < NN_CONV_COUNT; model++)
        for (int row = 0; row < NN_NORM_COUNT * NN_SKIP_COUNT; row++) {
            nn_config config = wide((nn_conv_kind)model, (nn_norm_kind)(row % NN_NORM_COUNT), 45);
            nn_bytes chosen, bytes;
            config.skip = (nn_skip_kind)(row / NN_NORM_COUNT);
            golden_ok(nn_plan_bytes(&chosen, &config, &arxiv));
            for (config.recompute = 1; config.recompute <= config.layers; config.recompute++) {
                golden_ok(nn_plan_bytes(&bytes, &config, &arxiv));
                TEST_ASSERT_TRUE(bytes.total >= chosen.total);
            }
        }
}

/* GCN with group norm, 1000 layers of 256: in segments skips add B_k to each layer of one segment, and a layer. */
static void test_skips_take_little_more_memory_in_segments(void) {
    nn_config config = wide(NN_GCN, NN_GROUP, 1000);
    nn_bytes none, bytes;
    golden_ok(nn_plan_bytes(&none, &config, &arxiv));
    for (int skip = NN_SKIP_RESIDUAL; skip < NN_SKIP_COUNT; skip++) {
        config.skip = (nn_skip_kind)skip;
        golden_ok(nn_plan_bytes(&bytes, &config, &arxiv));
        printf("skip %s: %.2f GB in segments of %d, %.2f without\n", nn_skip_name(config.skip),
               (double)bytes.total / 1e9, (int)bytes.recompute, (double)none.total / 1e9);
        TEST_ASSERT_TRUE((double)bytes.total < 1.3 * (double)none.total);
    }
}

static void test_planned_is_what_is_allocated(void) {
    const int64_t levels[] = {NN_RECOMPUTE_NORM, 1, 3, LAYERS};
    for (int row = 0; row < NN_CONV_COUNT * NN_SKIP_COUNT; row++)
        for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
            nn_config config = golden_config((nn_conv_kind)(row % NN_CONV_COUNT), NN_GROUP, LAYERS);
            config.skip = (nn_skip_kind)(row / NN_CONV_COUNT);
            config.skip_weight = 0.4;
            config.heads = config.model == NN_GAT && i % 2 ? 4 : 1;
            config.last_norm = i % 2 ? NN_OFF : NN_ON;
            int64_t before = be_count(devices[0]).live_bytes;
            config.recompute = levels[i];
            trained t = make(devices[0], &config);
            double used = (double)(be_count(devices[0]).live_bytes - before);
            double planned = (double)nn_model_bytes(t.model)->total;
            TEST_ASSERT_TRUE(fabs(used - planned) < 0.02 * planned);
            release(&t);
            TEST_ASSERT_EQUAL_INT64(before, be_count(devices[0]).live_bytes);
        }
}

/* ---- the choice ---- */

static nn_bytes bytes_of(nn_config config, int64_t level) {
    nn_bytes bytes;
    config.recompute = level;
    golden_ok(nn_plan_bytes(&bytes, &config, &arxiv));
    return bytes;
}

static void test_auto_is_the_level_of_least_time_that_fits(void) {
    nn_config config = wide(NN_GCN, NN_GROUP, 32);
    nn_bytes none = bytes_of(config, NN_RECOMPUTE_NONE), norm = bytes_of(config, NN_RECOMPUTE_NORM),
             segments = bytes_of(config, NN_RECOMPUTE_SEGMENTS);
    TEST_ASSERT_TRUE(segments.total < norm.total && norm.total < none.total);
    TEST_ASSERT_TRUE(segments.time > norm.time && norm.time > none.time && none.time == 1);
    const struct {
        int64_t memory, level;
    } rows[] = {
        {0, NN_RECOMPUTE_NONE},          {none.total, NN_RECOMPUTE_NONE},      {none.total - 1, NN_RECOMPUTE_NORM},
        {norm.total, NN_RECOMPUTE_NORM}, {norm.total - 1, segments.recompute}, {1000, segments.recompute}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        be_info info = {.name = "a device", .memory_bytes = rows[i].memory};
        config.recompute = NN_RECOMPUTE_AUTO;
        golden_ok(nn_recompute_choose(&config, &arxiv, &info));
        TEST_ASSERT_EQUAL_INT64(rows[i].level, config.recompute);
    }
    /* in place there is nothing that `norm` saves, and with skips H_k does not follow from Z_k */
    config.norm = NN_NONE;
    TEST_ASSERT_EQUAL_INT64(NN_RECOMPUTE_NONE, bytes_of(config, NN_RECOMPUTE_NORM).recompute);
    config.norm = NN_GROUP;
    config.skip = NN_SKIP_RESIDUAL;
    TEST_ASSERT_EQUAL_INT64(NN_RECOMPUTE_NONE, bytes_of(config, NN_RECOMPUTE_NORM).recompute);
    none = bytes_of(config, NN_RECOMPUTE_NONE);
    config.recompute = NN_RECOMPUTE_AUTO;
    golden_ok(nn_recompute_choose(&config, &arxiv, &(be_info){.name = "a device", .memory_bytes = none.total - 1}));
    TEST_ASSERT_TRUE(config.recompute > 0);
}

static void refuse(nn_config config, int64_t memory, int64_t level, const char *words) {
    be_info info = {.name = "a device", .memory_bytes = memory};
    nn_bytes bytes = bytes_of(config, level);
    config.recompute = level;
    TEST_ASSERT_EQUAL(FATHOM_MEMORY, nn_plan_check(&bytes, &config, &arxiv, &info));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(fathom_last_error(), words), fathom_last_error());
}

static void test_a_refused_plan_names_the_level_that_would_fit(void) {
    nn_config config = wide(NN_GCN, NN_GROUP, 32);
    int64_t norm = bytes_of(config, NN_RECOMPUTE_NORM).total;
    nn_bytes segments = bytes_of(config, NN_RECOMPUTE_SEGMENTS);
    char words[64];
    refuse(config, norm, NN_RECOMPUTE_NONE, "--recompute norm would fit");
    snprintf(words, sizeof words, "--recompute segments:%d would fit with %lld", (int)segments.recompute,
             (long long)segments.total);
    refuse(config, norm - 1, NN_RECOMPUTE_NONE, words);
    refuse(config, segments.total, 1, words);
    refuse(config, segments.total - 1, NN_RECOMPUTE_NORM, "layers would fit with --recompute segments, or");
    refuse(config, segments.total - 1, segments.recompute, "layers would fit, or");
}

static void test_a_segment_is_no_longer_than_the_network(void) {
    nn_config config = golden_config(NN_GCN, NN_GROUP, LAYERS);
    config.recompute = LAYERS + 1;
    TEST_ASSERT_EQUAL(FATHOM_USAGE, nn_config_check(&config));
    TEST_ASSERT_NOT_NULL(strstr(fathom_last_error(), "segment of 8 layers is longer than the network of 7"));
    config.recompute = NN_RECOMPUTE_SEGMENTS - 1;
    TEST_ASSERT_EQUAL(FATHOM_USAGE, nn_config_check(&config));
}

int main(void) {
    UNITY_BEGIN();
    for (int d = 0; d < GOLDEN_DEVICES; d++)
        devices[d] = golden_device(d);
    graph = golden_graph();
    RUN_TEST(test_recomputed_bits_are_those_of_keeping_all);
    RUN_TEST(test_recomputed_bits_with_skips);
    RUN_TEST(test_recomputed_bits_of_modules);
    RUN_TEST(test_backward_follows_its_forward);
    RUN_TEST(test_the_layer_with_non_finite_values_is_named);
    RUN_TEST(test_segments_of_a_deep_network_fit);
    RUN_TEST(test_segments_have_the_length_of_the_fewest_bytes);
    RUN_TEST(test_skips_take_little_more_memory_in_segments);
    RUN_TEST(test_planned_is_what_is_allocated);
    RUN_TEST(test_auto_is_the_level_of_least_time_that_fits);
    RUN_TEST(test_a_refused_plan_names_the_level_that_would_fit);
    RUN_TEST(test_a_segment_is_no_longer_than_the_network);
    golden_set_free(graph);
    for (int d = 0; d < GOLDEN_DEVICES; d++)
        be_close(devices[d]);
    return support_end();
}
