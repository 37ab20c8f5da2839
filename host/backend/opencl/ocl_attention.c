/* ocl_attention.c - launches of cl/attention.cl. */
#include "backend/opencl/ocl.h"

#define MAX_TILE_BITS 4  /* up to 16 rows per tile of an edge kernel */
#define EDGE_ENTRIES 128 /* entries of a mean tile */

/* Rows per tile, a power of two: so many that a tile has about EDGE_ENTRIES entries. */
static u32 tile_bits(be_csr a) {
    u32 bits = MAX_TILE_BITS;
    while (bits > 0 && (a.nnz << bits) > EDGE_ENTRIES * a.rows)
        bits--;
    return bits;
}

static int64_t tile_items(const ocl_device *dev, ocl_kernel kernel, be_csr a) {
    return ocl_group_items(dev, kernel, CEIL_DIV(a.rows, INT64_C(1) << tile_bits(a)));
}

static edges_args edges(be_csr a) {
    return (edges_args){.indptr = (u32)a.indptr.off,
                        .indices = (u32)a.indices.off,
                        .eids = (u32)a.eids.off,
                        .has_eids = a.eids.buf != NULL};
}

#define EDGE_BUFS(csr) BUF((csr).indptr), BUF((csr).indices), BUF((csr).eids)
#define TILE(csr) .rows = (u32)(csr).rows, .tile_rows = 1u << tile_bits(csr), .lane_bits = SLOT_BITS - tile_bits(csr)
/* First entries of a tile's rows, values of entries, `count` floats per slot. */
#define TILE_LOCAL(csr, count)                                                                     \
    ocl_local(((size_t)2 << tile_bits(csr)) * sizeof(cl_uint)), ocl_local(be_floats(EDGE_VALUES)), \
        ocl_local(be_floats((count)*SLOTS))

/* Parameters of each head, side by side. */
static be_mat flat(be_mat m) { return be_vector(m.buf, m.off, m.rows * m.cols); }

/* s = z a_src, t = z a_dst. */
fathom_status ocl_gat_scores(ocl_device *dev, const be_gat_scores_args *a) {
    int64_t heads = a->a_src.rows, d = a->a_src.cols;
    u32 lane_bits = ocl_bits(ocl_vecs(d), 3);
    TRY(ocl_require(dev, K_gat_scores));
    return OCL_RUN_2D(dev, K_gat_scores,
                      ocl_group_items(dev, K_gat_scores, CEIL_DIV(a->z.rows, (int64_t)SLOTS >> lane_bits)), heads,
                      BUF(a->s), BUF(a->t), BUF(a->z), BUF(a->a_src), BUF(a->a_dst), ocl_local(be_floats(2 * SLOTS)),
                      ARGS(gat_scores_args, .s = ocl_mat(a->s), .t = ocl_mat(a->t), .z = ocl_head_mat(a->z, heads),
                           .a_src = ocl_head_mat(flat(a->a_src), heads), .a_dst = ocl_head_mat(flat(a->a_dst), heads),
                           .n = (u32)a->z.rows, .d = (u32)d, .lane_bits = lane_bits));
}

/* alpha = softmax over row v of leakyrelu(s_u + t_v). */
fathom_status ocl_gat_softmax(ocl_device *dev, const be_gat_softmax_args *a) {
    TRY(ocl_require(dev, K_gat_softmax));
    return OCL_RUN_2D(dev, K_gat_softmax, tile_items(dev, K_gat_softmax, a->a), a->s.cols, BUF(a->alpha),
                      EDGE_BUFS(a->a), BUF(a->s), BUF(a->t), TILE_LOCAL(a->a, 3),
                      ARGS(gat_softmax_args, .alpha = ocl_mat(a->alpha), .s = ocl_mat(a->s), .t = ocl_mat(a->t),
                           .a = edges(a->a), TILE(a->a), .slope = a->slope));
}

/* ge = alpha (q - sum_w alpha_w q_w) leakyrelu'(s_u + t_v), q = mask <gy_v, z_u>; gt_v = sum ge. */
fathom_status ocl_gat_backward_edges(ocl_device *dev, const be_gat_backward_edges_args *a) {
    int64_t heads = a->alpha.cols, d = a->z.cols / heads;
    TRY(ocl_require(dev, K_gat_backward_edges));
    return OCL_RUN_2D(dev, K_gat_backward_edges, tile_items(dev, K_gat_backward_edges, a->a), heads, BUF(a->ge),
                      BUF(a->gt), EDGE_BUFS(a->a), BUF(a->alpha), BUF(a->alpha_dropped), BUF(a->s), BUF(a->t),
                      BUF(a->gy), BUF(a->z), TILE_LOCAL(a->a, 2),
                      ARGS(gat_backward_edges_args, .ge = ocl_mat(a->ge), .gt = ocl_mat(a->gt),
                           .alpha = ocl_mat(a->alpha), .alpha_dropped = ocl_mat(a->alpha_dropped), .s = ocl_mat(a->s),
                           .t = ocl_mat(a->t), .gy = ocl_head_mat(a->gy, heads), .z = ocl_head_mat(a->z, heads),
                           .a = edges(a->a), TILE(a->a), .d = (u32)d, .dot_bits = ocl_bits(ocl_vecs(d), 2),
                           .has_dropped = a->alpha_dropped.buf != NULL, .scale = a->scale, .slope = a->slope));
}

/* gs_u = sum of ge over row u of the transpose. */
fathom_status ocl_gat_edge_sums(ocl_device *dev, const be_gat_edge_sums_args *a) {
    TRY(ocl_require(dev, K_gat_edge_sums));
    return OCL_RUN_2D(
        dev, K_gat_edge_sums, tile_items(dev, K_gat_edge_sums, a->at), a->gs.cols, BUF(a->gs), BUF(a->at.indptr),
        BUF(a->at.eids), BUF(a->ge), TILE_LOCAL(a->at, 1),
        ARGS(gat_edge_sums_args, .gs = ocl_mat(a->gs), .ge = ocl_mat(a->ge), .a = edges(a->at), TILE(a->at)));
}

/* gz += gs a_src' + gt a_dst'; ga_src += z' gs, ga_dst += z' gt. */
fathom_status ocl_gat_backward_scores(ocl_device *dev, const be_gat_backward_scores_args *a) {
    int64_t n = a->z.rows, heads = a->a_src.rows, d = a->a_src.cols;
    u32 vec_bits = ocl_bits(ocl_vecs(d), 3);
    int64_t width = WS_ROWS(1, 2 * heads, PADDED(d, VEC));
    ocl_blocks blocks = ocl_split(n, width);
    int64_t groups = blocks.count * CEIL_DIV(d, (int64_t)VEC << vec_bits);
    TRY(ocl_scratch(dev, be_floats(blocks.count * width)));
    TRY(ocl_require(dev, K_gat_backward_scores));
    TRY(OCL_RUN_2D(dev, K_gat_backward_scores, ocl_group_items(dev, K_gat_backward_scores, groups), heads,
                   SCRATCH_BUF(dev), BUF(a->gz), BUF(a->z), BUF(a->a_src), BUF(a->a_dst), BUF(a->gs), BUF(a->gt),
                   ocl_local(2 * SLOTS * sizeof(cl_float4)),
                   ARGS(gat_backward_scores_args, .gz = ocl_head_mat(a->gz, heads), .z = ocl_head_mat(a->z, heads),
                        .a_src = ocl_mat(a->a_src), .a_dst = ocl_mat(a->a_dst), .gs = ocl_mat(a->gs),
                        .gt = ocl_mat(a->gt), .n = (u32)n, .d = (u32)d, .vec_bits = vec_bits,
                        .block_rows = (u32)blocks.rows)));
    return OCL_COMBINE(dev, (ocl_place){.mem = dev->scratch}, width, blocks.count, 1.0f, 1.0f, {a->ga_src, 0},
                       {a->ga_dst, width / 2});
}
