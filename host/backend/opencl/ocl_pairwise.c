/* ocl_pairwise.c - launches of cl/pairwise.cl. */
#include "backend/opencl/ocl.h"

/* Pairs of rows in one launch: a card that also drives a display ends a kernel that runs for seconds, and every one
 * makes the desktop wait. */
#define MOST_PAIRS (INT64_C(1) << 26)

/* How many rows one launch pairs with all n (whole fours, as an item takes; a single row where n is that large). */
static int64_t launch_rows(int64_t n, int64_t rows) {
    int64_t most = n > 0 ? MOST_PAIRS / n : rows;
    most = most >= 4 ? most / 4 * 4 : most < 1 ? 1 : most;
    return most < rows ? most : rows;
}

fathom_status ocl_pair_fold(ocl_device *dev, const be_pair_fold_args *a) {
    int64_t n = a->x.rows, most = launch_rows(n, a->out.rows);
    for (int64_t done = 0; done < a->out.rows; done += most) {
        int64_t rows = a->out.rows - done < most ? a->out.rows - done : most;
        be_mat out = a->out;
        out.off += done * out.ld;
        TRY(OCL_RUN_2D(dev, K_pair_fold, (rows + 3) / 4, out.cols, MAT(out), MAT(a->x), VEC(a->labels), U32(rows),
                       U32(n), U32(a->x.cols), U32(a->kind), F32(a->scale), I64(a->first + done)));
    }
    return FATHOM_OK;
}

/* Rows of one tile: n x tile floats of dot products in scratch, at most 64 MiB and what the device gives. */
static int64_t tile_rows(const ocl_device *dev, int64_t n, int64_t rows) {
    int64_t floats = INT64_C(1) << 24, give = dev->max_alloc_bytes / 4;
    if (give > 0 && give < floats)
        floats = give;
    int64_t tile = floats / n;
    return tile < 1 ? 1 : tile > rows ? rows : tile;
}

fathom_status ocl_pair_fold_sparse(ocl_device *dev, const be_pair_fold_sparse_args *a) {
    int64_t n = a->a.rows, most = tile_rows(dev, n, a->out.rows);
    TRY(ocl_scratch(dev, be_floats(n * most)));
    for (int64_t done = 0; done < a->out.rows; done += most) {
        int64_t tile = a->out.rows - done < most ? a->out.rows - done : most, first = a->first + done;
        be_mat out = a->out;
        out.off += done * out.ld;
        TRY(OCL_RUN(dev, K_fill, (n * tile + 3) / 4, SCRATCH(dev, 0), I64(n * tile), U32(1), U32(n * tile), F32(0.0f)));
        if (a->a.nnz > 0)
            TRY(OCL_RUN(dev, K_sparse_dots, tile, SCRATCH(dev, 0), CSR(a->a), CSR(a->at), VEC(a->val), U32(tile),
                        I64(first)));
        TRY(OCL_RUN_2D(dev, K_sparse_fold, (tile + 3) / 4, out.cols, MAT(out), SCRATCH(dev, 0), VEC(a->sq),
                       VEC(a->labels), U32(tile), U32(n), F32(a->scale), I64(first)));
    }
    return FATHOM_OK;
}

fathom_status ocl_mad_fold(ocl_device *dev, const be_mad_fold_args *a) {
    int64_t n = a->x.rows, most = launch_rows(n, a->sum.cols);
    for (int64_t done = 0; done < a->sum.cols; done += most) {
        int64_t rows = a->sum.cols - done < most ? a->sum.cols - done : most;
        be_mat sum = a->sum;
        be_ints count = a->count;
        sum.off += done;
        count.off += done;
        TRY(OCL_RUN(dev, K_mad_fold, rows, VEC(sum), VEC(count), MAT(a->x), VEC(a->norm), U32(rows), U32(n),
                    U32(a->x.cols), I64(a->first + done)));
    }
    return FATHOM_OK;
}

fathom_status ocl_dirichlet(ocl_device *dev, const be_dirichlet_args *a) {
    return OCL_RUN(dev, K_dirichlet, a->a.rows, VEC(a->e), VEC(a->a.ptr), VEC(a->a.idx), MAT(a->x), VEC(a->w),
                   U32(a->w.buf != NULL), U32(a->a.rows), U32(a->x.cols));
}
