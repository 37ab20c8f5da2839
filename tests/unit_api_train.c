/* unit_api_train.c - fathom.h from data to model: training, stopping, evaluating, measuring, saving, loading, and every
 * status on the way. labels: opencl */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "support/support.h"

#include "fathom/fathom.h"

static fathom_device *device;
static fathom_data *data;

#define OK(call) TEST_ASSERT_EQUAL_INT_MESSAGE(FATHOM_OK, (call), fathom_last_error())
#define FAILS(status, call, word)                                                               \
    do {                                                                                        \
        TEST_ASSERT_EQUAL_INT(FATHOM_##status, (call));                                         \
        TEST_ASSERT_NOT_NULL_MESSAGE(strstr(fathom_last_error(), (word)), fathom_last_error()); \
    } while (0)

void setUp(void) {
    OK(fathom_device_open(&device, "cpu", NULL));
    OK(fathom_data_load(&data, "karate", NULL));
}

void tearDown(void) {
    fathom_data_free(data);
    fathom_device_close(device);
}

static fathom_train_options options_for(int64_t layers, int64_t epochs) {
    fathom_train_options o;
    OK(fathom_train_options_init(&o, sizeof o));
    o.layers = layers;
    o.epochs = epochs;
    return o;
}

/* ---- the way through ---- */

struct seen_layers {
    const float *last; /* what the last layer must be, `count` floats */
    int64_t count, calls, columns, stop_at;
};

static int see_layer(void *user, int64_t k, const float *h, int64_t width) {
    struct seen_layers *seen = user;
    seen->calls++;
    seen->columns += width;
    TEST_ASSERT_EQUAL_INT64(seen->calls, k);
    if (k == 4)
        TEST_ASSERT_EQUAL_MEMORY(seen->last, h, (size_t)seen->count * sizeof *h);
    return k == seen->stop_at;
}

static void a_model_is_trained_evaluated_saved_and_loaded(void) {
    fathom_model *model = NULL, *loaded = NULL;
    fathom_train_options o = options_for(4, 30);
    fathom_result result = {.size = sizeof result};
    fathom_scores scores = {.size = sizeof scores}, again = {.size = sizeof again};
    fathom_metrics metrics = {.size = sizeof metrics}, trained = {.size = sizeof trained};
    fathom_data_info info = {.size = sizeof info};
    fathom_model_info what = {.size = sizeof what};
    OK(fathom_data_describe(data, &info));
    int64_t count = info.nodes * info.classes;
    float *h = calloc((size_t)count, sizeof *h), *h2 = calloc((size_t)count, sizeof *h2);
    OK(fathom_train(&model, device, data, &o));
    OK(fathom_model_result(model, &result));
    TEST_ASSERT_EQUAL_INT64(30, result.epochs);
    TEST_ASSERT_TRUE(result.best_epoch >= 1 && !result.interrupted && !result.fell_back);
    OK(fathom_evaluate(model, device, data, &scores, &metrics, h, count));
    TEST_ASSERT_EQUAL_DOUBLE(result.test_accuracy, scores.test_accuracy);
    TEST_ASSERT_EQUAL_DOUBLE(result.val_accuracy, scores.val_accuracy);
    TEST_ASSERT_TRUE(scores.finite);
    OK(fathom_model_metrics(model, &trained));
    TEST_ASSERT_EQUAL_DOUBLE(trained.group_distance_ratio, metrics.group_distance_ratio);
    TEST_ASSERT_EQUAL_DOUBLE(trained.dirichlet_energy, metrics.dirichlet_energy);
    TEST_ASSERT_TRUE(metrics.rows == FATHOM_METRICS_AUTO && metrics.sampled == info.nodes);
    metrics.rows = 20;
    OK(fathom_evaluate(model, device, data, NULL, &metrics, NULL, 0));
    TEST_ASSERT_TRUE(metrics.rows == 20 && metrics.sampled == 20 && metrics.mean_average_distance_error > 0);
    metrics.size = offsetof(fathom_metrics, rows); /* a program that knows no samples: what lies behind is not read */
    OK(fathom_evaluate(model, device, data, NULL, &metrics, NULL, 0));
    TEST_ASSERT_EQUAL_DOUBLE(trained.mean_average_distance, metrics.mean_average_distance);
    TEST_ASSERT_EQUAL_INT64(20, metrics.sampled);
    TEST_ASSERT_NOT_NULL(strstr(fathom_model_record(model), "\"test_accuracy\""));
    TEST_ASSERT_NULL(strstr(fathom_model_record(model), "\"error\""));

    OK(fathom_model_save(model, "model.safetensors"));
    OK(fathom_model_load(&loaded, "model.safetensors", NULL));
    OK(fathom_model_describe(loaded, &what));
    TEST_ASSERT_TRUE(what.feature_norm == FATHOM_FEATURE_NORM_ROW && what.missing_rate == 0); /* as it was trained */
    TEST_ASSERT_EQUAL_INT(FATHOM_GCN, what.model);
    TEST_ASSERT_EQUAL_INT(FATHOM_NORM_GROUP, what.norm);
    TEST_ASSERT_EQUAL_INT64(4, what.layers);
    TEST_ASSERT_EQUAL_INT64(info.features, what.features);
    TEST_ASSERT_EQUAL_INT64(info.classes, what.classes);
    TEST_ASSERT_EQUAL_INT(1, what.assignment_bias);
    OK(fathom_evaluate(loaded, device, data, &again, NULL, h2, count));
    TEST_ASSERT_EQUAL_MEMORY(h, h2, (size_t)count * sizeof *h);
    TEST_ASSERT_EQUAL_DOUBLE(scores.loss, again.loss);
    struct seen_layers seen = {.last = h, .count = count, .stop_at = 0};
    OK(fathom_evaluate_layers(loaded, device, data, see_layer, &seen));
    TEST_ASSERT_EQUAL_INT64(4, seen.calls); /* the last one is the output */
    TEST_ASSERT_EQUAL_INT64(3 * what.hidden + what.classes, seen.columns);
    seen = (struct seen_layers){.last = h, .count = count, .stop_at = 2};
    FAILS(INTERRUPTED, fathom_evaluate_layers(loaded, device, data, see_layer, &seen), "at layer 2");
    TEST_ASSERT_EQUAL_INT64(2, seen.calls);
    FAILS(USAGE, fathom_evaluate_layers(loaded, device, data, NULL, NULL), "layer is NULL");
    FAILS(USAGE, fathom_model_result(loaded, &result), "was loaded");
    FAILS(USAGE, fathom_model_metrics(loaded, &trained), "was loaded");
    TEST_ASSERT_NULL(fathom_model_record(loaded));
    fathom_model_free(model);
    fathom_model_free(loaded);
    free(h);
    free(h2);
}

static void every_model_and_norm_goes_through_a_file(void) {
    for (int32_t kind = FATHOM_GCN; kind <= FATHOM_GCNII; kind++)
        for (int32_t norm = FATHOM_NORM_NONE; norm <= FATHOM_NORM_GROUP; norm++) {
            fathom_model *model = NULL, *loaded = NULL;
            fathom_train_options o = options_for(3, 2);
            fathom_scores a = {.size = sizeof a}, b = {.size = sizeof b};
            o.model = kind;
            o.norm = norm;
            o.skip = kind <= FATHOM_GAT ? norm % 3 : FATHOM_SKIP_NONE;
            o.bias = kind <= FATHOM_GAT;
            o.heads = kind == FATHOM_GAT ? 4 : 1;
            o.last_norm = norm % 2;
            o.last_act = kind == FATHOM_SGC || norm / 2;
            OK(fathom_train(&model, device, data, &o));
            OK(fathom_model_save(model, "one.safetensors"));
            OK(fathom_model_load(&loaded, "one.safetensors", NULL));
            OK(fathom_evaluate(model, device, data, &a, NULL, NULL, 0));
            OK(fathom_evaluate(loaded, device, data, &b, NULL, NULL, 0));
            TEST_ASSERT_EQUAL_DOUBLE(a.loss, b.loss);
            fathom_model_info info = {.size = sizeof info};
            OK(fathom_model_describe(loaded, &info));
            TEST_ASSERT_EQUAL_INT32(o.skip, info.skip);
            TEST_ASSERT_TRUE(o.bias == info.bias && o.heads == info.heads);
            TEST_ASSERT_TRUE(o.last_norm == info.last_norm && o.last_act == info.last_act);
            TEST_ASSERT_EQUAL(o.skip != FATHOM_SKIP_NONE, info.skip_weight > 0);
            fathom_model_free(model);
            fathom_model_free(loaded);
        }
}

/* ---- the callback ---- */

typedef struct watch {
    int epochs, stop_at;
    double loss;
} watch;

static int look(void *user, const fathom_epoch *e) {
    watch *w = user;
    w->epochs++;
    w->loss = e->loss;
    TEST_ASSERT_EQUAL_INT64(w->epochs, e->epoch);
    return w->epochs == w->stop_at;
}

/* A callback may use the device that is training. */
static int use_device(void *user, const fathom_epoch *e) {
    fathom_metrics metrics = {.size = sizeof metrics};
    const float h[] = {1, 2, 3, 4, 5, 7};
    (void)e;
    OK(fathom_measure(&metrics, user, h, 3, 2, NULL));
    TEST_ASSERT_TRUE(metrics.mean_average_distance > 0);
    return 0;
}

static void a_callback_sees_and_stops(void) {
    fathom_model *model = NULL;
    watch w = {.stop_at = 7};
    fathom_result result = {.size = sizeof result};
    fathom_scores scores = {.size = sizeof scores};
    fathom_train_options o = options_for(3, 50);
    o.progress = look;
    o.user = &w;
    FAILS(INTERRUPTED, fathom_train(&model, device, data, &o), "after epoch 7");
    TEST_ASSERT_NOT_NULL(model);
    TEST_ASSERT_EQUAL_INT(7, w.epochs);
    OK(fathom_model_result(model, &result));
    TEST_ASSERT_TRUE(result.interrupted && result.epochs == 7);
    TEST_ASSERT_NOT_NULL(strstr(fathom_model_record(model), "\"interrupted\""));
    TEST_ASSERT_NOT_NULL(strstr(fathom_model_record(model), "\"error\""));
    OK(fathom_evaluate(model, device, data, &scores, NULL, NULL, 0));
    TEST_ASSERT_EQUAL_DOUBLE(result.val_accuracy, scores.val_accuracy);
    fathom_model_free(model);
    w = (watch){.stop_at = 1}; /* while lambda is searched for: there is a model all the same */
    o.lambda_auto = 1;
    FAILS(INTERRUPTED, fathom_train(&model, device, data, &o), "interrupted");
    TEST_ASSERT_NOT_NULL(model);
    OK(fathom_model_result(model, &result));
    TEST_ASSERT_EQUAL_INT64(0, result.best_epoch);
    fathom_model_free(model);
    o = options_for(2, 3);
    o.progress = use_device;
    o.user = device;
    OK(fathom_train(&model, device, data, &o));
    fathom_model_free(model);
}

/* ---- the recipe and the plan ---- */

static void what_is_left_open_is_filled_in(void) {
    fathom_train_options o = options_for(15, 0);
    fathom_plan plan = {.size = sizeof plan}, deeper = {.size = sizeof deeper};
    TEST_ASSERT_TRUE(isnan(o.lambda) && isnan(o.lr) && o.groups == 0);
    OK(fathom_train_options_fill(&o, data));
    TEST_ASSERT_EQUAL_DOUBLE(0.03, o.lambda); /* karate follows Cora's row */
    TEST_ASSERT_EQUAL_DOUBLE(5e-3, o.lr);
    TEST_ASSERT_EQUAL_INT64(10, o.groups);
    TEST_ASSERT_EQUAL_INT64(1000, o.epochs);
    OK(fathom_train_plan(&plan, device, data, &o));
    TEST_ASSERT_EQUAL_INT64(plan.total, plan.graph + plan.features + plan.weights + plan.activations + plan.scratch);
    o.layers = 150;
    OK(fathom_train_plan(&deeper, device, data, &o));
    TEST_ASSERT_TRUE(deeper.activations > 9 * plan.activations && deeper.parameters > plan.parameters);
    TEST_ASSERT_TRUE(deeper.recompute == FATHOM_RECOMPUTE_NONE && deeper.relative_time == 1);
    o.recompute = FATHOM_RECOMPUTE_SEGMENTS;
    OK(fathom_train_plan(&plan, device, data, &o));
    TEST_ASSERT_TRUE(plan.activations < deeper.activations / 2 && plan.recompute > 1 && plan.relative_time > 1);
    o.recompute = FATHOM_RECOMPUTE_AUTO;
    o.preset = FATHOM_PRESET_PAPER;
    o.lambda = NAN;
    OK(fathom_train_options_fill(&o, data));
    TEST_ASSERT_TRUE(o.lambda_auto && isnan(o.lambda));
}

static void a_run_goes_on_in_its_folder(void) {
    fathom_model *model = NULL, *whole = NULL;
    watch w = {.stop_at = 5};
    fathom_train_options o = options_for(3, 12);
    fathom_scores a = {.size = sizeof a}, b = {.size = sizeof b};
    TEST_ASSERT_EQUAL_INT(0, system("rm -rf run"));
    o.out = "run";
    o.progress = look;
    o.user = &w;
    FAILS(INTERRUPTED, fathom_train(&model, device, data, &o), "--resume");
    fathom_model_free(model);
    o.progress = NULL;
    FAILS(USAGE, fathom_train(&model, device, data, &o), "run"); /* the folder holds another run */
    o.resume = 1;
    OK(fathom_train(&model, device, data, &o));
    o.out = NULL;
    o.resume = 0;
    OK(fathom_train(&whole, device, data, &o));
    OK(fathom_evaluate(model, device, data, &a, NULL, NULL, 0));
    OK(fathom_evaluate(whole, device, data, &b, NULL, NULL, 0));
    TEST_ASSERT_EQUAL_DOUBLE(b.loss, a.loss);
    fathom_model_free(model);
    fathom_model_free(whole);
}

/* ---- what is refused ---- */

static void wrong_training_is_refused(void) {
    fathom_model *model = NULL;
    fathom_plan plan = {.size = sizeof plan};
    fathom_train_options o = options_for(3, 2), bad;
    fathom_data *bare = NULL;
    FAILS(USAGE, fathom_train_options_init(NULL, sizeof o), "NULL");
    FAILS(USAGE, fathom_train_options_init(&bad, 0), "size");
    FAILS(USAGE, fathom_train_options_init(&bad, sizeof bad + 1), "newer");
    FAILS(USAGE, fathom_train_options_fill(NULL, data), "options is NULL");
    FAILS(USAGE, fathom_train_options_fill(&o, NULL), "data is NULL");
    FAILS(USAGE, fathom_train(NULL, device, data, &o), "model is NULL");
    FAILS(USAGE, fathom_train(&model, NULL, data, &o), "device is NULL");
    FAILS(USAGE, fathom_train(&model, device, NULL, &o), "data is NULL");
    FAILS(USAGE, fathom_train_plan(NULL, device, data, &o), "plan is NULL");
    FAILS(USAGE, fathom_train_plan(&plan, NULL, data, &o), "device is NULL");
    FAILS(USAGE, fathom_train_plan(&plan, device, NULL, &o), "data is NULL");
    plan.size = 0;
    FAILS(USAGE, fathom_train_plan(&plan, device, data, &o), "size");
    bad = o;
    bad.size = 0;
    FAILS(USAGE, fathom_train(&model, device, data, &bad), "size");
#define WRONG(field, value, word) \
    bad = o;                      \
    bad.field = (value);          \
    FAILS(USAGE, fathom_train(&model, device, data, &bad), word)
    WRONG(model, 4, "model 4 is none of: 0 (gcn), 1 (gat), 2 (sgc), 3 (gcnii)");
    TEST_ASSERT_NULL(strstr(fathom_last_error(), "norm"));
    WRONG(norm, 6, "norm 6 is none of: 0 (none), 1 (batch), 2 (pair), 3 (group), 4 (mean), 5 (node)");
    TEST_ASSERT_NULL(strstr(fathom_last_error(), "model"));
    WRONG(preset, 3, "preset 3 is none of: 0 (authors), 1 (paper), 2 (pyg)");
    WRONG(layers, INT64_MAX, "layers");
    WRONG(hidden, INT64_MAX, "hidden");
    WRONG(groups, INT64_MAX, "groups");
    WRONG(epochs, INT64_MAX, "epochs");
    WRONG(norm, -1, "norm");
    WRONG(skip, 3, "skip 3 is none of: 0 (none), 1 (residual), 2 (initial)");
    WRONG(preset, 3, "preset");
    WRONG(layers, 0, "layers");
    WRONG(hidden, -1, "hidden");
    WRONG(groups, -1, "groups");
    WRONG(dropout, 1, "dropout");
    WRONG(lambda, INFINITY, "lambda");
    WRONG(momentum, 2, "momentum");
    WRONG(lr, 0, "lr must be from");
    WRONG(weight_decay, -1, "weight-decay must be from");
    WRONG(epochs, -1, "epochs");
    WRONG(patience, -1, "patience");
    WRONG(eval_every, 0, "eval-every");
    WRONG(recompute, 4, "a segment of 4 layers is longer than the network of 3");
    WRONG(recompute, -4, "recompute -4");
    WRONG(metrics, 1, "sample of 2");
    WRONG(metrics, -3, "sample of 2");
    WRONG(layer_metrics, -1, "layer-metrics");
    bad = o;
    bad.init = "nowhere.safetensors";
    FAILS(DATA, fathom_train(&model, device, data, &bad), "nowhere.safetensors");
    bad = o;
    bad.layers = 1000;
    bad.hidden = 65536;
    FAILS(MEMORY, fathom_train(&model, device, data, &bad), "bytes");
    fathom_data_options d;
    OK(fathom_data_options_init(&d, sizeof d));
    d.without_split = 1;
    OK(fathom_data_load(&bare, "karate", &d));
    FAILS(DATA, fathom_train(&model, device, bare, &o), "training node");
    bad = o; /* outgrows float32 */
    bad.lr = 1000;
    bad.lambda = 1000;
    bad.layers = 100;
    bad.epochs = 20;
    FAILS(NUMERIC, fathom_train(&model, device, data, &bad), "not finite");
    TEST_ASSERT_NULL(model);
    fathom_data_free(bare);
}

static void wrong_evaluations_are_refused(void) {
    fathom_model *model = NULL;
    fathom_data *other = NULL;
    fathom_scores scores = {.size = sizeof scores};
    fathom_metrics metrics = {.size = sizeof metrics};
    fathom_result result = {.size = sizeof result};
    fathom_model_info info = {.size = sizeof info};
    fathom_train_options o = options_for(2, 2);
    float h[4];
    OK(fathom_train(&model, device, data, &o));
    FAILS(USAGE, fathom_evaluate(NULL, device, data, &scores, NULL, NULL, 0), "model is NULL");
    FAILS(USAGE, fathom_evaluate(model, NULL, data, &scores, NULL, NULL, 0), "device is NULL");
    FAILS(USAGE, fathom_evaluate(model, device, NULL, &scores, NULL, NULL, 0), "data is NULL");
    FAILS(USAGE, fathom_evaluate(model, device, data, NULL, NULL, h, 4), "nodes x classes");
    metrics.rows = 1;
    FAILS(USAGE, fathom_evaluate(model, device, data, NULL, &metrics, NULL, 0), "sample of 2");
    metrics.rows = FATHOM_METRICS_AUTO;
    metrics.definition = 3;
    FAILS(USAGE, fathom_evaluate(model, device, data, NULL, &metrics, NULL, 0), "definition");
    metrics.size = 4;
    FAILS(USAGE, fathom_evaluate(model, device, data, NULL, &metrics, NULL, 0), "size");
    scores.size = sizeof scores + 16;
    FAILS(USAGE, fathom_evaluate(model, device, data, &scores, NULL, NULL, 0), "newer");
    OK(fathom_data_load(&other, "embedded", NULL));
    FAILS(DATA, fathom_evaluate(model, device, other, NULL, NULL, NULL, 0), "made for other data");
    OK(fathom_evaluate(model, device, data, NULL, NULL, NULL, 0));
    FAILS(USAGE, fathom_model_result(NULL, &result), "model is NULL");
    FAILS(USAGE, fathom_model_result(model, NULL), "result is NULL");
    FAILS(USAGE, fathom_model_metrics(NULL, &metrics), "model is NULL");
    FAILS(USAGE, fathom_model_metrics(model, NULL), "metrics is NULL");
    FAILS(USAGE, fathom_model_describe(NULL, &info), "model is NULL");
    FAILS(USAGE, fathom_model_describe(model, NULL), "info is NULL");
    FAILS(USAGE, fathom_model_save(NULL, "x"), "model is NULL");
    FAILS(USAGE, fathom_model_save(model, NULL), "path is NULL");
    TEST_ASSERT_NOT_EQUAL(FATHOM_OK, fathom_model_save(model, "no/such/folder/m.safetensors"));
    TEST_ASSERT_NULL(fathom_model_record(NULL));
    result.size = 24; /* an older header: so many bytes are written and no more */
    result.loss = -5;
    OK(fathom_model_result(model, &result));
    TEST_ASSERT_TRUE(result.size == 24 && result.val_accuracy >= 0);
    TEST_ASSERT_EQUAL_DOUBLE(-5, result.loss);
    fathom_data_free(other);
    fathom_model_free(model);
}

static void wrong_files_are_refused(void) {
    fathom_model *model = NULL;
    fathom_load_options o;
    FAILS(USAGE, fathom_load_options_init(NULL, sizeof o), "NULL");
    OK(fathom_load_options_init(&o, sizeof o));
    FAILS(USAGE, fathom_model_load(NULL, "x", NULL), "model is NULL");
    FAILS(USAGE, fathom_model_load(&model, NULL, NULL), "path is NULL");
    FAILS(DATA, fathom_model_load(&model, "nowhere.safetensors", NULL), "nowhere.safetensors");
    TEST_ASSERT_EQUAL_INT(0, system("echo nonsense-nonsense > junk.safetensors"));
    FAILS(DATA, fathom_model_load(&model, "junk.safetensors", NULL), "junk.safetensors");
    const char *group = support_source("tests/golden/model_gcn_group.safetensors");
    o.model = 7;
    FAILS(USAGE, fathom_model_load(&model, group, &o), "model 7 is none of: 0 (gcn)");
    o.model = FATHOM_GAT;
    FAILS(DATA, fathom_model_load(&model, group, &o), "att_");
    o.model = FATHOM_GCNII;
    FAILS(DATA, fathom_model_load(&model, group, &o), "lins.0.weight");
    o.model = -1;
    o.skip = -2;
    FAILS(USAGE, fathom_model_load(&model, group, &o), "skip -2 is none of");
    o.skip = FATHOM_SKIP_RESIDUAL;
    FAILS(USAGE, fathom_model_load(&model, group, &o), "--skip-weight");
    o.skip = -1;
    o.layers = 1000;
    FAILS(DATA, fathom_model_load(&model, group, &o), "convs.");
    o.layers = INT64_MAX;
    TEST_ASSERT_NOT_EQUAL_INT(FATHOM_OK, fathom_model_load(&model, group, &o));
    o.layers = 0;
    o.size = 1;
    FAILS(USAGE, fathom_model_load(&model, group, &o), "size");
    TEST_ASSERT_NULL(model);
    OK(fathom_model_load(&model, group, NULL));
    fathom_model_free(model);
    fathom_model_free(NULL);
}

/* Memory that runs out anywhere is a status, and nothing leaks. */
static void memory_that_runs_out(void) {
    fathom_train_options o = options_for(3, 1);
    o.skip = FATHOM_SKIP_INITIAL;
    for (int64_t nth = 1;; nth++) {
        fathom_model *model = NULL;
        int64_t before = mem_live();
        mem_fail_at(nth, false);
        fathom_status status = fathom_train(&model, device, data, &o);
        mem_fail_at(0, false);
        fathom_model_free(model);
        if (nth > 1) /* the first run grows the scratch memory of the device */
            TEST_ASSERT_TRUE(mem_live() - before <= 1);
        if (status == FATHOM_OK)
            break;
        TEST_ASSERT_EQUAL_INT(FATHOM_MEMORY, status);
        TEST_ASSERT_TRUE(nth < 2000);
    }
}

int main(void) {
    UNITY_BEGIN();
    RUN_TEST(a_model_is_trained_evaluated_saved_and_loaded);
    RUN_TEST(every_model_and_norm_goes_through_a_file);
    RUN_TEST(a_callback_sees_and_stops);
    RUN_TEST(what_is_left_open_is_filled_in);
    RUN_TEST(a_run_goes_on_in_its_folder);
    RUN_TEST(wrong_training_is_refused);
    RUN_TEST(wrong_evaluations_are_refused);
    RUN_TEST(wrong_files_are_refused);
    RUN_TEST(memory_that_runs_out);
    return support_end();
}
