/* ocl_norm.c - batch and pair normalisation: launches of cl/norm_batch.cl. */
#include "backend/opencl/ocl.h"

/* mean_j, var_j of the columns of x; running estimates. */
fathom_status ocl_col_stats(ocl_device *dev, const be_col_stats_args *a) {
    int64_t n = a->x.rows, d = a->x.cols;
    ocl_blocks blocks = ocl_split(n, WS_TWO_ROWS(1, d));
    TRY(ocl_scratch(dev, be_floats(WS_TWO_ROWS(blocks.count, d))));
    TRY(OCL_RUN(dev, K_stats_blocks, blocks.count * ocl_vecs(d), SCRATCH(dev, 0), MAT(a->x), U32(n), U32(d),
                U32(blocks.count), U32(blocks.rows)));
    return OCL_RUN(dev, K_stats_combine, ocl_vecs(d), VECTOR(a->mean), VECTOR(a->var), VECTOR(a->rmean),
                   VECTOR(a->rvar), U32(a->rmean.buf != NULL), SCRATCH(dev, 0), U32(d), U32(n), U32(blocks.count),
                   U32(blocks.rows), F32(a->momentum));
}

/* y = act(gamma (x - mean) r + beta), r = (var + eps)^-1/2. */
fathom_status ocl_batch_apply(ocl_device *dev, const be_batch_apply_args *a) {
    return OCL_RUN(dev, K_batch_apply, ocl_items(a->y), MAT(a->y), MAT(a->x), VECTOR(a->mean), VECTOR(a->var),
                   VECTOR(a->gamma), VECTOR(a->beta), U32(a->x.rows), U32(a->x.cols), F32(a->eps), ACT(a->act));
}

/* db_j = sum_v go_vj, q_j = sum_v go_vj (x_vj - mean_j). */
fathom_status ocl_norm_sums(ocl_device *dev, const be_norm_sums_args *a) {
    int64_t n = a->x.rows, d = a->x.cols;
    ocl_blocks blocks = ocl_split(n, WS_TWO_ROWS(1, d));
    TRY(ocl_scratch(dev, be_floats(WS_TWO_ROWS(blocks.count, d))));
    TRY(OCL_RUN(dev, K_norm_sums_blocks, blocks.count * ocl_vecs(d), SCRATCH(dev, 0), MAT(a->go), MAT(a->x),
                VECTOR(a->mean), U32(n), U32(d), U32(blocks.count), U32(blocks.rows)));
    return ocl_combine_blocks(dev, a->db, a->q, 0, WS_TWO_ROWS(1, d), blocks, false);
}

/* gx = gamma r (go - db/n - (x - mean) r^2 q/n); ggamma += r q, gbeta += db. */
fathom_status ocl_batch_backward(ocl_device *dev, const be_batch_backward_args *a) {
    return OCL_RUN(dev, K_batch_backward, ocl_items(a->gx), MAT(a->gx), VECTOR(a->ggamma), VECTOR(a->gbeta), MAT(a->go),
                   MAT(a->x), VECTOR(a->mean), VECTOR(a->var), VECTOR(a->gamma), VECTOR(a->db), VECTOR(a->q),
                   U32(a->x.rows), U32(a->x.cols), F32(a->eps));
}

/* scratch[0] = s = (eps + sum_j var_j)^-1/2, scratch[1] = sum_j q_j. */
static fathom_status pair_scale(ocl_device *dev, be_mat var, be_mat q, float eps) {
    TRY(ocl_scratch(dev, be_floats(WS_PAIR_SCALE)));
    TRY(ocl_require(dev, K_pair_scale));
    return OCL_RUN(dev, K_pair_scale, 1, SCRATCH(dev, 0), VECTOR(var), VECTOR(q), U32(q.buf != NULL), U32(var.cols),
                   F32(eps), LOCAL_FLOATS(dev, K_pair_scale));
}

/* y = act((x - mean) s), s = (eps + sum_j var_j)^-1/2. */
fathom_status ocl_pair_apply(ocl_device *dev, const be_pair_apply_args *a) {
    TRY(pair_scale(dev, a->var, (be_mat){0}, a->eps));
    return OCL_RUN(dev, K_pair_apply, ocl_items(a->y), MAT(a->y), MAT(a->x), VECTOR(a->mean), SCRATCH(dev, 0),
                   U32(a->x.rows), U32(a->x.cols), ACT(a->act));
}

/* gx = s (go - db/n) - s^3 (sum_j q_j / n)(x - mean). */
fathom_status ocl_pair_backward(ocl_device *dev, const be_pair_backward_args *a) {
    TRY(pair_scale(dev, a->var, a->q, a->eps));
    return OCL_RUN(dev, K_pair_backward, ocl_items(a->gx), MAT(a->gx), MAT(a->go), MAT(a->x), VECTOR(a->mean),
                   VECTOR(a->db), SCRATCH(dev, 0), U32(a->x.rows), U32(a->x.cols));
}
