/* ocl_norm_group.c - differentiable group normalisation: launches of cl/norm_group.cl. */
#include "backend/opencl/ocl.h"

fathom_status ocl_group_assign(ocl_device *dev, const be_group_assign_args *a) {
    return OCL_RUN(dev, K_group_assign, a->h.rows, MAT(a->s), MAT(a->h), VEC(a->u), VEC(a->c), U32(a->c.buf != NULL),
                   U32(a->h.rows), U32(a->h.cols), U32(a->s.cols));
}

fathom_status ocl_group_stats(ocl_device *dev, const be_group_stats_args *a) {
    int64_t n = a->h.rows, d = a->h.cols, groups = a->s.cols, width = groups * d;
    ocl_blocks blocks = ocl_cut(n, 2 * width);
    TRY(ocl_scratch(dev, be_floats(blocks.count * 2 * width)));
    TRY(OCL_RUN(dev, K_group_stats_blocks, blocks.count * groups * ((d + 3) / 4), SCRATCH(dev, 0), MAT(a->s), MAT(a->h),
                U32(n), U32(d), U32(groups), U32(blocks.count), U32(blocks.rows)));
    return OCL_RUN(dev, K_stats_combine, width, VEC(a->mean), VEC(a->var), VEC(a->rmean), VEC(a->rvar),
                   U32(a->rmean.buf != NULL), SCRATCH(dev, 0), U32(width), U32(n), U32(blocks.count), U32(blocks.rows),
                   F32(a->momentum));
}

fathom_status ocl_group_apply(ocl_device *dev, const be_group_apply_args *a) {
    int64_t n = a->h.rows, d = a->h.cols, groups = a->s.cols;
    TRY(ocl_scratch(dev, be_floats((groups + 1) * d)));
    TRY(OCL_RUN(dev, K_group_coefficients, d, SCRATCH(dev, 0), VEC(a->mean), VEC(a->var), VEC(a->gamma), VEC(a->beta),
                U32(d), U32(groups), F32(a->eps), F32(a->lambda)));
    return OCL_RUN(dev, K_group_apply, n * ((d + 3) / 4), MAT(a->y), MAT(a->h), MAT(a->s), SCRATCH(dev, 0), U32(n),
                   U32(d), U32(groups), ACT(a->act));
}

fathom_status ocl_group_backward_sums(ocl_device *dev, const be_group_backward_sums_args *a) {
    int64_t n = a->h.rows, d = a->h.cols, groups = a->s.cols, width = (groups + 1) * d;
    ocl_blocks blocks = ocl_cut(n, width);
    TRY(ocl_scratch(dev, be_floats(blocks.count * width)));
    TRY(OCL_RUN(dev, K_group_sums_blocks, blocks.count * (groups + 1) * ((d + 3) / 4), SCRATCH(dev, 0), MAT(a->go),
                MAT(a->h), MAT(a->s), VEC(a->mean), U32(n), U32(d), U32(groups), U32(blocks.count), U32(blocks.rows)));
    return OCL_RUN(dev, K_group_sums_combine, groups * d, VEC(a->db), VEC(a->q), VEC(a->ggamma), VEC(a->gbeta),
                   VEC(a->var), SCRATCH(dev, 0), U32(d), U32(groups), U32(blocks.count), F32(a->eps), F32(a->lambda));
}

/* Scratch: two coefficients per (g, j), then dS (n x G). */
fathom_status ocl_group_backward_rows(ocl_device *dev, const be_group_backward_rows_args *a) {
    int64_t n = a->h.rows, d = a->h.cols, groups = a->s.cols, scores = 2 * groups * d;
    TRY(ocl_scratch(dev, be_floats(scores + n * groups)));
    TRY(OCL_RUN(dev, K_group_backward_coefficients, groups * d, SCRATCH(dev, 0), VEC(a->var), VEC(a->gamma), VEC(a->q),
                U32(n), U32(groups * d), F32(a->eps)));
    TRY(OCL_RUN(dev, K_group_backward_scores, n * groups, SCRATCH(dev, scores), MAT(a->go), MAT(a->h), MAT(a->s),
                VEC(a->mean), VEC(a->db), SCRATCH(dev, 0), U32(n), U32(d), U32(groups), F32(a->lambda)));
    TRY(OCL_RUN(dev, K_group_backward_rows, n * ((d + 3) / 4), MAT(a->gh), MAT(a->gz), MAT(a->go), MAT(a->h), MAT(a->s),
                VEC(a->mean), VEC(a->u), VEC(a->db), SCRATCH(dev, 0), SCRATCH(dev, scores), U32(n), U32(d), U32(groups),
                F32(a->lambda)));
    return a->gc.buf ? ocl_col_sum(dev, &(be_col_sum_args){.s = a->gc, .x = a->gz}) : FATHOM_OK;
}
