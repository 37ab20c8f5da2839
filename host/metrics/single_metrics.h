/* single_metrics.h - each metric by itself, for metrics.c and bench. */
#ifndef METRICS_SINGLE_METRICS_H
#define METRICS_SINGLE_METRICS_H

#include "metrics/metrics.h"

#define METRICS_LAUNCH_PAIRS (INT64_C(1) << 26) /* at most, per launch */
#define METRICS_MIN_DISTANCE 1e-12              /* smaller distances count as 0 */

/* The representations in host and device memory. */
typedef struct metrics_rows {
    be_device *dev;
    int64_t n, d;
    const float *raw;
    float *unit; /* rows of length 1; zero rows stay zero */
    be_buf *buf;
    be_mat raw_dev, unit_dev, norm_dev; /* n x d, n x d, 1 x n */
    double scale;          /* raw = scale raw_dev; a power of two, so that squares of raw_dev do not overflow */
    const stop_flag *stop; /* as in metrics_input */
} metrics_rows;

/* FATHOM_INTERRUPTED once *stop is set; called before each launch. */
fathom_status metrics_check_stop(const stop_flag *stop);

/* Rows per launch: rows * n is at most METRICS_LAUNCH_PAIRS, or rows is 1. */
int64_t metrics_launch_rows(int64_t n);

/* Divides each row by its length, in double; lengths may be NULL. */
void metrics_unit_rows(float *unit, float *lengths, const float *rows, int64_t n, int64_t d);

fathom_status metrics_group_distance(metrics_values *values, const metrics_rows *rows, const metrics_input *in,
                                     metrics_definition definition);
fathom_status metrics_information_gain(double *gain, be_device *dev, const metrics_input *in);
fathom_status metrics_dirichlet(double *energy, double *mean, const metrics_rows *rows, const data_graph *graph);
fathom_status metrics_mad(double *mad, const metrics_rows *rows);

#endif
