/* single_metrics.h - each metric by itself, for metrics.c and bench. */
#ifndef METRICS_SINGLE_METRICS_H
#define METRICS_SINGLE_METRICS_H

#include "metrics/metrics.h"
#include "metrics/sample.h"

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
    double scale; /* raw = scale raw_dev; a power of two, so that squares of raw_dev do not overflow */
    const metrics_input *in;
    const metrics_sample *sample;
} metrics_rows;

/* Called before the launch over rows `first` .. of a metric: FATHOM_INTERRUPTED once in->stop is set. */
fathom_status metrics_before_launch(const metrics_input *in, const char *what, int64_t first, int64_t rows);

/* Rows per launch: rows * n is at most METRICS_LAUNCH_PAIRS, or rows is 1. */
int64_t metrics_launch_rows(int64_t n);

/* Divides each row by its length, in double; lengths may be NULL. */
void metrics_unit_rows(float *unit, float *lengths, const float *rows, int64_t n, int64_t d);

/* ---- information gain ---- */

/* k_ij of the features on a device, rows in the order of the sample. */
typedef struct metrics_kernel {
    be_device *dev;
    int64_t n;
    const metrics_sample *sample;
    be_buf *buf;
    be_mat x; /* n x F dense features, or */
    be_csr a, at;
    be_mat val, sq;
    be_ints groups_of; /* [n] z of every row, for the caller to fill */
} metrics_kernel;

fathom_status metrics_kernel_upload(metrics_kernel *kernel, const data_features *x);
/* out_ic = sum over j with z_j = c of k_ij, for rows i = first .. */
fathom_status metrics_kernel_fold(const metrics_kernel *kernel, be_mat out, int64_t first);
void metrics_kernel_free(metrics_kernel *kernel);

/* Over the rows of the sample, with c = z_i:
 *   all = sum_i log(1/n sum_j k_ij), within = sum_i log(1/P_c sum_{j in c} k_ij) */
typedef struct metrics_gain {
    double all, within;
    metrics_spread spread;
} metrics_gain;

/* Adds row i: part_c = sum over j with z_j = c of k_ij, mine = z_i, size = P_c. */
void metrics_gain_add(metrics_gain *gain, const float *part, int64_t groups, int32_t mine, double size, int64_t n);
void metrics_gain_give(metrics_values *values, const metrics_gain *gain, int64_t n);

/* ---- distances of classes ---- */

/* The non-empty classes, numbered 0, 1, ... in the order of their labels, so that memory depends on how many there are
 * and not on the largest label. */
typedef struct metrics_classes {
    int32_t count;
    int32_t *labels; /* of each row: 0 to count - 1, or -1 */
    int64_t *size;   /* rows of each class, at least one */
    int64_t labelled;
    double *sum; /* count x count: sums of distances between rows of class a and rows of class b */

    /* Euclidean distances: of each sampled row its class, or -1, and its distances as they enter intra and inter. */
    int64_t sampled;
    int32_t *class_of;
    double *own, *other;
} metrics_classes;

fathom_status metrics_classes_make(metrics_classes *classes, const int32_t *labels, int64_t nodes, int32_t count);
void metrics_classes_free(metrics_classes *classes);
/* By the authors' definition from the mean m_c (count x d) and the spread V_c of the unit rows of each class. */
void metrics_squared_distances(metrics_values *values, metrics_classes *classes, const double *mean,
                               const double *spread, int64_t d);

/* ---- mean average distance ---- */

typedef struct metrics_mean {
    double total;
    metrics_spread spread;
} metrics_mean;

/* Adds row i: sum and number of its D_ij above 1e-12. */
void metrics_mad_add(metrics_mean *mad, float sum, int32_t count);
void metrics_mad_give(metrics_values *values, const metrics_mean *mad, const metrics_sample *sample);

/* ---- one metric each ---- */

fathom_status metrics_group_distance(metrics_values *values, const metrics_rows *rows, metrics_definition definition);
fathom_status metrics_information_gain(metrics_values *values, be_device *dev, const metrics_input *in,
                                       const metrics_sample *sample);
fathom_status metrics_dirichlet(double *energy, double *mean, const metrics_rows *rows, const data_graph *graph);
fathom_status metrics_mad(metrics_values *values, const metrics_rows *rows);

#endif
