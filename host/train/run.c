/* run.c - the lifecycle of a run: open, resume or initialise, train, fall back to the CPU, save, measure, finish. */
#include "train/run.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/c_locale.h"
#include "core/clock.h"
#include "core/mem.h"
#include "train/checkpoint.h"

bool run_stop_here(const run *r) { return r->hooks->stop && *r->hooks->stop; }
bool run_stop_requested(const run *r) { return r->config->comm ? r->stops : run_stop_here(r); }

void run_note(const run *r, const char *text) {
    if (r->hooks->note)
        r->hooks->note(r->hooks->user, text);
}

/* ---- saving ---- */

/* Drivers may return wrong values without an error: what is read from OpenCL is checked for NaN. */
static bool on_opencl(const run *r) { return strcmp(be_device_info(r->dev)->backend, "opencl") == 0; }

static fathom_status save_model(run *r) {
    char path[RUN_DIR_PATH_MAX];
    float *best = NULL;
    checkpoint_origin origin = checkpoint_origin_of(r->set);
    fathom_status status;
    TRY_OUT(mem_new(&best, nn_block_len(r->model, NN_BEST), 1, sizeof *best, "checkpoint"));
    TRY_OUT(state_get(best, r->model, NN_BEST, on_opencl(r)));
    TRY_OUT(checkpoint_save(run_dir_path(path, &r->dir, "model.safetensors"), r->model, best, r->progress.best_epoch,
                            train_preset_name(r->config->preset), &origin));
out:
    mem_free(best);
    return status;
}

/* epochs.jsonl is synced first: a state never counts epochs whose lines are not on disk. */
fathom_status run_save(run *r) {
    char path[RUN_DIR_PATH_MAX];
    if (!r->config->out)
        return FATHOM_OK;
    if (!r->dir.path) /* gives the first rank its part of the moments */
        return state_save(NULL, r->model, &r->progress, r->config, r->set, on_opencl(r));
    TRY(run_dir_sync(&r->dir));
    TRY(state_save(run_dir_path(path, &r->dir, "state.safetensors"), r->model, &r->progress, r->config, r->set,
                   on_opencl(r)));
    r->dir.has_state = true;
    return save_model(r);
}

/* ---- start: resume, restore or initialise ---- */

/* From state.safetensors of the directory, else from initial weights, after a search for lambda if it is auto. */
static fathom_status resume_or_init(run *r) {
    char path[RUN_DIR_PATH_MAX];
    int32_t has_state = r->dir.has_state;
    TRY(comm_spread(r->config->comm, &has_state, sizeof has_state, 0));
    if (has_state) {
        const char *file = r->dir.path ? run_dir_path(path, &r->dir, "state.safetensors") : NULL;
        TRY(state_load(r->model, &r->progress, file, r->config, r->set));
        r->result->config.net.lambda = r->progress.lambda;
        nn_set_lambda(r->model, r->progress.lambda);
        return FATHOM_OK;
    }
    TRY(trainer_init(r)); /* refuses an unusable --init before a record is written */
    TRY(run_dir_write_record(&r->dir, r->config, r->set, be_device_info(r->dev), NULL));
    if (r->dir.path)
        TRY(data_save_names(r->set, run_dir_path(path, &r->dir, "")));
    if (r->config->lambda_from != TRAIN_LAMBDA_AUTO)
        return FATHOM_OK;
    TRY(lambda_search(r));
    return trainer_init(r);
}

/* Sets weights and progress: from the snapshot after a fall back, else from the directory, else initial. */
static fathom_status restore_or_init(run *r) {
    char text[96];
    fathom_status status = r->fallback_dev && r->has_snapshot ? fallback_restore(r) : resume_or_init(r);
    if (status == FATHOM_INTERRUPTED) { /* during the search for lambda: no epoch of the run is done */
        r->result->interrupted = true;
        r->progress = (train_progress){.loss = NAN, .best = {NAN, NAN, NAN}};
    } else if (status != FATHOM_OK)
        return status;
    if (!r->fallback_dev) {
        r->result->first_epoch = r->progress.epoch + 1;
        if (r->progress.epoch > 0) {
            snprintf(text, sizeof text, "continuing after epoch %" PRId64, r->progress.epoch);
            run_note(r, text);
        }
    }
    TRY(run_dir_truncate_epochs(&r->dir, r->progress.epoch));
    return be_sync(r->dev);
}

/* ---- device ---- */

/* Checking and building may take a minute: a stop request ends them, and the directory stays unchanged. */
static fathom_status fail_if_stopped(run *r) {
    TRY(ranks_agree_to_stop(r));
    return !r->fallback_dev && run_stop_requested(r) ? fail(FATHOM_INTERRUPTED, "interrupted before the first epoch")
                                                     : FATHOM_OK;
}

static fathom_status check_device(run *r) {
    train_use use = {.config = &r->config->net,
                     .training = true,
                     .metrics = r->config->metrics != FATHOM_METRICS_NONE,
                     .sampled = r->config->metrics > 0,
                     .layers = r->config->layer_metrics > 0 && r->dir.path,
                     .dense = r->set->features.dense};
    char note[CORE_MESSAGE_MAX];
    if (r->config->checked)
        return FATHOM_OK;
    fathom_status status = train_check(r->dev, &use, note);
    r->device_refused = status == FATHOM_DEVICE;
    if (note[0])
        run_note(r, note);
    return status;
}

/* ---- end: best weights, metrics ---- */

/* Nobody reads the times of a shorter run. */
#define TIMED_SECONDS 10

static void note_busy_cores(const run *r, double seconds) {
    be_counters counters = be_count(r->dev);
    if (seconds >= TIMED_SECONDS && be_was_crowded(&counters))
        run_note(r, "other programs used the cores most of the time: the times of this run are not those of an idle "
                    "machine");
}

/* From here on all pairs take seconds. */
static void note_pairs(const run *r) {
    char text[160];
    int32_t nodes = r->set->graph.nodes;
    if (nodes <= METRICS_ALL_NODES || r->config->metrics == FATHOM_METRICS_NONE)
        return;
    if (r->config->metrics > 0 && r->config->metrics < nodes)
        snprintf(text, sizeof text,
                 "measuring over-smoothing: %" PRId64 " of %" PRId32 " nodes against all (--metrics)",
                 r->config->metrics, nodes);
    else
        snprintf(text, sizeof text, "measuring over-smoothing over all pairs of %" PRId32 " nodes", nodes);
    run_note(r, text);
}

/* Loads the best weights and computes the metrics of their outputs, over all pairs minutes on a large graph. An
 * interrupted run skips them; `fathom eval` computes them later from the saved model. */
static fathom_status measure_best(run *r) {
    train_scores scores = {0};
    const train_measuring how = {METRICS_AUTHORS, r->config->metrics, r->hooks->stop, r->hooks->progress};
    TRY(nn_load_best(r->model));
    if (r->result->interrupted)
        return FATHOM_OK;
    note_pairs(r);
    bool measures = comm_rank(r->config->comm) == 0;
    fathom_status status = train_evaluate(&scores, r->model, r->set, r->dev, measures ? &how : NULL);
    if (status == FATHOM_INTERRUPTED) {
        r->result->interrupted = true;
        metrics_init_nan(&scores.metrics, METRICS_AUTHORS);
        status = FATHOM_OK;
    }
    r->result->metrics = scores.metrics;
    r->result->macro_f1 = status == FATHOM_OK && scores.logits ? scores.macro_f1 : NAN;
    r->result->metrics.rows = r->config->metrics;
    if (status == FATHOM_OK && !scores.finite && fallback_possible(r))
        status = fail(FATHOM_NUMERIC, "the representations of the best epoch are not all finite");
    else if (status == FATHOM_OK && !scores.finite)
        run_note(r, "the representations of the best epoch are not all finite: there are no metrics of them");
    mem_free(scores.logits);
    return status;
}

/* ---- the run ---- */

/* Where --recompute auto found that not all fits. */
static void note_recompute(const run *r) {
    const nn_bytes *bytes = nn_model_bytes(r->model);
    char text[160], level[NN_RECOMPUTE_TEXT];
    if (r->config->net.recompute != NN_RECOMPUTE_AUTO || bytes->recompute == NN_RECOMPUTE_NONE)
        return;
    nn_recompute_text(level, bytes->recompute);
    snprintf(text, sizeof text,
             "the memory of the device demands --recompute %s: an epoch takes about %.2f times as long", level,
             bytes->time);
    run_note(r, text);
}

/* The whole run on r->dev, from model building to metrics; called again on the CPU after a fall back. */
static fathom_status train_on_device(run *r, double start) {
    train_result *result = r->result;
    TRY(check_device(r));
    TRY(fail_if_stopped(r));
    const train_config *c = r->config;
    const nn_parts parts = {.comm = c->comm, .order = c->order, .hidden = c->net.hidden};
    TRY(nn_input_make_part(&r->input, r->dev, r->set, c->net.model, &parts));
    train_plan_beside(&r->input->shape, c, r->set);
    TRY(nn_model_make(&r->model, &r->config->net, r->input));
    result->bytes = *nn_model_bytes(r->model);
    note_recompute(r);
    TRY(ranks_note(r));
    TRY(fail_if_stopped(r));
    TRY(restore_or_init(r));
    if (!r->fallback_dev)
        result->build_s = clock_seconds() - start + r->config->open_s;
    if (!result->interrupted) {
        double begin = clock_seconds();
        TRY(fallback_snapshot(r));
        TRY(trainer_loop(r));
        note_busy_cores(r, clock_seconds() - begin);
        if (!r->fallback_dev) /* a profile of two devices would mean nothing */
            TRY(trainer_profile(r, result->profile));
        TRY(run_save(r));
    }
    trainer_summarize(r);
    return r->progress.best_epoch > 0 ? measure_best(r) : FATHOM_OK;
}

/* Non-finite values end the run: saves the best model so far and fails with the message from before. */
static fathom_status fail_with_best_saved(run *r, fathom_status status) {
    char message[CORE_MESSAGE_MAX];
    snprintf(message, sizeof message, "%s", fathom_last_error());
    TRY(save_model(r));
    return fail(status, "%s", message);
}

static fathom_status fail_interrupted(const run *r) {
    if (r->progress.epoch == 0)
        return fail(FATHOM_INTERRUPTED, "interrupted before the first epoch%s",
                    r->dir.path ? "; --resume starts the run again" : "");
    return fail(FATHOM_INTERRUPTED, "interrupted after epoch %" PRId64 "%s", r->progress.epoch,
                r->dir.path ? "; --resume continues from there" : "");
}

static fathom_status run_to_end(run *r, double start) {
    train_result *result = r->result;
    const train_config *c = r->config;
    if (r->set->split.train_count == 0)
        return fail(FATHOM_DATA, "%s: the split %s has no training node", r->set->name,
                    r->set->split.name ? r->set->split.name : "");
    TRY(ranks_check(r));
    bool writes = comm_rank(c->comm) == 0;
    TRY(run_dir_open(&r->dir, writes ? c->out : NULL, writes && c->resume));
    TRY(mem_new(&r->epoch_ms, c->epochs, 1, sizeof *r->epoch_ms, "epoch times"));
    bool on_device = on_opencl(r);
    fathom_status status = train_on_device(r, start);
    bool lost = status == FATHOM_DEVICE || status == FATHOM_MEMORY; /* drivers report a lost device as either */
    bool replace = r->device_refused && c->automatic;
    if (replace || ((lost || status == FATHOM_NUMERIC) && fallback_possible(r))) {
        TRY(fallback_to_cpu(r));
        status = train_on_device(r, start);
    } else if (((on_device && lost) || comm_has_failed(c->comm)) && r->dir.has_record) {
        return fallback_fail_resumable(r, status);
    }
    if (status == FATHOM_NUMERIC && r->dir.path && r->progress.best_epoch > 0)
        return fail_with_best_saved(r, status);
    TRY(status);
    if (r->hooks->finished)
        TRY(r->hooks->finished(r->hooks->user, r->model));
    result->total_s = clock_seconds() - start + c->load_s + c->open_s;
    TRY(run_dir_write_record(&r->dir, c, r->set, be_device_info(r->dev), result));
    TRY(comm_gather(c->comm, NULL, 0)); /* no rank ends well when another does not */
    return result->interrupted ? fail_interrupted(r) : FATHOM_OK;
}

fathom_status train_run(train_result **result, const train_config *config, const data_set *set, be_device *dev,
                        const train_hooks *hooks) {
    static const train_hooks none = {0};
    run r = {.set = set, .dev = dev, .hooks = hooks ? hooks : &none};
    double start = clock_seconds();
    *result = NULL;
    TRY(mem_new(&r.result, 1, 1, sizeof *r.result, "result"));
    r.result->config = *config;
    r.result->config.order = data_order_choose(config->order, comm_size(config->comm));
    r.result->config.ranks = comm_size(config->comm);
    if (r.result->config.ranks == 1)
        r.result->config.comm = NULL;
    comm_set_device(config->comm, be_device_info(dev)->selector);
    r.config = &r.result->config;
    metrics_init_nan(&r.result->metrics, METRICS_AUTHORS);
    r.result->macro_f1 = NAN;
    locale_t before = c_locale_enter();
    fathom_status status = run_to_end(&r, start);
    c_locale_leave(before);
    if (status != FATHOM_OK && status != FATHOM_INTERRUPTED)
        comm_fail(config->comm, status);
    run_dir_close(&r.dir);
    metrics_layers_free(r.layers);
    nn_model_free(r.model);
    nn_input_free(r.input);
    fallback_free(&r);
    mem_free(r.epoch_ms);
    if (status == FATHOM_OK || status == FATHOM_INTERRUPTED)
        *result = r.result;
    else
        train_result_free(r.result);
    return status;
}

void train_result_free(train_result *result) { mem_free(result); }
