/* bench_score.c - the standard workloads, and the score: one number per device (workloads.h). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/workloads.h"

#define RMAT(n, m, f, c)                                                                                     \
    {                                                                                                        \
        .kind = "rmat", .nodes = n, .edges = m, .features = f, .classes = c, .homophily = 0.8, .density = 1, \
        .signal = 0.3, .seed = 100                                                                           \
    }
#define SBM(n, m, f, c)                                                                                        \
    {                                                                                                          \
        .kind = "sbm", .nodes = n, .edges = m, .features = f, .classes = c, .homophily = 0.8, .density = 0.02, \
        .signal = 0.3, .seed = 100                                                                             \
    }

const struct bench_workload bench_workloads[WORKLOADS] = {
    {"gnn-small", "v1: GCN, 15 layers of 16, 3k nodes", {.kind = NULL}, NN_GCN, 15, 16, 100, false, 2.16456, 2.9e-3},
    {"gnn-attention", "v1: GAT, 8 layers of 64, 8k nodes", SBM(8192, 40000, 512, 16), NN_GAT, 8, 64, 10, false, 2.78382,
     50e-3},
    {"gnn-deep", "v1: SGC, 60 layers, 3k nodes", {.kind = NULL}, NN_SGC, 60, 16, 30, false, 2.95296, 8.8e-3},
    {"gnn-wide", "v1: GCN, 6 layers of 256, 16k nodes", RMAT(16384, 131072, 256, 40), NN_GCN, 6, 256, 3, false, 3.78595,
     380e-3},
    {"gnn-large", "v1: GCN, 4 layers of 64, 169k nodes", RMAT(169343, 1166243, 128, 40), NN_GCN, 4, 64, 3, false,
     3.85926, 440e-3},
    {"gain", "v1: information gain, 8k nodes", SBM(8192, 40000, 512, 16), NN_GCN, 0, 16, 6, true, 0.0275837, 18e-3},
};

const struct bench_row *bench_workload_row(const struct bench_device *device, size_t workload) {
    const struct bench_workload *w = &bench_workloads[workload];
    for (size_t r = 0; r < device->count; r++) {
        const struct bench_row *row = &device->rows[r];
        if (strcmp(row->name, w->name) == 0 && strcmp(row->shape, w->shape) == 0 && !row->missing[0])
            return row;
    }
    return NULL;
}

bool bench_has_workloads(const struct bench_record *record) {
    for (size_t d = 0; d < record->count; d++)
        for (size_t w = 0; w < WORKLOADS; w++)
            if (bench_workload_row(&record->devices[d], w))
                return true;
    return false;
}

double bench_score(const struct bench_device *device) {
    double log_speed = 0;
    for (size_t w = 0; w < WORKLOADS; w++) {
        const struct bench_row *row = bench_workload_row(device, w);
        if (!row)
            return 0;
        log_speed += log(bench_workloads[w].reference / row->time.median);
    }
    return SCORE_REFERENCE * exp(log_speed / WORKLOADS);
}

/* The device that others are compared with; NULL when it was not measured. */
static const struct bench_device *native_cpu(const struct bench_record *record) {
    for (size_t d = 0; d < record->count; d++)
        if (strcmp(record->devices[d].backend, "cpu") == 0)
            return &record->devices[d];
    return NULL;
}

void bench_finish_gnn(struct bench_record *record) {
    const struct bench_device *cpu = native_cpu(record);
    size_t disturbed = 0, rows = 0;
    char first[WATCH_TEXT] = "";
    for (size_t d = 0; d < record->count; d++) {
        struct bench_device *device = &record->devices[d];
        for (size_t r = 0; r < record->ends[BENCH_GNN]; r++) {
            struct bench_row *row = &device->rows[r];
            if (row->missing[0])
                continue;
            rows++;
            disturbed += row->figures.disturbed[0] != 0;
            if (row->figures.disturbed[0] && !first[0])
                snprintf(first, sizeof first, "%s", row->figures.disturbed);
            if (cpu && !cpu->rows[r].missing[0])
                row->figures.speed_up = cpu->rows[r].time.median / row->time.median;
        }
        device->score = bench_score(device);
    }
    if (disturbed > 0)
        snprintf(record->disturbed, sizeof record->disturbed, "%zu of %zu measurements, the first because %.100s",
                 disturbed, rows, first);
}
