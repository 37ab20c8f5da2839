/* norm_blocks.cl - sums and statistics over rows in two stages: blocks of rows give partial results in scratch, and
 * these kernels combine them in block order. Used by every normalisation and by column sums. */
#include "common.h"

/* Computes: p[b][j] = sum of x_vj over the rows of block b.   Shapes: x n x d, p blocks x d.
 * Launch: one item per block and four columns.   Order: rows rising, in runs of 64. */
__kernel void sum_blocks(__global float *p, long po, __global const float *x, long xo, long xld, uint n, uint d,
                         uint blocks, uint per) {
    uint across = (d + 3) / 4;
    ulong i = get_global_id(0), b = row_of(i, across);
    if (b >= blocks)
        return;
    uint j = 4 * (uint)(i - b * across);
    ulong end = min((ulong)n, (b + 1) * per);
    float4 sum = (float4)(0.0f);
    for (ulong v = b * per; v < end; v += 64) {
        ulong stop = min(end, v + 64);
        float4 run = (float4)(0.0f);
        for (ulong w = v; w < stop; w++)
            run += load4(x + xo + (long)w * xld, j, d);
        sum += run;
    }
    store4(sum, p + po + (long)(b * d), j, d);
}

/* Computes: out_i = sum_b p[b][i], added to what out held when `add`.   Shapes: out 1 x len, p blocks x stride.
 * Launch: one item per entry.   Order: blocks rising. */
__kernel void sum_combine(__global float *out, long oo, __global const float *p, long po, long stride, uint len,
                          uint blocks, uint add) {
    ulong i = get_global_id(0);
    if (i >= len)
        return;
    float sum = 0.0f;
    for (uint b = 0; b < blocks; b++)
        sum += p[po + (long)b * stride + (long)i];
    out[oo + (long)i] = add ? out[oo + (long)i] + sum : sum;
}

/* Computes: mean_i = sum_b n_b m_b / n and var_i = (sum_b M_b + n_b (m_b - mean)^2) / n from each block's mean m_b and
 * centred sum M_b; running estimates r = (1 - momentum) r + momentum now, the variance by n - 1.
 * Shapes: mean, var, rmean, rvar 1 x width, p blocks x 2 x width.   Launch: one item per entry.
 * Order: blocks rising. */
__kernel void stats_combine(__global float *mean, long mo, __global float *var, long vo, __global float *rmean,
                            long rmo, __global float *rvar, long rvo, uint running, __global const float *p, long po,
                            uint width, uint n, uint blocks, uint per, float momentum) {
    ulong i = get_global_id(0);
    if (i >= width)
        return;
    __global const float *m = p + po + (long)i, *s = m + width;
    float base = *m, shift = 0.0f, centred = 0.0f;
    for (uint b = 0; b < blocks; b++)
        shift += (float)min(per, n - b * per) * (m[2 * (long)b * width] - base);
    float all = base + shift / (float)n;
    for (uint b = 0; b < blocks; b++) {
        float away = m[2 * (long)b * width] - all;
        centred += s[2 * (long)b * width] + (float)min(per, n - b * per) * away * away;
    }
    float biased = centred / (float)n;
    mean[mo + (long)i] = all;
    var[vo + (long)i] = biased;
    if (running) {
        float unbiased = n > 1 ? centred / (float)(n - 1) : 0.0f;
        rmean[rmo + (long)i] = (1.0f - momentum) * rmean[rmo + (long)i] + momentum * all;
        rvar[rvo + (long)i] = (1.0f - momentum) * rvar[rvo + (long)i] + momentum * unbiased;
    }
}
