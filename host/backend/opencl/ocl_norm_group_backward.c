/* ocl_norm_group_backward.c - backward of differentiable group normalisation: launches of
 * cl/norm_group_backward.cl. */
#include "backend/opencl/ocl.h"

#define BUSY_GROUPS 128       /* work-groups that keep a device busy: tiles are lower where there would be fewer */
#define MAX_BLOCKS 1024       /* of rows: 32 for each of the COMBINE_RUNS */
#define MAX_LOCAL_FLOATS 4096 /* 16 KiB */
#define SUMS_MAX_CHUNK 32

/* How a kernel covers n rows in tiles and blocks of tiles, and G groups in chunks. */
typedef struct tiling {
    int64_t tile_rows, chunk;
    ocl_blocks blocks;
    size_t local_bytes;
} tiling;

/* Rows of a tile, with `across` work-groups side by side. */
static int64_t tile_rows_of(int64_t n, int64_t across) { return CEIL_DIV(n, 32) * across < BUSY_GROUPS ? 16 : 32; }

/* Blocks of whole tiles, which depend on sizes alone: at most MAX_BLOCKS, and at most OCL_MAX_PARTIAL_FLOATS with
 * `width` floats per block. */
static ocl_blocks blocks_of(int64_t n, int64_t tile_rows, int64_t width) {
    int64_t max = OCL_MAX_PARTIAL_FLOATS / width, tiles = CEIL_DIV(n, tile_rows);
    max = max < 1 ? 1 : max > MAX_BLOCKS ? MAX_BLOCKS : max;
    int64_t rows = CEIL_DIV(tiles, max) * tile_rows;
    return (ocl_blocks){.count = CEIL_DIV(n, rows), .rows = rows};
}

static tiling sums_tiling(int64_t n, int64_t d, int64_t groups) {
    tiling t = {.tile_rows = tile_rows_of(n, CEIL_DIV(d, GROUP_COLS)),
                .chunk = groups < SUMS_MAX_CHUNK ? groups : SUMS_MAX_CHUNK};
    t.blocks = blocks_of(n, t.tile_rows, WS_GROUP_SUMS(1, groups, PADDED(d, VEC)));
    t.local_bytes = be_floats(LOCAL_GROUP_SUMS(t.tile_rows, t.chunk));
    return t;
}

static int64_t rows_local(int64_t rows, int64_t chunk) {
    int64_t coefs = LOCAL_GROUP_COEFS(rows, chunk), u = LOCAL_GROUP_U(rows, chunk);
    return LOCAL_GROUP_ROWS(rows, chunk, coefs > u ? coefs : u);
}

/* Where groups do not fit tiles of 32 rows into local memory, tiles of 16 rows hold more of them. */
static tiling rows_tiling(int64_t n, int64_t d, int64_t groups) {
    tiling t = {.tile_rows = rows_local(32, groups) > MAX_LOCAL_FLOATS ? 16 : tile_rows_of(n, 1), .chunk = groups};
    while (rows_local(t.tile_rows, t.chunk) > MAX_LOCAL_FLOATS)
        t.chunk--;
    t.blocks = blocks_of(n, t.tile_rows, WS_GROUP_ROWS(1, groups, PADDED(d, VEC)));
    t.local_bytes = be_floats(rows_local(t.tile_rows, t.chunk));
    return t;
}

static act_output act_output_of(be_mat y, float scale) {
    return (act_output){.mat = ocl_mat(y), .has = y.buf != NULL, .scale = scale};
}

/* q_gj = lambda sum_v go_vj (t_vgj - mean_gj), db_j = lambda sum_v go_vj; ggamma += r q, gbeta += db. */
fathom_status ocl_group_backward_sums(ocl_device *dev, const be_group_backward_sums_args *a) {
    int64_t n = a->h.rows, d = a->h.cols, groups = a->s.cols;
    tiling t = sums_tiling(n, d, groups);
    TRY(OCL_SETTLE(dev, a->db, a->q, a->ggamma, a->gbeta, a->go, a->y, a->h, a->s, a->mean, a->var));
    TRY(ocl_require(dev, K_group_sums));
    TRY(ocl_require(dev, K_group_sums_combine));
    TRY(ocl_scratch(dev, be_floats(WS_GROUP_SUMS(t.blocks.count, groups, PADDED(d, VEC)))));
    TRY(OCL_RUN(dev, K_group_sums, ocl_group_items(dev, K_group_sums, t.blocks.count * CEIL_DIV(d, GROUP_COLS)),
                SCRATCH_BUF(dev), BUF(a->go), BUF(a->y), BUF(a->h), BUF(a->s), BUF(a->mean), ocl_local(t.local_bytes),
                ARGS(group_sums_args, .go = ocl_mat(a->go), .h = ocl_mat(a->h), .s = ocl_mat(a->s),
                     .mean = ocl_mat(a->mean), .y = act_output_of(a->y, a->scale), .n = (u32)n, .d = (u32)d,
                     .groups = (u32)groups, .chunk = (u32)t.chunk, .tile_rows = (u32)t.tile_rows,
                     .block_rows = (u32)t.blocks.rows)));
    return OCL_RUN(dev, K_group_sums_combine,
                   ocl_group_items(dev, K_group_sums_combine, (groups + 1) * CEIL_DIV(ocl_vecs(d), COMBINE_VECS)),
                   BUF(a->db), BUF(a->q), BUF(a->ggamma), BUF(a->gbeta), BUF(a->var), SCRATCH_BUF(dev),
                   OCL_COMBINE_LOCAL(1),
                   ARGS(group_sums_combine_args, .db = ocl_mat(a->db), .q = ocl_mat(a->q), .ggamma = ocl_mat(a->ggamma),
                        .gbeta = ocl_mat(a->gbeta), .var = ocl_mat(a->var), .d = (u32)d, .groups = (u32)groups,
                        .blocks = (u32)t.blocks.count, .eps = a->eps, .lambda = a->lambda));
}

/* gz = softmax backward of ds, gh = go + s dt + gz u (head of the kernel); gc += sum_v gz_v, gu += gz' h.
 * Scratch: the partial sums; then, where groups take several chunks and gh is go, what the kernel calls part. */
fathom_status ocl_group_backward_rows(ocl_device *dev, const be_group_backward_rows_args *a) {
    int64_t n = a->h.rows, d = a->h.cols, groups = a->s.cols, d_pad = PADDED(d, VEC);
    tiling t = rows_tiling(n, d, groups);
    int64_t sums = WS_GROUP_ROWS(t.blocks.count, groups, d_pad);
    bool apart = t.chunk < groups && a->gh.buf == a->go.buf && a->gh.off == a->go.off;
    TRY(ocl_require(dev, K_group_backward_rows));
    ocl_place place;
    TRY(OCL_SETTLE(dev, a->gh, a->gz, a->gu, a->gc, a->go, a->y, a->h, a->s, a->mean, a->var, a->gamma, a->u, a->db,
                   a->q));
    TRY(ocl_place_blocks(dev, sums + (apart ? n * d_pad : 0), !apart, &place));
    mat_args part = apart ? (mat_args){.off = (u32)sums, .ld = (u32)d_pad, .aligned = 1} : ocl_mat(a->gh);
    TRY(OCL_RUN(dev, K_group_backward_rows, ocl_group_items(dev, K_group_backward_rows, t.blocks.count), BUF(a->gh),
                BUF(a->gz), ocl_mem(place.mem), apart ? SCRATCH_BUF(dev) : BUF(a->gh), BUF(a->go), BUF(a->y), BUF(a->h),
                BUF(a->s), BUF(a->mean), BUF(a->var), BUF(a->gamma), BUF(a->u), BUF(a->db), BUF(a->q),
                ocl_local(t.local_bytes),
                ARGS(group_rows_args, .p = (u32)place.off, .gh = ocl_mat(a->gh), .gz = ocl_mat(a->gz), .part = part,
                     .go = ocl_mat(a->go), .h = ocl_mat(a->h), .s = ocl_mat(a->s), .mean = ocl_mat(a->mean),
                     .var = ocl_mat(a->var), .gamma = ocl_mat(a->gamma), .u = ocl_mat(a->u), .db = ocl_mat(a->db),
                     .q = ocl_mat(a->q), .y = act_output_of(a->y, a->scale), .has_gu = a->gu.buf != NULL, .n = (u32)n,
                     .d = (u32)d, .over = (u32)be_over(a->over, a->h), .groups = (u32)groups, .chunk = (u32)t.chunk,
                     .tile_rows = (u32)t.tile_rows, .block_rows = (u32)t.blocks.rows,
                     .coef_shift = d > GROUP_COLS / 2 ? 3 : 2, .eps = a->eps, .lambda = a->lambda)));
    /* gu += sum_b p[b], gc += sum_b p[b] */
    return OCL_COMBINE(dev, place, WS_GROUP_ROWS(1, groups, d_pad), t.blocks.count, 1.0f, 1.0f, {a->gu, 0},
                       {a->gc, groups * d_pad});
}
