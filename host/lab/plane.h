/* plane.h - many columns to two: principal components, and exact t-SNE. Both give the same picture every time. */
#ifndef LAB_PLANE_H
#define LAB_PLANE_H

#include <stdint.h>

#include "core/status.h"

/* xy[n x 2] = the two directions of largest variance of x[n x d], centred. Each direction points where its largest
 * component is positive. *share = the part of the variance they hold. */
fathom_status lab_pca(double *xy, double *share, const double *x, int64_t n, int64_t d);

#define LAB_TSNE_MAX 5000

/* How t-SNE runs. `hook` is called between steps, so that a person sees how far it is. */
typedef struct lab_tsne_options {
    int threads;                                   /* 0: all cores; the result is the same */
    void (*hook)(void *user, int done, int steps); /* NULL: none */
    void *user;
} lab_tsne_options;

/* xy[n x 2] = t-SNE (van der Maaten and Hinton 2008) with all pairs, perplexity 30 or less for few points, 500 steps
 * from the principal components. Needs n * n floats; n above LAB_TSNE_MAX plus 256 is refused. */
fathom_status lab_tsne(double *xy, const double *x, int64_t n, int64_t d, const lab_tsne_options *options);

#endif
