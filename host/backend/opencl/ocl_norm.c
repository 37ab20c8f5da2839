/* ocl_norm.c - batch, pair and node normalisation: launches of cl/norm_batch.cl, cl/norm_node.cl and of the sums in
 * cl/norm_blocks.cl. */
#include "backend/opencl/ocl.h"

/* Blocks of rows of x with two partial rows each, and scratch for them. */
static fathom_status split_two_rows(ocl_device *dev, be_mat x, ocl_blocks *blocks) {
    int64_t width = WS_ROWS(1, 2, PADDED(x.cols, VEC));
    *blocks = ocl_split_rows(x.rows, width);
    return ocl_scratch(dev, be_floats(blocks->count * width));
}

/* mean_j, var_j of the columns of x; running estimates. */
fathom_status ocl_col_stats(ocl_device *dev, const be_col_stats_args *a) {
    ocl_blocks blocks;
    TRY(split_two_rows(dev, a->x, &blocks));
    TRY(ocl_require(dev, K_stats_blocks));
    rows_args rows = ocl_rows(a->x, blocks);
    TRY(OCL_RUN(dev, K_stats_blocks, ocl_row_items(dev, K_stats_blocks, rows, blocks), SCRATCH_BUF(dev), BUF(a->x),
                OCL_ROWS_LOCAL(2), ARGS(stats_blocks_args, .x = ocl_mat(a->x), .rows = rows)));
    ocl_stats stats = {a->mean, a->var, a->rmean, a->rvar, a->momentum};
    return ocl_combine_stats(dev, &stats, a->x.rows, blocks);
}

/* y = act(gamma (x - mean) r + beta), r = (var + eps)^-1/2. */
fathom_status ocl_batch_apply(ocl_device *dev, const be_batch_apply_args *a) {
    return OCL_RUN(dev, K_batch_apply, ocl_items(a->y), BUF(a->y), BUF(a->x), BUF(a->mean), BUF(a->var), BUF(a->gamma),
                   BUF(a->beta),
                   ARGS(batch_apply_args, .y = ocl_mat(a->y), .x = ocl_mat(a->x), .mean = ocl_mat(a->mean),
                        .var = ocl_mat(a->var), .gamma = ocl_mat(a->gamma), .beta = ocl_mat(a->beta),
                        .n = (u32)a->x.rows, .d = (u32)a->x.cols, .eps = a->eps, .act = ocl_act_args(a->act)));
}

/* db_j = sum_v go_vj, q_j = sum_v go_vj (x_vj - mean_j). */
fathom_status ocl_norm_sums(ocl_device *dev, const be_norm_sums_args *a) {
    ocl_blocks blocks;
    TRY(split_two_rows(dev, a->x, &blocks));
    TRY(ocl_require(dev, K_sum_blocks));
    rows_args rows = ocl_rows(a->x, blocks);
    TRY(OCL_RUN(dev, K_sum_blocks, ocl_row_items(dev, K_sum_blocks, rows, blocks), SCRATCH_BUF(dev), BUF(a->go),
                BUF(a->x), BUF(a->mean), OCL_ROWS_LOCAL(2),
                ARGS(sum_blocks_args, .go = ocl_mat(a->go), .x = ocl_mat(a->x), .mean = ocl_mat(a->mean), .has_x = true,
                     .rows = rows)));
    int64_t width = PADDED(a->x.cols, VEC);
    return OCL_COMBINE(dev, (ocl_place){.mem = dev->scratch}, WS_ROWS(1, 2, width), blocks.count, 1.0f, 0.0f,
                       {a->db, 0}, {a->q, width});
}

/* gx = gamma r (go - db/n - (x - mean) r^2 q/n); ggamma += r q, gbeta += db. */
fathom_status ocl_batch_backward(ocl_device *dev, const be_batch_backward_args *a) {
    return OCL_RUN(dev, K_batch_backward, ocl_items(a->gx), BUF(a->gx), BUF(a->ggamma), BUF(a->gbeta), BUF(a->go),
                   BUF(a->x), BUF(a->mean), BUF(a->var), BUF(a->gamma), BUF(a->db), BUF(a->q),
                   ARGS(batch_backward_args, .gx = ocl_mat(a->gx), .ggamma = ocl_mat(a->ggamma),
                        .gbeta = ocl_mat(a->gbeta), .go = ocl_mat(a->go), .x = ocl_mat(a->x), .mean = ocl_mat(a->mean),
                        .var = ocl_mat(a->var), .gamma = ocl_mat(a->gamma), .db = ocl_mat(a->db), .q = ocl_mat(a->q),
                        .has_gradients = a->ggamma.buf != NULL, .n = (u32)a->x.rows, .d = (u32)a->x.cols,
                        .over = (u32)be_over(a->over, a->x), .eps = a->eps));
}

/* y = act((x - mean) s), s = (eps + sum_j var_j)^-1/2. */
fathom_status ocl_pair_apply(ocl_device *dev, const be_pair_apply_args *a) {
    return OCL_RUN(dev, K_pair_apply, ocl_items(a->y), BUF(a->y), BUF(a->x), BUF(a->mean), BUF(a->var),
                   ocl_local(PAIR_PARTS * sizeof(cl_float)),
                   ARGS(pair_apply_args, .y = ocl_mat(a->y), .x = ocl_mat(a->x), .mean = ocl_mat(a->mean),
                        .var = ocl_mat(a->var), .n = (u32)a->x.rows, .d = (u32)a->x.cols, .eps = a->eps,
                        .act = ocl_act_args(a->act)));
}

/* gx = s (go - db/n) - s^3 (sum_j q_j / n)(x - mean). */
fathom_status ocl_pair_backward(ocl_device *dev, const be_pair_backward_args *a) {
    return OCL_RUN(dev, K_pair_backward, ocl_items(a->gx), BUF(a->gx), BUF(a->go), BUF(a->x), BUF(a->mean), BUF(a->var),
                   BUF(a->db), BUF(a->q), ocl_local(2 * PAIR_PARTS * sizeof(cl_float)),
                   ARGS(pair_backward_args, .gx = ocl_mat(a->gx), .go = ocl_mat(a->go), .x = ocl_mat(a->x),
                        .mean = ocl_mat(a->mean), .var = ocl_mat(a->var), .db = ocl_mat(a->db), .q = ocl_mat(a->q),
                        .n = (u32)a->x.rows, .d = (u32)a->x.cols, .over = (u32)be_over(a->over, a->x), .eps = a->eps));
}

#define NODE_LANE_BITS 3 /* up to 8 lanes for a row */

static int64_t node_items(const ocl_device *dev, ocl_kernel kernel, int64_t rows, u32 lane_bits) {
    return ocl_group_items(dev, kernel, CEIL_DIV(rows, (int64_t)SLOTS >> lane_bits));
}

/* y = act(x_v (var_v + eps)^-1/4). */
fathom_status ocl_node_apply(ocl_device *dev, const be_node_apply_args *a) {
    u32 lane_bits = ocl_bits(ocl_vecs(a->x.cols), NODE_LANE_BITS);
    TRY(ocl_require(dev, K_node_apply));
    return OCL_RUN(dev, K_node_apply, node_items(dev, K_node_apply, a->x.rows, lane_bits), BUF(a->y), BUF(a->x),
                   ocl_local(be_floats(2 * SLOTS)),
                   ARGS(node_apply_args, .y = ocl_mat(a->y), .x = ocl_mat(a->x), .n = (u32)a->x.rows,
                        .d = (u32)a->x.cols, .lane_bits = lane_bits, .eps = a->eps, .act = ocl_act_args(a->act)));
}

/* gx = s_v (go_v - (x_v - mean_v) D_v / (2 d (var_v + eps))), D_v = go_v . x_v. */
fathom_status ocl_node_backward(ocl_device *dev, const be_node_backward_args *a) {
    u32 lane_bits = ocl_bits(ocl_vecs(a->x.cols), NODE_LANE_BITS);
    TRY(ocl_require(dev, K_node_backward));
    return OCL_RUN(dev, K_node_backward, node_items(dev, K_node_backward, a->x.rows, lane_bits), BUF(a->gx), BUF(a->go),
                   BUF(a->x), ocl_local(be_floats(3 * SLOTS)),
                   ARGS(node_backward_args, .gx = ocl_mat(a->gx), .go = ocl_mat(a->go), .x = ocl_mat(a->x),
                        .n = (u32)a->x.rows, .d = (u32)a->x.cols, .lane_bits = lane_bits, .eps = a->eps));
}
