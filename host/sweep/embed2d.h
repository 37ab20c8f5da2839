/* embed2d.h - projects points to 2D: principal components (PCA) and exact t-SNE. Both are deterministic. */
#ifndef SWEEP_EMBED2D_H
#define SWEEP_EMBED2D_H

#include <stdint.h>

#include "core/status.h"

/* xy[n x 2] = the first two principal components of x[n x d]. The sign of an axis makes its largest coefficient
 * positive. *explained = their share of the variance, 0 to 1. */
fathom_status embed2d_pca(double *xy, double *explained, const double *x, int64_t n, int64_t d);

#define TSNE_NODES_MAX 5000

/* `progress` is called before each step. */
typedef struct tsne_options {
    int threads;                                       /* 0: all cores; the result does not depend on it */
    void (*progress)(void *user, int done, int steps); /* NULL: none */
    void *user;
} tsne_options;

/* xy[n x 2] = t-SNE (van der Maaten and Hinton 2008) over all pairs: perplexity min(30, (n - 1) / 3), 500 steps,
 * initialised with PCA. Needs n * n floats; more than TSNE_NODES_MAX + 256 points are refused. */
fathom_status embed2d_tsne(double *xy, const double *x, int64_t n, int64_t d, const tsne_options *options);

#endif
