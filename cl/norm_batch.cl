/* norm_batch.cl - batch and pair normalisation: column statistics, forward and backward. */
#include "common.h"

/* Computes: mean p[b][0][j] and centred sum of squares p[b][1][j] of column j over block b, in STATS_UNIT and its
 * square.
 * Shapes: x n x d, p blocks x 2 x d (WS_TWO_ROWS).
 * Launch: one work-item per block and VEC columns.
 * Order: rows ascending in runs of RUN_ROWS, each centred about its own mean; runs are merged by Chan's formula. */
__kernel void stats_blocks(__global float *p, long po, __global const float *x, long xo, long xld, uint n, uint d,
                           uint blocks, uint block_rows) {
    uint vecs = CEIL_DIV(d, VEC);
    ulong i = get_global_id(0), b = row_of(i, vecs);
    if (b >= blocks)
        return;
    uint j = VEC * (uint)(i - b * vecs);
    uint left = (uint)(min((ulong)n, (b + 1) * block_rows) - b * block_rows);
    __global const float *xw = x + xo + (long)(b * block_rows) * xld;
    float count = 0.0f;
    float4 mean = (float4)(0.0f), m2 = (float4)(0.0f);
    for (uint rows; left > 0; left -= rows) {
        rows = min((uint)RUN_ROWS, left);
        float count_run = (float)rows, total = count + count_run;
        float4 base = STATS_UNIT * load4(xw, j, d), mean_run = (float4)(0.0f), m2_run = mean_run;
#pragma unroll 1
        for (uint w = 0; w < rows; w++, xw += xld)
            mean_run += STATS_UNIT * load4(xw, j, d) - base;
        mean_run = base + mean_run / count_run;
        xw -= (long)rows * xld;
#pragma unroll 1
        for (uint w = 0; w < rows; w++, xw += xld) {
            float4 diff = STATS_UNIT * load4(xw, j, d) - mean_run;
            m2_run += diff * diff;
        }
        float4 delta = mean_run - mean;
        mean += delta * (count > 0.0f ? count_run / total : 1.0f); /* x / x may differ from 1 */
        m2 += m2_run + delta * delta * (count * count_run / total);
        count = total;
    }
    store4(mean, p + po + (long)WS_TWO_ROWS(b, d), j, d);
    store4(m2, p + po + (long)WS_TWO_ROWS(b, d) + d, j, d);
}

/* Computes: p[b][0][j] = sum go_vj, p[b][1][j] = sum go_vj (x_vj - mean_j) over block b.
 * Shapes: go and x n x d, mean 1 x d, p blocks x 2 x d (WS_TWO_ROWS).
 * Launch: one work-item per block and VEC columns.
 * Order: rows ascending in runs of RUN_ROWS. */
__kernel void norm_sums_blocks(__global float *p, long po, __global const float *go, long goo, long gold,
                               __global const float *x, long xo, long xld, __global const float *mean, long mo, uint n,
                               uint d, uint blocks, uint block_rows) {
    uint vecs = CEIL_DIV(d, VEC);
    ulong i = get_global_id(0), b = row_of(i, vecs);
    if (b >= blocks)
        return;
    uint j = VEC * (uint)(i - b * vecs);
    ulong end = min((ulong)n, (b + 1) * block_rows);
    float4 db = (float4)(0.0f), q = (float4)(0.0f), m = load4(mean + mo, j, d);
    for (ulong v = b * block_rows; v < end; v += RUN_ROWS) {
        ulong stop = min(end, v + RUN_ROWS);
        float4 part_db = (float4)(0.0f), part_q = (float4)(0.0f);
        for (ulong w = v; w < stop; w++) {
            float4 g = load4(go + goo + (long)w * gold, j, d);
            part_db += g;
            part_q += g * (load4(x + xo + (long)w * xld, j, d) - m);
        }
        db += part_db;
        q += part_q;
    }
    store4(db, p + po + (long)WS_TWO_ROWS(b, d), j, d);
    store4(q, p + po + (long)WS_TWO_ROWS(b, d) + d, j, d);
}

/* Computes: y = act(gamma (x - mean) r + beta), r = (var + eps)^-1/2.
 * Shapes: x and y n x d, the others 1 x d; y may be x.
 * Launch: one work-item per row and VEC columns. */
__kernel void batch_apply(__global float *y, long yo, long yld, __global const float *x, long xo, long xld,
                          __global const float *mean, long mo, __global const float *var, long vo,
                          __global const float *gamma, long go, __global const float *beta, long bo, uint n, uint d,
                          float eps, act_args act) {
    uint vecs = CEIL_DIV(d, VEC);
    ulong i = get_global_id(0), r = row_of(i, vecs);
    if (r >= n)
        return;
    uint j = VEC * (uint)(i - r * vecs);
    float4 a = load4(gamma + go, j, d) * inv_std(load4(var + vo, j, d), eps);
    float4 v = a * (load4(x + xo + (long)r * xld, j, d) - load4(mean + mo, j, d)) + load4(beta + bo, j, d);
    store4(act4(v, r * d + j, act), y + yo + (long)r * yld, j, d);
}

/* Computes: gx = gamma r (go - db / n - (x - mean) r^2 q / n); the work-items of row 0 also add ggamma += r q,
 * gbeta += db.
 * Shapes: gx, go, x n x d, the others 1 x d; gx may be go.
 * Launch: one work-item per row and VEC columns. */
__kernel void batch_backward(__global float *gx, long gxo, long gxld, __global float *ggamma, long ggo,
                             __global float *gbeta, long gbo, __global const float *go, long goo, long gold,
                             __global const float *x, long xo, long xld, __global const float *mean, long mo,
                             __global const float *var, long vo, __global const float *gamma, long gao,
                             __global const float *db, long dbo, __global const float *q, long qo, uint n, uint d,
                             float eps) {
    uint vecs = CEIL_DIV(d, VEC);
    ulong i = get_global_id(0), r = row_of(i, vecs);
    if (r >= n)
        return;
    uint j = VEC * (uint)(i - r * vecs);
    float inv_n = reciprocal(n);
    float4 s = inv_std(load4(var + vo, j, d), eps);
    float4 sum_b = load4(db + dbo, j, d), sum_q = load4(q + qo, j, d);
    float4 diff = load4(x + xo + (long)r * xld, j, d) - load4(mean + mo, j, d);
    float4 g = load4(go + goo + (long)r * gold, j, d) - sum_b * inv_n - diff * (s * s * sum_q * inv_n);
    store4(load4(gamma + gao, j, d) * s * g, gx + gxo + (long)r * gxld, j, d);
    if (r == 0) {
        store4(load4(ggamma + ggo, j, d) + s * sum_q, ggamma + ggo, j, d);
        store4(load4(gbeta + gbo, j, d) + sum_b, gbeta + gbo, j, d);
    }
}

/* Computes: out[0] = (eps + sum_j var_j)^-1/2, NaN when a variance overflows; out[1] = sum_j q_j, 0 without q.
 * Shapes: var and q 1 x d, out 2 (WS_PAIR_SCALE).
 * Launch: one work-group.
 * Memory: one local float per work-item.
 * Order: columns of a work-item ascending, then a tree over work-items. */
__kernel void pair_scale(__global float *out, long oo, __global const float *var, long vo, __global const float *q,
                         long qo, uint has_q, uint d, float eps, __local float *tmp) {
    float sum_var = 0.0f, sum_q = 0.0f;
    for (uint j = (uint)get_local_id(0); j < d; j += (uint)get_local_size(0)) {
        sum_var += var[vo + j] < VARIANCE_LIMIT ? STATS_UNIT * STATS_UNIT * var[vo + j] : NAN;
        if (has_q)
            sum_q += q[qo + j];
    }
    sum_var = group_sum(tmp, sum_var);
    sum_q = group_sum(tmp, sum_q);
    if (get_local_id(0) == 0) {
        out[oo] = STATS_UNIT * rsqrt(sum_var + STATS_UNIT * STATS_UNIT * eps);
        out[oo + 1] = sum_q;
    }
}

/* Computes: y = act((x - mean) s), s = scale[0] of pair_scale.
 * Shapes: x and y n x d, mean 1 x d; y may be x.
 * Launch: one work-item per row and VEC columns. */
__kernel void pair_apply(__global float *y, long yo, long yld, __global const float *x, long xo, long xld,
                         __global const float *mean, long mo, __global const float *scale, long so, uint n, uint d,
                         act_args act) {
    uint vecs = CEIL_DIV(d, VEC);
    ulong i = get_global_id(0), r = row_of(i, vecs);
    if (r >= n)
        return;
    uint j = VEC * (uint)(i - r * vecs);
    float4 v = (load4(x + xo + (long)r * xld, j, d) - load4(mean + mo, j, d)) * scale[so];
    store4(act4(v, r * d + j, act), y + yo + (long)r * yld, j, d);
}

/* Computes: gx = s (go - db / n) - s^3 (sum_j q_j / n)(x - mean), s and the sum from pair_scale. For large x s^3
 * underflows: s = m unit with unit a power of two, and x - mean is multiplied by one unit, which is exact.
 * Shapes: gx, go, x n x d, mean and db 1 x d; gx may be go.
 * Launch: one work-item per row and VEC columns. */
__kernel void pair_backward(__global float *gx, long gxo, long gxld, __global const float *go, long goo, long gold,
                            __global const float *x, long xo, long xld, __global const float *mean, long mo,
                            __global const float *db, long dbo, __global const float *scale, long so, uint n, uint d) {
    uint vecs = CEIL_DIV(d, VEC);
    ulong i = get_global_id(0), r = row_of(i, vecs);
    if (r >= n)
        return;
    uint j = VEC * (uint)(i - r * vecs);
    float s = scale[so], inv_n = reciprocal(n);
    float unit = as_float(as_uint(s) & 0x7f800000u), m = as_float((as_uint(s) & 0x007fffffu) | 0x3f800000u);
    float coef = m * m * m * (scale[so + 1] * inv_n * unit * unit);
    float4 g = s * (load4(go + goo + (long)r * gold, j, d) - load4(db + dbo, j, d) * inv_n);
    g -= coef * ((load4(x + xo + (long)r * xld, j, d) - load4(mean + mo, j, d)) * unit);
    store4(g, gx + gxo + (long)r * gxld, j, d);
}
