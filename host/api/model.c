/* model.c - fathom_model: weights on the host, saved, loaded and evaluated on any device. */
#include <inttypes.h>
#include <string.h>

#include "api/handles.h"
#include "core/mem.h"
#include "train/checkpoint.h"

/* Allocates a model of `config`; the weights are not set. */
static fathom_status make(fathom_model **model, const nn_config *config, const nn_shape *shape, train_preset preset) {
    fathom_model *made = NULL;
    fathom_status status;
    nn_shape smallest = {.nodes = 1, .entries = 1, .features = shape->features, .classes = shape->classes};
    TRY(mem_new(&made, 1, 1, sizeof *made, "model handle"));
    *made = (fathom_model){.features = shape->features,
                           .classes = shape->classes,
                           .preset = preset,
                           .origin = checkpoint_origin_unknown()};
    TRY_OUT(nn_model_plan(&made->plan, config, &smallest));
    TRY_OUT(mem_new(&made->weights, nn_block_len(made->plan, NN_WEIGHTS), 1, sizeof *made->weights, "weights"));
out:
    if (status == FATHOM_OK)
        *model = made;
    else
        fathom_model_free(made);
    return status;
}

fathom_status api_model_from(fathom_model **model, const nn_model *trained, train_preset preset) {
    TRY(make(model, nn_model_config(trained), nn_model_shape(trained), preset));
    fathom_status status = nn_get_block((*model)->weights, trained, NN_WEIGHTS);
    if (status != FATHOM_OK) {
        fathom_model_free(*model);
        *model = NULL;
    }
    return status;
}

void fathom_model_free(fathom_model *model) {
    if (!model)
        return;
    nn_model_free(model->plan);
    train_result_free(model->result);
    mem_free(model->weights);
    mem_free(model->record);
    mem_free(model);
}

fathom_status fathom_model_describe(const fathom_model *model, fathom_model_info *info) {
    NEED(model);
    NEED(info);
    CHECK(info);
    fathom_model_info full = {.features = model->features,
                              .classes = model->classes,
                              .parameters = nn_model_bytes(model->plan)->parameters,
                              .feature_norm = data_norm_public(model->origin.feature_norm),
                              .missing_rate = model->origin.missing_rate};
    api_info_from_config(&full, nn_model_config(model->plan));
    api_give(info, &full, sizeof full);
    return FATHOM_OK;
}

/* ---- files ---- */

fathom_status fathom_model_save(const fathom_model *model, const char *path) {
    NEED(model);
    NEED(path);
    return checkpoint_save(path, model->plan, model->weights, model->batches, train_preset_name(model->preset),
                           &model->origin);
}

fathom_status fathom_load_options_init(fathom_load_options *options, size_t size) {
    nn_config unknown = checkpoint_unknown();
    fathom_load_options defaults = {0};
    api_load_options_from_config(&defaults, &unknown);
    return api_init(options, size, &defaults, sizeof defaults, __func__);
}

static fathom_status config_of(nn_config *config, const fathom_load_options *o) {
    *config = checkpoint_unknown();
    TRY(api_check_kinds(o->model, o->norm, -1));
    TRY(api_check_skip(o->skip, -1));
    if (o->layers < 0)
        return fail(FATHOM_USAGE, "layers is %" PRId64 "; give the depth, or 0 when the file has it", o->layers);
    api_config_from_load_options(config, o);
    return FATHOM_OK;
}

static train_preset preset_of(const nn_config *config, const st_file *file) {
    const char *name = st_meta(file, "preset");
    for (int p = 0; name && p < TRAIN_PRESETS; p++)
        if (strcmp(name, train_preset_name((train_preset)p)) == 0)
            return (train_preset)p;
    return config->assign_bias ? TRAIN_AUTHORS : TRAIN_PYG;
}

static fathom_status load(fathom_model **model, nn_config *config, const st_file *file) {
    nn_shape shape;
    TRY(checkpoint_config(config, file));
    TRY(checkpoint_shape(&shape, config, file));
    TRY(make(model, config, &shape, preset_of(config, file)));
    fathom_status status = checkpoint_origin_read(&(*model)->origin, file);
    if (status == FATHOM_OK)
        status = checkpoint_read((*model)->weights, (*model)->plan, file);
    if (status != FATHOM_OK) {
        fathom_model_free(*model);
        *model = NULL;
    }
    return status;
}

fathom_status fathom_model_load(fathom_model **model, const char *path, const fathom_load_options *options) {
    fathom_load_options given;
    nn_config config;
    st_file *file = NULL;
    NEED(model);
    *model = NULL;
    NEED(path);
    TRY(fathom_load_options_init(&given, sizeof given));
    TAKE(given, options);
    TRY(config_of(&config, &given));
    TRY(st_load(&file, path));
    fathom_status status = load(model, &config, file);
    st_free(file);
    return status == FATHOM_DATA || status == FATHOM_USAGE ? fail_prefix(status, "%s: ", path) : status;
}

/* ---- evaluation ---- */

static fathom_status check_fit(const fathom_model *model, const data_set *set) {
    TRY(data_need_features(set));
    if (model->features != set->input.cols || model->classes != set->classes)
        return fail(FATHOM_DATA,
                    "the model takes %" PRId64 " features and knows %" PRId64 " classes, but %s has %" PRId32
                    " features and %" PRId32 " classes: it was made for other data",
                    model->features, model->classes, set->name, set->input.cols, set->classes);
    return FATHOM_OK;
}

/* Uploads the network and runs one pass in evaluation mode, and another for every layer if wanted. */
static fathom_status evaluate(train_scores *scores, const fathom_model *model, be_device *dev, const data_set *set,
                              const train_measuring *how, const api_evaluation *wanted) {
    nn_input *input = NULL;
    nn_model *network = NULL;
    const nn_config *config = nn_model_config(model->plan);
    fathom_status status;
    TRY_OUT(nn_input_make(&input, dev, set, config->model));
    TRY_OUT(nn_model_make(&network, config, input));
    TRY_OUT(nn_set_block(network, NN_WEIGHTS, model->weights));
    TRY_OUT(train_evaluate(scores, network, set, dev, how));
    if (wanted->layers_out)
        TRY_OUT(train_save_layers(wanted->layers_out, network));
    if (wanted->layer)
        TRY_OUT(train_each_layer(network, wanted->layer, wanted->user));
out:
    nn_model_free(network);
    nn_input_free(input);
    return status;
}

fathom_status fathom_evaluate(const fathom_model *model, fathom_device *device, const fathom_data *data,
                              fathom_scores *scores, fathom_metrics *metrics, float *embeddings, int64_t count) {
    const api_evaluation wanted = {.scores = scores, .metrics = metrics, .embeddings = embeddings, .count = count};
    return api_evaluate(model, device, data, &wanted);
}

typedef struct layer_call {
    int (*layer)(void *user, int64_t k, const float *h, int64_t width);
    void *user;
} layer_call;

static fathom_status call_layer(void *user, int64_t k, const float *h, int64_t rows, int64_t cols) {
    const layer_call *c = user;
    (void)rows;
    return c->layer(c->user, k + 1, h, cols) == 0
               ? FATHOM_OK
               : fail(FATHOM_INTERRUPTED, "fathom_evaluate_layers: ended by its caller at layer %" PRId64, k + 1);
}

fathom_status fathom_evaluate_layers(const fathom_model *model, fathom_device *device, const fathom_data *data,
                                     int (*layer)(void *user, int64_t k, const float *h, int64_t width), void *user) {
    layer_call call = {layer, user};
    const api_evaluation wanted = {.layer = call_layer, .user = &call};
    NEED(layer);
    return api_evaluate(model, device, data, &wanted);
}

static void give_scores(fathom_scores *scores, const train_scores *got) {
    fathom_scores full = {.train_accuracy = got->accuracy[NN_TRAIN],
                          .val_accuracy = got->accuracy[NN_VAL],
                          .test_accuracy = got->accuracy[NN_TEST],
                          .loss = got->loss,
                          .finite = got->finite,
                          .macro_f1 = got->macro_f1};
    api_give(scores, &full, sizeof full);
}

fathom_status api_evaluate(const fathom_model *model, fathom_device *device, const fathom_data *data,
                           const api_evaluation *wanted) {
    train_scores got = {0};
    train_measuring how = {0};
    NEED(model);
    NEED(device);
    NEED(data);
    const data_set *set = data->set;
    int64_t count = (int64_t)set->graph.nodes * set->classes;
    if (wanted->scores)
        CHECK(wanted->scores);
    if (wanted->metrics) {
        CHECK(wanted->metrics);
        TRY(api_measuring(&how, wanted->metrics));
    }
    how.progress = wanted->progress;
    TRY(check_fit(model, set));
    if (wanted->embeddings && wanted->count != count)
        return fail(FATHOM_USAGE, "fathom_evaluate: embeddings holds %" PRId64 " floats; nodes x classes are %" PRId64,
                    wanted->count, count);
    bool measures = wanted->metrics && how.rows != FATHOM_METRICS_NONE;
    train_use use = {.config = nn_model_config(model->plan),
                     .metrics = measures,
                     .sampled = metrics_rows_for(how.rows, set->graph.nodes) > 0,
                     .dense = set->features.dense,
                     .definition = how.definition};
    api_lock(device);
    fathom_status status = api_ready(device, &use);
    if (status == FATHOM_OK)
        status = evaluate(&got, model, device->dev, set, wanted->metrics ? &how : NULL, wanted);
    api_unlock(device);
    if (status == FATHOM_OK) {
        if (wanted->scores)
            give_scores(wanted->scores, &got);
        if (wanted->metrics)
            api_give_metrics(wanted->metrics, &got.metrics);
        if (wanted->embeddings)
            memcpy(wanted->embeddings, got.logits, (size_t)count * sizeof *got.logits);
    }
    mem_free(got.logits);
    return status;
}
