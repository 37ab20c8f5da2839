/* norm_batch.cl - batch and pair normalisation: statistics of columns, forward and backward. */
#include "common.h"

/* Computes: mean and centred sum of each column over each block, p[b][0][j] and p[b][1][j].
 * Shapes: x n x d, p blocks x 2 x d.   Launch: one item per block and column.
 * Order: rows rising in runs of 64, each centred about its own mean; runs are combined after Chan. */
__kernel void stats_blocks(__global float *p, long po, __global const float *x, long xo, long xld, uint n, uint d,
                           uint blocks, uint per) {
    ulong i = get_global_id(0), b = row_of(i, d);
    if (b >= blocks)
        return;
    uint j = (uint)(i - b * d);
    ulong end = min((ulong)n, (b + 1) * per);
    float count = 0.0f, mean = 0.0f, centred = 0.0f;
    for (ulong v = b * per; v < end; v += 64) {
        ulong stop = min(end, v + 64);
        float base = x[xo + (long)v * xld + j], run = 0.0f, squares = 0.0f, here = (float)(stop - v);
        for (ulong w = v; w < stop; w++)
            run += x[xo + (long)w * xld + j] - base;
        run = base + run / here;
        for (ulong w = v; w < stop; w++) {
            float away = x[xo + (long)w * xld + j] - run;
            squares += away * away;
        }
        float delta = run - mean, both = count + here;
        mean += delta * (here / both);
        centred += squares + delta * delta * (count * here / both);
        count = both;
    }
    p[po + (long)(2 * b * d) + j] = mean;
    p[po + (long)(2 * b * d) + d + j] = centred;
}

/* Computes: p[b][0][j] = sum go_vj, p[b][1][j] = sum go_vj (x_vj - mean_j) over block b.
 * Shapes: go and x n x d, mean 1 x d, p blocks x 2 x d.   Launch: one item per block and column.
 * Order: rows rising, in runs of 64. */
__kernel void norm_sums_blocks(__global float *p, long po, __global const float *go, long goo, long gold,
                               __global const float *x, long xo, long xld, __global const float *mean, long mo, uint n,
                               uint d, uint blocks, uint per) {
    ulong i = get_global_id(0), b = row_of(i, d);
    if (b >= blocks)
        return;
    uint j = (uint)(i - b * d);
    ulong end = min((ulong)n, (b + 1) * per);
    float db = 0.0f, q = 0.0f, m = mean[mo + j];
    for (ulong v = b * per; v < end; v += 64) {
        ulong stop = min(end, v + 64);
        float run_db = 0.0f, run_q = 0.0f;
        for (ulong w = v; w < stop; w++) {
            float g = go[goo + (long)w * gold + j];
            run_db += g;
            run_q += g * (x[xo + (long)w * xld + j] - m);
        }
        db += run_db;
        q += run_q;
    }
    p[po + (long)(2 * b * d) + j] = db;
    p[po + (long)(2 * b * d) + d + j] = q;
}

/* Computes: y = act(gamma (x - mean) r + beta), r = (var + eps)^-1/2.   Shapes: x and y n x d, the others 1 x d; y may
 * be x.   Launch: one item per four elements, counted row by row. */
__kernel void batch_apply(__global float *y, long yo, long yld, __global const float *x, long xo, long xld,
                          __global const float *mean, long mo, __global const float *var, long vo,
                          __global const float *gamma, long go, __global const float *beta, long bo, uint n, uint d,
                          float eps, act_args act) {
    ulong total = (ulong)n * d, i = 4 * (ulong)get_global_id(0);
    if (i >= total)
        return;
    ulong r = row_of(i, d);
    uint j = (uint)(i - r * d);
    bits4 bits = act.drop ? drop_bits(act, i / 4) : no_bits();
    for (uint t = 0; t < 4 && i + t < total; t++) {
        float a = gamma[go + j] * rsqrt(var[vo + j] + eps);
        float v = a * (x[xo + (long)r * xld + j] - mean[mo + j]) + beta[bo + j];
        y[yo + (long)r * yld + j] = act_of(v, pick(bits, t), act);
        if (++j == d) {
            j = 0;
            r++;
        }
    }
}

/* Computes: gx = gamma r (go - db/n - (x - mean) r^2 q / n); ggamma += r q, gbeta += db (the items of row 0).
 * Shapes: gx, go, x n x d, the others 1 x d; gx may be go.   Launch: one item per four elements, row by row. */
__kernel void batch_backward(__global float *gx, long gxo, long gxld, __global float *ggamma, long ggo,
                             __global float *gbeta, long gbo, __global const float *go, long goo, long gold,
                             __global const float *x, long xo, long xld, __global const float *mean, long mo,
                             __global const float *var, long vo, __global const float *gamma, long gao,
                             __global const float *db, long dbo, __global const float *q, long qo, uint n, uint d,
                             float eps) {
    ulong total = (ulong)n * d, i = 4 * (ulong)get_global_id(0);
    if (i >= total)
        return;
    ulong r = row_of(i, d);
    uint j = (uint)(i - r * d);
    for (uint t = 0; t < 4 && i + t < total; t++) {
        float s = rsqrt(var[vo + j] + eps), each = 1.0f / (float)n;
        float away = x[xo + (long)r * xld + j] - mean[mo + j];
        float g = go[goo + (long)r * gold + j] - db[dbo + j] * each - away * (s * s * q[qo + j] * each);
        gx[gxo + (long)r * gxld + j] = gamma[gao + j] * s * g;
        if (r == 0) {
            ggamma[ggo + j] += s * q[qo + j];
            gbeta[gbo + j] += db[dbo + j];
        }
        if (++j == d) {
            j = 0;
            r++;
        }
    }
}

/* Computes: out[0] = (eps + sum_j var_j)^-1/2, out[1] = sum_j q_j (0 without q).   Shapes: var and q 1 x d, out 2.
 * Launch: one work-group.   Memory: one float per item.   Order: columns by item, then a tree. */
__kernel void pair_scale(__global float *out, long oo, __global const float *var, long vo, __global const float *q,
                         long qo, uint has_q, uint d, float eps, __local float *tmp) {
    float spread = 0.0f, sum = 0.0f;
    for (uint j = (uint)get_local_id(0); j < d; j += (uint)get_local_size(0)) {
        spread += var[vo + j];
        if (has_q)
            sum += q[qo + j];
    }
    spread = group_sum(tmp, spread);
    sum = group_sum(tmp, sum);
    if (get_local_id(0) == 0) {
        out[oo] = rsqrt(spread + eps);
        out[oo + 1] = sum;
    }
}

/* Computes: y = act((x - mean) s), s = scale[0] of pair_scale.   Shapes: x and y n x d, mean 1 x d; y may be x.
 * Launch: one item per four elements, counted row by row. */
__kernel void pair_apply(__global float *y, long yo, long yld, __global const float *x, long xo, long xld,
                         __global const float *mean, long mo, __global const float *scale, long so, uint n, uint d,
                         act_args act) {
    ulong total = (ulong)n * d, i = 4 * (ulong)get_global_id(0);
    if (i >= total)
        return;
    ulong r = row_of(i, d);
    uint j = (uint)(i - r * d);
    bits4 bits = act.drop ? drop_bits(act, i / 4) : no_bits();
    float s = scale[so];
    for (uint t = 0; t < 4 && i + t < total; t++) {
        y[yo + (long)r * yld + j] = act_of((x[xo + (long)r * xld + j] - mean[mo + j]) * s, pick(bits, t), act);
        if (++j == d) {
            j = 0;
            r++;
        }
    }
}

/* Computes: gx = s (go - db/n) - s^3 (sum_j q_j / n)(x - mean), s and the sum from pair_scale.
 * Shapes: gx, go, x n x d, mean and db 1 x d; gx may be go.   Launch: one item per four elements, row by row. */
__kernel void pair_backward(__global float *gx, long gxo, long gxld, __global const float *go, long goo, long gold,
                            __global const float *x, long xo, long xld, __global const float *mean, long mo,
                            __global const float *db, long dbo, __global const float *scale, long so, uint n, uint d) {
    ulong total = (ulong)n * d, i = 4 * (ulong)get_global_id(0);
    if (i >= total)
        return;
    ulong r = row_of(i, d);
    uint j = (uint)(i - r * d);
    float s = scale[so], each = 1.0f / (float)n, pull = s * s * s * (scale[so + 1] * each);
    for (uint t = 0; t < 4 && i + t < total; t++) {
        float g = s * (go[goo + (long)r * gold + j] - db[dbo + j] * each);
        gx[gxo + (long)r * gxld + j] = g - pull * (x[xo + (long)r * xld + j] - mean[mo + j]);
        if (++j == d) {
            j = 0;
            r++;
        }
    }
}
