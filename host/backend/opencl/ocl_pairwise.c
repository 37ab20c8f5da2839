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
        TRY(OCL_RUN_2D(dev, K_pair_fold, CEIL_DIV(rows, FOLD_ROWS), out.cols, MAT(out), MAT(a->x), VECTOR(a->labels),
                       U32(rows), U32(n), U32(a->x.cols), U32(a->kind), F32(a->scale), I64(a->first + done)));
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
            TRY(OCL_RUN(dev, K_sparse_dots, tile, SCRATCH(dev, 0), CSR(a->a), CSR(a->at), VECTOR(a->val), U32(tile),
                        I64(first)));
        TRY(OCL_RUN_2D(dev, K_sparse_fold, CEIL_DIV(tile, FOLD_ROWS), out.cols, MAT(out), SCRATCH(dev, 0),
                       VECTOR(a->sq), VECTOR(a->labels), U32(tile), U32(n), F32(a->scale), I64(first)));
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
        TRY(OCL_RUN(dev, K_mad_fold, rows, VECTOR(sum), VECTOR(count), MAT(a->x), VECTOR(a->norm), U32(rows), U32(n),
                    U32(a->x.cols), I64(a->first + done)));
    }
    return FATHOM_OK;
}

/* e_v = sum over u in row v of ||w_v x_v - w_u x_u||^2. */
fathom_status ocl_dirichlet(ocl_device *dev, const be_dirichlet_args *a) {
    return OCL_RUN(dev, K_dirichlet, a->a.rows, VECTOR(a->e), VECTOR(a->a.indptr), VECTOR(a->a.indices), MAT(a->x),
                   VECTOR(a->w), U32(a->w.buf != NULL), U32(a->a.rows), U32(a->x.cols));
}
