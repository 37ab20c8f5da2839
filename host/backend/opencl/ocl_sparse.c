/* ocl_sparse.c - launches of cl/sparse.cl. */
#include "backend/opencl/ocl.h"

/* y = alpha A x + beta z. */
fathom_status ocl_spmm(ocl_device *dev, const be_spmm_args *a) {
    return OCL_RUN(dev, K_spmm, ocl_items(a->y), MAT(a->y), CSR(a->a), VECTOR(a->val), U32(a->val.buf != NULL),
                   MAT(a->x), MAT(a->z), U32(a->z.buf != NULL), U32(a->y.rows), U32(a->y.cols), F32(a->alpha),
                   F32(a->beta));
}

/* p = A x, y = p op(w). */
fathom_status ocl_aggregate(ocl_device *dev, const be_aggregate_args *a) {
    int64_t n = a->a.rows, d = a->x.cols, m = a->y.cols;
    int64_t workspace = WS_AGGREGATE(1, d, PADDED(m, VEC));
    ocl_blocks blocks = ocl_split_workspaces(dev, n, workspace);
    TRY(ocl_require(dev, K_aggregate));
    TRY(ocl_scratch(dev, be_floats(blocks.count * workspace)));
    return OCL_RUN(dev, K_aggregate, blocks.count * (int64_t)dev->group_size[K_aggregate], MAT(a->y), MAT(a->p),
                   U32(a->p.buf != NULL), CSR(a->a), VECTOR(a->val), U32(a->val.buf != NULL), MAT(a->x), VECTOR(a->w),
                   I64(a->tw ? 1 : a->w.ld), I64(a->tw ? a->w.ld : 1), SCRATCH(dev, 0), U32(n), U32(d), U32(m),
                   U32(blocks.rows));
}
