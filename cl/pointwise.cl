/* pointwise.cl - elementwise operations. One work-item per VEC columns of a row; the launcher passes matrices with
 * contiguous rows as one long row. */
#include "common.h"

/* Computes: y = value.
 * Shapes: y rows x cols.
 * Launch: one work-item per row and VEC columns. */
__kernel void fill(__global float *y, long yo, long yld, uint rows, uint cols, float value) {
    uint vecs = CEIL_DIV(cols, VEC);
    ulong i = get_global_id(0), r = row_of(i, vecs);
    if (r >= rows)
        return;
    store4((float4)(value), y + yo + (long)r * yld, VEC * (uint)(i - r * vecs), cols);
}

/* Computes: y = a x + b z, or a x without z; a copy is a = 1.
 * Shapes: all rows x cols; y may be x or z.
 * Launch: one work-item per row and VEC columns. */
__kernel void axpby(__global float *y, long yo, long yld, __global const float *x, long xo, long xld,
                    __global const float *z, long zo, long zld, uint has_z, uint rows, uint cols, float a, float b) {
    uint vecs = CEIL_DIV(cols, VEC);
    ulong i = get_global_id(0), r = row_of(i, vecs);
    if (r >= rows)
        return;
    uint j = VEC * (uint)(i - r * vecs);
    float4 v = a * load4(x + xo + (long)r * xld, j, cols);
    if (has_z)
        v += b * load4(z + zo + (long)r * zld, j, cols);
    store4(v, y + yo + (long)r * yld, j, cols);
}

/* Computes: y = act(x) = dropout(relu(x)).
 * Shapes: both rows x cols; y may be x.
 * Launch: one work-item per row and VEC columns. */
__kernel void activate(__global float *y, long yo, long yld, __global const float *x, long xo, long xld, uint rows,
                       uint cols, act_args act) {
    uint vecs = CEIL_DIV(cols, VEC);
    ulong i = get_global_id(0), r = row_of(i, vecs);
    if (r >= rows)
        return;
    uint j = VEC * (uint)(i - r * vecs);
    store4(act4(load4(x + xo + (long)r * xld, j, cols), r * cols + j, act), y + yo + (long)r * yld, j, cols);
}

/* Computes: gx = (y > 0) gy scale, the backward of an activation with relu (without it: `activate` itself).
 * Shapes: all rows x cols; gx may be gy.
 * Launch: one work-item per row and VEC columns. */
__kernel void activate_backward(__global float *gx, long gxo, long gxld, __global const float *gy, long gyo, long gyld,
                                __global const float *y, long yo, long yld, uint rows, uint cols, float scale) {
    uint vecs = CEIL_DIV(cols, VEC);
    ulong i = get_global_id(0), r = row_of(i, vecs);
    if (r >= rows)
        return;
    uint j = VEC * (uint)(i - r * vecs);
    float4 g = scale * load4(gy + gyo + (long)r * gyld, j, cols);
    g = select((float4)(0.0f), g, load4(y + yo + (long)r * yld, j, cols) > 0.0f);
    store4(g, gx + gxo + (long)r * gxld, j, cols);
}

/* Computes: y = x + 1 b'.
 * Shapes: y and x rows x cols, b 1 x cols; y may be x.
 * Launch: one work-item per row and VEC columns. */
__kernel void bias_add(__global float *y, long yo, long yld, __global const float *x, long xo, long xld,
                       __global const float *b, long bo, uint rows, uint cols) {
    uint vecs = CEIL_DIV(cols, VEC);
    ulong i = get_global_id(0), r = row_of(i, vecs);
    if (r >= rows)
        return;
    uint j = VEC * (uint)(i - r * vecs);
    store4(load4(x + xo + (long)r * xld, j, cols) + load4(b + bo, j, cols), y + yo + (long)r * yld, j, cols);
}

/* Computes: y_v = x_v / norm_v, norm_v = ||x_v|| (by_sum 0) or sum_j x_vj (by_sum 1); a norm of 0 gives a row of 0.
 * Shapes: y and x rows x cols, norm 1 x rows; y may be x.
 * Launch: one work-item per row.
 * Order: columns ascending. */
__kernel void row_normalise(__global float *y, long yo, long yld, __global float *norm, long no, uint has_norm,
                            __global const float *x, long xo, long xld, uint rows, uint cols, uint by_sum) {
    ulong v = get_global_id(0);
    if (v >= rows)
        return;
    __global const float *in = x + xo + (long)v * xld;
    __global float *out = y + yo + (long)v * yld;
    float sum = 0.0f;
    for (uint j = 0; j < cols; j++)
        sum += by_sum ? in[j] : in[j] * in[j];
    float norm_v = by_sum ? sum : sqrt(sum);
    for (uint j = 0; j < cols; j++)
        out[j] = norm_v == 0.0f ? 0.0f : in[j] / norm_v;
    if (has_norm)
        norm[no + (long)v] = norm_v;
}
