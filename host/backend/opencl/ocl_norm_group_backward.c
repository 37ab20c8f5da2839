/* ocl_norm_group_backward.c - backward of differentiable group normalisation: launches of
 * cl/norm_group_backward.cl. */
#include "backend/opencl/ocl.h"

/* One work-group per block. */
static int64_t group_items(const ocl_device *dev, ocl_kernel kernel, ocl_blocks blocks) {
    return blocks.count * (int64_t)dev->group_size[kernel];
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

/* Output of the activation that follows the norm, whether there is one, and its scale; else any matrix of that shape.
 */
#define ACT_OUTPUT(a) MAT((a)->y.buf ? (a)->y : (a)->go), U32((a)->y.buf != NULL), F32((a)->y.buf ? (a)->scale : 1.0f)

static fathom_status sums_once(ocl_device *dev, const be_group_backward_sums_args *a) {
    int64_t n = a->h.rows, d = a->h.cols, groups = a->s.cols, items = sum_items(groups, d);
    int64_t size = (int64_t)dev->group_size[K_group_sums_once];
    TRY(ocl_scratch(dev, be_floats(WS_GROUP_SUMS(items * size))));
    return OCL_RUN(dev, K_group_sums_once, items * size, VECTOR(a->db), VECTOR(a->q), VECTOR(a->ggamma),
                   VECTOR(a->gbeta), MAT(a->go), ACT_OUTPUT(a), MAT(a->h), MAT(a->s), VECTOR(a->mean), VECTOR(a->var),
                   SCRATCH(dev, 0), U32(n), U32(d), U32(groups), U32(rows_per_item(n, size)), F32(a->eps),
                   F32(a->lambda));
}

/* q_gj = lambda sum_v go_vj (t_vgj - mean_gj), db_j = lambda sum_v go_vj; ggamma += r q, gbeta += db. */
fathom_status ocl_group_backward_sums(ocl_device *dev, const be_group_backward_sums_args *a) {
    int64_t n = a->h.rows, d = a->h.cols, groups = a->s.cols, width = WS_GROUP_SUMS_BLOCKS(1, groups, d);
    TRY(ocl_require(dev, K_group_sums_once));
    int64_t items = sum_items(groups, d);
    if (fits_one_launch(dev, K_group_sums_once, n))
        return sums_once(dev, a);
    ocl_blocks blocks = ocl_split(n, width);
    TRY(ocl_scratch(dev, be_floats(WS_GROUP_SUMS_BLOCKS(blocks.count, groups, d))));
    TRY(OCL_RUN(dev, K_group_sums_blocks, blocks.count * items, SCRATCH(dev, 0), MAT(a->go), ACT_OUTPUT(a), MAT(a->h),
                MAT(a->s), VECTOR(a->mean), U32(n), U32(d), U32(groups), U32(blocks.count), U32(blocks.rows)));
    return OCL_RUN(dev, K_group_sums_combine, groups * ocl_vecs(d), VECTOR(a->db), VECTOR(a->q), VECTOR(a->ggamma),
                   VECTOR(a->gbeta), VECTOR(a->var), SCRATCH(dev, 0), U32(d), U32(groups), U32(blocks.count),
                   F32(a->eps), F32(a->lambda));
}

/* Work-items that share a row: a power of two, at most the work-group. */
static int64_t items_per_row(const ocl_device *dev, int64_t d) {
    int64_t items = 1, max_items = (int64_t)dev->group_size[K_group_backward_rows];
    while (items < max_items && items < ocl_vecs(d))
        items *= 2;
    return items;
}

/* gz = softmax backward of ds, gh = go + s dt + gz u (head of the kernel); gc += sum_v gz_v.
 * Scratch: the workspaces of the work-groups, then the sum of gz of each, G floats. */
fathom_status ocl_group_backward_rows(ocl_device *dev, const be_group_backward_rows_args *a) {
    int64_t n = a->h.rows, d = a->h.cols, groups = a->s.cols;
    TRY(ocl_require(dev, K_group_backward_rows));
    int64_t size = (int64_t)dev->group_size[K_group_backward_rows];
    int64_t workspace = WS_GROUP_BACKWARD_ROWS(1, groups, d, PADDED(d, VEC), PADDED(groups, VEC), size);
    ocl_blocks blocks = ocl_split_workspaces(dev, n, workspace);
    int64_t sums = blocks.count * workspace;
    TRY(ocl_scratch(dev, be_floats(sums + blocks.count * groups)));
    TRY(OCL_RUN(dev, K_group_backward_rows, group_items(dev, K_group_backward_rows, blocks), MAT(a->gh), MAT(a->gz),
                SCRATCH(dev, sums), MAT(a->go), ACT_OUTPUT(a), MAT(a->h), MAT(a->s), VECTOR(a->mean), VECTOR(a->var),
                VECTOR(a->gamma), VECTOR(a->u), VECTOR(a->db), VECTOR(a->q), SCRATCH(dev, 0), U32(n), U32(d),
                U32(groups), U32(blocks.rows), U32(items_per_row(dev, d)), F32(a->eps), F32(a->lambda)));
    return a->gc.buf ? ocl_combine_blocks(dev, a->gc, (be_mat){0}, sums, groups, blocks, true) : FATHOM_OK;
}
