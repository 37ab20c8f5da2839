/* train.c - fathom_train and its options, plan, progress callback, result and record. */
#include <string.h>

#include "api/handles.h"
#include "core/json.h"
#include "core/mem.h"

/* ---- options ---- */

fathom_status fathom_train_options_init(fathom_train_options *options, size_t size) {
    fathom_train_options defaults = {0};
    train_config unset = train_unset();
    api_options_from_config(&defaults, &unset);
    return api_init(options, size, &defaults, sizeof defaults, __func__);
}

fathom_status api_train_config(train_config *config, const fathom_train_options *options, const fathom_data *data) {
    fathom_train_options o;
    TRY(fathom_train_options_init(&o, sizeof o));
    TAKE(o, options);
    TRY(api_check_kinds(o.model, o.norm, 0));
    TRY(api_check_skip(o.skip, 0));
    if ((unsigned)o.order >= DATA_ORDERS) {
        const char *names[DATA_ORDERS + 1] = {NULL};
        for (int i = 0; i < DATA_ORDERS; i++)
            names[i] = data_order_name((data_order)i);
        return api_fail_kind("order", o.order, 0, names);
    }
    if ((unsigned)o.preset >= TRAIN_PRESETS) {
        const char *names[TRAIN_PRESETS + 1] = {NULL};
        for (int i = 0; i < TRAIN_PRESETS; i++)
            names[i] = train_preset_name((train_preset)i);
        return api_fail_kind("preset", o.preset, 0, names);
    }
    if ((unsigned)o.lr_schedule >= TRAIN_SCHEDULES) {
        const char *names[TRAIN_SCHEDULES + 1] = {NULL};
        for (int i = 0; i < TRAIN_SCHEDULES; i++)
            names[i] = train_schedule_name(i);
        return api_fail_kind("lr_schedule", o.lr_schedule, 0, names);
    }
    *config = (train_config){.init = o.init,
                             .out = o.out,
                             .resume = o.resume != 0,
                             .fallback = o.fallback != 0,
                             .data = data->given,
                             .features = data->features,
                             .labels = data->labels,
                             .missing_rate = data->missing_rate,
                             .feature_norm = data->set->norm,
                             .load_s = data->load_s};
    api_config_from_options(config, &o);
    return train_fill(config, data->set);
}

fathom_status fathom_train_options_fill(fathom_train_options *options, const fathom_data *data) {
    fathom_train_options full = {0};
    train_config config;
    NEED(options);
    NEED(data);
    TRY(api_train_config(&config, options, data));
    memcpy(&full, options, options->size);
    api_options_from_config(&full, &config);
    api_give(options, &full, sizeof full);
    return FATHOM_OK;
}

/* ---- memory plan ---- */

fathom_status fathom_train_plan(fathom_plan *plan, const fathom_device *device, const fathom_data *data,
                                const fathom_train_options *options) {
    train_config config;
    nn_bytes bytes;
    NEED(plan);
    NEED(device);
    NEED(data);
    CHECK(plan);
    TRY(api_train_config(&config, options, data));
    nn_shape shape = nn_shape_of(data->set);
    train_plan_beside(&shape, &config, data->set);
    TRY(nn_recompute_choose(&config.net, &shape, be_device_info(device->dev)));
    TRY(nn_plan_bytes(&bytes, &config.net, &shape));
    fathom_plan full = {.parameters = bytes.parameters,
                        .total = bytes.total,
                        .graph = bytes.part[NN_MEM_GRAPH],
                        .features = bytes.part[NN_MEM_FEATURES],
                        .weights = bytes.part[NN_MEM_PARAMETERS],
                        .activations = bytes.part[NN_MEM_ACTIVATIONS],
                        .scratch = bytes.part[NN_MEM_SCRATCH],
                        .recompute = bytes.recompute,
                        .relative_time = bytes.time};
    api_give(plan, &full, sizeof full);
    return nn_plan_check(&bytes, &config.net, &shape, be_device_info(device->dev));
}

/* ---- training ---- */

typedef struct training {
    const fathom_train_options *options;
    const train_config *config;
    stop_flag stop;
    message_fn *progress;
    fathom_model *model;
} training;

static void on_epoch(void *user, const train_epoch *e) {
    training *t = user;
    fathom_epoch shown = {.epoch = e->epoch,
                          .epochs = e->epochs,
                          .loss = e->loss,
                          .train_accuracy = e->accuracy[NN_TRAIN],
                          .val_accuracy = e->accuracy[NN_VAL],
                          .test_accuracy = e->accuracy[NN_TEST],
                          .best_epoch = e->best_epoch,
                          .best_val = e->best_val,
                          .best_test = e->best_test,
                          .ms = e->ms,
                          .seconds_left = e->seconds_left,
                          .candidate = e->candidate};
    if (t->options->progress && t->options->progress(t->options->user, &shown))
        t->stop = 1;
}

static void on_note(void *user, const char *text) {
    const training *t = user;
    if (t->options->note)
        t->options->note(t->options->user, text);
}

static fathom_status on_finish(void *user, const nn_model *trained) {
    training *t = user;
    return api_model_from(&t->model, trained, t->config->preset);
}

/* The JSON of run.json, with the error of an interrupted run. */
static fathom_status write_record(fathom_model *model, const train_config *config, const data_set *set,
                                  const be_info *info, fathom_status status) {
    struct json *doc = NULL;
    char message[CORE_MESSAGE_MAX];
    memcpy(message, fathom_last_error(), sizeof message); /* the calls below may overwrite it */
    TRY(json_new(&doc));
    train_json(doc, config, set, info, model->result);
    if (status != FATHOM_OK) {
        json_open(doc, "error");
        json_int(doc, "code", status);
        json_text(doc, "message", message);
        json_close(doc);
    }
    fathom_status printed = json_print(doc, &model->record);
    json_free(doc);
    return printed;
}

static fathom_status train_locked(training *t, fathom_device *device, const data_set *set, const stop_flag *stop) {
    train_hooks hooks = {.user = t,
                         .epoch = on_epoch,
                         .note = on_note,
                         .finished = on_finish,
                         .stop = stop ? stop : &t->stop,
                         .progress = t->progress};
    train_result *result = NULL;
    fathom_status status = api_train_run(&result, t->config, set, device, t->options->ranks, &hooks);
    if (!result || !t->model) {
        train_result_free(result);
        return status;
    }
    t->model->result = result;
    t->model->batches = result->best_epoch;
    t->model->origin = checkpoint_origin_of(set);
    fathom_status written = write_record(t->model, t->config, set, be_device_info(device->dev), status);
    return written == FATHOM_OK ? status : written;
}

fathom_status fathom_train(fathom_model **model, fathom_device *device, const fathom_data *data,
                           const fathom_train_options *options) {
    return api_train(model, device, data, options, NULL, NULL);
}

fathom_status api_train(fathom_model **model, fathom_device *device, const fathom_data *data,
                        const fathom_train_options *options, const stop_flag *stop, message_fn *progress) {
    fathom_train_options full = {0};
    train_config config;
    NEED(model);
    *model = NULL;
    NEED(device);
    NEED(data);
    TAKE(full, options);
    TRY(api_train_config(&config, options, data));
    config.open_s = device->open_s;
    config.threads = device->threads;
    config.automatic = device->automatic && fathom_ranks_count(full.ranks) == 1;
    training t = {.options = &full, .config = &config, .progress = progress};
    api_lock_ranks(full.ranks, device);
    fathom_status status = train_locked(&t, device, data->set, stop);
    api_unlock_ranks(full.ranks, device);
    if (status == FATHOM_OK || status == FATHOM_INTERRUPTED)
        *model = t.model;
    else
        fathom_model_free(t.model);
    return status;
}

/* ---- result ---- */

static fathom_status need_result(const fathom_model *model, const char *function) {
    return model->result ? FATHOM_OK
                         : fail(FATHOM_USAGE, "%s: this model was loaded, not trained; use fathom_evaluate", function);
}

fathom_status fathom_model_result(const fathom_model *model, fathom_result *result) {
    NEED(model);
    NEED(result);
    CHECK(result);
    TRY(need_result(model, __func__));
    const train_result *r = model->result;
    fathom_result full = {.train_accuracy = r->accuracy[NN_TRAIN],
                          .val_accuracy = r->accuracy[NN_VAL],
                          .test_accuracy = r->accuracy[NN_TEST],
                          .loss = r->loss,
                          .best_epoch = r->best_epoch,
                          .epochs = r->epochs,
                          .lambda = r->config.net.lambda,
                          .total_s = r->total_s,
                          .median_epoch_ms = r->median_epoch_ms,
                          .interrupted = r->interrupted,
                          .stopped_early = r->stopped_early,
                          .fell_back = r->fell_back,
                          .candidates = r->candidates,
                          .macro_f1 = r->macro_f1};
    api_give(result, &full, sizeof full);
    return FATHOM_OK;
}

fathom_status fathom_model_metrics(const fathom_model *model, fathom_metrics *metrics) {
    NEED(model);
    NEED(metrics);
    CHECK(metrics);
    TRY(need_result(model, __func__));
    api_give(metrics, &model->result->metrics, sizeof model->result->metrics);
    return FATHOM_OK;
}

const char *fathom_model_record(const fathom_model *model) { return model ? model->record : NULL; }
