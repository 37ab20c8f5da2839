/* ocl_norm.c - batch and pair normalisation: launches of cl/norm_batch.cl. */
#include "backend/opencl/ocl.h"

/* One work-item per row and vector of columns. */
static int64_t items(const ocl_device *dev, be_mat m) { return m.rows * ocl_across(dev, m.cols); }

fathom_status ocl_col_stats(ocl_device *dev, const be_col_stats_args *a) {
    int64_t n = a->x.rows, d = a->x.cols;
    ocl_blocks blocks = ocl_cut(n, 2 * d);
    TRY(ocl_scratch(dev, be_floats(blocks.count * 2 * d)));
    TRY(OCL_RUN(dev, K_stats_blocks, blocks.count * ocl_across(dev, d), SCRATCH(dev, 0), MAT(a->x), U32(n), U32(d),
                U32(blocks.count), U32(blocks.rows)));
    return OCL_RUN(dev, K_stats_combine, ocl_across(dev, d), VEC(a->mean), VEC(a->var), VEC(a->rmean), VEC(a->rvar),
                   U32(a->rmean.buf != NULL), SCRATCH(dev, 0), U32(d), U32(n), U32(blocks.count), U32(blocks.rows),
                   F32(a->momentum));
}

fathom_status ocl_batch_apply(ocl_device *dev, const be_batch_apply_args *a) {
    return OCL_RUN(dev, K_batch_apply, items(dev, a->y), MAT(a->y), MAT(a->x), VEC(a->mean), VEC(a->var), VEC(a->gamma),
                   VEC(a->beta), U32(a->x.rows), U32(a->x.cols), F32(a->eps), ACT(a->act));
}

fathom_status ocl_norm_sums(ocl_device *dev, const be_norm_sums_args *a) {
    int64_t n = a->x.rows, d = a->x.cols;
    ocl_blocks blocks = ocl_cut(n, 2 * d);
    TRY(ocl_scratch(dev, be_floats(blocks.count * 2 * d)));
    TRY(OCL_RUN(dev, K_norm_sums_blocks, blocks.count * ocl_across(dev, d), SCRATCH(dev, 0), MAT(a->go), MAT(a->x),
                VEC(a->mean), U32(n), U32(d), U32(blocks.count), U32(blocks.rows)));
    return ocl_combine(dev, a->db, a->q, 0, 2 * d, blocks, false);
}

fathom_status ocl_batch_backward(ocl_device *dev, const be_batch_backward_args *a) {
    return OCL_RUN(dev, K_batch_backward, items(dev, a->gx), MAT(a->gx), VEC(a->ggamma), VEC(a->gbeta), MAT(a->go),
                   MAT(a->x), VEC(a->mean), VEC(a->var), VEC(a->gamma), VEC(a->db), VEC(a->q), U32(a->x.rows),
                   U32(a->x.cols), F32(a->eps));
}

/* scratch[0] = s, scratch[1] = sum of q. */
static fathom_status pair_scale(ocl_device *dev, be_mat var, be_mat q, float eps) {
    TRY(ocl_scratch(dev, be_floats(2)));
    TRY(ocl_need(dev, K_pair_scale));
    return OCL_RUN(dev, K_pair_scale, 1, SCRATCH(dev, 0), VEC(var), VEC(q), U32(q.buf != NULL), U32(var.cols), F32(eps),
                   LOCAL_FLOATS(dev, K_pair_scale));
}

fathom_status ocl_pair_apply(ocl_device *dev, const be_pair_apply_args *a) {
    TRY(pair_scale(dev, a->var, (be_mat){0}, a->eps));
    return OCL_RUN(dev, K_pair_apply, items(dev, a->y), MAT(a->y), MAT(a->x), VEC(a->mean), SCRATCH(dev, 0),
                   U32(a->x.rows), U32(a->x.cols), ACT(a->act));
}

fathom_status ocl_pair_backward(ocl_device *dev, const be_pair_backward_args *a) {
    TRY(pair_scale(dev, a->var, a->q, a->eps));
    return OCL_RUN(dev, K_pair_backward, items(dev, a->gx), MAT(a->gx), MAT(a->go), MAT(a->x), VEC(a->mean), VEC(a->db),
                   SCRATCH(dev, 0), U32(a->x.rows), U32(a->x.cols));
}
