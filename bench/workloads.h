/* workloads.h - the standard workloads: the same work on every machine, from data inside the binary. A change of a
 * workload gets a new version, and its reference is measured again. */
#ifndef BENCH_WORKLOADS_H
#define BENCH_WORKLOADS_H

#include "bench/bench.h"

#define WORKLOADS 6
#define SCORE_REFERENCE 1000.0 /* the score of the reference machine */

struct bench_workload {
    const char *name, *shape; /* the shape starts with the version */
    data_make_options data;   /* kind NULL: the embedded graph */
    nn_conv_kind model;
    int64_t layers, hidden;
    int64_t repeat;   /* epochs, or gains, that are timed in each of the rounds */
    bool gain;        /* information gain of random representations; else epochs of training with group norm */
    double result;    /* loss of the first epoch, or the gain: the same on every device */
    double reference; /* seconds on the reference machine (bench/README.md) */
};

extern const struct bench_workload bench_workloads[WORKLOADS];

/* The geometric mean of reference / time over all workloads, times SCORE_REFERENCE; 0 unless all were measured. */
double bench_score(const struct bench_device *device);

/* After the last round: scores, speed over the native CPU, and the reason when the run was disturbed. */
void bench_finish_gnn(struct bench_record *record);

/* The row of a workload of this version that was measured, or NULL. */
const struct bench_row *bench_workload_row(const struct bench_device *device, size_t workload);
/* Has the record rows of workloads? */
bool bench_has_workloads(const struct bench_record *record);

#endif
