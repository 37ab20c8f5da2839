/* evaluate.c - one pass in evaluation mode: logits, accuracies, training loss, metrics. */
#include <math.h>

#include "core/mem.h"
#include "train/train.h"

/* Mean cross-entropy of the training nodes in double: L = mean_v (log sum_c exp z_vc - z_v,label). */
static double loss_of(const float *logits, const data_set *set) {
    double sum = 0;
    for (int32_t i = 0; i < set->split.train_count; i++) {
        int32_t v = set->split.train[i];
        const float *z = logits + (int64_t)v * set->classes;
        double high = (double)z[0], total = 0;
        for (int32_t c = 1; c < set->classes; c++)
            high = (double)z[c] > high ? (double)z[c] : high; /* fmax crashes gcc 12 for arm64 */
        for (int32_t c = 0; c < set->classes; c++)
            total += exp((double)z[c] - high);
        sum += high + log(total) - (double)z[set->labels[v]];
    }
    return set->split.train_count ? sum / set->split.train_count : NAN;
}

/* The class of a node: the largest output, the lowest of equals, as be_accuracy counts. */
static int32_t predicted(const float *z, int32_t classes) {
    float best = -INFINITY;
    int32_t at = 0;
    for (int32_t c = 0; c < classes; c++)
        if (z[c] > best) {
            best = z[c];
            at = c;
        }
    return at;
}

static fathom_status macro_f1_of(double *f1, const float *logits, const data_set *set) {
    int32_t *hits = NULL, *misses = NULL, classes = set->classes, counted = 0; /* misses: FP + FN */
    double sum = 0;
    fathom_status status;
    TRY_OUT(mem_new(&hits, classes, 1, sizeof *hits, "scores of the classes"));
    TRY_OUT(mem_new(&misses, classes, 1, sizeof *misses, "scores of the classes"));
    for (int32_t i = 0; i < set->split.test_count; i++) {
        int32_t v = set->split.test[i], is = set->labels[v], said = predicted(logits + (int64_t)v * classes, classes);
        hits[is] += said == is;
        misses[is] += said != is;
        misses[said] += said != is;
    }
    for (int32_t c = 0; c < classes; c++)
        if (hits[c] + misses[c] > 0) {
            sum += 2.0 * hits[c] / (2.0 * hits[c] + misses[c]);
            counted++;
        }
    *f1 = counted ? sum / counted : NAN;
out:
    mem_free(hits);
    mem_free(misses);
    return status;
}

/* Very deep networks may overflow in evaluation, whose running estimates lag, while training stays finite. */
static bool all_finite(const float *values, int64_t count) {
    for (int64_t i = 0; i < count; i++)
        if (!isfinite(values[i]))
            return false;
    return true;
}

fathom_status train_score(train_scores *scores, nn_model *model, const data_set *set, be_device *dev) {
    const int32_t counts[NN_SETS] = {set->split.train_count, set->split.val_count, set->split.test_count};
    nn_pass pass = {.training = false};
    nn_epoch_stats record = {0};
    *scores = (train_scores){0};
    metrics_init_nan(&scores->metrics, METRICS_AUTHORS);
    TRY(mem_new(&scores->logits, set->graph.nodes, set->classes, sizeof *scores->logits, "logits"));
    TRY(nn_forward(model, &pass));
    TRY(nn_count_correct(model));
    TRY(nn_read_stats(&record, model));
    TRY(nn_get_logits(scores->logits, model, &pass));
    for (int s = 0; s < NN_SETS; s++)
        if (record.correct[s] < 0 || record.correct[s] > counts[s])
            return fail(FATHOM_DEVICE, "%s counts %d of %d nodes as right: a wrong result; run `fathom selftest`",
                        be_device_info(dev)->name, record.correct[s], counts[s]);
    for (int s = 0; s < NN_SETS; s++)
        scores->accuracy[s] = counts[s] ? (double)record.correct[s] / counts[s] : NAN;
    scores->loss = loss_of(scores->logits, set);
    TRY(macro_f1_of(&scores->macro_f1, scores->logits, set));
    scores->finite = all_finite(scores->logits, (int64_t)set->graph.nodes * set->classes);
    return FATHOM_OK;
}

fathom_status train_measure(train_scores *scores, const data_set *set, be_device *dev, const train_measuring *how) {
    metrics_input in = {.nodes = set->graph.nodes,
                        .width = set->classes,
                        .h = scores->logits,
                        .labels = set->labels,
                        .classes = set->classes,
                        .features = &set->features,
                        .graph = &set->graph,
                        .rows = how->rows,
                        .stop = how->stop,
                        .progress = how->progress};
    metrics_init_nan(&scores->metrics, how->definition);
    return scores->finite ? metrics_compute(&scores->metrics, dev, &in, how->definition) : FATHOM_OK;
}

fathom_status train_evaluate(train_scores *scores, nn_model *model, const data_set *set, be_device *dev,
                             const train_measuring *how) {
    TRY(train_score(scores, model, set, dev));
    return how ? train_measure(scores, set, dev, how) : FATHOM_OK;
}
