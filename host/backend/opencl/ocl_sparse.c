/* ocl_sparse.c - launches of cl/sparse.cl. */
#include "backend/opencl/ocl.h"

/* scratch[id] = val[id] mask(id): the mask is drawn once per id, in whole blocks of four, and not once per column. */
static fathom_status drop_values(ocl_device *dev, be_mat *val, const be_spmm_args *a) {
    int64_t ids = a->a.nnz;
    TRY(ocl_scratch(dev, be_floats(ids)));
    if (!val->buf) {
        TRY(OCL_RUN(dev, K_fill, ocl_across(dev, ids), SCRATCH(dev, 0), I64(ids), U32(1), U32(ids), F32(1.0f)));
        return OCL_RUN(dev, K_activate, ocl_across(dev, ids), SCRATCH(dev, 0), I64(ids), SCRATCH(dev, 0), I64(ids),
                       U32(1), U32(ids), DROP(a->drop));
    }
    return OCL_RUN(dev, K_activate, ocl_across(dev, ids), SCRATCH(dev, 0), I64(ids), VEC(*val), I64(ids), U32(1),
                   U32(ids), DROP(a->drop));
}

fathom_status ocl_spmm(ocl_device *dev, const be_spmm_args *a) {
    be_mat val = a->val;
    bool drop = a->drop.rate > 0.0f && a->a.nnz > 0;
    if (drop)
        TRY(drop_values(dev, &val, a));
    ocl_arg values = drop ? ocl_mem(dev->scratch) : ocl_buf(val.buf);
    return OCL_RUN(dev, K_spmm, a->y.rows * ocl_across(dev, a->y.cols), MAT(a->y), CSR(a->a), values,
                   I64(drop ? 0 : val.off), U32(drop || val.buf), MAT(a->x), MAT(a->z), U32(a->z.buf != NULL),
                   U32(a->y.rows), U32(a->x.rows), U32(a->y.cols), F32(a->alpha), F32(a->beta));
}
