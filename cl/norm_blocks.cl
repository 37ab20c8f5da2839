/* norm_blocks.cl - sums and statistics over rows in two stages: blocks of rows give partial results in scratch, and
 * these kernels combine them in block order. Used by every normalisation and by column sums. */
#include "common.h"

/* Computes: p[b][j] = sum of x_vj over the rows of block b.   Shapes: x n x d, p blocks x d.
 * Launch: one item per block and COLUMNS columns.   Order: rows rising, in runs of 64. */
__kernel void sum_blocks(__global float *p, long po, __global const float *x, long xo, long xld, uint n, uint d,
                         uint blocks, uint per) {
    uint across = (d + COLUMNS - 1) / COLUMNS;
    ulong i = get_global_id(0), b = row_of(i, across);
    if (b >= blocks)
        return;
    uint j = COLUMNS * (uint)(i - b * across);
    ulong end = min((ulong)n, (b + 1) * per);
    wide sum = (wide)(0.0f);
    for (ulong v = b * per; v < end; v += 64) {
        ulong stop = min(end, v + 64);
        wide run = (wide)(0.0f);
        for (ulong w = v; w < stop; w++)
            run += load_wide(x + xo + (long)w * xld, j, d);
        sum += run;
    }
    store_wide(sum, p + po + (long)(b * d), j, d);
}

/* Computes: out_i = sum_b p[b][i], also_i = sum_b p[b][len + i], added to what they held when `add`.
 * Shapes: out and also 1 x len, p blocks x stride.   Launch: one item per COLUMNS entries; two layers for both, one for
 * `out` alone.   Order: blocks rising. */
__kernel void sum_combine(__global float *out, long oo, __global float *also, long ao, __global const float *p, long po,
                          long stride, uint len, uint blocks, uint add) {
    ulong i = COLUMNS * (ulong)get_global_id(0);
    if (i >= len)
        return;
    uint j = (uint)i;
    if (get_global_id(1)) {
        out = also;
        oo = ao;
        po += len;
    }
    wide sum = (wide)(0.0f);
    for (uint b = 0; b < blocks; b++)
        sum += load_wide(p + po + (long)b * stride, j, len);
    if (add)
        sum += load_wide(out + oo, j, len);
    store_wide(sum, out + oo, j, len);
}

/* Computes: mean_i = sum_b n_b m_b / n and var_i = (sum_b M_b + n_b (m_b - mean)^2) / n from each block's mean m_b and
 * centred sum M_b, in STATS_UNIT and its square; running estimates r = (1 - momentum) r + momentum now, the variance by n - 1.
 * Shapes: mean, var, rmean, rvar 1 x width, p blocks x 2 x width.   Launch: one item per COLUMNS entries.
 * Order: blocks rising. */
__kernel void stats_combine(__global float *mean, long mo, __global float *var, long vo, __global float *rmean,
                            long rmo, __global float *rvar, long rvo, uint running, __global const float *p, long po,
                            uint width, uint n, uint blocks, uint per, float momentum) {
    ulong i = COLUMNS * (ulong)get_global_id(0);
    if (i >= width)
        return;
    uint j = (uint)i;
    __global const float *m = p + po, *s = m + width;
    wide base = load_wide(m, j, width), shift = (wide)(0.0f), centred = shift;
    for (uint b = 0; b < blocks; b++)
        shift += (float)min(per, n - b * per) * (load_wide(m + 2 * (long)b * width, j, width) - base);
    wide all = base + shift / (float)n;
    for (uint b = 0; b < blocks; b++) {
        wide away = load_wide(m + 2 * (long)b * width, j, width) - all;
        centred += load_wide(s + 2 * (long)b * width, j, width) + (float)min(per, n - b * per) * away * away;
    }
    store_stats(all, centred, n, mean + mo, var + vo, rmean + rmo, rvar + rvo, running, momentum, j, width);
}
