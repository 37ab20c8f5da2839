/* args_pairwise.h - the structs of pairwise.cl; args.h includes this file. */
#ifndef ARGS_PAIRWISE_H
#define ARGS_PAIRWISE_H

#define FOLD_ROWS 4     /* rows per work-item of a pairwise fold */

/* Values of be_fold; the launcher asserts that they are equal. */
#define FOLD_EUCLID 0
#define FOLD_SQUARED 1
#define FOLD_GAUSS 2

typedef struct pair_fold_args {
    mat_args out, x;
    u32 labels, rows, n, d, kind, first; /* labels: index of the first element; so are other plain names of buffers */
    float scale;
} pair_fold_args;

typedef struct sparse_dots_args {
    mat_args val;
    u32 indptr, indices, eids, has_eids, t_indptr, t_indices, t_eids, has_t_eids, tile, first;
} sparse_dots_args;

typedef struct sparse_fold_args {
    mat_args out, sq;
    u32 labels, tile, n, first;
    float scale;
} sparse_fold_args;

typedef struct mad_fold_args {
    mat_args sum, x, norm;
    u32 count, rows, n, d, first;
} mad_fold_args;

typedef struct dirichlet_args {
    mat_args e, x, w;
    u32 indptr, indices, has_w, rows, d;
} dirichlet_args;

#endif
