/* bench_epoch.c - `fathom bench --what epoch`: whole epochs of training, each a training step, the evaluation of all
 * nodes and the one read that ends it, with the settings `fathom train` would take. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/bench.h"
#include "train/train.h"

static const struct epoch_row {
    const char *data;
    nn_conv_kind model;
    int64_t layers;
} epoch_rows[] = {
    {"embedded", NN_GCN, 15}, {"cora", NN_GCN, 2},    {"cora", NN_GCN, 15},
    {"cora", NN_GCN, 30},     {"cora", NN_GAT, 15},   {"cora", NN_SGC, 60},
    {"citeseer", NN_GCN, 15}, {"pubmed", NN_GCN, 15}, {"coauthor-cs", NN_GCN, 15},
};

struct epochs {
    nn_model *model;
    train_config config;
    int64_t epoch;
    float loss;
};

static fathom_status run_epochs(void *context, int64_t times) {
    struct epochs *e = context;
    nn_epoch_stats stats = {0};
    for (int64_t i = 0; i < times; i++) {
        TRY(train_one_epoch(&stats, e->model, &e->config, ++e->epoch, true, e->config.lr));
        e->loss = stats.loss;
    }
    return FATHOM_OK;
}

/* What is timed must be right. */
static fathom_status check_device(be_device *dev, const train_config *config, const data_set *set,
                                  message_fn *message) {
    train_use use = {.config = &config->net, .training = true, .dense = set->features.dense};
    char note[CORE_MESSAGE_MAX];
    TRY(train_check(dev, &use, note));
    if (note[0] && message)
        message(note);
    return FATHOM_OK;
}

static fathom_status time_epochs(struct bench_row *row, const struct bench_record *bench, be_device *dev,
                                 const data_set *set, const struct epoch_row *which) {
    struct epochs e = {.config = train_unset()};
    nn_input *input = NULL;
    fathom_status status;
    e.config.net.model = which->model;
    e.config.net.layers = which->layers;
    TRY_OUT(train_fill(&e.config, set));
    TRY_OUT(check_device(dev, &e.config, set, bench->message));
    TRY_OUT(nn_input_make(&input, dev, set, which->model));
    TRY_OUT(nn_model_make(&e.model, &e.config.net, input));
    TRY_OUT(nn_init(e.model, e.config.seed));
    TRY_OUT(bench_measure_round(&row->time, run_epochs, &e, bench->seconds));
    if (!isfinite(e.loss))
        snprintf(row->missing, sizeof row->missing, "wrong result: the loss is not finite after %d epochs",
                 (int)e.epoch);
out:
    nn_model_free(e.model);
    nn_input_free(input);
    return status;
}

fathom_status bench_epoch(struct bench_record *record, be_device *const *devices) {
    struct bench_data data = {0};
    fathom_status status = FATHOM_OK;
    for (size_t r = 0; r < sizeof epoch_rows / sizeof *epoch_rows; r++) {
        const struct epoch_row *which = &epoch_rows[r];
        char name[40];
        snprintf(name, sizeof name, "%s + group norm, %d layers", nn_conv_name(which->model), (int)which->layers);
        if (!bench_wanted(record, name, which->data))
            continue;
        progress_report(record->progress, "%s, %s", which->data, name);
        TRY_OUT(bench_load(&data, which->data));
        for (size_t d = 0; d < record->count; d++) {
            struct bench_device *device = &record->devices[d];
            struct bench_row *row = NULL;
            TRY_OUT(bench_next_row(&row, record, device, name, which->data));
            if (!data.set)
                snprintf(row->missing, sizeof row->missing, "%s", data.missing);
            else if (bench_due(record, device, row))
                TRY_OUT(bench_end_row(device, row, time_epochs(row, record, devices[d], data.set, which)));
        }
    }
out:
    data_free(data.set);
    return status;
}
