/* pointwise.cl - element by element operations. One work-item takes elements 4i .. 4i+3
 * of the matrix counted row by row, because one Philox block masks four. */
#include "common.h"

/* Computes: y = value.   Shapes: y rows x cols.   Launch: one item per four elements. */
__kernel void fill(__global float *y, long yo, long yld, uint rows, uint cols, float value) {
    ulong total = (ulong)rows * cols, i = 4 * (ulong)get_global_id(0);
    if (i >= total)
        return;
    ulong r = row_of(i, cols);
    uint j = (uint)(i - r * cols);
    for (uint t = 0; t < 4 && i + t < total; t++) {
        y[yo + (long)r * yld + j] = value;
        if (++j == cols) {
            j = 0;
            r++;
        }
    }
}

/* Computes: y = a x + b z, or a x without z; a copy is a = 1.   Shapes: all rows x cols; y may be x or z.
 * Launch: one item per four elements. */
__kernel void axpby(__global float *y, long yo, long yld, __global const float *x, long xo, long xld,
                    __global const float *z, long zo, long zld, uint has_z, uint rows, uint cols, float a, float b) {
    ulong total = (ulong)rows * cols, i = 4 * (ulong)get_global_id(0);
    if (i >= total)
        return;
    ulong r = row_of(i, cols);
    uint j = (uint)(i - r * cols);
    for (uint t = 0; t < 4 && i + t < total; t++) {
        float v = a * x[xo + (long)r * xld + j];
        y[yo + (long)r * yld + j] = has_z ? v + b * z[zo + (long)r * zld + j] : v;
        if (++j == cols) {
            j = 0;
            r++;
        }
    }
}

/* Computes: y = act(x) = dropout(relu(x)).   Shapes: both rows x cols; y may be x.
 * Launch: one item per four elements. */
__kernel void activate(__global float *y, long yo, long yld, __global const float *x, long xo, long xld, uint rows,
                       uint cols, act_args act) {
    ulong total = (ulong)rows * cols, i = 4 * (ulong)get_global_id(0);
    if (i >= total)
        return;
    ulong r = row_of(i, cols);
    uint j = (uint)(i - r * cols);
    bits4 bits = act.drop ? drop_bits(act, i / 4) : no_bits();
    for (uint t = 0; t < 4 && i + t < total; t++) {
        y[yo + (long)r * yld + j] = act_of(x[xo + (long)r * xld + j], pick(bits, t), act);
        if (++j == cols) {
            j = 0;
            r++;
        }
    }
}

/* Computes: gx = (y > 0) gy scale, the backward of an activation with relu (without: `activate` itself).
 * Shapes: all rows x cols; gx may be gy.   Launch: one item per four elements. */
__kernel void activate_backward(__global float *gx, long gxo, long gxld, __global const float *gy, long gyo, long gyld,
                                __global const float *y, long yo, long yld, uint rows, uint cols, float scale) {
    ulong total = (ulong)rows * cols, i = 4 * (ulong)get_global_id(0);
    if (i >= total)
        return;
    ulong r = row_of(i, cols);
    uint j = (uint)(i - r * cols);
    for (uint t = 0; t < 4 && i + t < total; t++) {
        float g = gy[gyo + (long)r * gyld + j];
        gx[gxo + (long)r * gxld + j] = y[yo + (long)r * yld + j] > 0.0f ? g * scale : 0.0f;
        if (++j == cols) {
            j = 0;
            r++;
        }
    }
}

/* Computes: y = x + 1 b'.   Shapes: y and x rows x cols, b 1 x cols; y may be x.
 * Launch: one item per four elements. */
__kernel void bias_add(__global float *y, long yo, long yld, __global const float *x, long xo, long xld,
                       __global const float *b, long bo, uint rows, uint cols) {
    ulong total = (ulong)rows * cols, i = 4 * (ulong)get_global_id(0);
    if (i >= total)
        return;
    ulong r = row_of(i, cols);
    uint j = (uint)(i - r * cols);
    for (uint t = 0; t < 4 && i + t < total; t++) {
        y[yo + (long)r * yld + j] = x[xo + (long)r * xld + j] + b[bo + j];
        if (++j == cols) {
            j = 0;
            r++;
        }
    }
}

/* Computes: y_v = x_v / norm_v with norm ||x_v|| (by_sum 0) or sum_j x_vj (by_sum 1); norm 0 gives a row of 0.
 * Shapes: y and x rows x cols, norm 1 x rows; y may be x.   Launch: one item per row.   Order: columns rising. */
__kernel void row_normalise(__global float *y, long yo, long yld, __global float *norm, long no, uint has_norm,
                            __global const float *x, long xo, long xld, uint rows, uint cols, uint by_sum) {
    ulong v = get_global_id(0);
    if (v >= rows)
        return;
    __global const float *from = x + xo + (long)v * xld;
    __global float *to = y + yo + (long)v * yld;
    float sum = 0.0f;
    for (uint j = 0; j < cols; j++)
        sum += by_sum ? from[j] : from[j] * from[j];
    float length = by_sum ? sum : sqrt(sum);
    for (uint j = 0; j < cols; j++)
        to[j] = length == 0.0f ? 0.0f : from[j] / length;
    if (has_norm)
        norm[no + (long)v] = length;
}
