/* pairwise.cl - folds over pairs of rows for the metrics. The n x n matrix is never stored: a work-item owns FOLD_ROWS
 * rows (and a class) and loops over all others; its neighbours in the work-group read the same rows at the same time.
 */
#include "common.h"

HELPER float square4(float4 v) { return sum4(v * v); }

/* ||x_i - b||^2 of rows i0 .. i3 of x and row b, each of d columns; b is loaded once for all four.
 * Order: four columns, then ascending. */
HELPER float4 dist2(__global const float *x, mat_args m, uint4 rows, uint b, uint d) {
    __global const float *x0 = x + m.off + rows.x * m.ld, *x1 = x + m.off + rows.y * m.ld;
    __global const float *x2 = x + m.off + rows.z * m.ld, *x3 = x + m.off + rows.w * m.ld;
    __global const float *other = x + m.off + b * m.ld;
    float4 sum = (float4)(0.0f);
    for (uint j = 0; j < d; j += VEC) {
        float4 y = load_row4(other, j, d, m.aligned);
        sum += (float4)(square4(load_row4(x0, j, d, m.aligned) - y), square4(load_row4(x1, j, d, m.aligned) - y),
                        square4(load_row4(x2, j, d, m.aligned) - y), square4(load_row4(x3, j, d, m.aligned) - y));
    }
    return sum;
}

/* i .. i + 3; those past `last` repeat it. */
HELPER uint4 four_rows(uint i, uint last) { return (uint4)(i, min(i + 1, last), min(i + 2, last), min(i + 3, last)); }

/* Stores one column of rows i .. i + 3 of a result, at `out`; those past the end are skipped. */
HELPER void store_rows(float4 v, __global float *out, uint ld, uint i, uint rows) {
    out[i * ld] = v.x;
    if (i + 1 < rows)
        out[(i + 1) * ld] = v.y;
    if (i + 2 < rows)
        out[(i + 2) * ld] = v.z;
    if (i + 3 < rows)
        out[(i + 3) * ld] = v.w;
}

/* Computes: out_ic = sum over j with label_j = c of f(||x_{first+i} - x_j||^2), f = sqrt, identity or exp(-scale .).
 * Shapes: out rows x C, x n x d, labels n.
 * Launch: dimension 0 one work-item per FOLD_ROWS rows, dimension 1 one per class.
 * Order: j ascending in runs of RUN_ROWS. */
__kernel void pair_fold(__global float *out, __global const float *x, __global const int *labels, pair_fold_args a) {
    uint i = FOLD_ROWS * (uint)get_global_id(0), c = (uint)get_global_id(1);
    if (i >= a.rows)
        return;
    uint4 own = four_rows(a.first + i, a.first + a.rows - 1);
    float4 sum = (float4)(0.0f);
    for (uint start = 0; start < a.n; start += RUN_ROWS) {
        uint stop = min(a.n, start + RUN_ROWS);
        float4 part = (float4)(0.0f);
        for (uint j = start; j < stop; j++) {
            if (labels[a.labels + j] != (int)c)
                continue;
            float4 square = dist2(x, a.x, own, j, a.d);
            part += a.kind == FOLD_EUCLID ? sqrt(square) : a.kind == FOLD_SQUARED ? square : exp(-a.scale * square);
        }
        sum += part;
    }
    store_rows(sum, out + a.out.off + c, a.out.ld, i, a.rows);
}

/* Computes: dots[j][i] += <x_{first+i}, x_j> for all n rows j, through the transpose; the launcher fills dots with 0.
 * Shapes: x n x F in CSR, its transpose with eids, dots n x tile.
 * Launch: one work-item per row of the tile.
 * Memory: a work-item owns its column of dots.
 * Order: features of the row ascending. */
__kernel void sparse_dots(__global float *dots, __global const long *indptr, __global const int *indices,
                          __global const int *eids, __global const long *t_indptr, __global const int *t_indices,
                          __global const int *t_eids, __global const float *val, sparse_dots_args a) {
    uint i = (uint)get_global_id(0);
    if (i >= a.tile)
        return;
    indptr += a.indptr + a.first + i;
    val += a.val.off;
    for (uint e = (uint)indptr[0], end = (uint)indptr[1]; e < end; e++) {
        uint feature = (uint)indices[a.indices + e];
        float w = val[a.has_eids ? (uint)eids[a.eids + e] : e];
        uint stop = (uint)t_indptr[a.t_indptr + feature + 1];
        for (uint t = (uint)t_indptr[a.t_indptr + feature]; t < stop; t++)
            dots[(uint)t_indices[a.t_indices + t] * a.tile + i] +=
                w * val[a.has_t_eids ? (uint)t_eids[a.t_eids + t] : t];
    }
}

/* Computes: out_ic = sum over j with label_j = c of exp(-scale max(0, sq_i + sq_j - 2 dots[j][i])).
 * Shapes: out tile x C, dots n x tile, sq 1 x n, labels n.
 * Launch: dimension 0 one work-item per FOLD_ROWS rows of the tile, dimension 1 one per class.
 * Order: j ascending in runs of RUN_ROWS. */
__kernel void sparse_fold(__global float *out, __global const float *dots, __global const float *sq,
                          __global const int *labels, sparse_fold_args a) {
    uint i = FOLD_ROWS * (uint)get_global_id(0), c = (uint)get_global_id(1);
    if (i >= a.tile)
        return;
    sq += a.sq.off;
    float4 sq_i = load4(sq + a.first, i, a.tile), sum = (float4)(0.0f);
    for (uint start = 0; start < a.n; start += RUN_ROWS) {
        uint stop = min(a.n, start + RUN_ROWS);
        float4 part = (float4)(0.0f);
        for (uint j = start; j < stop; j++) {
            if (labels[a.labels + j] != (int)c)
                continue;
            float4 square = sq_i + sq[j] - 2.0f * load_row4(dots + j * a.tile, i, a.tile, a.tile % VEC == 0);
            part += exp(-a.scale * fmax(0.0f, square));
        }
        sum += part;
    }
    store_rows(sum, out + a.out.off + c, a.out.ld, i, a.tile);
}

/* Computes: sum_i = sum_j D_ij and count_i = number of j over D_ij > 1e-12, D_ij = ||x_i - x_j||^2 / 2, 0 if either
 * norm is 0.
 * Shapes: x n x d with unit or zero rows, norm 1 x n, sum 1 x rows, count rows.
 * Launch: one work-item per row.
 * Order: four sums over every fourth j, ascending in runs of RUN_ROWS; then these. */
__kernel void mad_fold(__global float *sums, __global int *counts, __global const float *x, __global const float *norm,
                       mad_fold_args a) {
    uint i = (uint)get_global_id(0), last = a.n - 1;
    if (i >= a.rows)
        return;
    norm += a.norm.off;
    bool nonzero = norm[a.first + i] != 0.0f;
    float4 sum = (float4)(0.0f);
    int4 count = (int4)(0);
    for (uint start = 0; start < a.n; start += RUN_ROWS) {
        uint stop = min(a.n, start + RUN_ROWS);
        float4 part = (float4)(0.0f);
        for (uint j = start; j < stop; j += FOLD_ROWS) {
            uint4 four = four_rows(j, last);
            float4 half_square = 0.5f * dist2(x, a.x, four, a.first + i, a.d);
            float4 length = load4(norm, j, a.n);                                                 /* 0 past the end */
            int4 counted = (half_square > 1e-12f) & (length != 0.0f) & (int4)(nonzero ? -1 : 0); /* -1 where true */
            part += select((float4)(0.0f), half_square, counted);
            count -= counted;
        }
        sum += part;
    }
    sums[a.sum.off + i] = sum4(sum);
    counts[a.count + i] = count.x + count.y + (count.z + count.w);
}

/* Computes: e_v = sum over u in row v of ||w_v x_v - w_u x_u||^2. Products are rounded before the subtraction (no
 * fma), so that equal rows give 0 and an edge contributes the same from both ends.
 * Shapes: e and w 1 x n, x n x d.
 * Launch: one work-item per row.
 * Order: four columns, then ascending, then entries ascending. */
__kernel void dirichlet(__global float *e, __global const long *indptr, __global const int *indices,
                        __global const float *x, __global const float *w, dirichlet_args a) {
#pragma OPENCL FP_CONTRACT OFF
    uint v = (uint)get_global_id(0);
    if (v >= a.rows)
        return;
    __global const float *x_v = x + a.x.off + v * a.x.ld;
    float w_v = a.has_w ? w[a.w.off + v] : 1.0f, sum = 0.0f;
    uint end = (uint)indptr[a.indptr + v + 1];
    for (uint t = (uint)indptr[a.indptr + v]; t < end; t++) {
        uint u = (uint)indices[a.indices + t];
        __global const float *x_u = x + a.x.off + u * a.x.ld;
        float w_u = a.has_w ? w[a.w.off + u] : 1.0f, square = 0.0f;
        for (uint j = 0; j < a.d; j += VEC) {
            float4 diff = w_v * load_row4(x_v, j, a.d, a.x.aligned) - w_u * load_row4(x_u, j, a.d, a.x.aligned);
            square += square4(diff);
        }
        sum += square;
    }
    e[a.e.off + v] = sum;
}
