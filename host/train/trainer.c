/* trainer.c - epochs, written once for every device. A steady epoch is a sequence of enqueued operations and one read
 * of sixteen bytes, the only wait:
 *
 *   forward (training), loss, backward, Adam, forward (evaluation), count of correct predictions, read. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/mem.h"
#include "train/checkpoint.h"
#include "train/run.h"

/* ---- initial weights ---- */

/* Weights trained with another --feature-norm are accepted with a note. */
static fathom_status note_other_features(const run *r, const st_file *file) {
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

static fathom_status check_features(const run *r) {
    const nn_config *net = &r->config->net;
    float largest = data_features_largest(&r->set->input);
    return largest <= nn_feature_limit(net)
               ? FATHOM_OK
               : fail(FATHOM_NUMERIC,
                      "%s: features of up to %.3g are too large for %s with norm %s, whose gradient grows with their "
                      "square; scale them to below %.3g, or use --feature-norm row",
                      r->set->name, (double)largest, nn_conv_name(net->model), nn_norm_name(net->norm),
                      (double)nn_feature_limit(net));
}

fathom_status trainer_init(run *r) {
    st_file *file = NULL;
    TRY(check_features(r));
    TRY(nn_init(r->model, r->config->seed));
    r->progress = (train_progress){.lambda = r->config->net.lambda, .loss = NAN, .best = {NAN, NAN, NAN}};
    if (!r->config->init)
        return FATHOM_OK;
    TRY(st_load(&file, r->config->init));
    fathom_status status = checkpoint_load(r->model, file);
    if (status == FATHOM_OK && !r->dir.has_record)
        status = note_other_features(r, file);
    st_free(file);
    return status == FATHOM_OK ? status : fail_prefix(status, "--init %s: ", r->config->init);
}

/* ---- one epoch ---- */

static bool is_evaluated(const train_config *c, int64_t epoch, int64_t last) {
    return epoch % c->eval_every == 0 || epoch == last;
}

fathom_status train_one_epoch(nn_epoch_stats *stats, nn_model *model, const train_config *config, int64_t epoch,
                              bool evaluate, double lr) {
    nn_pass training = {.training = true, .seed = config->seed, .epoch = (uint32_t)epoch};
    nn_pass evaluation = {.training = false};
    TRY(nn_forward(model, &training));  /* Z = f(X, W), with dropout */
    TRY(nn_loss(model));                /* L = mean cross-entropy of the training nodes, dL/dZ */
    TRY(nn_backward(model, &training)); /* dL/dW */
    /* W -= lr * Adam(dL/dW + weight_decay * W) */
    if (config->clip > 0)
        TRY(nn_clip(model, config->clip)); /* dL/dW *= min(1, clip / |dL/dW|) */
    TRY(nn_step(model, lr, config->weight_decay, epoch));
    if (evaluate) {
        TRY(nn_forward(model, &evaluation));
        TRY(nn_count_correct(model));
    }
    return nn_read_stats(stats, model);
}

/* ---- values that are not finite ---- */

#define GRADIENT_LIMIT 1e21 /* Adam's second moment, 1e-3 g^2, overflows float32 */
#define FEATURE_LIMIT 1e6f  /* features beyond this may be the cause themselves */

static bool has_large_features(const data_features *f) {
    int64_t count = f->dense ? (int64_t)f->rows * f->cols : f->nonzeros;
    for (int64_t i = 0; i < count; i++)
        if (!(fabsf(f->values[i]) <= FEATURE_LIMIT))
            return true;
    return false;
}

/* *largest: of the entries of dL/dW in the first epoch, infinite if one is not a number. The weights are the initial
 * ones afterwards; progress and best weights are kept. */
static fathom_status first_gradient(double *largest, run *r) {
    nn_pass first = {.training = true, .seed = r->config->seed, .epoch = 1};
    train_progress progress = r->progress;
    float *best = NULL, *grads = NULL;
    int64_t count = nn_block_len(r->model, NN_GRADS);
    fathom_status status;
    TRY_OUT(mem_new(&best, nn_block_len(r->model, NN_BEST), 1, sizeof *best, "best weights"));
    TRY_OUT(mem_new(&grads, count, 1, sizeof *grads, "gradients"));
    TRY_OUT(nn_get_block(best, r->model, NN_BEST));
    TRY_OUT(trainer_init(r));
    r->progress = progress;
    TRY_OUT(nn_set_block(r->model, NN_BEST, best));
    TRY_OUT(nn_forward(r->model, &first));
    TRY_OUT(nn_loss(r->model));
    TRY_OUT(nn_backward(r->model, &first));
    TRY_OUT(nn_get_block(grads, r->model, NN_GRADS));
    *largest = 0;
    for (int64_t i = 0; i < count; i++)
        *largest = isnan(grads[i]) ? INFINITY : fmax(*largest, fabs((double)grads[i]));
out:
    mem_free(best);
    mem_free(grads);
    return status;
}

/* Fails if depth without a skip connection is the cause: the gradient grows from layer to layer. */
static fathom_status check_depth(run *r, int64_t epoch) {
    nn_config skipping = r->config->net;
    double largest;
    char text[64] = "is not finite";
    skipping.skip = NN_SKIP_INITIAL;
    if (r->config->net.skip != NN_SKIP_NONE || !nn_takes_skip(skipping.model) ||
        nn_skip_check(&skipping, r->set->classes) != FATHOM_OK || has_large_features(&r->set->features))
        return FATHOM_OK;
    TRY(first_gradient(&largest, r));
    if (largest < GRADIENT_LIMIT)
        return FATHOM_OK;
    if (isfinite(largest))
        snprintf(text, sizeof text, "has an entry of %.1e", largest);
    return fail(FATHOM_NUMERIC,
                "values are not finite in epoch %" PRId64 ": the first gradient %s; the cause is the depth, %" PRId64
                " layers without a skip connection: use --skip initial, or fewer layers",
                epoch, text, r->config->net.layers);
}

static fathom_status fail_numeric(run *r, double loss, int64_t epoch) {
    const nn_pass pass = {.training = true, .seed = r->config->seed, .epoch = (uint32_t)epoch};
    int64_t layer;
    char where[96] = "in the loss itself", kept[160] = "";
    TRY(nn_first_nonfinite_layer(&layer, r->model, &pass));
    if (layer > 0)
        snprintf(where, sizeof where, "first in layer %" PRId64 " of %" PRId64, layer, r->config->net.layers);
    if (r->dir.path && r->progress.best_epoch > 0)
        snprintf(kept, sizeof kept, "; the best model so far, of epoch %" PRId64 ", is in the folder of the run",
                 r->progress.best_epoch);
    TRY(check_depth(r, epoch));
    return fail(FATHOM_NUMERIC, "the loss is %s in epoch %" PRId64 ": values are not finite, %s; %s%s",
                isnan(loss) ? "not a number" : "infinite", epoch, where,
                epoch == 1 ? "the features are too large: scale them, or use --feature-norm row"
                           : "try a smaller --lr or --lambda, or smaller features",
                kept);
}

#define PLATEAU_EPOCHS 50
#define PLATEAU_FACTOR 0.5

/* The learning rate of an epoch. */
static double rate_of(const train_config *c, const train_progress *p, int64_t epoch) {
    const double pi = 3.14159265358979323846;
    if (c->lr_schedule == TRAIN_COSINE)
        return c->lr * 0.5 * (1 + cos(pi * (double)(epoch - 1) / (double)c->epochs));
    return c->lr_schedule == TRAIN_PLATEAU ? c->lr * pow(PLATEAU_FACTOR, (double)p->reductions) : c->lr;
}

static void reduce_rate(train_progress *p) {
    int64_t since = p->reduced_at > p->best_epoch ? p->reduced_at : p->best_epoch;
    if (p->epoch - since < PLATEAU_EPOCHS)
        return;
    p->reductions++;
    p->reduced_at = p->epoch;
}

fathom_status trainer_epoch(run *r, train_epoch *e, int64_t last) {
    int64_t epoch = r->progress.epoch + 1;
    bool evaluate = is_evaluated(r->config, epoch, last);
    nn_epoch_stats stats = {.stop = run_stop_here(r)};
    train_progress *p = &r->progress;
    const int64_t *count = r->input->count;
    double start = clock_seconds();
    TRY(train_one_epoch(&stats, r->model, r->config, epoch, evaluate, rate_of(r->config, p, epoch)));
    r->stops |= stats.stop != 0;
    if (!isfinite(stats.loss))
        return fail_numeric(r, (double)stats.loss, epoch);
    *e = (train_epoch){.epoch = epoch, .epochs = last, .loss = (double)stats.loss, .candidate = NAN};
    for (int s = 0; s < NN_SETS; s++)
        e->accuracy[s] = evaluate && count[s] ? (double)stats.correct[s] / (double)count[s] : NAN;
    p->epoch = epoch;
    p->loss = e->loss;
    /* Without validation nodes the last epoch is the best. */
    bool better = p->best_epoch == 0 || e->accuracy[NN_VAL] > p->best[NN_VAL] || !count[NN_VAL];
    if (evaluate && better) {
        p->best_epoch = epoch;
        memcpy(p->best, e->accuracy, sizeof p->best);
        TRY(nn_save_best(r->model));
    }
    if (evaluate)
        reduce_rate(p);
    e->best_epoch = p->best_epoch;
    e->best_val = p->best[NN_VAL];
    e->best_test = p->best[NN_TEST];
    e->ms = 1e3 * (clock_seconds() - start);
    return FATHOM_OK;
}

/* ---- all epochs ---- */

static int64_t max_i64(int64_t a, int64_t b) { return a > b ? a : b; }

/* Reports the maximum over steady-state epochs. The first epoch, which builds and allocates, counts only while it is
 * the only one. */
static void count_epoch(run *r, be_counters before) {
    be_counters after = be_count(r->dev), *most = &r->result->per_epoch;
    if (r->epochs_timed <= 1)
        *most = (be_counters){0};
    most->launches = max_i64(most->launches, after.launches - before.launches);
    most->blocking_reads = max_i64(most->blocking_reads, after.blocking_reads - before.blocking_reads);
    most->bytes_read = max_i64(most->bytes_read, after.bytes_read - before.bytes_read);
    most->bytes_written = max_i64(most->bytes_written, after.bytes_written - before.bytes_written);
    if (r->epochs_timed == 0)
        return;
    r->result->builds_after_first_epoch += after.builds - before.builds;
    r->result->allocations_after_first_epoch += after.allocations - before.allocations;
}

fathom_status trainer_profile(const run *r, be_op_time profile[BE_OP_COUNT]) {
    for (int op = 0; op < BE_OP_COUNT; op++)
        TRY(be_profile(r->dev, (be_op)op, &profile[op]));
    return FATHOM_OK;
}

fathom_status trainer_loop(run *r) {
    const train_config *c = r->config;
    double start = clock_seconds();
    int64_t first = r->progress.epoch;
    while (r->progress.epoch < c->epochs) {
        train_epoch e;
        const metrics_layers *layers;
        be_counters before = be_count(r->dev);
        TRY(trainer_epoch(r, &e, c->epochs));
        count_epoch(r, before);
        if (r->epochs_timed < c->epochs)
            r->epoch_ms[r->epochs_timed++] = e.ms;
        if (r->epochs_timed == 1)
            TRY(trainer_profile(r, r->first_epoch));
        e.seconds_left = (clock_seconds() - start) / (double)(e.epoch - first) * (double)(c->epochs - e.epoch);
        TRY(layer_metrics(&layers, r, e.epoch));
        TRY(run_dir_add_epoch(&r->dir, &e, layers));
        if (r->hooks->epoch)
            r->hooks->epoch(r->hooks->user, &e);
        if (run_stop_requested(r)) {
            r->result->interrupted = true;
            break;
        }
        if (c->patience > 0 && e.epoch - r->progress.best_epoch >= c->patience && r->progress.best_epoch > 0) {
            r->result->stopped_early = true;
            break;
        }
        if (e.epoch % c->checkpoint_every == 0 && e.epoch < c->epochs) {
            TRY(fallback_snapshot(r));
            TRY(run_save(r));
        }
    }
    return FATHOM_OK;
}

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void trainer_summarize(run *r) {
    train_result *result = r->result;
    result->epochs = r->progress.epoch;
    result->best_epoch = r->progress.best_epoch;
    result->loss = r->progress.loss;
    memcpy(result->accuracy, r->progress.best, sizeof result->accuracy);
    result->median_epoch_ms = result->min_epoch_ms = NAN;
    if (r->epochs_timed > 0) {
        qsort(r->epoch_ms, (size_t)r->epochs_timed, sizeof *r->epoch_ms, compare_doubles);
        result->median_epoch_ms = r->epoch_ms[r->epochs_timed / 2];
        result->min_epoch_ms = r->epoch_ms[0];
    }
    result->steady_epochs = r->epochs_timed - 1;
    for (int op = 0; op < BE_OP_COUNT && !r->fallback_dev; op++) { /* steady epochs only */
        result->profile[op].seconds -= r->first_epoch[op].seconds;
        result->profile[op].calls -= r->first_epoch[op].calls;
        result->profile[op].launches -= r->first_epoch[op].launches;
    }
}
