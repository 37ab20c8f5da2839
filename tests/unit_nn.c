/* unit_nn.c - networks beyond the golden vectors: gradients with dropout and skip connections against differences of
 * the loss, sparse against dense features, nodes in another order, and graphs at the edge (one node, no edge, one
 * class, many classes, one layer, one group). labels: opencl */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "core/random.h"
#include "nn/nn.h"
#include "support/golden.h"
#include "support/support.h"

static be_device *devices[GOLDEN_DEVICES];
static data_set *graph;

void setUp(void) {}
void tearDown(void) {}

static double loss_of(nn_model *m, const nn_pass *pass) {
    nn_epoch_stats stats = {0};
    golden_ok(nn_forward(m, pass));
    golden_ok(nn_loss(m));
    golden_ok(nn_read_stats(&stats, m));
    return (double)stats.loss;
}

/* (L(w + e d) - L(w - e d)) / 2e along d = g / |g|. */
static double slope_at(nn_model *m, const float *w, const float *g, double length, double e) {
    nn_pass pass = {.training = true, .seed = 5, .epoch = 3};
    int64_t total = nn_block_len(m, NN_WEIGHTS);
    float *moved = NULL;
    double losses[2];
    golden_ok(mem_new(&moved, total, 1, sizeof *w, "w"));
    for (int side = 0; side < 2; side++) {
        memcpy(moved, w, (size_t)total * sizeof *w);
        for (int64_t i = 0; i < nn_block_len(m, NN_GRADS); i++)
            moved[i] += (float)((side ? -e : e) * (double)g[i] / length);
        golden_ok(nn_set_block(m, NN_WEIGHTS, moved));
        losses[side] = loss_of(m, &pass);
    }
    mem_free(moved);
    return (losses[0] - losses[1]) / (2 * e);
}

/* The slope along the gradient is its length: with the same masks in forward and backward they agree up to float32 and
 * the kinks of ReLU, of which a step four times smaller crosses fewer; a wrong mask is off by tens of per cent. */
static void check_direction(nn_model *m, const char *what) {
    nn_pass pass = {.training = true, .seed = 5, .epoch = 3};
    int64_t trained = nn_block_len(m, NN_GRADS);
    float *w = NULL, *g = NULL;
    golden_ok(mem_new(&w, nn_block_len(m, NN_WEIGHTS), 1, sizeof *w, "w"));
    golden_ok(mem_new(&g, trained, 1, sizeof *w, "g"));
    loss_of(m, &pass);
    golden_ok(nn_backward(m, &pass));
    golden_ok(nn_get_block(w, m, NN_WEIGHTS));
    golden_ok(nn_get_block(g, m, NN_GRADS));
    double length = 0;
    for (int64_t i = 0; i < trained; i++)
        length += (double)g[i] * (double)g[i];
    length = sqrt(length);
    double slope = slope_at(m, w, g, length, 2e-3);
    if (fabs(slope - length) >= 0.03 * length)
        slope = slope_at(m, w, g, length, 5e-4);
    char message[128];
    snprintf(message, sizeof message, "%s: slope %.6g, gradient %.6g", what, slope, length);
    TEST_ASSERT_TRUE_MESSAGE(length > 1e-4 && fabs(slope - length) < 0.03 * length, message);
    mem_free(w);
    mem_free(g);
}

static void check_gradients(be_device *dev, const nn_config *config, const char *what) {
    nn_input *input = NULL;
    nn_model *m = NULL;
    golden_ok(nn_input_make(&input, dev, graph, config->model));
    golden_ok(nn_model_make(&m, config, input));
    golden_ok(nn_init(m, 11));
    check_direction(m, what);
    nn_model_free(m);
    nn_input_free(input);
}

static void test_gradients_with_dropout(void) {
    for (int d = 0; d < GOLDEN_DEVICES; d++)
        for (int model = 0; model < NN_CONV_COUNT && devices[d]; model++) {
            char what[64];
            nn_config config = golden_config((nn_conv_kind)model, NN_GROUP, 3);
            snprintf(what, sizeof what, "%s on device %d", nn_conv_name(config.model), d);
            check_gradients(devices[d], &config, what);
        }
}

/* With as many hidden columns as classes the last layer has a skip too, and with two layers the skip is dropped. */
static void test_gradients_with_skips_and_dropout(void) {
    for (int d = 0; d < GOLDEN_DEVICES; d++)
        for (int i = 0; i < 2 * 2 * NN_NORM_COUNT * 3 && devices[d]; i++) {
            char what[96];
            const int64_t layers[] = {2, 3, 6};
            nn_config config = golden_config(i % 2 ? NN_GAT : NN_GCN, (nn_norm_kind)(i / 2 % NN_NORM_COUNT),
                                             layers[i / 2 / NN_NORM_COUNT % 3]);
            config.skip = i / 2 / NN_NORM_COUNT / 3 ? NN_SKIP_INITIAL : NN_SKIP_RESIDUAL;
            config.skip_weight = 0.4;
            config.hidden = config.layers == 6 ? 8 : graph->classes;
            snprintf(what, sizeof what, "%s, %s norm, %d layers, skip %s on device %d", nn_conv_name(config.model),
                     nn_norm_name(config.norm), (int)config.layers, nn_skip_name(config.skip), d);
            check_gradients(devices[d], &config, what);
        }
}

/* ---- DropEdge ---- */

static void test_gradients_with_dropped_edges(void) {
    for (int d = 0; d < GOLDEN_DEVICES; d++)
        for (int model = 0; model < NN_CONV_COUNT && devices[d]; model++) {
            char what[64];
            nn_config config = golden_config((nn_conv_kind)model, NN_BATCH, 3);
            if (config.model == NN_GAT)
                continue;
            config.drop_edge = 0.4;
            snprintf(what, sizeof what, "%s with dropped edges on device %d", nn_conv_name(config.model), d);
            check_gradients(devices[d], &config, what);
        }
}

/* Biases, heads, and networks without norm or ReLU after the last layer; one layer is the last one. */
static void test_gradients_of_modules(void) {
    for (int d = 0; d < GOLDEN_DEVICES; d++)
        for (int i = 0; i < NN_CONV_COUNT * NN_NORM_COUNT * 3 && devices[d]; i++) {
            char what[96];
            int model = i % NN_CONV_COUNT, norm = i / NN_CONV_COUNT % NN_NORM_COUNT,
                kind = i / NN_CONV_COUNT / NN_NORM_COUNT;
            nn_config config = golden_config((nn_conv_kind)model, (nn_norm_kind)norm, (norm + kind) % 2 ? 3 : 1);
            config.bias = nn_takes_bias(config.model) ? NN_ON : NN_OFF;
            config.heads = config.model == NN_GAT ? 2 << kind : 1;
            config.last_norm = kind == 2 ? NN_OFF : NN_ON;
            config.last_act = kind == 0 ? NN_ON : NN_OFF; /* raw logits would be at the kink of the ReLU */
            snprintf(what, sizeof what, "%s, %s norm, %d layers, %d heads, last norm %s, last act %s, device %d",
                     nn_conv_name(config.model), nn_norm_name(config.norm), (int)config.layers, (int)config.heads,
                     nn_switch_name(config.last_norm), nn_switch_name(config.last_act), d);
            check_gradients(devices[d], &config, what);
        }
}

/* ---- one step from equal state on every back end, at depth ---- */

static void one_step(be_device *dev, const nn_config *config, float **block, int64_t *length, double *loss) {
    nn_input *input = NULL;
    nn_model *m = NULL;
    nn_pass pass = {.training = true, .seed = 5, .epoch = 1};
    golden_ok(nn_input_make(&input, dev, graph, config->model));
    golden_ok(nn_model_make(&m, config, input));
    golden_ok(nn_init(m, 11));
    *loss = loss_of(m, &pass);
    golden_ok(nn_backward(m, &pass));
    *length = nn_block_len(m, NN_GRADS);
    golden_ok(mem_new(block, *length, 1, sizeof **block, "gradients"));
    golden_ok(nn_get_block(*block, m, NN_GRADS));
    nn_model_free(m);
    nn_input_free(input);
}

static void test_one_step_is_the_same_on_every_back_end(void) {
    if (!devices[1])
        TEST_IGNORE_MESSAGE("no OpenCL device to compare the CPU back end with");
    for (int model = 0; model < NN_CONV_COUNT; model++) {
        nn_config config = golden_config((nn_conv_kind)model, NN_GROUP, 20);
        float *a = NULL, *b = NULL;
        int64_t length;
        double losses[2];
        char message[128];
        one_step(devices[0], &config, &a, &length, &losses[0]);
        one_step(devices[1], &config, &b, &length, &losses[1]);
        double nmse = golden_nmse(b, a, length);
        snprintf(message, sizeof message, "%s: gradients nmse %.3g, losses %.8g %.8g", nn_conv_name(config.model), nmse,
                 losses[0], losses[1]);
        TEST_ASSERT_TRUE_MESSAGE(nmse < 1e-7 && fabs(losses[0] - losses[1]) < 1e-5 * losses[0], message);
        mem_free(a);
        mem_free(b);
    }
}

static void test_dense_features_equal_sparse_ones(void) {
    data_set dense = *graph;
    float *x = NULL, *block[2] = {NULL, NULL};
    int64_t cols = graph->input.cols, length;
    double losses[2];
    golden_ok(mem_new(&x, graph->graph.nodes, cols, sizeof *x, "x"));
    for (int32_t v = 0; v < graph->graph.nodes; v++)
        for (int64_t e = graph->input.indptr[v]; e < graph->input.indptr[v + 1]; e++)
            x[v * cols + graph->input.indices[e]] = graph->input.values[e];
    dense.input = (data_features){.rows = graph->graph.nodes, .cols = (int32_t)cols, .dense = true, .values = x};
    for (int model = 0; model < NN_CONV_COUNT; model++) {
        nn_config config = golden_config((nn_conv_kind)model, NN_BATCH, 2);
        config.dropout = 0; /* masks number the stored entries, and dense features store more */
        one_step(devices[0], &config, &block[0], &length, &losses[0]);
        data_set *sparse = graph;
        graph = &dense;
        one_step(devices[0], &config, &block[1], &length, &losses[1]);
        graph = sparse;
        TEST_ASSERT_TRUE(golden_nmse(block[1], block[0], length) < 1e-10);
        mem_free(block[0]);
        mem_free(block[1]);
    }
    graph->input.dense = false;
    mem_free(x);
}

/* ---- nodes in another order ---- */

/* `set` with node order[i] renumbered i, in split and labels too. */
static data_set *renumbered(const data_set *set, const int32_t *order) {
    data_set *out = NULL;
    int32_t n = set->graph.nodes, *place = NULL;
    const data_split *s = &set->split;
    golden_ok(mem_new(&out, 1, 1, sizeof *out, "set"));
    golden_ok(mem_new(&place, n, 1, sizeof *place, "places"));
    golden_ok(mem_new(&out->labels, n, 1, sizeof *out->labels, "labels"));
    golden_ok(data_graph_permute(&out->graph, &set->graph, order));
    golden_ok(data_features_permute(&out->features, &set->input, order));
    out->input = out->features;
    out->classes = set->classes;
    for (int32_t i = 0; i < n; i++) {
        out->labels[i] = set->labels[order[i]];
        place[order[i]] = i;
    }
    out->split.train_count = s->train_count;
    golden_ok(mem_new(&out->split.train, s->train_count, 1, sizeof *place, "split"));
    for (int32_t i = 0; i < s->train_count; i++)
        out->split.train[i] = place[s->train[i]];
    mem_free(place);
    return out;
}

typedef struct result {
    double loss;
    int32_t correct;
    float *logits, *assignment, *grads;
    int64_t grad_count;
    bool ordered; /* nodes are reordered on the device */
} result;

static result run_on(be_device *dev, const data_set *set, const nn_config *config) {
    result r = {0};
    nn_input *input = NULL;
    nn_model *m = NULL;
    nn_epoch_stats stats = {0};
    nn_pass training = {.training = true, .seed = 5, .epoch = 1}, evaluation = {.training = false};
    golden_ok(nn_input_make(&input, dev, set, config->model));
    golden_ok(nn_model_make(&m, config, input));
    golden_ok(nn_init(m, 11));
    r.ordered = input->order != NULL;
    r.loss = loss_of(m, &training);
    golden_ok(nn_backward(m, &training));
    r.grad_count = nn_block_len(m, NN_GRADS);
    golden_ok(mem_new(&r.grads, r.grad_count, 1, sizeof *r.grads, "gradients"));
    golden_ok(mem_new(&r.logits, set->graph.nodes, set->classes, sizeof *r.logits, "logits"));
    golden_ok(mem_new(&r.assignment, set->graph.nodes, config->groups, sizeof *r.assignment, "assignment"));
    golden_ok(nn_get_block(r.grads, m, NN_GRADS));
    golden_ok(nn_forward(m, &evaluation));
    golden_ok(nn_count_correct(m));
    golden_ok(nn_read_stats(&stats, m));
    r.correct = stats.correct[NN_TRAIN];
    golden_ok(nn_get_logits(r.logits, m, &evaluation));
    golden_ok(nn_get_assignment(r.assignment, m, &evaluation));
    nn_model_free(m);
    nn_input_free(input);
    return r;
}

static void result_free(result *r) {
    mem_free(r->logits);
    mem_free(r->assignment);
    mem_free(r->grads);
}

/* Row i of `got` is node order[i] of `wanted`. Other summation orders differ by about 1e-13. */
static void check_rows(const float *got, const float *wanted, const int32_t *order, int64_t rows, int64_t cols) {
    float *moved = NULL;
    golden_ok(mem_new(&moved, rows, cols, sizeof *moved, "rows"));
    for (int64_t i = 0; i < rows; i++)
        memcpy(moved + order[i] * cols, got + i * cols, (size_t)cols * sizeof *got);
    TEST_ASSERT_TRUE(golden_nmse(moved, wanted, rows * cols) < 1e-9);
    mem_free(moved);
}

/* Results do not depend on how nodes are numbered, nor on their order on the device. */
static void test_results_stay_with_their_nodes(void) {
    int32_t n = graph->graph.nodes, *order = NULL;
    random_source source = random_from(3, RANDOM_TEST, 0, 0);
    golden_ok(mem_new(&order, n, 1, sizeof *order, "order"));
    for (int32_t i = 0; i < n; i++)
        order[i] = i;
    random_shuffle(&source, order, (uint32_t)n);
    data_set *shuffled = renumbered(graph, order);
    for (int d = 0; d < GOLDEN_DEVICES; d++)
        for (int model = 0; model < NN_CONV_COUNT && devices[d]; model++) {
            nn_config config = golden_config((nn_conv_kind)model, NN_GROUP, 3);
            config.dropout = 0; /* masks depend on the row on the device */
            result a = run_on(devices[d], graph, &config), b = run_on(devices[d], shuffled, &config);
            TEST_ASSERT_TRUE_MESSAGE(b.ordered, "the shuffled graph was not reordered");
            TEST_ASSERT_TRUE(fabs(a.loss - b.loss) < 1e-5 * a.loss);
            TEST_ASSERT_EQUAL_INT32(a.correct, b.correct);
            TEST_ASSERT_TRUE(golden_nmse(b.grads, a.grads, a.grad_count) < 1e-9);
            check_rows(b.logits, a.logits, order, n, graph->classes);
            check_rows(b.assignment, a.assignment, order, n, config.groups);
            result_free(&a);
            result_free(&b);
        }
    golden_set_free(shuffled);
    mem_free(order);
}

/* ---- graphs at the edge ---- */

static void train_a_little(data_set *set, const nn_config *config) {
    for (int d = 0; d < GOLDEN_DEVICES; d++) {
        nn_input *input = NULL;
        nn_model *m = NULL;
        nn_epoch_stats stats = {0};
        if (!devices[d])
            continue;
        golden_ok(nn_input_make(&input, devices[d], set, config->model));
        golden_ok(nn_model_make(&m, config, input));
        golden_ok(nn_init(m, 3));
        for (int64_t step = 1; step <= 3; step++) {
            nn_pass pass = {.training = true, .seed = 3, .epoch = (uint32_t)step};
            TEST_ASSERT_TRUE(isfinite(loss_of(m, &pass)));
            golden_ok(nn_backward(m, &pass));
            golden_ok(nn_step(m, 0.01, 5e-4, step));
        }
        golden_ok(nn_forward(m, &(nn_pass){.training = false}));
        golden_ok(nn_count_correct(m));
        golden_ok(nn_read_stats(&stats, m));
        TEST_ASSERT_TRUE(stats.correct[NN_TRAIN] >= 0 && stats.correct[NN_TRAIN] <= set->graph.nodes);
        nn_model_free(m);
        nn_input_free(input);
    }
}

static void each_network(data_set *set, int64_t layers, int64_t groups) {
    for (int model = 0; model < NN_CONV_COUNT; model++)
        for (int norm = 0; norm < NN_NORM_COUNT; norm++) {
            nn_config config = golden_config((nn_conv_kind)model, (nn_norm_kind)norm, layers);
            config.groups = groups;
            train_a_little(set, &config);
        }
    golden_set_free(set);
}

static const float features[] = {1, 0, 2, 0, 3, 0, 1, 1, 0};
static const int32_t from[] = {0, 1}, to[] = {1, 2}, labels[] = {0, 1, 0};

static void test_one_node(void) { each_network(golden_set(1, 3, 2, from, to, 0, features, labels, 1), 2, 3); }
static void test_no_edge(void) { each_network(golden_set(3, 3, 2, from, to, 0, features, labels, 2), 2, 3); }
static void test_one_class(void) {
    each_network(golden_set(3, 3, 1, from, to, 2, features, (const int32_t[]){0, 0, 0}, 2), 2, 3);
}
static void test_one_layer_and_one_group(void) {
    each_network(golden_set(3, 3, 2, from, to, 2, features, labels, 2), 1, 1);
}
static void test_features_without_a_value(void) {
    each_network(golden_set(3, 3, 2, from, to, 2, (const float[9]){0}, labels, 2), 2, 3);
}

/* Layers narrow enough for the fused GCN step between features and logits that are not. */
static void test_many_classes(void) {
    enum { NODES = 70 };
    int32_t edge_from[NODES], edge_to[NODES], label[NODES];
    float x[NODES * 3];
    for (int32_t v = 0; v < NODES; v++) {
        edge_from[v] = v;
        edge_to[v] = (v * 7 + 1) % NODES;
        label[v] = v;
        for (int j = 0; j < 3; j++)
            x[v * 3 + j] = (float)((v + j) % 5);
    }
    each_network(golden_set(NODES, 3, NODES, edge_from, edge_to, NODES, x, label, 2), 4, 3);
}

/* The assignment to one group has no gradient and no weight decay. */
static void test_one_group_keeps_its_assignment(void) {
    nn_input *input = NULL;
    nn_model *m = NULL;
    nn_config config = golden_config(NN_GCN, NN_GROUP, 2);
    nn_pass pass = {.training = true, .seed = 1, .epoch = 1};
    float *before = NULL, *after = NULL;
    config.groups = 1;
    golden_ok(nn_input_make(&input, devices[0], graph, NN_GCN));
    golden_ok(nn_model_make(&m, &config, input));
    golden_ok(nn_init(m, 3));
    int64_t total = nn_block_len(m, NN_WEIGHTS), fixed = 0;
    golden_ok(mem_new(&before, total, 1, sizeof *before, "w"));
    golden_ok(mem_new(&after, total, 1, sizeof *after, "w"));
    golden_ok(nn_get_block(before, m, NN_WEIGHTS));
    loss_of(m, &pass);
    golden_ok(nn_backward(m, &pass));
    golden_ok(nn_step(m, 0.1, 0.1, 1));
    golden_ok(nn_get_block(after, m, NN_WEIGHTS));
    for (int64_t i = 0; i < nn_param_count(m); i++) {
        const nn_param *p = nn_param_at(m, i);
        bool same = memcmp(before + p->off, after + p->off, (size_t)(p->rows * p->cols) * sizeof(float)) == 0;
        fixed += p->kind == NN_FIXED;
        TEST_ASSERT_EQUAL_MESSAGE(p->kind == NN_FIXED, same, p->name);
    }
    TEST_ASSERT_EQUAL_INT64(4, fixed);
    mem_free(before);
    mem_free(after);
    nn_model_free(m);
    nn_input_free(input);
}

static void test_a_split_that_names_no_node(void) {
    nn_input *input = NULL;
    int32_t first = graph->split.train[0];
    graph->split.train[0] = graph->graph.nodes;
    TEST_ASSERT_EQUAL(FATHOM_DATA, nn_input_make(&input, devices[0], graph, NN_GCN));
    graph->split.train[0] = first;
    TEST_ASSERT_NULL(input);
}

int main(void) {
    UNITY_BEGIN();
    for (int d = 0; d < GOLDEN_DEVICES; d++)
        devices[d] = golden_device(d);
    graph = golden_graph();
    RUN_TEST(test_gradients_with_dropout);
    RUN_TEST(test_gradients_with_skips_and_dropout);
    RUN_TEST(test_gradients_with_dropped_edges);
    RUN_TEST(test_gradients_of_modules);
    RUN_TEST(test_one_step_is_the_same_on_every_back_end);
    RUN_TEST(test_dense_features_equal_sparse_ones);
    RUN_TEST(test_results_stay_with_their_nodes);
    RUN_TEST(test_one_node);
    RUN_TEST(test_no_edge);
    RUN_TEST(test_one_class);
    RUN_TEST(test_many_classes);
    RUN_TEST(test_one_layer_and_one_group);
    RUN_TEST(test_features_without_a_value);
    RUN_TEST(test_one_group_keeps_its_assignment);
    RUN_TEST(test_a_split_that_names_no_node);
    golden_set_free(graph);
    for (int d = 0; d < GOLDEN_DEVICES; d++)
        be_close(devices[d]);
    return support_end();
}
