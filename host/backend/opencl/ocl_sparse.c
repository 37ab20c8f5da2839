/* ocl_sparse.c - launches of cl/sparse.cl. */
#include "backend/opencl/ocl.h"

fathom_status ocl_spmm(ocl_device *dev, const be_spmm_args *a) {
    return OCL_RUN(dev, K_spmm, a->y.rows * ocl_across(dev, a->y.cols), MAT(a->y), CSR(a->a), VEC(a->val),
                   U32(a->val.buf != NULL), MAT(a->x), MAT(a->z), U32(a->z.buf != NULL), U32(a->y.rows), U32(a->x.rows),
                   U32(a->y.cols), F32(a->alpha), F32(a->beta));
}

#define AT_ONCE 64 /* rows, as in the kernel */

fathom_status ocl_aggregate(ocl_device *dev, const be_aggregate_args *a) {
    int64_t n = a->a.rows, d = a->x.cols, m = a->y.cols;
    int64_t room = d * (ocl_across(dev, m) * dev->columns + AT_ONCE);
    ocl_blocks blocks = ocl_cut_rows(dev, n, room);
    TRY(ocl_need(dev, K_aggregate));
    TRY(ocl_scratch(dev, be_floats(blocks.count * room)));
    return OCL_RUN(dev, K_aggregate, blocks.count * (int64_t)dev->group[K_aggregate], MAT(a->y), MAT(a->p),
                   U32(a->p.buf != NULL), CSR(a->a), VEC(a->val), U32(a->val.buf != NULL), MAT(a->x), VEC(a->w),
                   I64(a->tw ? 1 : a->w.ld), I64(a->tw ? a->w.ld : 1), SCRATCH(dev, 0), U32(n), U32(a->x.rows), U32(d),
                   U32(m), U32(blocks.rows));
}
