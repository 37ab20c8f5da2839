/* ocl_pairwise.c - launches of cl/pairwise.cl. */
#include "backend/opencl/ocl.h"

_Static_assert(FOLD_EUCLID == (int)BE_FOLD_EUCLID && FOLD_SQUARED == (int)BE_FOLD_SQUARED &&
                   FOLD_GAUSS == (int)BE_FOLD_GAUSS,
               "kinds of folds in args.h and be_fold");

/* Pairs of rows per launch: the watchdog of a GPU that drives a display kills kernels that run for seconds, and the
 * desktop freezes meanwhile. */
#define MAX_PAIRS_PER_LAUNCH (INT64_C(1) << 26)

/* Rows that one launch pairs with all n rows: a multiple of FOLD_ROWS, or fewer for a very large n. */
static int64_t rows_per_launch(int64_t n, int64_t rows) {
    int64_t max_rows = n > 0 ? MAX_PAIRS_PER_LAUNCH / n : rows;
    max_rows = max_rows >= FOLD_ROWS ? max_rows / FOLD_ROWS * FOLD_ROWS : max_rows < 1 ? 1 : max_rows;
    return max_rows < rows ? max_rows : rows;
}

/* out_ic = sum over j of class c of f(||x_i - x_j||^2). */
fathom_status ocl_pair_fold(ocl_device *dev, const be_pair_fold_args *a) {
    int64_t n = a->x.rows, step = rows_per_launch(n, a->out.rows);
    for (int64_t done = 0; done < a->out.rows; done += step) {
        int64_t rows = a->out.rows - done < step ? a->out.rows - done : step;
        be_mat out = a->out;
        out.off += done * out.ld;
        TRY(OCL_RUN_2D(dev, K_pair_fold, CEIL_DIV(rows, FOLD_ROWS), out.cols, BUF(out), BUF(a->x), BUF(a->labels),
                       ARGS(pair_fold_args, .out = ocl_mat(out), .x = ocl_mat(a->x), .labels = (u32)a->labels.off,
                            .rows = (u32)rows, .n = (u32)n, .d = (u32)a->x.cols, .kind = (u32)a->kind,
                            .first = (u32)(a->first + done), .scale = a->scale)));
    }
    return FATHOM_OK;
}

/* Rows of a tile: n x tile dot products in scratch, at step 64 MiB and the largest buffer. */
static int64_t tile_rows(const ocl_device *dev, int64_t n, int64_t rows) {
    int64_t floats = INT64_C(1) << 24, largest = dev->max_alloc_bytes / 4;
    if (largest > 0 && largest < floats)
        floats = largest;
    int64_t tile = floats / n;
    return tile < 1 ? 1 : tile > rows ? rows : tile;
}

/* out_ic = sum over j of class c of exp(-scale (sq_i + sq_j - 2 <x_i, x_j>)), one tile of rows i at a time. */
fathom_status ocl_pair_fold_sparse(ocl_device *dev, const be_pair_fold_sparse_args *a) {
    int64_t n = a->a.rows, step = tile_rows(dev, n, a->out.rows);
    TRY(ocl_scratch(dev, be_floats(n * step)));
    for (int64_t done = 0; done < a->out.rows; done += step) {
        int64_t tile = a->out.rows - done < step ? a->out.rows - done : step, first = a->first + done;
        be_mat out = a->out;
        out.off += done * out.ld;
        u32 dots = (u32)(n * tile);
        TRY(OCL_RUN(dev, K_fill, ocl_vecs(dots), SCRATCH_BUF(dev),
                    ARGS(fill_args, .y = {0, dots, dots % VEC == 0}, .rows = 1, .cols = dots, .value = 0.0f)));
        if (a->a.nnz > 0)
            TRY(OCL_RUN(dev, K_sparse_dots, tile, SCRATCH_BUF(dev), BUF(a->a.indptr), BUF(a->a.indices), BUF(a->a.eids),
                        BUF(a->at.indptr), BUF(a->at.indices), BUF(a->at.eids), BUF(a->val),
                        ARGS(sparse_dots_args, .val = ocl_mat(a->val), .indptr = (u32)a->a.indptr.off,
                             .indices = (u32)a->a.indices.off, .eids = (u32)a->a.eids.off,
                             .has_eids = a->a.eids.buf != NULL, .t_indptr = (u32)a->at.indptr.off,
                             .t_indices = (u32)a->at.indices.off, .t_eids = (u32)a->at.eids.off,
                             .has_t_eids = a->at.eids.buf != NULL, .tile = (u32)tile, .first = (u32)first)));
        TRY(OCL_RUN_2D(dev, K_sparse_fold, CEIL_DIV(tile, FOLD_ROWS), out.cols, BUF(out), SCRATCH_BUF(dev), BUF(a->sq),
                       BUF(a->labels),
                       ARGS(sparse_fold_args, .out = ocl_mat(out), .sq = ocl_mat(a->sq), .labels = (u32)a->labels.off,
                            .tile = (u32)tile, .n = (u32)n, .first = (u32)first, .scale = a->scale)));
    }
    return FATHOM_OK;
}

/* sum_i = sum_j D_ij, count_i = |{j: D_ij > 1e-12}|, D_ij = ||x_i - x_j||^2 / 2. */
fathom_status ocl_mad_fold(ocl_device *dev, const be_mad_fold_args *a) {
    int64_t n = a->x.rows, step = rows_per_launch(n, a->sum.cols);
    for (int64_t done = 0; done < a->sum.cols; done += step) {
        int64_t rows = a->sum.cols - done < step ? a->sum.cols - done : step;
        be_mat sum = a->sum;
        be_ints count = a->count;
        sum.off += done;
        count.off += done;
        TRY(OCL_RUN(dev, K_mad_fold, rows, BUF(sum), BUF(count), BUF(a->x), BUF(a->norm),
                    ARGS(mad_fold_args, .sum = ocl_mat(sum), .x = ocl_mat(a->x), .norm = ocl_mat(a->norm),
                         .count = (u32)count.off, .rows = (u32)rows, .n = (u32)n, .d = (u32)a->x.cols,
                         .first = (u32)(a->first + done))));
    }
    return FATHOM_OK;
}

/* e_v = sum over u in row v of ||w_v x_v - w_u x_u||^2. */
fathom_status ocl_dirichlet(ocl_device *dev, const be_dirichlet_args *a) {
    return OCL_RUN(dev, K_dirichlet, a->a.rows, BUF(a->e), BUF(a->a.indptr), BUF(a->a.indices), BUF(a->x), BUF(a->w),
                   ARGS(dirichlet_args, .e = ocl_mat(a->e), .x = ocl_mat(a->x), .w = ocl_mat(a->w),
                        .indptr = (u32)a->a.indptr.off, .indices = (u32)a->a.indices.off, .has_w = a->w.buf != NULL,
                        .rows = (u32)a->a.rows, .d = (u32)a->x.cols));
}
