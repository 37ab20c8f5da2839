/* parts.h - the metrics one by one, for metrics.c. */
#ifndef METRICS_PARTS_H
#define METRICS_PARTS_H

#include "metrics/metrics.h"

#define METRICS_PAIRS (INT64_C(1) << 26) /* of one launch */
#define METRICS_ZERO 1e-12               /* a distance below this is none */

/* The representations in host and device memory. */
typedef struct metrics_rows {
    be_device *dev;
    int64_t n, d;
    const float *raw;
    float *unit; /* rows of length 1; a row of zeros stays */
    be_buf *buf;
    be_mat raw_dev, unit_dev, norm_dev; /* n x d, n x d, 1 x n */
    double scale;                       /* raw = scale raw_dev, a power of two: squares of raw_dev fit in a float */
    const volatile sig_atomic_t *stop;  /* that of metrics_input */
} metrics_rows;

/* Asked before each launch. */
fathom_status metrics_go_on(const volatile sig_atomic_t *stop);

/* Rows of a launch, so that rows * n stays below METRICS_PAIRS. */
int64_t metrics_step(int64_t n);

/* Divides each row by its length, in double; lengths may be NULL. */
void metrics_unit_rows(float *unit, float *lengths, const float *rows, int64_t n, int64_t d);

fathom_status metrics_group_distance(metrics_values *values, const metrics_rows *rows, const metrics_input *in,
                                     metrics_definition definition);
fathom_status metrics_information_gain(double *gain, be_device *dev, const metrics_input *in);
fathom_status metrics_dirichlet(double *energy, double *mean, const metrics_rows *rows, const data_graph *graph);
fathom_status metrics_mad(double *mad, const metrics_rows *rows);

#endif
