/* pairwise.cl - folds over pairs of rows for the metrics. The n x n matrix is never stored: a work-item owns FOLD_ROWS
 * rows (and a class) and loops over all others; its neighbours in the work-group read the same rows at the same time.
 */
#include "common.h"

/* ||a - b||^2 of two rows of d.
 * Order: four sums over every fourth column, then the remaining columns. */
HELPER float dist2(__global const float *a, __global const float *b, uint d) {
    float4 sums = (float4)(0.0f);
    uint t = 0;
    for (; t + 4 <= d; t += 4) {
        float4 diff = vload4(0, a + t) - vload4(0, b + t);
        sums += diff * diff;
    }
    float sum = sums.x + sums.y + (sums.z + sums.w);
    for (; t < d; t++) {
        float diff = a[t] - b[t];
        sum += diff * diff;
    }
    return sum;
}

/* Stores one column of rows i .. i + 3 of a result; those past the end repeat the last row and are skipped. */
HELPER void store_rows(float4 v, __global float *out, long ld, ulong i, uint rows) {
    out[(long)i * ld] = v.x;
    if (i + 1 < rows)
        out[(long)(i + 1) * ld] = v.y;
    if (i + 2 < rows)
        out[(long)(i + 2) * ld] = v.z;
    if (i + 3 < rows)
        out[(long)(i + 3) * ld] = v.w;
}

/* Computes: out_ic = sum over j with label_j = c of f(||x_{first+i} - x_j||^2), f = sqrt, identity or exp(-scale .).
 * Shapes: out rows x C, x n x d, labels n.
 * Launch: dimension 0 one work-item per FOLD_ROWS rows, dimension 1 one per class.
 * Order: j ascending in runs of RUN_ROWS. */
__kernel void pair_fold(__global float *out, long oo, long old, __global const float *x, long xo, long xld,
                        __global const int *labels, long lo, uint rows, uint n, uint d, uint kind, float scale,
                        ulong first) {
    ulong i = FOLD_ROWS * (ulong)get_global_id(0), last = rows - 1;
    uint c = (uint)get_global_id(1);
    if (i > last)
        return;
    __global const float *x0 = x + xo + (long)(first + i) * xld, *x1 = x + xo + (long)(first + min(i + 1, last)) * xld,
                         *x2 = x + xo + (long)(first + min(i + 2, last)) * xld,
                         *x3 = x + xo + (long)(first + min(i + 3, last)) * xld;
    float4 sum = (float4)(0.0f);
    for (ulong start = 0; start < n; start += RUN_ROWS) {
        ulong stop = min((ulong)n, start + RUN_ROWS);
        float4 part = (float4)(0.0f);
        for (ulong j = start; j < stop; j++) {
            if (labels[lo + (long)j] != (int)c)
                continue;
            __global const float *other = x + xo + (long)j * xld;
            float4 square =
                (float4)(dist2(x0, other, d), dist2(x1, other, d), dist2(x2, other, d), dist2(x3, other, d));
            part += kind == FOLD_EUCLID ? sqrt(square) : kind == FOLD_SQUARED ? square : exp(-scale * square);
        }
        sum += part;
    }
    store_rows(sum, out + oo + c, old, i, rows);
}

/* Computes: dots[j][i] += <x_{first+i}, x_j> for all n rows j, through the transpose; the launcher fills dots with 0.
 * Shapes: x n x F in CSR, its transpose with eids, dots n x tile.
 * Launch: one work-item per row of the tile.
 * Memory: a work-item owns its column of dots.
 * Order: features of the row ascending. */
__kernel void sparse_dots(__global float *dots, long dao, __global const long *indptr, long po,
                          __global const int *indices, long io, __global const int *eids, long eo, uint has_eids,
                          __global const long *t_indptr, long tpo, __global const int *t_indices, long tio,
                          __global const int *t_eids, long teo, uint has_t_eids, __global const float *val, long vo,
                          uint tile, ulong first) {
    ulong i = get_global_id(0);
    if (i >= tile)
        return;
    __global float *dots_i = dots + dao + (long)i;
    long end = indptr[po + (long)(first + i) + 1];
    for (long e = indptr[po + (long)(first + i)]; e < end; e++) {
        int feature = indices[io + e];
        float w = val[vo + (has_eids ? eids[eo + e] : e)];
        long stop = t_indptr[tpo + feature + 1];
        for (long t = t_indptr[tpo + feature]; t < stop; t++)
            dots_i[(long)t_indices[tio + t] * tile] += w * val[vo + (has_t_eids ? t_eids[teo + t] : t)];
    }
}

/* Computes: out_ic = sum over j with label_j = c of exp(-scale max(0, sq_i + sq_j - 2 dots[j][i])).
 * Shapes: out tile x C, dots n x tile, sq 1 x n, labels n.
 * Launch: dimension 0 one work-item per FOLD_ROWS rows of the tile, dimension 1 one per class.
 * Order: j ascending in runs of RUN_ROWS. */
__kernel void sparse_fold(__global float *out, long oo, long old, __global const float *dots, long dao,
                          __global const float *sq, long so, __global const int *labels, long lo, uint tile, uint n,
                          float scale, ulong first) {
    ulong i = FOLD_ROWS * (ulong)get_global_id(0);
    uint c = (uint)get_global_id(1);
    if (i >= tile)
        return;
    float4 sq_i = load4(sq + so + (long)first, (uint)i, tile), sum = (float4)(0.0f);
    for (ulong start = 0; start < n; start += RUN_ROWS) {
        ulong stop = min((ulong)n, start + RUN_ROWS);
        float4 part = (float4)(0.0f);
        for (ulong j = start; j < stop; j++) {
            if (labels[lo + (long)j] != (int)c)
                continue;
            float4 square = sq_i + sq[so + (long)j] - 2.0f * load4(dots + dao + (long)(j * tile), (uint)i, tile);
            part += exp(-scale * fmax(0.0f, square));
        }
        sum += part;
    }
    store_rows(sum, out + oo + c, old, i, tile);
}

/* Computes: sum_i = sum_j D_ij and count_i = number of j over D_ij > 1e-12, D_ij = ||x_i - x_j||^2 / 2, 0 if either
 * norm is 0.
 * Shapes: x n x d with unit or zero rows, norm 1 x n, sum 1 x rows, count rows.
 * Launch: one work-item per row.
 * Order: j ascending in runs of RUN_ROWS. */
__kernel void mad_fold(__global float *sums, long so, __global int *counts, long co, __global const float *x, long xo,
                       long xld, __global const float *norm, long no, uint rows, uint n, uint d, ulong first) {
    ulong i = get_global_id(0);
    if (i >= rows)
        return;
    __global const float *x_i = x + xo + (long)(first + i) * xld;
    float sum = 0.0f;
    int count = 0;
    bool nonzero = norm[no + (long)(first + i)] != 0.0f;
    for (ulong start = 0; start < n; start += RUN_ROWS) {
        ulong stop = min((ulong)n, start + RUN_ROWS);
        float part = 0.0f;
        for (ulong j = start; j < stop; j++) {
            float half_square = 0.5f * dist2(x_i, x + xo + (long)j * xld, d);
            bool counted = nonzero && norm[no + (long)j] != 0.0f && half_square > 1e-12f;
            part += counted ? half_square : 0.0f;
            count += counted;
        }
        sum += part;
    }
    sums[so + (long)i] = sum;
    counts[co + (long)i] = count;
}

/* Computes: e_v = sum over u in row v of ||w_v x_v - w_u x_u||^2. Products are rounded before the subtraction (no
 * fma), so that equal rows give 0 and an edge contributes the same from both ends.
 * Shapes: e and w 1 x n, x n x d.
 * Launch: one work-item per row.
 * Order: columns, then entries ascending. */
__kernel void dirichlet(__global float *e, long eo, __global const long *indptr, long po, __global const int *indices,
                        long io, __global const float *x, long xo, long xld, __global const float *w, long wo,
                        uint has_w, uint rows, uint d) {
#pragma OPENCL FP_CONTRACT OFF
    ulong v = get_global_id(0);
    if (v >= rows)
        return;
    __global const float *x_v = x + xo + (long)v * xld;
    float w_v = has_w ? w[wo + (long)v] : 1.0f, sum = 0.0f;
    long end = indptr[po + (long)v + 1];
    for (long t = indptr[po + (long)v]; t < end; t++) {
        long u = indices[io + t];
        __global const float *x_u = x + xo + u * xld;
        float w_u = has_w ? w[wo + u] : 1.0f, square = 0.0f;
        for (uint j = 0; j < d; j++) {
            float diff = w_v * x_v[j] - w_u * x_u[j];
            square += diff * diff;
        }
        sum += square;
    }
    e[eo + (long)v] = sum;
}
