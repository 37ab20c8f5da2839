/* pointwise.cl - elementwise operations. One work-item per VEC columns of a row; the launcher passes matrices with
 * contiguous rows as one long row. */
#include "common.h"

/* Row and first column of this work-item in a matrix of `cols` columns. */
HELPER uint item_row(uint cols) { return (uint)get_global_id(0) / CEIL_DIV(cols, VEC); }
HELPER uint item_column(uint cols) { return VEC * ((uint)get_global_id(0) % CEIL_DIV(cols, VEC)); }

/* Computes: y = value.
 * Shapes: y rows x cols.
 * Launch: one work-item per row and VEC columns. */
__kernel void fill(__global float *y, fill_args a) {
    uint r = item_row(a.cols), j = item_column(a.cols);
    if (r < a.rows)
        store_at((float4)(a.value), y, &a.y, r, j, a.cols);
}

/* Computes: y = a x + b z, or a x without z; a copy is a = 1.
 * Shapes: all rows x cols; y may be x or z.
 * Launch: one work-item per row and VEC columns. */
__kernel void axpby(__global float *y, __global const float *x, __global const float *z, axpby_args a) {
    uint r = item_row(a.cols), j = item_column(a.cols);
    if (r >= a.rows)
        return;
    float4 v = a.a * load_at(x, &a.x, r, j, a.cols);
    if (a.has_z)
        v += a.b * load_at(z, &a.z, r, j, a.cols);
    store_at(v, y, &a.y, r, j, a.cols);
}

/* Computes: y = act(x) = dropout(relu(x)).
 * Shapes: both rows x cols; y may be x.
 * Launch: one work-item per row and VEC columns. */
__kernel void activate(__global float *y, __global const float *x, activate_args a) {
    uint r = item_row(a.cols), j = item_column(a.cols);
    if (r >= a.rows)
        return;
    float4 v = load_at(x, &a.x, r, j, a.cols);
    store_at(act4(v, (ulong)r * a.cols + j, a.act), y, &a.y, r, j, a.cols);
}

/* Computes: gx = (y > 0) gy scale, the backward of an activation with relu (without it: `activate` itself).
 * Shapes: all rows x cols; gx may be gy.
 * Launch: one work-item per row and VEC columns. */
__kernel void activate_backward(__global float *gx, __global const float *gy, __global const float *y,
                                activate_backward_args a) {
    uint r = item_row(a.cols), j = item_column(a.cols);
    if (r >= a.rows)
        return;
    float4 g = a.scale * load_at(gy, &a.gy, r, j, a.cols);
    g = select((float4)(0.0f), g, load_at(y, &a.y, r, j, a.cols) > 0.0f);
    store_at(g, gx, &a.gx, r, j, a.cols);
}

/* Computes: y = x + 1 b'.
 * Shapes: y and x rows x cols, b 1 x cols; y may be x.
 * Launch: one work-item per row and VEC columns. */
__kernel void bias_add(__global float *y, __global const float *x, __global const float *b, bias_add_args a) {
    uint r = item_row(a.cols), j = item_column(a.cols);
    if (r >= a.rows)
        return;
    float4 v = load_at(x, &a.x, r, j, a.cols) + load4(b + a.b.off, j, a.cols);
    store_at(v, y, &a.y, r, j, a.cols);
}

/* Computes: y_v = x_v / norm_v, norm_v = ||x_v|| (by_sum 0) or sum_j x_vj (by_sum 1); a norm of 0 gives a row of 0.
 * Shapes: y and x rows x cols, norm 1 x rows; y may be x.
 * Launch: one work-item per row.
 * Order: columns ascending. */
__kernel void row_normalise(__global float *y, __global float *norm, __global const float *x, row_normalise_args a) {
    uint v = (uint)get_global_id(0);
    if (v >= a.rows)
        return;
    __global const float *in = x + a.x.off + v * a.x.ld;
    __global float *out = y + a.y.off + v * a.y.ld;
    float sum = 0.0f;
    for (uint j = 0; j < a.cols; j++)
        sum += a.by_sum ? in[j] : in[j] * in[j];
    float norm_v = a.by_sum ? sum : sqrt(sum);
    for (uint j = 0; j < a.cols; j++)
        out[j] = norm_v == 0.0f ? 0.0f : in[j] / norm_v;
    if (a.has_norm)
        norm[a.norm.off + v] = norm_v;
}
