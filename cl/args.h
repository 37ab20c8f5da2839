/* args.h - what a kernel and its launcher share: the structs passed by value, tile sizes, workspace sizes and the range
 * of statistics. Valid in C and in OpenCL C; fields are 32 bits wide, so that both languages lay the structs out alike.
 */
#ifndef ARGS_H
#define ARGS_H

#include "philox.h"

/* A kernel takes its buffers, then one struct NAME_args by value. Fields of `act_args` and of these structs are 32 bits
 * wide. Every element of a buffer has an index below 2^32: the host reports no larger limit for one allocation
 * (OCL_MAX_BUFFER_BYTES), so that kernels compute indices in 32 bits. */
typedef philox_u32 u32;

/* A matrix in its buffer: index of the first element, elements from row to row. A vector uses `off` alone. `aligned`:
 * both are multiples of 4, so that a row is read as aligned float4. */
typedef struct mat_args {
    u32 off, ld, aligned;
} mat_args;

/* relu, then dropout of element e: the random bits of e + first below `threshold` give 0, else x * scale. */
typedef struct act_args {
    philox_u32 relu, drop; /* 0 or 1 */
    philox_u32 threshold, first_low, first_high;
    philox_u32 key0, key1, stream, epoch, layer;
    float scale;
} act_args;

/* ---- tiles ---- */

#define CEIL_DIV(n, size) (((n) + (size)-1) / (size))
#define PADDED(n, size) (CEIL_DIV(n, size) * (size)) /* n rounded up to a multiple */

#define VEC 4 /* columns of a row per work-item: neighbouring work-items read neighbouring columns */

#define RUN_ROWS 64     /* rows summed before they are added to a total, which bounds the rounding error */
#define COMBINE_VECS 2  /* float4 of a work-group that adds blocks: a 32-byte sector, */
#define COMBINE_RUNS 32 /* and runs of blocks that its work-items add at the same time */
#define ROW_ITEMS 64    /* parts of a block of rows that a work-group sums */

/* Pairs of a row and a lane in a work-group: `lanes` work-items (2^lane_bits) share a row, SLOTS / lanes rows. The
 * number does not depend on the size of the work-group, so that sums do not either. */
#define SLOTS 64
#define SLOT_BITS 6
#define EDGE_VALUES 1024 /* values of entries that a tile of an attention kernel has in local memory */

/* ---- pointwise.cl ---- */

typedef struct fill_args {
    mat_args y;
    u32 rows, cols;
    float value;
} fill_args;

typedef struct axpby_args {
    mat_args y, x, z;
    u32 has_z, rows, cols;
    float a, b;
} axpby_args;

typedef struct activate_args {
    mat_args y, x;
    u32 rows, cols;
    act_args act;
} activate_args;

typedef struct activate_backward_args {
    mat_args gx, gy, y;
    u32 rows, cols;
    float scale;
} activate_backward_args;

typedef struct bias_add_args {
    mat_args y, x, b;
    u32 rows, cols;
} bias_add_args;

typedef struct row_normalise_args {
    mat_args y, norm, x;
    u32 has_norm, by_sum, rows, cols;
} row_normalise_args;

/* ---- dense.cl ---- */

/* One factor of a product: `count` rows of the left one or columns of the right one, each of k elements, which are
 * neighbours in memory with `by_k`; else the elements of equal inner index are. */
typedef struct factor_args {
    mat_args at;
    u32 count, by_k;
} factor_args;

/* A work-group computes 4 down x 4 across of the result: one work-item per 4 x 4 and part of the inner dimension. */
typedef struct gemm_tiles_args {
    mat_args c;
    factor_args a, b;
    u32 cols, k, k_block;           /* columns stored; inner dimension and length of a block of it */
    u32 across, down, parts, depth; /* powers of two */
    float alpha, beta;
} gemm_tiles_args;

typedef struct gemm_inner_args {
    mat_args c, a, b;
    u32 m, n, k;
    float alpha, beta;
} gemm_inner_args;

#define GEMM_MAX_PARTS 8   /* parts of the inner dimension in a work-group of gemm_tiles */
#define GEMM_MAX_GROUP 256 /* work-items of a work-group of gemm_tiles and gemm_inner */
/* Floats of a tile of one factor, `lines` rows or columns of it; a pitch of 4 more spreads the banks. */
#define GEMM_PITCH(lines) ((lines) + VEC)
#define GEMM_PANEL(depth, lines) ((depth)*GEMM_PITCH(lines))
#define INNER_RUNS 16 /* of the work-items of gemm_inner whose parts are added one after the other */

/* ---- norm_blocks.cl ---- */

/* Rows of n x d in blocks of block_rows. A work-group takes a block and `across` (a power of two) times VEC columns;
 * its ROW_ITEMS parts are `across` wide and take every (ROW_ITEMS / across)-th row. */
typedef struct rows_args {
    u32 n, d, block_rows, across;
} rows_args;

typedef struct sum_blocks_args {
    mat_args go, x, mean;
    u32 has_x;
    rows_args rows;
} sum_blocks_args;

typedef struct stats_blocks_args {
    mat_args x;
    rows_args rows;
} stats_blocks_args;

/* A result of rows x cols, and the blocks that are summed for it: the first element of the first block, elements from
 * block to block, number. Rows of a block are padded to VEC. `second`: of the second buffer; `add`: to its old value.
 */
typedef struct block_sum {
    u32 off, ld, rows, cols, at, stride, blocks;
    u32 second, add;
} block_sum;

typedef struct sum_combine_args {
    u32 first_sum;
    float alpha, beta;
} sum_combine_args;

typedef struct stats_combine_args {
    mat_args mean, var, rmean, rvar;
    u32 running, n, d, groups, blocks, block_rows;
    float momentum;
} stats_combine_args;

/* ---- norm_batch.cl ---- */

typedef struct batch_apply_args {
    mat_args y, x, mean, var, gamma, beta;
    u32 n, d;
    float eps;
    act_args act;
} batch_apply_args;

typedef struct batch_backward_args {
    mat_args gx, ggamma, gbeta, go, x, mean, var, gamma, db, q;
    u32 has_gradients, n, d, over;
    float eps;
} batch_backward_args;

typedef struct pair_apply_args {
    mat_args y, x, mean, var;
    u32 n, d;
    float eps;
    act_args act;
} pair_apply_args;

typedef struct pair_backward_args {
    mat_args gx, go, x, mean, var, db, q;
    u32 n, d, over;
    float eps;
} pair_backward_args;

#define PAIR_PARTS 64 /* of a sum over columns */

/* ---- norm_node.cl ---- */

/* 2^lane_bits work-items share a row. */
typedef struct node_apply_args {
    mat_args y, x;
    u32 n, d, lane_bits;
    float eps;
    act_args act;
} node_apply_args;

typedef struct node_backward_args {
    mat_args gx, go, x;
    u32 n, d, lane_bits;
    float eps;
} node_backward_args;

/* ---- sparse.cl ----
 * Rows are summed in tiles: consecutive rows of at most TILE_SEGMENTS segments and TILE_ENTRIES entries in all, or one
 * longer row, in passes of TILE_ENTRIES. A segment is what one work-item adds up for 4 columns: at most SEGMENT entries
 * of a row, which is cut evenly. A row of more than LONG_ROW entries is cut into parts of TILE_ENTRIES, summed by a
 * launch before; its tile adds the parts. ocl_csr.c makes the table once per matrix. */

#define SEGMENT 32
#define TILE_SEGMENTS 32
#define TILE_ENTRIES 512 /* staged in local memory */
#define LONG_ROW 2048
#define SPMM_COLS 16      /* columns of a work-group of spmm; work-groups of the same columns are consecutive */
#define AGGREGATE_COLS 16 /* columns of op(w) in local memory */

/* The table: for each tile 4 words, which are row, first entry, entries, and where its segments begin (0: one row,
 * whose segments are computed); then for each segment of a tile a word, longest segments first. */
#define TILE_PARTS 0x80000000u /* in the word of the row: its entries are parts */
#define TILE_COUNTS(entries, segments, rows) \
    ((entries) | (segments) << 16 | (rows) << 24) /* third word, with segments */
/* Segment `slot` of the tile, `length` entries from `begin` (of the tile); word i also has the first slot of row i. */
#define SEGMENT_WORD(begin, length, slot) ((begin) | (length) << 9 | (slot) << 15)
#define SEGMENT_BEGIN(word) ((word)&511)
#define SEGMENT_LENGTH(word) ((word) >> 9 & 63)
#define SEGMENT_SLOT(word) ((word) >> 15 & 31)
#define ROW_SLOT(slot) ((slot) << 20)
#define ROW_SLOT_OF(word) ((word) >> 20 & 31)

/* A sparse matrix: first elements of its arrays; `count` tiles from word `table`, or rows without a table. */
typedef struct csr_args {
    u32 indptr, indices, eids, val, has_eids, has_val, has_table, table, count;
} csr_args;

typedef struct spmm_args {
    csr_args a;
    mat_args y, x, z;
    u32 has_z, d, y_head; /* columns of a head; from one head to the next in y */
    float alpha, beta;
} spmm_args;

typedef struct aggregate_args {
    csr_args a;
    mat_args y, p, x, w;
    u32 has_p, tw, d, m;
} aggregate_args;

/* ---- edges.cl ---- */

/* 2^lane_bits work-items share a row; indptr, indices, degree: index of the first element. */
typedef struct edge_drop_args {
    mat_args keep;
    u32 indptr, indices, degree, n, lane_bits, threshold, key0, key1, epoch, stream;
} edge_drop_args;

typedef struct edge_norm_args {
    mat_args val, root;
    u32 indptr, indices, degree, n, lane_bits;
} edge_norm_args;

/* ---- optim.cl ---- */

typedef struct adam_args {
    mat_args w, m, v, g;
    u32 len;
    float lr, beta1, beta2, eps, decay, correct1, correct2;
} adam_args;

#define CLIP_PARTS 64 /* work-groups of clip_squares, and the slots that add their sums */

typedef struct clip_args {
    mat_args y, x;
    u32 len, part; /* entries of a part */
    float limit;
} clip_args;

/* ---- norm_group.cl ---- */

#define GROUP_CHUNK 16    /* groups of a tile */
#define GROUP_MAX_COLS 64 /* up to this width a tile has all columns */
#define GROUP_TILE_COLS 32

/* float4, float4 and floats of a tile of `rows` rows, `cols` columns (a multiple of 4) and `groups` groups. */
#define GROUP_TILE_H(rows, cols) ((rows) * ((cols) / 4 + 1))
#define GROUP_TILE_TERMS(groups, cols) ((groups) * ((cols) / 4 + 1))
#define GROUP_TILE_S(groups, rows) ((groups) * ((rows) + 1))

typedef struct group_assign_args {
    mat_args s, h, u, c;
    u32 has_c, n, d, groups, tile_rows, tile_cols;
} group_assign_args;

typedef struct group_stats_args {
    group_assign_args in;
    u32 assign, block_tiles;
} group_stats_args;

typedef struct group_apply_args {
    group_assign_args in;
    mat_args y, mean, var, gamma, beta;
    u32 assign;
    float eps, lambda;
    act_args act;
} group_apply_args;

/* ---- norm_group_backward.cl ---- */

#define GROUP_COLS 32   /* columns of a tile of group_sums, and of the first pass of group_backward_rows, where */
#define GROUP_LANES 4   /* work-items share a row; */
#define GROUP_U_COLS 64 /* columns of its second pass */

/* Output of the activation that follows the norm. */
typedef struct act_output {
    mat_args mat;
    u32 has;
    float scale;
} act_output;

typedef struct group_sums_args {
    mat_args go, h, s, mean;
    act_output y;
    u32 n, d, groups, chunk, tile_rows, block_rows;
} group_sums_args;

typedef struct group_sums_combine_args {
    mat_args db, q, ggamma, gbeta, var;
    u32 d, groups, blocks;
    float eps, lambda;
} group_sums_combine_args;

typedef struct group_rows_args {
    u32 p; /* index of the first partial sum */
    mat_args gh, gz, part, go, h, s, mean, var, gamma, u, db, q;
    act_output y;
    u32 has_gu, n, d, over, groups, chunk, tile_rows, block_rows;
    u32 coef_shift; /* 1 << coef_shift items stage the coefficients of a group: a division would cost registers */
    float eps, lambda;
} group_rows_args;

/* Floats of local memory. */
#define LOCAL_GROUP_SUMS(tile_rows, chunk) ((tile_rows) * (2 * GROUP_COLS + (chunk)))
#define LOCAL_GROUP_COEFS(tile_rows, chunk) (GROUP_COLS * (3 * (chunk) + 1) + (chunk)*GROUP_LANES * (tile_rows))
#define LOCAL_GROUP_U(tile_rows, chunk) (GROUP_U_COLS * ((chunk) + (tile_rows)))
#define LOCAL_GROUP_ROWS(tile_rows, chunk, work) ((tile_rows) * (2 * (chunk) + 1) + (work))

/* ---- attention.cl ---- */

typedef struct gat_scores_args {
    mat_args s, t, z, a_src, a_dst;
    u32 n, d, lane_bits;
} gat_scores_args;

/* The matrix of edges: index of the first element of each array. */
typedef struct edges_args {
    u32 indptr, indices, eids, has_eids;
} edges_args;

typedef struct gat_softmax_args {
    mat_args alpha, s, t;
    edges_args a;
    u32 rows, tile_rows, lane_bits; /* 2^lane_bits = SLOTS / tile_rows, as below */
    float slope;
} gat_softmax_args;

typedef struct gat_backward_edges_args {
    mat_args ge, gt, alpha, alpha_dropped, s, t, gy, z;
    edges_args a;
    u32 rows, tile_rows, lane_bits, d, dot_bits, has_dropped;
    float scale, slope;
} gat_backward_edges_args;

typedef struct gat_edge_sums_args {
    mat_args gs, ge;
    edges_args a;
    u32 rows, tile_rows, lane_bits;
} gat_edge_sums_args;

typedef struct gat_backward_scores_args {
    mat_args gz, z, a_src, a_dst, gs, gt;
    u32 n, d, vec_bits, block_rows;
} gat_backward_scores_args;

/* ---- loss.cl ---- */

typedef struct softmax_xent_args {
    mat_args gz, z;
    u32 parts, labels, sets; /* index of the first element */
    u32 weight, has_weight, has_gz, n, classes, set, lane_bits, block_rows;
    float inverse;
} softmax_xent_args;

typedef struct accuracy_args {
    mat_args z;
    u32 pred, labels, sets, n, classes, sets_counted, lane_bits, block_rows;
} accuracy_args;

typedef struct accuracy_sum_args {
    u32 correct, count, sets_counted, from, stride; /* of the parts of a block, `sets_counted` from `from` on */
} accuracy_sum_args;

/* ---- labels.cl ---- */

typedef struct sigmoid_xent_args {
    mat_args gz, z, target;
    u32 parts, sets, has_gz, n, classes, set, lane_bits, block_rows;
    float inverse;
} sigmoid_xent_args;

typedef struct label_counts_args {
    mat_args z, target;
    u32 sets, n, classes, sets_counted, lane_bits, block_rows;
} label_counts_args;

/* ---- workspace ----
 * WS_*(count, ...): floats of `count` workspaces, which is also the offset of workspace number `count`. `count` has 64
 * bits. Rows are contiguous; G is the number of groups; d_pad is PADDED(d), and so on, with 0 as padding. */

/* Per block: a partial product of gemm_tiles, m x n_pad; sums of sum_blocks or gat_backward_scores, one or two rows of
 * d_pad; mean and centred sum of squares of stats_blocks, and of group_stats_blocks with G d_pad columns. */
#define WS_ROWS(count, rows, d_pad) ((count) * (rows) * (d_pad))
/* Per block of group_sums: q, G x d_pad; db, d_pad. */
#define WS_GROUP_SUMS(count, groups, d_pad) ((count) * ((groups) + 1) * (d_pad))
/* Per block of group_backward_rows: gu, G x d_pad; gc, G_pad. */
#define WS_GROUP_ROWS(count, groups, d_pad) ((count) * ((groups) * (d_pad) + PADDED(groups, VEC)))

/* ---- statistics ---- */

/* Statistics of normalisations are summed in units of 2^16, which is exact: squares of values up to 1e18 fit in a
 * float when summed over any number of rows. */
#define STATS_UNIT 1.52587890625e-05f /* 2^-16 */
#define STATS_UNIT_INVERSE 65536.0f
#define NODE_UNIT 0.00390625f /* its square root: of (var + eps)^-1/4 */
/* A variance from here on, whose reciprocal is subnormal, counts as overflow: its deviation is NaN, and so is the
 * loss. 2^126. */
#define VARIANCE_LIMIT 8.507059173023462e+37f

#include "args_pairwise.h"

#endif
