/* bench_metrics.c - `fathom bench --what metrics`: the metrics of over-smoothing on representations as wide as the
 * classes, as they are taken at the end of a run; and the data sets that benchmarks load. */
#include <stdio.h>
#include <string.h>

#include "bench/bench.h"
#include "core/mem.h"
#include "core/random.h"
#include "core/redact.h"
#include "metrics/single_metrics.h"

fathom_status bench_load(struct bench_data *data, const char *name) {
    if (data->name && strcmp(data->name, name) == 0)
        return FATHOM_OK;
    data_free(data->set);
    data->set = NULL;
    data->name = name;
    char clean[REDACT_LINE_MAX];
    fathom_status status = data_load(&data->set, name, NULL);
    if (status == FATHOM_DATA) {
        redact_line(clean, fathom_last_error());
        snprintf(data->missing, sizeof data->missing, "%.190s", clean);
        status = FATHOM_OK;
    }
    return status;
}

struct metrics_work {
    be_device *dev;
    metrics_input in;
    metrics_values values;
};

static fathom_status take_all(void *context, int64_t times) {
    struct metrics_work *w = context;
    for (int64_t i = 0; i < times; i++)
        TRY(metrics_compute(&w->values, w->dev, &w->in, METRICS_AUTHORS));
    return FATHOM_OK;
}

static fathom_status take_gain(void *context, int64_t times) {
    struct metrics_work *w = context;
    const metrics_sample all = {.n = w->in.nodes, .rows = w->in.nodes};
    for (int64_t i = 0; i < times; i++)
        TRY(metrics_information_gain(&w->values, w->dev, &w->in, &all));
    return FATHOM_OK;
}

static const char *const metrics_sets[] = {"embedded", "cora", "citeseer", "pubmed", "coauthor-cs"};

static const struct metrics_row {
    const char *name;
    bench_work *work;
} metrics_rows_timed[] = {{"instance information gain", take_gain}, {"all metrics", take_all}};

static fathom_status time_set(struct bench_record *record, be_device *const *devices, const struct metrics_row *which,
                              const data_set *set) {
    struct metrics_work work = {.in = {.nodes = set->graph.nodes,
                                       .width = set->classes,
                                       .labels = set->labels,
                                       .classes = set->classes,
                                       .features = &set->features,
                                       .graph = &set->graph}};
    random_source source = random_from(1, RANDOM_TEST, 0, 0);
    float *h = NULL;
    fathom_status status;
    TRY_OUT(mem_new(&h, work.in.nodes, work.in.width, sizeof *h, "representations"));
    for (int64_t i = 0; i < work.in.nodes * work.in.width; i++)
        h[i] = (float)random_next_normal(&source);
    work.in.h = h;
    for (size_t d = 0; d < record->count; d++) {
        struct bench_device *device = &record->devices[d];
        struct bench_row *row = NULL;
        work.dev = devices[d];
        TRY_OUT(bench_next_row(&row, record, device, which->name, set->name));
        if (bench_due(record, device, row))
            TRY_OUT(bench_end_row(device, row, bench_measure_round(&row->time, which->work, &work, record->seconds)));
    }
out:
    mem_free(h);
    return status;
}

static fathom_status add_missing(struct bench_record *record, const struct metrics_row *which,
                                 const struct bench_data *data) {
    for (size_t d = 0; d < record->count; d++) {
        struct bench_row *row = NULL;
        TRY(bench_next_row(&row, record, &record->devices[d], which->name, data->name));
        snprintf(row->missing, sizeof row->missing, "%s", data->missing);
    }
    return FATHOM_OK;
}

fathom_status bench_metrics(struct bench_record *record, be_device *const *devices) {
    struct bench_data data = {0};
    fathom_status status = FATHOM_OK;
    for (size_t s = 0; s < sizeof metrics_sets / sizeof *metrics_sets; s++)
        for (size_t r = 0; r < sizeof metrics_rows_timed / sizeof *metrics_rows_timed; r++) {
            const struct metrics_row *which = &metrics_rows_timed[r];
            if (!bench_wanted(record, which->name, metrics_sets[s]))
                continue;
            progress_report(record->progress, "%s, %s", metrics_sets[s], which->name);
            TRY_OUT(bench_load(&data, metrics_sets[s]));
            TRY_OUT(data.set ? time_set(record, devices, which, data.set) : add_missing(record, which, &data));
        }
out:
    data_free(data.set);
    return status;
}
