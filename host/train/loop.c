/* loop.c - one training run, written once for every device. A steady epoch is a sequence of enqueued operations and one
 * read of sixteen bytes, the only wait:
 *
 *   forward (training), loss, backward, Adam, forward (evaluation), scores, read. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/mem.h"
#include "core/plain.h"
#include "train/checkpoint.h"
#include "train/run.h"

#define MANY_NODES 30000 /* measuring so many takes seconds: it is announced */

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool stop_wanted(const run *r) { return r->hooks->stop && *r->hooks->stop; }

void run_note(const run *r, const char *text) {
    if (r->hooks->note)
        r->hooks->note(r->hooks->user, text);
}

/* ---- one epoch ---- */

static bool evaluated(const train_config *c, int64_t epoch, int64_t last) {
    return epoch % c->eval_every == 0 || epoch == last;
}

static fathom_status steps(run *r, nn_record *record, int64_t epoch, bool evaluate) {
    nn_pass training = {.training = true, .seed = r->config->seed, .epoch = (uint32_t)epoch};
    nn_pass evaluation = {.training = false};
    TRY(nn_forward(r->model, &training));
    TRY(nn_loss(r->model));
    TRY(nn_backward(r->model, &training));
    TRY(nn_step(r->model, r->config->lr, r->config->weight_decay, epoch));
    if (evaluate) {
        TRY(nn_forward(r->model, &evaluation));
        TRY(nn_score(r->model));
    }
    return nn_read(record, r->model);
}

static fathom_status fail_numeric(const run *r, double loss, int64_t epoch) {
    int64_t layer;
    char where[96] = "in the loss itself", kept[160] = "";
    TRY(nn_find_bad_layer(&layer, r->model));
    if (layer > 0)
        snprintf(where, sizeof where, "first in layer %" PRId64 " of %" PRId64, layer, r->config->net.layers);
    if (r->folder.path && r->now.best_epoch > 0)
        snprintf(kept, sizeof kept, "; the best model so far, of epoch %" PRId64 ", is in the folder of the run",
                 r->now.best_epoch);
    return fail(FATHOM_NUMERIC, "the loss is %s in epoch %" PRId64 ": values are not finite, %s; %s%s",
                isnan(loss) ? "not a number" : "infinite", epoch, where,
                epoch == 1 ? "the features are too large: scale them, or use --feature-norm row"
                           : "try a smaller --lr or --lambda, or smaller features",
                kept);
}

/* Runs epoch now.epoch + 1 and brings `now` and `e` up to it. */
static fathom_status one_epoch(run *r, train_epoch *e, int64_t last) {
    int64_t epoch = r->now.epoch + 1;
    bool evaluate = evaluated(r->config, epoch, last);
    nn_record record;
    double start = seconds();
    TRY(steps(r, &record, epoch, evaluate));
    if (!isfinite(record.loss))
        return fail_numeric(r, (double)record.loss, epoch);
    *e = (train_epoch){.epoch = epoch, .epochs = last, .loss = (double)record.loss, .candidate = NAN};
    for (int s = 0; s < NN_SETS; s++)
        e->accuracy[s] = evaluate && r->input->count[s] ? (double)record.correct[s] / (double)r->input->count[s] : NAN;
    r->now.epoch = epoch;
    r->now.loss = e->loss;
    bool better = r->now.best_epoch == 0 || e->accuracy[NN_VAL] > r->now.best[NN_VAL] || !r->input->count[NN_VAL];
    if (evaluate && better) {
        r->now.best_epoch = epoch;
        memcpy(r->now.best, e->accuracy, sizeof r->now.best);
        TRY(nn_keep(r->model));
    }
    e->best_epoch = r->now.best_epoch;
    e->best_val = r->now.best[NN_VAL];
    e->best_test = r->now.best[NN_TEST];
    e->ms = 1e3 * (seconds() - start);
    return FATHOM_OK;
}

/* ---- where a run starts ---- */

/* Weights that were trained on features prepared in another way are taken, and the difference is named. */
static fathom_status compare_init(const run *r, const st_file *file) {
    checkpoint_origin origin;
    char text[CORE_MESSAGE_MAX];
    TRY(checkpoint_origin_read(&origin, file));
    if (origin.feature_norm != DATA_NORM_AUTO && origin.feature_norm != r->config->feature_norm) {
        snprintf(text, sizeof text, "--init %.1000s was trained with --feature-norm %s; this run has %s",
                 r->config->init, data_norm_name(origin.feature_norm), data_norm_name(r->config->feature_norm));
        run_note(r, text);
    }
    return FATHOM_OK;
}

static fathom_status first_weights(run *r) {
    st_file *file = NULL;
    TRY(nn_init(r->model, r->config->seed));
    r->now = (train_progress){.lambda = r->config->net.lambda, .loss = NAN, .best = {NAN, NAN, NAN}};
    if (!r->config->init)
        return FATHOM_OK;
    TRY(st_load(&file, r->config->init));
    fathom_status status = checkpoint_load(r->model, file);
    if (status == FATHOM_OK && !r->folder.begun)
        status = compare_init(r, file);
    st_free(file);
    return status == FATHOM_OK ? status : fail_prefix(status, "--init %s: ", r->config->init);
}

/* At most `last` epochs with the model's lambda; *val is the best validation accuracy, NaN when values blew up. */
static fathom_status try_candidate(run *r, double *val, double candidate, int64_t last) {
    train_epoch e;
    TRY(first_weights(r));
    while (r->now.epoch < last) {
        fathom_status status = one_epoch(r, &e, last);
        *val = NAN;
        if (status == FATHOM_NUMERIC)
            return FATHOM_OK;
        TRY(status);
        e.candidate = candidate;
        if (r->hooks->epoch)
            r->hooks->epoch(r->hooks->user, &e);
        if (stop_wanted(r))
            return FATHOM_INTERRUPTED;
    }
    *val = r->now.best[NN_VAL];
    return FATHOM_OK;
}

/* The paper's rule: a few epochs with each candidate, the best validation accuracy wins, the smaller lambda of equals.
 */
static fathom_status search_lambda(run *r) {
    static const double candidates[TRAIN_CANDIDATES] = {5e-4, 1e-3, 2e-3, 3e-3, 5e-3, 1e-2, 2e-2, 3e-2, 5e-2};
    int64_t last = r->config->epochs < 100 ? r->config->epochs : 100;
    double best = -1;
    train_result *result = r->result;
    for (int i = 0; i < TRAIN_CANDIDATES; i++) {
        double val;
        nn_set_lambda(r->model, candidates[i]);
        TRY(try_candidate(r, &val, candidates[i], last));
        result->candidate[i] = candidates[i];
        result->candidate_val[i] = val;
        result->candidates = i + 1;
        if (val > best) {
            best = val;
            result->config.net.lambda = candidates[i];
        }
    }
    nn_set_lambda(r->model, result->config.net.lambda);
    return FATHOM_OK;
}

static fathom_status begin(run *r) {
    char path[FOLDER_PATH];
    if (r->folder.has_state) {
        TRY(state_load(r->model, &r->now, folder_file(path, &r->folder, "state.safetensors"), r->config, r->set));
        r->result->config.net.lambda = r->now.lambda;
        nn_set_lambda(r->model, r->now.lambda);
        return FATHOM_OK;
    }
    TRY(first_weights(r)); /* a file that cannot be used is found before there is a run */
    TRY(folder_record(&r->folder, r->config, r->set, be_device_info(r->dev), NULL));
    if (r->folder.path)
        TRY(data_save_names(r->set, folder_file(path, &r->folder, "")));
    if (r->config->lambda != TRAIN_LAMBDA_AUTO)
        return FATHOM_OK;
    TRY(search_lambda(r));
    return first_weights(r);
}

/* ---- checkpoints ---- */

static bool on_opencl(const run *r) { return strcmp(be_device_info(r->dev)->backend, "opencl") == 0; }

static fathom_status save_model(run *r) {
    char path[FOLDER_PATH];
    float *best = NULL;
    checkpoint_origin origin = checkpoint_origin_of(r->set);
    fathom_status status;
    TRY_OUT(mem_new(&best, nn_block_len(r->model, NN_BEST), 1, sizeof *best, "checkpoint"));
    TRY_OUT(state_get(best, r->model, NN_BEST, on_opencl(r)));
    TRY_OUT(checkpoint_save(folder_file(path, &r->folder, "model.safetensors"), r->model, best, r->now.best_epoch,
                            train_preset_name(r->config->preset), &origin));
out:
    mem_free(best);
    return status;
}

/* The lines of epochs.jsonl are on the disk before the state that counts them. */
static fathom_status save(run *r) {
    char path[FOLDER_PATH];
    if (!r->folder.path)
        return FATHOM_OK;
    TRY(folder_sync(&r->folder));
    TRY(state_save(folder_file(path, &r->folder, "state.safetensors"), r->model, &r->now, r->config, r->set,
                   on_opencl(r)));
    r->folder.has_state = true;
    return save_model(r);
}

/* ---- the loop ---- */

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

/* The dearest of the steady epochs stands for all, so that none costs more than what is told; the first one, which
 * builds and allocates, only where it is the only one. */
static void count_epoch(run *r, be_counters before) {
    be_counters after = be_count(r->dev), *most = &r->result->per_epoch;
    if (r->timed <= 1)
        *most = (be_counters){0};
    most->launches = larger(most->launches, after.launches - before.launches);
    most->blocking_reads = larger(most->blocking_reads, after.blocking_reads - before.blocking_reads);
    most->bytes_read = larger(most->bytes_read, after.bytes_read - before.bytes_read);
    most->bytes_written = larger(most->bytes_written, after.bytes_written - before.bytes_written);
    if (r->timed == 0)
        return;
    r->result->builds_after_first_epoch += after.builds - before.builds;
    r->result->allocations_after_first_epoch += after.allocations - before.allocations;
}

static fathom_status take_profile(const run *r, be_op_time *time) {
    for (int op = 0; op < BE_OP_COUNT; op++)
        TRY(be_profile(r->dev, (be_op)op, &time[op]));
    return FATHOM_OK;
}

static fathom_status loop(run *r) {
    const train_config *c = r->config;
    double start = seconds();
    int64_t first = r->now.epoch;
    while (r->now.epoch < c->epochs) {
        train_epoch e;
        be_counters before = be_count(r->dev);
        TRY(one_epoch(r, &e, c->epochs));
        count_epoch(r, before);
        if (r->timed < c->epochs)
            r->ms[r->timed++] = e.ms;
        if (r->timed == 1)
            TRY(take_profile(r, r->first));
        e.seconds_left = (seconds() - start) / (double)(e.epoch - first) * (double)(c->epochs - e.epoch);
        TRY(folder_add(&r->folder, &e));
        if (r->hooks->epoch)
            r->hooks->epoch(r->hooks->user, &e);
        if (stop_wanted(r)) {
            r->result->interrupted = true;
            break;
        }
        if (c->patience > 0 && e.epoch - r->now.best_epoch >= c->patience && r->now.best_epoch > 0) {
            r->result->stopped_early = true;
            break;
        }
        if (e.epoch % c->checkpoint_every == 0 && e.epoch < c->epochs) {
            TRY(fallback_keep(r));
            TRY(save(r));
        }
    }
    return FATHOM_OK;
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void sum_up(run *r) {
    train_result *result = r->result;
    result->epochs = r->now.epoch;
    result->best_epoch = r->now.best_epoch;
    result->loss = r->now.loss;
    memcpy(result->accuracy, r->now.best, sizeof result->accuracy);
    result->median_epoch_ms = result->min_epoch_ms = NAN;
    if (r->timed > 0) {
        qsort(r->ms, (size_t)r->timed, sizeof *r->ms, by_size);
        result->median_epoch_ms = r->ms[r->timed / 2];
        result->min_epoch_ms = r->ms[0];
    }
    result->steady_epochs = r->timed - 1;
    for (int op = 0; op < BE_OP_COUNT && !r->own; op++) {
        result->profile[op].seconds -= r->first[op].seconds;
        result->profile[op].calls -= r->first[op].calls;
        result->profile[op].launches -= r->first[op].launches;
    }
}

/* The best epoch's weights, and the metrics of what they give: all pairs of nodes, minutes on a large graph. Who
 * interrupts does not wait for them; `fathom eval` can measure what was saved. */
static fathom_status finish(run *r) {
    train_scores scores = {0};
    char text[96];
    TRY(nn_restore(r->model));
    if (r->result->interrupted)
        return FATHOM_OK;
    if (r->set->graph.nodes > MANY_NODES) {
        snprintf(text, sizeof text, "measuring over-smoothing over all pairs of %" PRId32 " nodes",
                 r->set->graph.nodes);
        run_note(r, text);
    }
    fathom_status status = train_score(&scores, r->model, r->set, r->dev);
    if (status == FATHOM_OK)
        status = train_measure(&scores, r->set, r->dev, METRICS_AUTHORS, r->hooks->stop);
    if (status == FATHOM_INTERRUPTED) {
        r->result->interrupted = true;
        metrics_none(&scores.metrics, METRICS_AUTHORS);
        status = FATHOM_OK;
    }
    r->result->metrics = scores.metrics;
    if (status == FATHOM_OK && !scores.finite && fallback_possible(r))
        status = fail(FATHOM_NUMERIC, "the representations of the best epoch are not all finite");
    else if (status == FATHOM_OK && !scores.finite)
        run_note(r, "the representations of the best epoch are not all finite: there are no metrics of them");
    mem_free(scores.logits);
    return status;
}

/* Where this run stands: what was kept before the device was lost, else what the folder holds, else the beginning. */
static fathom_status stand(run *r) {
    char text[96];
    fathom_status status = r->own && r->has_kept ? fallback_restore(r) : begin(r);
    if (status == FATHOM_INTERRUPTED) { /* while searching for lambda: there is nothing to keep yet */
        r->result->interrupted = true;
        r->now = (train_progress){.loss = NAN, .best = {NAN, NAN, NAN}};
    } else if (status != FATHOM_OK)
        return status;
    if (!r->own) {
        r->result->first_epoch = r->now.epoch + 1;
        if (r->now.epoch > 0) {
            snprintf(text, sizeof text, "going on after epoch %" PRId64, r->now.epoch);
            run_note(r, text);
        }
    }
    TRY(folder_epochs(&r->folder, r->now.epoch));
    return be_sync(r->dev);
}

/* Building and checking may take a minute; who interrupts them loses nothing, and the folder stays as it is. */
static fathom_status go_on(const run *r) {
    return !r->own && stop_wanted(r) ? fail(FATHOM_INTERRUPTED, "interrupted before the first epoch") : FATHOM_OK;
}

static fathom_status check_device(run *r) {
    train_use use = {.config = &r->config->net, .training = true, .metrics = true, .dense = r->set->features.dense};
    char note[CORE_MESSAGE_MAX];
    if (r->config->checked)
        return FATHOM_OK;
    fathom_status status = train_check(r->dev, &use, note);
    r->refused = status == FATHOM_DEVICE;
    if (note[0])
        run_note(r, note);
    return status;
}

/* Everything on one device, from an empty model to the metrics; done a second time when the first device was lost. */
static fathom_status work(run *r, double start) {
    train_result *result = r->result;
    TRY(check_device(r));
    TRY(go_on(r));
    TRY(nn_input_make(&r->input, r->dev, r->set, r->config->net.model));
    TRY(nn_model_make(&r->model, &r->config->net, r->input));
    result->bytes = *nn_model_bytes(r->model);
    TRY(go_on(r));
    TRY(stand(r));
    if (!r->own)
        result->build_s = seconds() - start + r->config->open_s;
    if (!result->interrupted) {
        TRY(fallback_keep(r));
        TRY(loop(r));
        if (!r->own) /* after the loss of a device there is no whole to tell of */
            TRY(take_profile(r, result->profile));
        TRY(save(r));
    }
    sum_up(r);
    return r->now.best_epoch > 0 ? finish(r) : FATHOM_OK;
}

/* Values blew up: the best model so far is kept, and saving it must not replace the sentence. */
static fathom_status keep_best(run *r, fathom_status status) {
    char sentence[CORE_MESSAGE_MAX];
    snprintf(sentence, sizeof sentence, "%s", fathom_last_error());
    TRY(save_model(r));
    return fail(status, "%s", sentence);
}

static fathom_status fail_interrupted(const run *r) {
    if (r->now.epoch == 0)
        return fail(FATHOM_INTERRUPTED, "interrupted before the first epoch%s",
                    r->folder.path ? "; --resume starts the run again" : "");
    return fail(FATHOM_INTERRUPTED, "interrupted after epoch %" PRId64 "%s", r->now.epoch,
                r->folder.path ? "; --resume goes on from there" : "");
}

static fathom_status train(run *r, double start) {
    train_result *result = r->result;
    const train_config *c = r->config;
    if (r->set->split.train_count == 0)
        return fail(FATHOM_DATA, "%s: the split %s has no training node", r->set->name,
                    r->set->split.name ? r->set->split.name : "");
    TRY(folder_open(&r->folder, c->out, c->resume));
    TRY(mem_new(&r->ms, c->epochs, 1, sizeof *r->ms, "epoch times"));
    bool on_device = on_opencl(r);
    fathom_status status = work(r, start);
    bool lost = status == FATHOM_DEVICE || status == FATHOM_MEMORY; /* drivers say either */
    bool replace = r->refused && c->automatic;
    if (replace || ((lost || status == FATHOM_NUMERIC) && fallback_possible(r))) {
        TRY(fallback_to_cpu(r));
        status = work(r, start);
    } else if (on_device && lost && r->folder.begun) {
        return fallback_tell(r, status);
    }
    if (status == FATHOM_NUMERIC && r->folder.path && r->now.best_epoch > 0)
        return keep_best(r, status);
    TRY(status);
    if (r->hooks->finished)
        TRY(r->hooks->finished(r->hooks->user, r->model));
    result->total_s = seconds() - start + c->load_s + c->open_s;
    TRY(folder_record(&r->folder, c, r->set, be_device_info(r->dev), result));
    return result->interrupted ? fail_interrupted(r) : FATHOM_OK;
}

fathom_status train_run(train_result **result, const train_config *config, const data_set *set, be_device *dev,
                        const train_hooks *hooks) {
    static const train_hooks none = {0};
    run r = {.set = set, .dev = dev, .hooks = hooks ? hooks : &none};
    double start = seconds();
    *result = NULL;
    TRY(mem_new(&r.result, 1, 1, sizeof *r.result, "result"));
    r.result->config = *config;
    r.config = &r.result->config;
    metrics_none(&r.result->metrics, METRICS_AUTHORS);
    locale_t before = plain_enter();
    fathom_status status = train(&r, start);
    plain_leave(before);
    folder_close(&r.folder);
    nn_model_free(r.model);
    nn_input_free(r.input);
    fallback_free(&r);
    mem_free(r.ms);
    if (status == FATHOM_OK || status == FATHOM_INTERRUPTED)
        *result = r.result;
    else
        train_result_free(r.result);
    return status;
}

void train_result_free(train_result *result) { mem_free(result); }
