/* pointwise.cl - element by element operations. One work-item takes COLUMNS columns of a row; the host hands matrices
 * whose rows lie side by side as one long row. */
#include "common.h"

/* Computes: y = value.   Shapes: y rows x cols.   Launch: one item per row and COLUMNS columns. */
__kernel void fill(__global float *y, long yo, long yld, uint rows, uint cols, float value) {
    uint across = (cols + COLUMNS - 1) / COLUMNS;
    ulong i = get_global_id(0), r = row_of(i, across);
    if (r >= rows)
        return;
    store_wide((wide)(value), y + yo + (long)r * yld, COLUMNS * (uint)(i - r * across), cols);
}

/* Computes: y = a x + b z, or a x without z; a copy is a = 1.   Shapes: all rows x cols; y may be x or z.
 * Launch: one item per row and COLUMNS columns. */
__kernel void axpby(__global float *y, long yo, long yld, __global const float *x, long xo, long xld,
                    __global const float *z, long zo, long zld, uint has_z, uint rows, uint cols, float a, float b) {
    uint across = (cols + COLUMNS - 1) / COLUMNS;
    ulong i = get_global_id(0), r = row_of(i, across);
    if (r >= rows)
        return;
    uint j = COLUMNS * (uint)(i - r * across);
    wide v = a * load_wide(x + xo + (long)r * xld, j, cols);
    if (has_z)
        v += b * load_wide(z + zo + (long)r * zld, j, cols);
    store_wide(v, y + yo + (long)r * yld, j, cols);
}

/* Computes: y = act(x) = dropout(relu(x)).   Shapes: both rows x cols; y may be x.
 * Launch: one item per row and COLUMNS columns. */
__kernel void activate(__global float *y, long yo, long yld, __global const float *x, long xo, long xld, uint rows,
                       uint cols, act_args act) {
    uint across = (cols + COLUMNS - 1) / COLUMNS;
    ulong i = get_global_id(0), r = row_of(i, across);
    if (r >= rows)
        return;
    uint j = COLUMNS * (uint)(i - r * across);
    store_wide(act_wide(load_wide(x + xo + (long)r * xld, j, cols), r * cols + j, act), y + yo + (long)r * yld, j,
               cols);
}

/* Computes: gx = (y > 0) gy scale, the backward of an activation with relu (without: `activate` itself).
 * Shapes: all rows x cols; gx may be gy.   Launch: one item per row and COLUMNS columns. */
__kernel void activate_backward(__global float *gx, long gxo, long gxld, __global const float *gy, long gyo, long gyld,
                                __global const float *y, long yo, long yld, uint rows, uint cols, float scale) {
    uint across = (cols + COLUMNS - 1) / COLUMNS;
    ulong i = get_global_id(0), r = row_of(i, across);
    if (r >= rows)
        return;
    uint j = COLUMNS * (uint)(i - r * across);
    wide g = scale * load_wide(gy + gyo + (long)r * gyld, j, cols);
    g = select((wide)(0.0f), g, load_wide(y + yo + (long)r * yld, j, cols) > 0.0f);
    store_wide(g, gx + gxo + (long)r * gxld, j, cols);
}

/* Computes: y = x + 1 b'.   Shapes: y and x rows x cols, b 1 x cols; y may be x.
 * Launch: one item per row and COLUMNS columns. */
__kernel void bias_add(__global float *y, long yo, long yld, __global const float *x, long xo, long xld,
                       __global const float *b, long bo, uint rows, uint cols) {
    uint across = (cols + COLUMNS - 1) / COLUMNS;
    ulong i = get_global_id(0), r = row_of(i, across);
    if (r >= rows)
        return;
    uint j = COLUMNS * (uint)(i - r * across);
    store_wide(load_wide(x + xo + (long)r * xld, j, cols) + load_wide(b + bo, j, cols), y + yo + (long)r * yld, j,
               cols);
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
