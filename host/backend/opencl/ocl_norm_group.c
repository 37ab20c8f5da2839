/* ocl_norm_group.c - differentiable group normalisation: launches of cl/norm_group.cl and
 * cl/norm_group_backward.cl. */
#include "backend/opencl/ocl.h"

/* One work-group per block. */
static int64_t group_items(const ocl_device *dev, ocl_kernel kernel, ocl_blocks blocks) {
    return blocks.count * (int64_t)dev->group_size[kernel];
}

/* s = softmax(h u' + 1 c') over groups. */
fathom_status ocl_group_assign(ocl_device *dev, const be_group_assign_args *a) {
    int64_t n = a->h.rows, d = a->h.cols, workspace = WS_GROUP_ASSIGN(1, d);
    ocl_blocks blocks = ocl_split_workspaces(dev, n, workspace);
    TRY(ocl_require(dev, K_group_assign));
    TRY(ocl_scratch(dev, be_floats(blocks.count * workspace)));
    return OCL_RUN(dev, K_group_assign, group_items(dev, K_group_assign, blocks), MAT(a->s), MAT(a->h), VECTOR(a->u),
                   VECTOR(a->c), U32(a->c.buf != NULL), SCRATCH(dev, 0), U32(n), U32(d), U32(a->s.cols),
                   U32(blocks.rows));
}

/* A sum over few rows takes one launch: a work-group per sum, at most ONE_LAUNCH_MAX_ROWS rows per work-item. More rows
 * are split into blocks, which also bounds the rounding error of a mean that is updated run by run. */
#define ONE_LAUNCH_MAX_ROWS 128
#define ONE_LAUNCH_MAX_PARTS 256 /* work-items that have rows: bounds the rounding error of adding their parts */

static int64_t rows_per_item(int64_t n, int64_t size) {
    int64_t parts = size < ONE_LAUNCH_MAX_PARTS ? size : ONE_LAUNCH_MAX_PARTS;
    return CEIL_DIV(n, parts);
}

/* Work-items per block of rows: one per GROUPS_PER_ITEM groups and vec columns. */
static int64_t sum_items(int64_t groups, int64_t d) { return CEIL_DIV(groups, GROUPS_PER_ITEM) * ocl_vecs(d); }

static bool fits_one_launch(const ocl_device *dev, ocl_kernel kernel, int64_t n) {
    return rows_per_item(n, (int64_t)dev->group_size[kernel]) <= ONE_LAUNCH_MAX_ROWS;
}

static fathom_status stats_once(ocl_device *dev, const be_group_stats_args *a) {
    int64_t n = a->h.rows, d = a->h.cols, groups = a->s.cols, items = sum_items(groups, d);
    int64_t size = (int64_t)dev->group_size[K_group_stats_once];
    TRY(ocl_scratch(dev, be_floats(WS_GROUP_STATS(items * size))));
    return OCL_RUN(dev, K_group_stats_once, items * size, VECTOR(a->mean), VECTOR(a->var), VECTOR(a->rmean),
                   VECTOR(a->rvar), U32(a->rmean.buf != NULL), MAT(a->s), MAT(a->h), SCRATCH(dev, 0), U32(n), U32(d),
                   U32(groups), U32(rows_per_item(n, size)), F32(a->momentum));
}

/* mean_gj, var_gj of t_vgj = s_vg h_vj over v; running estimates. */
fathom_status ocl_group_stats(ocl_device *dev, const be_group_stats_args *a) {
    int64_t n = a->h.rows, d = a->h.cols, groups = a->s.cols, width = groups * d;
    TRY(ocl_require(dev, K_group_stats_once));
    int64_t items = sum_items(groups, d);
    if (fits_one_launch(dev, K_group_stats_once, n))
        return stats_once(dev, a);
    ocl_blocks blocks = ocl_split(n, WS_TWO_ROWS(1, width));
    TRY(ocl_scratch(dev, be_floats(WS_TWO_ROWS(blocks.count, width))));
    TRY(OCL_RUN(dev, K_group_stats_blocks, blocks.count * items, SCRATCH(dev, 0), MAT(a->s), MAT(a->h), U32(n), U32(d),
                U32(groups), U32(blocks.count), U32(blocks.rows)));
    return OCL_RUN(dev, K_stats_combine, ocl_vecs(width), VECTOR(a->mean), VECTOR(a->var), VECTOR(a->rmean),
                   VECTOR(a->rvar), U32(a->rmean.buf != NULL), SCRATCH(dev, 0), U32(width), U32(n), U32(blocks.count),
                   U32(blocks.rows), F32(a->momentum));
}

/* y = act(h + lambda sum_g (gamma_g (t_g - mean_g) r_g + beta_g)). */
fathom_status ocl_group_apply(ocl_device *dev, const be_group_apply_args *a) {
    int64_t n = a->h.rows, d = a->h.cols, groups = a->s.cols, workspace = WS_GROUP_APPLY(1, groups, PADDED(d, VEC));
    ocl_blocks blocks = ocl_split_workspaces(dev, n, workspace);
    TRY(ocl_require(dev, K_group_apply));
    TRY(ocl_scratch(dev, be_floats(blocks.count * workspace)));
    return OCL_RUN(dev, K_group_apply, group_items(dev, K_group_apply, blocks), MAT(a->y), MAT(a->h), MAT(a->s),
                   VECTOR(a->mean), VECTOR(a->var), VECTOR(a->gamma), VECTOR(a->beta), SCRATCH(dev, 0), U32(n), U32(d),
                   U32(groups), U32(blocks.rows), F32(a->eps), F32(a->lambda), ACT(a->act));
}
