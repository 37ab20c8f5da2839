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

/* relu, then dropout of element e: its random bits below `threshold` give 0, else x * scale. */
typedef struct act_args {
    philox_u32 relu, drop; /* 0 or 1 */
    philox_u32 threshold;
    philox_u32 key0, key1, stream, epoch, layer;
    float scale;
} act_args;

/* ---- tiles ---- */

#define CEIL_DIV(n, size) (((n) + (size)-1) / (size))
#define PADDED(n, size) (CEIL_DIV(n, size) * (size)) /* n rounded up to a multiple */

#define VEC 4 /* columns of a row per work-item: neighbouring work-items read neighbouring columns */

#define TILE_ROWS 4       /* rows of the result that a work-item of a product holds in registers */
#define RUN_ROWS 64       /* rows summed before they are added to a total, which bounds the rounding error */
#define AGGREGATE_ROWS 64 /* rows that a work-group of `aggregate` sums before it multiplies them */
#define FOLD_ROWS 4       /* rows per work-item of a pairwise fold */

/* Pairs of a row and a lane in a work-group: `lanes` work-items (2^lane_bits) share a row, SLOTS / lanes rows. The
 * number does not depend on the size of the work-group, so that sums do not either. */
#define SLOTS 64
#define SLOT_BITS 6
#define EDGE_VALUES 1024 /* values of entries that a tile of an attention kernel has in local memory */

#define GROUPS_PER_ITEM 1 /* groups of group normalisation whose sums over rows one work-item computes */

/* Values of be_fold; the launcher asserts that they are equal. */
#define FOLD_EUCLID 0
#define FOLD_SQUARED 1
#define FOLD_GAUSS 2

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

/* ---- optim.cl ---- */

typedef struct adam_args {
    mat_args w, m, v, g;
    u32 len;
    float lr, beta1, beta2, eps, decay, correct1, correct2;
} adam_args;

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
    u32 labels, sets; /* index of the first element */
    u32 has_gz, n, classes, set, lane_bits, block_rows;
    float inverse;
} softmax_xent_args;

typedef struct loss_sum_args {
    mat_args loss;
    u32 count;
    float inverse;
} loss_sum_args;

typedef struct accuracy_args {
    mat_args z;
    u32 pred, labels, sets, n, classes, sets_counted, lane_bits, block_rows;
} accuracy_args;

typedef struct accuracy_sum_args {
    u32 correct, count, sets_counted;
} accuracy_sum_args;

/* ---- pairwise.cl ---- */

typedef struct pair_fold_args {
    mat_args out, x;
    u32 labels, rows, n, d, kind, first; /* labels: index of the first element; so are other plain names of buffers */
    float scale;
} pair_fold_args;

typedef struct sparse_dots_args {
    mat_args val;
    u32 indptr, indices, eids, has_eids, t_indptr, t_indices, t_eids, has_t_eids, tile, first;
} sparse_dots_args;

typedef struct sparse_fold_args {
    mat_args out, sq;
    u32 labels, tile, n, first;
    float scale;
} sparse_fold_args;

typedef struct mad_fold_args {
    mat_args sum, x, norm;
    u32 count, rows, n, d, first;
} mad_fold_args;

typedef struct dirichlet_args {
    mat_args e, x, w;
    u32 indptr, indices, has_w, rows, d;
} dirichlet_args;

/* ---- workspace ----
 * WS_*(count, ...): floats of `count` workspaces, which is also the offset of workspace number `count`. `count` has 64
 * bits. Rows are contiguous; G is the number of groups; d_pad is PADDED(d), and so on, with 0 as padding. */

/* Per work-group of gemm_rows: op(b), k x n_pad. */
#define WS_GEMM_ROWS(count, k, n_pad) ((count) * (k) * (n_pad))
/* Per work-item of gemm_inner: its part of a tile, TILE_ROWS x vec. */
#define WS_GEMM_INNER(count) (TILE_ROWS * (count)*VEC)
/* Per block of gemm_blocks: a partial product, m x n. */
#define WS_GEMM_BLOCKS(count, m, n) ((count) * (m) * (n))
/* Per work-group of aggregate: op(w), d x m_pad; the sums of AGGREGATE_ROWS rows, d each. */
#define WS_AGGREGATE(count, d, m_pad) ((count) * (d) * ((m_pad) + AGGREGATE_ROWS))
/* Per block of stats_blocks, norm_sums_blocks, gat_backward_scores, and of group_stats_blocks with G d columns: two
 * rows, which are mean and centred sum of squares, or two sums. */
#define WS_TWO_ROWS(count, d) (2 * (count) * (d))
/* pair_scale: the scale, the sum of q. */
#define WS_PAIR_SCALE 2
/* Per work-group of group_assign: u of vec groups, transposed, d x vec; their c. */
#define WS_GROUP_ASSIGN(count, d) ((count) * ((d) + 1) * VEC)
/* Per work-item of group_stats_once: mean and centred sum of squares of each of its groups, vec each. */
#define WS_GROUP_STATS(count) (2 * (count)*GROUPS_PER_ITEM * VEC)
/* Per work-group of group_apply: A, G x d_pad; b, d_pad. */
#define WS_GROUP_APPLY(count, groups, d_pad) ((count) * ((groups) + 1) * (d_pad))
/* Per work-item of group_sums_once: q of each of its groups, then db, vec each. */
#define WS_GROUP_SUMS(count) ((count) * (GROUPS_PER_ITEM + 1) * VEC)
/* Per block of group_sums_blocks: q, G x d; db, d. */
#define WS_GROUP_SUMS_BLOCKS(count, groups, d) ((count) * ((groups) + 1) * (d))
/* Per work-group of `size` work-items of group_backward_rows: A, E, mean, u of each group, 4 G x d_pad; db / n, d_pad;
 * then on GPUs ds (later gz) and s per work-item, 2 size x G_pad, and the sum of gz, G_pad; on CPUs A, E, mean
 * transposed, 3 d x G_pad, and the sum of gz per work-item, size x G_pad. groups, d and size have 64 bits. */
#define WS_GROUP_BACKWARD_ROWS(count, groups, d, d_pad, groups_pad, size) \
    ((count) * ((4 * (groups) + 1) * (d_pad) + (2 * (size) + 1) * (groups_pad)))

/* ---- statistics ---- */

/* Statistics of normalisations are summed in units of 2^16, which is exact: squares of values up to 1e18 fit in a
 * float when summed over any number of rows. */
#define STATS_UNIT 1.52587890625e-05f /* 2^-16 */
#define STATS_UNIT_INVERSE 65536.0f
/* A variance from here on, whose reciprocal is subnormal, counts as overflow: its deviation is NaN, and so is the
 * loss. 2^126. */
#define VARIANCE_LIMIT 8.507059173023462e+37f

#endif
