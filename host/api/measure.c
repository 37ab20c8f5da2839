/* measure.c - metrics of over-smoothing in the public header. */
#include <stddef.h>

#include "api/handles.h"

/* A structure of a program that knew no samples. */
static bool has_rows(const fathom_metrics *metrics) {
    return metrics->size >= offsetof(fathom_metrics, rows) + sizeof metrics->rows;
}

fathom_status api_measuring(train_measuring *how, const fathom_metrics *metrics) {
    *how = (train_measuring){.rows = has_rows(metrics) ? metrics->rows : FATHOM_METRICS_ALL};
    if ((unsigned)metrics->definition >= METRICS_DEFINITIONS) {
        const char *names[METRICS_DEFINITIONS + 1] = {NULL};
        for (int i = 0; i < METRICS_DEFINITIONS; i++)
            names[i] = metrics_definition_name((metrics_definition)i);
        return api_fail_kind("definition", metrics->definition, 0, names);
    }
    how->definition = (metrics_definition)metrics->definition;
    return metrics_rows_check(how->rows);
}

void api_give_metrics(fathom_metrics *metrics, const metrics_values *values) {
    metrics_values full = *values;
    full.rows = has_rows(metrics) ? metrics->rows : 0;
    api_give(metrics, &full, sizeof full);
}

/* The metrics of h, and whatever of `set` (NULL: nothing) is there. */
static fathom_status compute(fathom_metrics *metrics, fathom_device *device, metrics_input *in, const data_set *set,
                             const fathom_arrays *given, metrics_definition definition) {
    metrics_values values;
    if (set) {
        in->labels = given->labels ? set->labels : NULL;
        in->classes = set->classes;
        in->features = set->features.cols > 0 ? &set->features : NULL;
        in->graph = given->indptr || given->from ? &set->graph : NULL;
    }
    train_use use = {.metrics = true,
                     .sampled = metrics_rows_for(in->rows, in->nodes) > 0,
                     .dense = in->features && in->features->dense,
                     .definition = definition};
    api_lock(device);
    fathom_status status = api_ready(device, &use);
    if (status == FATHOM_OK)
        status = metrics_compute(&values, device->dev, in, definition);
    api_unlock(device);
    if (status == FATHOM_OK)
        api_give_metrics(metrics, &values);
    return status;
}

fathom_status fathom_measure(fathom_metrics *metrics, fathom_device *device, const float *h, int64_t nodes,
                             int64_t width, const fathom_arrays *given) {
    return api_measure(metrics, device, h, nodes, width, given, NULL);
}

fathom_status api_measure(fathom_metrics *metrics, fathom_device *device, const float *h, int64_t nodes, int64_t width,
                          const fathom_arrays *given, message_fn *progress) {
    fathom_arrays arrays = {0};
    train_measuring how;
    data_set *set = NULL;
    NEED(metrics);
    NEED(device);
    NEED(h);
    CHECK(metrics);
    TRY(api_measuring(&how, metrics));
    metrics_input in = {.nodes = nodes, .width = width, .h = h, .rows = how.rows, .progress = progress};
    TAKE(arrays, given);
    if (given && arrays.nodes != nodes)
        return fail(FATHOM_USAGE, "fathom_measure: h has %lld rows, but given->nodes is %lld", (long long)nodes,
                    (long long)arrays.nodes);
    if (given) {
        data_options options = {.feature_norm = DATA_NORM_NONE, .without_split = true};
        arrays.train = arrays.val = arrays.test = NULL;
        arrays.train_count = arrays.val_count = arrays.test_count = 0;
        TRY(data_from_arrays(&set, &arrays, &options, true));
    }
    fathom_status status = compute(metrics, device, &in, set, &arrays, how.definition);
    data_free(set);
    return status;
}
