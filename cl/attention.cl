/* attention.cl - one-head graph attention: scores, softmax over a node's entries, and their gradients. Row v of the
 * CSR holds v's neighbours u; the aggregation itself is spmm with alpha as values. */
#include "common.h"

/* Computes: s_v = z_v . a_src, t_v = z_v . a_dst.   Shapes: z n x d, a_* 1 x d, s and t 1 x n.
 * Launch: one item per node.   Order: every COLUMNS-th column rising, then these sums. */
__kernel void gat_scores(__global float *s, long so, __global float *t, long to, __global const float *z, long zo,
                         long zld, __global const float *a_src, long aso, __global const float *a_dst, long ado, uint n,
                         uint d) {
    ulong v = get_global_id(0);
    if (v >= n)
        return;
    __global const float *row = z + zo + (long)v * zld;
    wide src = (wide)(0.0f), dst = src;
    for (uint j = 0; j < d; j += COLUMNS) {
        wide x = load_wide(row, j, d);
        src = fma(x, load_wide(a_src + aso, j, d), src);
        dst = fma(x, load_wide(a_dst + ado, j, d), dst);
    }
    s[so + (long)v] = sum_wide(src);
    t[to + (long)v] = sum_wide(dst);
}

/* Computes: alpha[id] = softmax over row v of leakyrelu(s_u + t_v), the row's maximum subtracted.
 * Shapes: alpha 1 x nnz by entry id, s 1 x cols, t 1 x rows.   Launch: one item per row.   Memory: alpha holds the
 * scores first.   Order: entries rising. */
__kernel void gat_softmax(__global float *alpha, long ao, __global const long *ptr, long po, __global const int *idx,
                          long io, __global const int *eid, long eo, uint has_eid, __global const float *s, long so,
                          __global const float *t, long to, uint rows, float slope) {
    ulong v = get_global_id(0);
    if (v >= rows)
        return;
    long begin = ptr[po + (long)v], end = ptr[po + (long)v + 1];
    float here = t[to + (long)v], most = -INFINITY, sum = 0.0f;
    for (long e = begin; e < end; e++) {
        float score = leaky(s[so + idx[io + e]] + here, slope);
        alpha[ao + (has_eid ? eid[eo + e] : e)] = score;
        most = fmax(most, score);
    }
    for (long e = begin; e < end; e++) {
        long id = has_eid ? eid[eo + e] : e;
        float p = exp_one(alpha[ao + id] - most);
        alpha[ao + id] = p;
        sum += p;
    }
    float over = 1.0f / sum;
    for (long e = begin; e < end; e++)
        alpha[ao + (has_eid ? eid[eo + e] : e)] *= over;
}

/* Computes: q = mask <gy_v, z_u>, ge[id] = alpha (q - sum_w alpha_w q_w) leakyrelu'(s_u + t_v), gt_v = sum ge; mask is
 * `scale` where `kept`, the masked alpha, is not 0.
 * Shapes: ge, alpha and kept 1 x nnz by id, gt and t 1 x rows, s 1 x cols, gy rows x d, z cols x d.
 * Launch: one item per row.   Memory: ge holds q between the two passes.   Order: columns as above, then entries
 * rising. */
__kernel void gat_backward_edges(__global float *ge, long geo, __global float *gt, long gto, __global const long *ptr,
                                 long po, __global const int *idx, long io, __global const int *eid, long eo,
                                 uint has_eid, __global const float *alpha, long ao, __global const float *kept,
                                 long ko, uint has_kept, __global const float *s, long so, __global const float *t,
                                 long to, __global const float *gy, long gyo, long gyld, __global const float *z,
                                 long zo, long zld, uint rows, uint d, float scale, float slope) {
    ulong v = get_global_id(0);
    if (v >= rows)
        return;
    long begin = ptr[po + (long)v], end = ptr[po + (long)v + 1];
    __global const float *g = gy + gyo + (long)v * gyld;
    float here = t[to + (long)v], mean = 0.0f, sum = 0.0f;
    for (long e = begin; e < end; e++) {
        long id = has_eid ? eid[eo + e] : e;
        __global const float *row = z + zo + (long)idx[io + e] * zld;
        wide sums = (wide)(0.0f);
        for (uint j = 0; j < d; j += COLUMNS)
            sums = fma(load_wide(g, j, d), load_wide(row, j, d), sums);
        float q = sum_wide(sums);
        if (has_kept) /* no jump: half of them would be guessed wrong */
            q *= scale * (float)(kept[ko + id] != 0.0f);
        ge[geo + id] = q;
        mean += alpha[ao + id] * q;
    }
    for (long e = begin; e < end; e++) {
        long id = has_eid ? eid[eo + e] : e;
        float up = s[so + idx[io + e]] + here > 0.0f ? 1.0f : slope;
        float out = alpha[ao + id] * (ge[geo + id] - mean) * up;
        ge[geo + id] = out;
        sum += out;
    }
    gt[gto + (long)v] = sum;
}

/* Computes: gs_u = sum over row u of the transpose of ge[id].   Shapes: gs 1 x rows, ge 1 x nnz.
 * Launch: one item per row.   Order: entries rising. */
__kernel void gat_edge_sums(__global float *gs, long gso, __global const long *ptr, long po, __global const int *eid,
                            long eo, uint has_eid, __global const float *ge, long geo, uint rows) {
    ulong u = get_global_id(0);
    if (u >= rows)
        return;
    float sum = 0.0f;
    long end = ptr[po + (long)u + 1];
    for (long e = ptr[po + (long)u]; e < end; e++)
        sum += ge[geo + (has_eid ? eid[eo + e] : e)];
    gs[gso + (long)u] = sum;
}

/* Computes: gz_v += gs_v a_src + gt_v a_dst.   Shapes: gz n x d, gs and gt 1 x n, a_* 1 x d.
 * Launch: one item per node and COLUMNS columns. */
__kernel void gat_backward_rows(__global float *gz, long gzo, long gzld, __global const float *a_src, long aso,
                                __global const float *a_dst, long ado, __global const float *gs, long gso,
                                __global const float *gt, long gto, uint n, uint d) {
    uint across = (d + COLUMNS - 1) / COLUMNS;
    ulong i = get_global_id(0), v = row_of(i, across);
    if (v >= n)
        return;
    uint j = COLUMNS * (uint)(i - v * across);
    __global float *row = gz + gzo + (long)v * gzld;
    wide sum = load_wide(row, j, d) + gs[gso + (long)v] * load_wide(a_src + aso, j, d) +
               gt[gto + (long)v] * load_wide(a_dst + ado, j, d);
    store_wide(sum, row, j, d);
}

/* Computes: per block of rows, p[b][0][j] = sum_v gs_v z_vj and p[b][1][j] = sum_v gt_v z_vj.
 * Shapes: z n x d, gs and gt 1 x n, p blocks x 2 x d.   Launch: one item per block and COLUMNS columns.
 * Order: rows rising inside a block; sum_combine adds the blocks. */
__kernel void gat_backward_blocks(__global float *p, long po, __global const float *z, long zo, long zld,
                                  __global const float *gs, long gso, __global const float *gt, long gto, uint n,
                                  uint d, uint blocks, uint per) {
    uint across = (d + COLUMNS - 1) / COLUMNS;
    ulong i = get_global_id(0), b = row_of(i, across);
    if (b >= blocks)
        return;
    uint j = COLUMNS * (uint)(i - b * across);
    ulong end = min((ulong)n, (b + 1) * per);
    wide src = (wide)(0.0f), dst = src;
    for (ulong v = b * per; v < end; v++) {
        wide x = load_wide(z + zo + (long)v * zld, j, d);
        src = fma((wide)(gs[gso + (long)v]), x, src);
        dst = fma((wide)(gt[gto + (long)v]), x, dst);
    }
    store_wide(src, p + po + (long)(2 * b * d), j, d);
    store_wide(dst, p + po + (long)(2 * b * d) + d, j, d);
}
