/* unit_golden_models.c - every model with every norm against float64 vectors from PyTorch Geometric: logits, loss, each
 * gradient, ten steps of Adam, running estimates, on every back end; three networks with skip connections
 * (golden/make_skip.py), four with mean and node norm (golden/make_norms.py), and those of torch_geometric.nn.models
 * (golden/make_pyg.py). labels: opencl
 *
 * Bounds: ten times what PyTorch's own float32 reaches for that tensor (nmse32.NAME in the file), or 1e-11, or no entry
 * off by more than 1e-6 of the model's largest gradient entry; losses 1e-5 relative. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "nn/nn.h"
#include "support/golden.h"
#include "support/support.h"
#include "train/checkpoint.h"

static be_device *devices[GOLDEN_DEVICES];
static data_set *set;
static double largest_gradient;

void setUp(void) {}
void tearDown(void) {}

static const nn_pass training = {.training = true, .seed = 1, .epoch = 1}, evaluation = {.training = false};

/* Judges `got` by the array `name` of the file; `like` names the tensor whose nmse32 applies where it has none. */
static void judge(npz_file *file, const char *name, const char *like, const float *got, int64_t count) {
    char key[128], message[256];
    int64_t expected;
    float *want = golden_floats(file, name, &expected);
    TEST_ASSERT_EQUAL_INT64_MESSAGE(expected, count, name);
    snprintf(key, sizeof key, "nmse32.%s", name);
    if (!npz_has(file, key))
        snprintf(key, sizeof key, "nmse32.%s", like);
    double bound = 1e-11, worst = 0, nmse = golden_nmse(got, want, count);
    if (npz_has(file, key) && 10 * golden_number(file, key) > bound)
        bound = 10 * golden_number(file, key);
    for (int64_t i = 0; i < count; i++)
        worst = fmax(worst, fabs((double)got[i] - (double)want[i]));
    mem_free(want);
    bool tiny = strncmp(name, "g.", 2) == 0 && worst <= 1e-6 * largest_gradient;
    snprintf(message, sizeof message, "%s: nmse %.3g above %.3g (largest error %.3g)", name, nmse, bound, worst);
    if (!(nmse <= bound) && !tiny)
        TEST_FAIL_MESSAGE(message);
}

/* Judges every parameter of a block by PREFIX + its name. */
static void judge_block(npz_file *file, const nn_model *model, nn_block block, const char *prefix, bool running) {
    float *values = NULL, *stored = NULL;
    golden_ok(mem_new(&values, nn_block_len(model, block), 1, sizeof *values, "block"));
    golden_ok(mem_new(&stored, nn_block_len(model, NN_WEIGHTS), 1, sizeof *stored, "block"));
    golden_ok(nn_get_block(values, model, block));
    for (int64_t i = 0; i < nn_param_count(model); i++) {
        const nn_param *p = nn_param_at(model, i);
        char name[128], like[128];
        if (p->kind == NN_RUNNING && !running)
            continue;
        snprintf(name, sizeof name, "%s%s", prefix, p->name);
        snprintf(like, sizeof like, "g.%s", p->name);
        nn_param_export(stored, p, values);
        judge(file, name, like, stored, p->rows * p->cols);
    }
    mem_free(values);
    mem_free(stored);
}

static void find_largest_gradient(npz_file *file, const nn_model *model) {
    largest_gradient = 0;
    for (int64_t i = 0; i < nn_param_count(model); i++) {
        char name[128];
        int64_t count;
        snprintf(name, sizeof name, "g.%s", nn_param_at(model, i)->name);
        if (!npz_has(file, name))
            continue;
        float *g = golden_floats(file, name, &count);
        for (int64_t e = 0; e < count; e++)
            largest_gradient = fmax(largest_gradient, fabs((double)g[e]));
        mem_free(g);
    }
    TEST_ASSERT_TRUE(largest_gradient > 0);
}

static void judge_logits(npz_file *file, const nn_model *model, const nn_pass *pass, const char *name) {
    float *z = NULL;
    int64_t count = (int64_t)set->graph.nodes * set->classes;
    golden_ok(mem_new(&z, count, 1, sizeof *z, "logits"));
    golden_ok(nn_get_logits(z, model, pass));
    judge(file, name, "logits_train", z, count);
    mem_free(z);
}

static double step(nn_model *model, int64_t number, bool update) {
    nn_epoch_stats stats = {0};
    golden_ok(nn_forward(model, &training));
    golden_ok(nn_loss(model));
    golden_ok(nn_backward(model, &training));
    if (update)
        golden_ok(nn_step(model, 0.01, 5e-4, number));
    golden_ok(nn_read_stats(&stats, model));
    return (double)stats.loss;
}

static void run_model(npz_file *file, nn_model *model, const st_file *weights) {
    int64_t steps;
    find_largest_gradient(file, model);
    golden_ok(nn_init(model, 7));
    golden_ok(checkpoint_load(model, weights));
    golden_ok(nn_forward(model, &evaluation));
    judge_logits(file, model, &evaluation, "logits_eval_initial");
    double want = golden_number(file, "loss"), got = step(model, 1, false);
    TEST_ASSERT_TRUE_MESSAGE(fabs(got - want) <= 1e-5 * fabs(want), "loss");
    judge_logits(file, model, &training, "logits_train");
    judge_block(file, model, NN_GRADS, "g.", false);

    golden_ok(nn_init(model, 8)); /* moments and running estimates as at the start */
    golden_ok(checkpoint_load(model, weights));
    float *losses = golden_floats(file, "adam10_losses", &steps);
    for (int64_t i = 0; i < steps; i++) {
        char message[96];
        got = step(model, i + 1, true);
        snprintf(message, sizeof message, "loss %.9g of Adam step %d, not %.9g", got, (int)i + 1, (double)losses[i]);
        TEST_ASSERT_TRUE_MESSAGE(fabs(got - (double)losses[i]) <= 1e-5 * fabs((double)losses[i]), message);
    }
    mem_free(losses);
    golden_ok(nn_forward(model, &evaluation));
    judge_logits(file, model, &evaluation, "adam10_logits_eval");
    judge_block(file, model, NN_WEIGHTS, "adam10.", true);
}

static void check_model(const char *name) {
    for (int d = 0; d < GOLDEN_DEVICES; d++) {
        char path[128];
        nn_input *input = NULL;
        nn_model *model = NULL;
        st_file *weights = NULL;
        if (!devices[d])
            continue;
        snprintf(path, sizeof path, "tests/golden/model_%s.safetensors", name);
        golden_ok(st_load(&weights, support_source(path)));
        nn_config config = checkpoint_unknown();
        golden_ok(checkpoint_config(&config, weights));
        config.dropout = 0;
        config.momentum = strstr(name, "_pyg") ? 0.1 : 0.3; /* of the preset */
        snprintf(path, sizeof path, "model_%s", name);
        npz_file *file = golden_open(path);
        golden_ok(nn_input_make(&input, devices[d], set, config.model));
        golden_ok(nn_model_make(&model, &config, input));
        run_model(file, model, weights);
        nn_model_free(model);
        nn_input_free(input);
        st_free(weights);
        npz_close(file);
    }
}

#define CASES(X)                                                                                                 \
    X(gcn_none)                                                                                                  \
    X(gcn_batch)                                                                                                 \
    X(gcn_pair)                                                                                                  \
    X(gcn_group)                                                                                                 \
    X(gat_none)                                                                                                  \
    X(gat_batch)                                                                                                 \
    X(gat_pair)                                                                                                  \
    X(gat_group)                                                                                                 \
    X(sgc_none)                                                                                                  \
    X(sgc_batch)                                                                                                 \
    X(sgc_pair)                                                                                                  \
    X(sgc_group)                                                                                                 \
    X(gcnii_none)                                                                                                \
    X(gcnii_batch)                                                                                               \
    X(gcnii_pair)                                                                                                \
    X(gcnii_group)                                                                                               \
    X(gcn_group_initial) X(gcn_group_residual) X(gat_batch_initial) X(gcn_mean) X(gcn_node) X(gat_mean_residual) \
        X(gat_node_residual) X(gcn_none_pyg) X(gcn_group_pyg) X(gat_none_pyg) X(gat_group_pyg)
#define X(name) \
    static void test_##name(void) { check_model(#name); }
CASES(X)
#undef X

static void test_opencl_was_there(void) {
    if (!devices[1])
        TEST_IGNORE_MESSAGE("no OpenCL device: golden models ran on the CPU back end only");
}

int main(void) {
    UNITY_BEGIN();
    for (int d = 0; d < GOLDEN_DEVICES; d++)
        devices[d] = golden_device(d);
    set = golden_graph();
#define X(name) RUN_TEST(test_##name);
    CASES(X)
#undef X
    RUN_TEST(test_opencl_was_there);
    golden_set_free(set);
    for (int d = 0; d < GOLDEN_DEVICES; d++)
        be_close(devices[d]);
    return support_end();
}
