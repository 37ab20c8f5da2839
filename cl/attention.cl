/* attention.cl - single-head graph attention: scores, softmax over the edges of a node, and their gradients. Row v of
 * the CSR matrix holds the neighbours u of v; spmm with alpha as values does the aggregation. */
#include "common.h"

/* Computes: s_v = z_v . a_src, t_v = z_v . a_dst.
 * Shapes: z n x d, a_* 1 x d, s and t 1 x n.
 * Launch: one work-item per node.
 * Order: one sum per lane over every VEC-th column, ascending; then the lanes. */
__kernel void gat_scores(__global float *s, long so, __global float *t, long to, __global const float *z, long zo,
                         long zld, __global const float *a_src, long aso, __global const float *a_dst, long ado, uint n,
                         uint d) {
    ulong v = get_global_id(0);
    if (v >= n)
        return;
    __global const float *row = z + zo + (long)v * zld;
    float4 src = (float4)(0.0f), dst = src;
    for (uint j = 0; j < d; j += VEC) {
        float4 x = load4(row, j, d);
        src = fma(x, load4(a_src + aso, j, d), src);
        dst = fma(x, load4(a_dst + ado, j, d), dst);
    }
    s[so + (long)v] = sum4(src);
    t[to + (long)v] = sum4(dst);
}

/* Computes: alpha[id] = softmax over row v of leakyrelu(s_u + t_v), with the row maximum subtracted.
 * Shapes: alpha 1 x nnz indexed by eid, s 1 x cols, t 1 x rows.
 * Launch: one work-item per row.
 * Memory: alpha holds the scores until they are normalised.
 * Order: entries ascending. */
__kernel void gat_softmax(__global float *alpha, long ao, __global const long *indptr, long po,
                          __global const int *indices, long io, __global const int *eids, long eo, uint has_eids,
                          __global const float *s, long so, __global const float *t, long to, uint rows, float slope) {
    ulong v = get_global_id(0);
    if (v >= rows)
        return;
    long begin = indptr[po + (long)v], end = indptr[po + (long)v + 1];
    float t_v = t[to + (long)v], max_score = -INFINITY, sum = 0.0f;
    for (long e = begin; e < end; e++) {
        float score = leaky_relu(s[so + indices[io + e]] + t_v, slope);
        alpha[ao + (has_eids ? eids[eo + e] : e)] = score;
        max_score = fmax(max_score, score);
    }
    for (long e = begin; e < end; e++) {
        long id = has_eids ? eids[eo + e] : e;
        float p = exp(alpha[ao + id] - max_score);
        alpha[ao + id] = p;
        sum += p;
    }
    float scale = 1.0f / sum;
    for (long e = begin; e < end; e++)
        alpha[ao + (has_eids ? eids[eo + e] : e)] *= scale;
}

/* Computes: q = mask <gy_v, z_u>, ge[id] = alpha (q - sum_w alpha_w q_w) leakyrelu'(s_u + t_v), gt_v = sum ge; mask is
 * `scale` where alpha_dropped, alpha after dropout, is not 0.
 * Shapes: ge, alpha, alpha_dropped 1 x nnz indexed by eid, gt and t 1 x rows, s 1 x cols, gy rows x d, z cols x d.
 * Launch: one work-item per row.
 * Memory: ge holds q between the two passes.
 * Order: columns as in gat_scores; entries ascending. */
__kernel void gat_backward_edges(__global float *ge, long geo, __global float *gt, long gto,
                                 __global const long *indptr, long po, __global const int *indices, long io,
                                 __global const int *eids, long eo, uint has_eids, __global const float *alpha, long ao,
                                 __global const float *alpha_dropped, long ado, uint has_dropped,
                                 __global const float *s, long so, __global const float *t, long to,
                                 __global const float *gy, long gyo, long gyld, __global const float *z, long zo,
                                 long zld, uint rows, uint d, float scale, float slope) {
    ulong v = get_global_id(0);
    if (v >= rows)
        return;
    long begin = indptr[po + (long)v], end = indptr[po + (long)v + 1];
    __global const float *g = gy + gyo + (long)v * gyld;
    float t_v = t[to + (long)v], mean = 0.0f, sum = 0.0f;
    for (long e = begin; e < end; e++) {
        long id = has_eids ? eids[eo + e] : e;
        __global const float *row = z + zo + (long)indices[io + e] * zld;
        float4 sums = (float4)(0.0f);
        for (uint j = 0; j < d; j += VEC)
            sums = fma(load4(g, j, d), load4(row, j, d), sums);
        float q = sum4(sums);
        if (has_dropped) /* no branch: it would mispredict half the time */
            q *= scale * (float)(alpha_dropped[ado + id] != 0.0f);
        ge[geo + id] = q;
        mean += alpha[ao + id] * q;
    }
    for (long e = begin; e < end; e++) {
        long id = has_eids ? eids[eo + e] : e;
        float slope_e = s[so + indices[io + e]] + t_v > 0.0f ? 1.0f : slope;
        float ge_id = alpha[ao + id] * (ge[geo + id] - mean) * slope_e;
        ge[geo + id] = ge_id;
        sum += ge_id;
    }
    gt[gto + (long)v] = sum;
}

/* Computes: gs_u = sum of ge[id] over row u of the transpose.
 * Shapes: gs 1 x rows, ge 1 x nnz.
 * Launch: one work-item per row.
 * Order: entries ascending. */
__kernel void gat_edge_sums(__global float *gs, long gso, __global const long *indptr, long po,
                            __global const int *eids, long eo, uint has_eids, __global const float *ge, long geo,
                            uint rows) {
    ulong u = get_global_id(0);
    if (u >= rows)
        return;
    float sum = 0.0f;
    long end = indptr[po + (long)u + 1];
    for (long e = indptr[po + (long)u]; e < end; e++)
        sum += ge[geo + (has_eids ? eids[eo + e] : e)];
    gs[gso + (long)u] = sum;
}

/* Computes: gz_v += gs_v a_src + gt_v a_dst.
 * Shapes: gz n x d, gs and gt 1 x n, a_* 1 x d.
 * Launch: one work-item per node and VEC columns. */
__kernel void gat_backward_rows(__global float *gz, long gzo, long gzld, __global const float *a_src, long aso,
                                __global const float *a_dst, long ado, __global const float *gs, long gso,
                                __global const float *gt, long gto, uint n, uint d) {
    uint vecs = CEIL_DIV(d, VEC);
    ulong i = get_global_id(0), v = row_of(i, vecs);
    if (v >= n)
        return;
    uint j = VEC * (uint)(i - v * vecs);
    __global float *row = gz + gzo + (long)v * gzld;
    float4 sum =
        load4(row, j, d) + gs[gso + (long)v] * load4(a_src + aso, j, d) + gt[gto + (long)v] * load4(a_dst + ado, j, d);
    store4(sum, row, j, d);
}

/* Computes: p[b][0][j] = sum_v gs_v z_vj and p[b][1][j] = sum_v gt_v z_vj over block b of block_rows rows.
 * Shapes: z n x d, gs and gt 1 x n, p blocks x 2 x d (WS_TWO_ROWS).
 * Launch: one work-item per block and VEC columns.
 * Order: rows ascending within a block; sum_combine adds the blocks. */
__kernel void gat_backward_blocks(__global float *p, long po, __global const float *z, long zo, long zld,
                                  __global const float *gs, long gso, __global const float *gt, long gto, uint n,
                                  uint d, uint blocks, uint block_rows) {
    uint vecs = CEIL_DIV(d, VEC);
    ulong i = get_global_id(0), b = row_of(i, vecs);
    if (b >= blocks)
        return;
    uint j = VEC * (uint)(i - b * vecs);
    ulong end = min((ulong)n, (b + 1) * block_rows);
    float4 src = (float4)(0.0f), dst = src;
    for (ulong v = b * block_rows; v < end; v++) {
        float4 x = load4(z + zo + (long)v * zld, j, d);
        src = fma((float4)(gs[gso + (long)v]), x, src);
        dst = fma((float4)(gt[gto + (long)v]), x, dst);
    }
    store4(src, p + po + (long)WS_TWO_ROWS(b, d), j, d);
    store4(dst, p + po + (long)WS_TWO_ROWS(b, d) + d, j, d);
}
