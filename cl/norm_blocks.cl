/* norm_blocks.cl - sums and statistics over rows in two stages: blocks of rows write partial results to scratch, and
 * the combine kernels merge them in block order. Used by every normalisation and by column sums. */
#include "common.h"

/* Computes: p[b][j] = sum of x_vj over the rows of block b.
 * Shapes: x n x d, p blocks x d.
 * Launch: one work-item per block and VEC columns.
 * Order: rows ascending in runs of RUN_ROWS. */
__kernel void sum_blocks(__global float *p, long po, __global const float *x, long xo, long xld, uint n, uint d,
                         uint blocks, uint block_rows) {
    uint vecs = CEIL_DIV(d, VEC);
    ulong i = get_global_id(0), b = row_of(i, vecs);
    if (b >= blocks)
        return;
    uint j = VEC * (uint)(i - b * vecs);
    ulong end = min((ulong)n, (b + 1) * block_rows);
    float4 sum = (float4)(0.0f);
    for (ulong v = b * block_rows; v < end; v += RUN_ROWS) {
        ulong stop = min(end, v + RUN_ROWS);
        float4 part = (float4)(0.0f);
        for (ulong w = v; w < stop; w++)
            part += load4(x + xo + (long)w * xld, j, d);
        sum += part;
    }
    store4(sum, p + po + (long)(b * d), j, d);
}

/* Computes: out_i = sum_b p[b][i], out2_i = sum_b p[b][len + i], added to their old values with `add`.
 * Shapes: out and out2 1 x len, p blocks x stride.
 * Launch: dimension 0 one work-item per VEC entries; dimension 1 is 2, or 1 for `out` alone.
 * Order: blocks ascending. */
__kernel void sum_combine(__global float *out, long oo, __global float *out2, long o2o, __global const float *p,
                          long po, long stride, uint len, uint blocks, uint add) {
    ulong i = VEC * (ulong)get_global_id(0);
    if (i >= len)
        return;
    uint j = (uint)i;
    if (get_global_id(1)) {
        out = out2;
        oo = o2o;
        po += len;
    }
    float4 sum = (float4)(0.0f);
    for (uint b = 0; b < blocks; b++)
        sum += load4(p + po + (long)b * stride, j, len);
    if (add)
        sum += load4(out + oo, j, len);
    store4(sum, out + oo, j, len);
}

/* Computes: mean_i = sum_b n_b m_b / n and var_i = (sum_b M_b + n_b (m_b - mean_i)^2) / n from the mean m_b and the
 * centred sum of squares M_b of each block, in STATS_UNIT and its square; running estimates r = (1 - momentum) r +
 * momentum x, with the variance over n - 1.
 * Shapes: mean, var, rmean, rvar 1 x width, p blocks x 2 x width (WS_TWO_ROWS).
 * Launch: one work-item per VEC entries.
 * Order: blocks ascending. */
__kernel void stats_combine(__global float *mean, long mo, __global float *var, long vo, __global float *rmean,
                            long rmo, __global float *rvar, long rvo, uint running, __global const float *p, long po,
                            uint width, uint n, uint blocks, uint block_rows, float momentum) {
    ulong i = VEC * (ulong)get_global_id(0);
    if (i >= width)
        return;
    uint j = (uint)i;
    __global const float *m = p + po, *s = m + width;
    float4 base = load4(m, j, width), shift = (float4)(0.0f), m2 = shift;
    for (uint b = 0; b < blocks; b++)
        shift += (float)min(block_rows, n - b * block_rows) * (load4(m + WS_TWO_ROWS((long)b, width), j, width) - base);
    float4 total_mean = base + shift / (float)n;
    for (uint b = 0; b < blocks; b++) {
        float4 diff = load4(m + WS_TWO_ROWS((long)b, width), j, width) - total_mean;
        m2 +=
            load4(s + WS_TWO_ROWS((long)b, width), j, width) + (float)min(block_rows, n - b * block_rows) * diff * diff;
    }
    store_stats(total_mean, m2, n, mean + mo, var + vo, rmean + rmo, rvar + rvo, running, momentum, j, width);
}
