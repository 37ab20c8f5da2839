/* ocl_norm_group.c - differentiable group normalisation, forward: launches of cl/norm_group.cl. */
#include "backend/opencl/ocl.h"

/* How n x d is cut into tiles, one work-group each (args.h). */
typedef struct tiling {
    int64_t rows, cols;           /* of a tile */
    int64_t row_tiles, col_tiles; /* number */
    int64_t groups;               /* of a tile */
} tiling;

#define MIN_WORK_GROUPS 112 /* four per core of a GPU with 28 cores */
#define MAX_LOCAL_FLOATS 4096
#define MAX_TILE_ROWS 64 /* bounds the rounding error of the sums of a tile */
#define MIN_TILE_ROWS 16

/* Local memory of a tile: h, terms of each group, s; in group_apply also those of b. */
static int64_t tile_floats(const tiling *t) {
    return 4 * (GROUP_TILE_H(t->rows, t->cols) + 2 * GROUP_TILE_TERMS(t->groups, t->cols)) +
           GROUP_TILE_S(t->groups, t->rows);
}

/* Large tiles load u and coefficients less often, but need enough work-groups: `split` says that the tiles of the
 * columns have work-groups of their own. */
static tiling choose_tiles(int64_t n, int64_t d, int64_t groups, bool split) {
    tiling t = {.rows = MAX_TILE_ROWS,
                .cols = d <= GROUP_MAX_COLS ? PADDED(d, VEC) : GROUP_TILE_COLS,
                .groups = groups < GROUP_CHUNK ? groups : GROUP_CHUNK};
    t.col_tiles = CEIL_DIV(d, t.cols);
    while (t.rows > MIN_TILE_ROWS &&
           (CEIL_DIV(n, t.rows) * (split ? t.col_tiles : 1) < MIN_WORK_GROUPS || tile_floats(&t) > MAX_LOCAL_FLOATS))
        t.rows /= 2;
    t.row_tiles = CEIL_DIV(n, t.rows);
    return t;
}

/* Whether one launch computes the assignment and what follows. */
static bool assigns(be_mat u, int64_t d, int64_t groups) {
    return u.buf && d <= GROUP_MAX_COLS && groups <= GROUP_CHUNK;
}

static group_assign_args assign_args(const tiling *t, be_mat s, be_mat h, be_mat u, be_mat c) {
    return (group_assign_args){.s = ocl_mat(s),
                               .h = ocl_mat(h),
                               .u = ocl_mat(u),
                               .c = ocl_mat(c),
                               .has_c = c.buf != NULL,
                               .n = (u32)h.rows,
                               .d = (u32)h.cols,
                               .groups = (u32)s.cols,
                               .tile_rows = (u32)t->rows,
                               .tile_cols = (u32)t->cols};
}

#define LOCAL_H(t) ocl_local((size_t)GROUP_TILE_H((t).rows, (t).cols) * sizeof(cl_float4))
#define LOCAL_TERMS(t) ocl_local((size_t)GROUP_TILE_TERMS((t).groups, (t).cols) * sizeof(cl_float4))
#define LOCAL_S(t) ocl_local((size_t)GROUP_TILE_S((t).groups, (t).rows) * sizeof(cl_float))

/* s = softmax(h u' + 1 c') over groups. */
fathom_status ocl_group_assign(ocl_device *dev, const be_group_assign_args *a) {
    tiling t = choose_tiles(a->h.rows, a->h.cols, a->s.cols, false);
    group_assign_args args = assign_args(&t, a->s, a->h, a->u, a->c);
    TRY(ocl_require(dev, K_group_assign));
    return OCL_RUN(dev, K_group_assign, ocl_group_items(dev, K_group_assign, t.row_tiles), BUF(a->s), BUF(a->h),
                   BUF(a->u), BUF(a->c), (ocl_arg){sizeof args, OCL_STRUCT, {.structure = &args}}, LOCAL_H(t),
                   LOCAL_TERMS(t), LOCAL_S(t));
}

#define MAX_STATS_BLOCKS (128 * COMBINE_RUNS) /* 128 blocks, two loads each, per item of stats_combine */

/* mean_gj, var_gj of t_vgj = s_vg h_vj over v; running estimates. */
fathom_status ocl_group_stats(ocl_device *dev, const be_group_stats_args *a) {
    int64_t n = a->h.rows, d = a->h.cols, groups = a->s.cols, width = groups * PADDED(d, VEC);
    bool assign = assigns(a->u, d, groups);
    if (a->u.buf && !assign)
        TRY(ocl_group_assign(dev, &(be_group_assign_args){.s = a->s, .h = a->h, .u = a->u, .c = a->c}));
    tiling t = choose_tiles(n, d, groups, true);
    int64_t max_blocks = OCL_MAX_PARTIAL_FLOATS / WS_ROWS(1, 2, width);
    max_blocks = max_blocks < 1 ? 1 : max_blocks > MAX_STATS_BLOCKS ? MAX_STATS_BLOCKS : max_blocks;
    int64_t block_tiles = CEIL_DIV(t.row_tiles, max_blocks), blocks = CEIL_DIV(t.row_tiles, block_tiles);
    TRY(ocl_require(dev, K_group_stats_blocks));
    TRY(ocl_scratch(dev, be_floats(WS_ROWS(blocks, 2, width))));
    int64_t work_groups = blocks * t.col_tiles * CEIL_DIV(groups, GROUP_CHUNK);
    TRY(OCL_RUN(dev, K_group_stats_blocks, ocl_group_items(dev, K_group_stats_blocks, work_groups), SCRATCH_BUF(dev),
                BUF(a->s), BUF(a->h), BUF(a->u), BUF(a->c),
                ARGS(group_stats_args, .in = assign_args(&t, a->s, a->h, a->u, a->c), .assign = assign,
                     .block_tiles = (u32)block_tiles),
                LOCAL_H(t), LOCAL_TERMS(t), LOCAL_S(t)));
    ocl_stats stats = {a->mean, a->var, a->rmean, a->rvar, a->momentum};
    return ocl_combine_stats(dev, &stats, n, (ocl_blocks){.count = blocks, .rows = block_tiles * t.rows});
}

/* y = act(h + lambda sum_g (gamma_g (t_g - mean_g) r_g + beta_g)). */
fathom_status ocl_group_apply(ocl_device *dev, const be_group_apply_args *a) {
    int64_t n = a->h.rows, d = a->h.cols, groups = a->s.cols;
    bool assign = assigns(a->u, d, groups);
    if (a->u.buf && !assign)
        TRY(ocl_group_assign(dev, &(be_group_assign_args){.s = a->s, .h = a->h, .u = a->u, .c = a->c}));
    tiling t = choose_tiles(n, d, groups, true);
    TRY(ocl_require(dev, K_group_apply));
    return OCL_RUN(
        dev, K_group_apply, ocl_group_items(dev, K_group_apply, t.row_tiles * t.col_tiles), BUF(a->y), BUF(a->s),
        BUF(a->h), BUF(a->mean), BUF(a->var), BUF(a->gamma), BUF(a->beta), BUF(a->u), BUF(a->c),
        ARGS(group_apply_args, .in = assign_args(&t, a->s, a->h, a->u, a->c), .y = ocl_mat(a->y),
             .mean = ocl_mat(a->mean), .var = ocl_mat(a->var), .gamma = ocl_mat(a->gamma), .beta = ocl_mat(a->beta),
             .assign = assign, .eps = a->eps, .lambda = a->lambda, .act = ocl_act_args(a->act)),
        LOCAL_H(t), LOCAL_TERMS(t), LOCAL_S(t), LOCAL_TERMS(t), ocl_local((size_t)t.cols * sizeof(cl_float)));
}
