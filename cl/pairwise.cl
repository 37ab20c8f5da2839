/* pairwise.cl - folds over pairs of rows for the metrics. The n x n matrix never exists: an item owns one row (and
 * class), reads all others, and its neighbours in the work-group read the same ones at the same time. */
#include "common.h"

#define FOLD_EUCLID 0
#define FOLD_SQUARED 1

/* ||a - b||^2 of two rows of d. Order: four sums over every fourth column, then the rest. */
HELPER float apart(__global const float *a, __global const float *b, uint d) {
    float4 sums = (float4)(0.0f);
    uint t = 0;
    for (; t + 4 <= d; t += 4) {
        float4 away = vload4(0, a + t) - vload4(0, b + t);
        sums += away * away;
    }
    float sum = sums.x + sums.y + (sums.z + sums.w);
    for (; t < d; t++) {
        float away = a[t] - b[t];
        sum += away * away;
    }
    return sum;
}

/* Four rows i .. i + 3 of a result at once; those past the end are rows - 1 again and are not stored. */
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
 * Shapes: out rows x C, x n x d, labels n.   Launch: dimension 0 one item per four rows, dimension 1 one per class.
 * Order: j rising, in runs of 64. */
__kernel void pair_fold(__global float *out, long oo, long old, __global const float *x, long xo, long xld,
                        __global const int *labels, long lo, uint rows, uint n, uint d, uint kind, float scale,
                        ulong first) {
    ulong i = 4 * (ulong)get_global_id(0), last = rows - 1;
    uint c = (uint)get_global_id(1);
    if (i > last)
        return;
    __global const float *x0 = x + xo + (long)(first + i) * xld, *x1 = x + xo + (long)(first + min(i + 1, last)) * xld,
                         *x2 = x + xo + (long)(first + min(i + 2, last)) * xld,
                         *x3 = x + xo + (long)(first + min(i + 3, last)) * xld;
    float4 sum = (float4)(0.0f);
    for (ulong start = 0; start < n; start += 64) {
        ulong stop = min((ulong)n, start + 64);
        float4 run = (float4)(0.0f);
        for (ulong j = start; j < stop; j++) {
            if (labels[lo + (long)j] != (int)c)
                continue;
            __global const float *other = x + xo + (long)j * xld;
            float4 square =
                (float4)(apart(x0, other, d), apart(x1, other, d), apart(x2, other, d), apart(x3, other, d));
            run += kind == FOLD_EUCLID ? sqrt(square) : kind == FOLD_SQUARED ? square : exp(-scale * square);
        }
        sum += run;
    }
    store_rows(sum, out + oo + c, old, i, rows);
}

/* Computes: dots[j][i] = <x_{first+i}, x_j> for all n rows j, through the transpose; dots was filled with 0.
 * Shapes: a n x F by rows, at its transpose with entry ids, dots n x tile.   Launch: one item per row of the tile.
 * Memory: an item owns its column of dots.   Order: features of the row rising. */
__kernel void sparse_dots(__global float *dots, long dao, __global const long *ptr, long po, __global const int *idx,
                          long io, __global const int *eid, long eo, uint has_eid, __global const long *tptr, long tpo,
                          __global const int *tidx, long tio, __global const int *teid, long teo, uint has_teid,
                          __global const float *val, long vo, uint tile, ulong first) {
    ulong i = get_global_id(0);
    if (i >= tile)
        return;
    __global float *mine = dots + dao + (long)i;
    long end = ptr[po + (long)(first + i) + 1];
    for (long e = ptr[po + (long)(first + i)]; e < end; e++) {
        int feature = idx[io + e];
        float w = val[vo + (has_eid ? eid[eo + e] : e)];
        long stop = tptr[tpo + feature + 1];
        for (long t = tptr[tpo + feature]; t < stop; t++)
            mine[(long)tidx[tio + t] * tile] += w * val[vo + (has_teid ? teid[teo + t] : t)];
    }
}

/* Computes: out_ic = sum over j with label_j = c of exp(-scale max(0, sq_i + sq_j - 2 dots[j][i])).
 * Shapes: out tile x C, dots n x tile, sq 1 x n, labels n.   Launch: dimension 0 one item per four rows of the tile,
 * dimension 1 one per class.   Order: j rising, in runs of 64. */
__kernel void sparse_fold(__global float *out, long oo, long old, __global const float *dots, long dao,
                          __global const float *sq, long so, __global const int *labels, long lo, uint tile, uint n,
                          float scale, ulong first) {
    ulong i = 4 * (ulong)get_global_id(0);
    uint c = (uint)get_global_id(1);
    if (i >= tile)
        return;
    float4 mine = load4(sq + so + (long)first, (uint)i, tile), sum = (float4)(0.0f);
    for (ulong start = 0; start < n; start += 64) {
        ulong stop = min((ulong)n, start + 64);
        float4 run = (float4)(0.0f);
        for (ulong j = start; j < stop; j++) {
            if (labels[lo + (long)j] != (int)c)
                continue;
            float4 square = mine + sq[so + (long)j] - 2.0f * load4(dots + dao + (long)(j * tile), (uint)i, tile);
            run += exp(-scale * fmax(0.0f, square));
        }
        sum += run;
    }
    store_rows(sum, out + oo + c, old, i, tile);
}

/* Computes: sum_i = sum_j D_ij and count_i = their number over D_ij > 1e-12, D_ij = ||x_i - x_j||^2 / 2, 0 when either
 * norm is 0.   Shapes: x n x d unit or zero rows, norm 1 x n, sum 1 x rows, count rows.   Launch: one item per row.
 * Order: j rising, in runs of 64. */
__kernel void mad_fold(__global float *sums, long so, __global int *counts, long co, __global const float *x, long xo,
                       long xld, __global const float *norm, long no, uint rows, uint n, uint d, ulong first) {
    ulong i = get_global_id(0);
    if (i >= rows)
        return;
    __global const float *mine = x + xo + (long)(first + i) * xld;
    float sum = 0.0f;
    int count = 0;
    bool alive = norm[no + (long)(first + i)] != 0.0f;
    for (ulong start = 0; start < n; start += 64) {
        ulong stop = min((ulong)n, start + 64);
        float run = 0.0f;
        for (ulong j = start; j < stop; j++) {
            float half_square = 0.5f * apart(mine, x + xo + (long)j * xld, d);
            bool counted = alive && norm[no + (long)j] != 0.0f && half_square > 1e-12f;
            run += counted ? half_square : 0.0f;
            count += counted;
        }
        sum += run;
    }
    sums[so + (long)i] = sum;
    counts[co + (long)i] = count;
}

/* Computes: e_v = sum over u in row v of ||w_v x_v - w_u x_u||^2.   Shapes: e and w 1 x n, x n x d.
 * Launch: one item per row.   Order: columns, then entries rising. A product is rounded before it is subtracted, so
 * that equal rows are at 0 and an edge counts the same from both ends. */
__kernel void dirichlet(__global float *e, long eo, __global const long *ptr, long po, __global const int *idx, long io,
                        __global const float *x, long xo, long xld, __global const float *w, long wo, uint has_w,
                        uint rows, uint d) {
#pragma OPENCL FP_CONTRACT OFF
    ulong v = get_global_id(0);
    if (v >= rows)
        return;
    __global const float *mine = x + xo + (long)v * xld;
    float wv = has_w ? w[wo + (long)v] : 1.0f, sum = 0.0f;
    long end = ptr[po + (long)v + 1];
    for (long t = ptr[po + (long)v]; t < end; t++) {
        long u = idx[io + t];
        __global const float *other = x + xo + u * xld;
        float wu = has_w ? w[wo + u] : 1.0f, square = 0.0f;
        for (uint j = 0; j < d; j++) {
            float away = wv * mine[j] - wu * other[j];
            square += away * away;
        }
        sum += square;
    }
    e[eo + (long)v] = sum;
}
