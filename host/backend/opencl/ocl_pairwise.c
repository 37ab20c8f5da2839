/* ocl_pairwise.c - launches of cl/pairwise.cl. */
#include "backend/opencl/ocl.h"

fathom_status ocl_pair_fold(ocl_device *dev, const be_pair_fold_args *a) {
    return OCL_RUN_2D(dev, K_pair_fold, (a->out.rows + 3) / 4, a->out.cols, MAT(a->out), MAT(a->x), VEC(a->labels),
                      U32(a->out.rows), U32(a->x.rows), U32(a->x.cols), U32(a->kind), F32(a->scale), I64(a->first));
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
    return OCL_RUN(dev, K_mad_fold, a->sum.cols, VEC(a->sum), VEC(a->count), MAT(a->x), VEC(a->norm), U32(a->sum.cols),
                   U32(a->x.rows), U32(a->x.cols), I64(a->first));
}

fathom_status ocl_dirichlet(ocl_device *dev, const be_dirichlet_args *a) {
    return OCL_RUN(dev, K_dirichlet, a->a.rows, VEC(a->e), VEC(a->a.ptr), VEC(a->a.idx), MAT(a->x), VEC(a->w),
                   U32(a->w.buf != NULL), U32(a->a.rows), U32(a->x.cols));
}
