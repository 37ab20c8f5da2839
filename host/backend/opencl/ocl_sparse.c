/* ocl_sparse.c - launch of cl/sparse.cl. */
#include "backend/opencl/ocl.h"

fathom_status ocl_spmm(ocl_device *dev, const be_spmm_args *a) {
    return OCL_RUN(dev, K_spmm, a->y.rows * ((a->y.cols + 3) / 4), MAT(a->y), CSR(a->a), VEC(a->val),
                   U32(a->val.buf != NULL), MAT(a->x), MAT(a->z), U32(a->z.buf != NULL), U32(a->y.rows), U32(a->y.cols),
                   DROP(a->drop), F32(a->alpha), F32(a->beta));
}
