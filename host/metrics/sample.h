/* sample.h - the rows that the quadratic metrics take against all rows: all of them, or N chosen by a counter. */
#ifndef METRICS_SAMPLE_H
#define METRICS_SAMPLE_H

#include "backend/backend.h"

typedef struct metrics_sample {
    int64_t n, rows; /* `rows` of n are taken */
    int32_t *order;  /* [n] all rows, those taken first, both parts ascending; NULL: all are taken, as they are */
} metrics_sample;

/* Chooses `rows` of n rows (n or more: all), the same ones for every representation of a graph, so that two runs differ
 * by their representations and not by the choice. With labels (-1: none, else below `classes`) each class gives two
 * rows at least, as far as it has them: an error needs two. */
fathom_status metrics_sample_make(metrics_sample *sample, int64_t n, int64_t rows, const int32_t *labels,
                                  int32_t classes);
void metrics_sample_free(metrics_sample *sample);

/* *x = its rows in the order of the sample, in a new buffer *buf; all rows taken: nothing changes. */
fathom_status metrics_sample_order(be_device *dev, be_buf **buf, be_mat *x, const metrics_sample *sample);

/* Values of which mean and standard error are wanted, added one by one (Welford). */
typedef struct metrics_spread {
    int64_t count;
    double mean, squares; /* squares: sum of squared distances to the mean */
} metrics_spread;

void metrics_spread_add(metrics_spread *spread, double value);
/* Squared standard error of the mean of `count` values of `of`: s^2 / count (1 - count / of). 0 when all were taken,
 * NaN when one was. */
double metrics_spread_error(const metrics_spread *spread, int64_t of);

#endif
