/* norm_batch.cl - batch and pair normalisation: statistics of columns, forward and backward. */
#include "common.h"

/* Computes: mean and centred sum of each column over each block, p[b][0][j] and p[b][1][j], in STATS_UNIT and its square.
 * Shapes: x n x d, p blocks x 2 x d.   Launch: one item per block and COLUMNS columns.
 * Order: rows rising in runs of 64, each centred about its own mean; runs are combined after Chan. */
__kernel void stats_blocks(__global float *p, long po, __global const float *x, long xo, long xld, uint n, uint d,
                           uint blocks, uint per) {
    uint across = (d + COLUMNS - 1) / COLUMNS;
    ulong i = get_global_id(0), b = row_of(i, across);
    if (b >= blocks)
        return;
    uint j = COLUMNS * (uint)(i - b * across);
    uint left = (uint)(min((ulong)n, (b + 1) * per) - b * per);
    __global const float *xw = x + xo + (long)(b * per) * xld;
    float count = 0.0f;
    wide mean = (wide)(0.0f), centred = (wide)(0.0f);
    for (uint rows; left > 0; left -= rows) {
        rows = min(64u, left);
        float here = (float)rows, both = count + here;
        wide base = STATS_UNIT * load_wide(xw, j, d), run = (wide)(0.0f), squares = run;
#pragma unroll 1
        for (uint w = 0; w < rows; w++, xw += xld)
            run += STATS_UNIT * load_wide(xw, j, d) - base;
        run = base + run / here;
        xw -= (long)rows * xld;
#pragma unroll 1
        for (uint w = 0; w < rows; w++, xw += xld) {
            wide away = STATS_UNIT * load_wide(xw, j, d) - run;
            squares += away * away;
        }
        wide delta = run - mean;
        mean += delta * (count > 0.0f ? here / both : 1.0f); /* x / x need not be 1 */
        centred += squares + delta * delta * (count * here / both);
        count = both;
    }
    store_wide(mean, p + po + (long)(2 * b * d), j, d);
    store_wide(centred, p + po + (long)((2 * b + 1) * d), j, d);
}

/* Computes: p[b][0][j] = sum go_vj, p[b][1][j] = sum go_vj (x_vj - mean_j) over block b.
 * Shapes: go and x n x d, mean 1 x d, p blocks x 2 x d.   Launch: one item per block and COLUMNS columns.
 * Order: rows rising, in runs of 64. */
__kernel void norm_sums_blocks(__global float *p, long po, __global const float *go, long goo, long gold,
                               __global const float *x, long xo, long xld, __global const float *mean, long mo, uint n,
                               uint d, uint blocks, uint per) {
    uint across = (d + COLUMNS - 1) / COLUMNS;
    ulong i = get_global_id(0), b = row_of(i, across);
    if (b >= blocks)
        return;
    uint j = COLUMNS * (uint)(i - b * across);
    ulong end = min((ulong)n, (b + 1) * per);
    wide db = (wide)(0.0f), q = (wide)(0.0f), m = load_wide(mean + mo, j, d);
    for (ulong v = b * per; v < end; v += 64) {
        ulong stop = min(end, v + 64);
        wide run_db = (wide)(0.0f), run_q = (wide)(0.0f);
        for (ulong w = v; w < stop; w++) {
            wide g = load_wide(go + goo + (long)w * gold, j, d);
            run_db += g;
            run_q += g * (load_wide(x + xo + (long)w * xld, j, d) - m);
        }
        db += run_db;
        q += run_q;
    }
    store_wide(db, p + po + (long)(2 * b * d), j, d);
    store_wide(q, p + po + (long)((2 * b + 1) * d), j, d);
}

/* Computes: y = act(gamma (x - mean) r + beta), r = (var + eps)^-1/2.   Shapes: x and y n x d, the others 1 x d; y may
 * be x.   Launch: one item per row and COLUMNS columns. */
__kernel void batch_apply(__global float *y, long yo, long yld, __global const float *x, long xo, long xld,
                          __global const float *mean, long mo, __global const float *var, long vo,
                          __global const float *gamma, long go, __global const float *beta, long bo, uint n, uint d,
                          float eps, act_args act) {
    uint across = (d + COLUMNS - 1) / COLUMNS;
    ulong i = get_global_id(0), r = row_of(i, across);
    if (r >= n)
        return;
    uint j = COLUMNS * (uint)(i - r * across);
    wide a = load_wide(gamma + go, j, d) * inverse_root(load_wide(var + vo, j, d), eps);
    wide v = a * (load_wide(x + xo + (long)r * xld, j, d) - load_wide(mean + mo, j, d)) + load_wide(beta + bo, j, d);
    store_wide(act_wide(v, r * d + j, act), y + yo + (long)r * yld, j, d);
}

/* Computes: gx = gamma r (go - db/n - (x - mean) r^2 q / n); ggamma += r q, gbeta += db (the items of row 0).
 * Shapes: gx, go, x n x d, the others 1 x d; gx may be go.   Launch: one item per row and COLUMNS columns. */
__kernel void batch_backward(__global float *gx, long gxo, long gxld, __global float *ggamma, long ggo,
                             __global float *gbeta, long gbo, __global const float *go, long goo, long gold,
                             __global const float *x, long xo, long xld, __global const float *mean, long mo,
                             __global const float *var, long vo, __global const float *gamma, long gao,
                             __global const float *db, long dbo, __global const float *q, long qo, uint n, uint d,
                             float eps) {
    uint across = (d + COLUMNS - 1) / COLUMNS;
    ulong i = get_global_id(0), r = row_of(i, across);
    if (r >= n)
        return;
    uint j = COLUMNS * (uint)(i - r * across);
    float each = inverse_of(n);
    wide s = inverse_root(load_wide(var + vo, j, d), eps);
    wide sum_b = load_wide(db + dbo, j, d), sum_q = load_wide(q + qo, j, d);
    wide away = load_wide(x + xo + (long)r * xld, j, d) - load_wide(mean + mo, j, d);
    wide g = load_wide(go + goo + (long)r * gold, j, d) - sum_b * each - away * (s * s * sum_q * each);
    store_wide(load_wide(gamma + gao, j, d) * s * g, gx + gxo + (long)r * gxld, j, d);
    if (r == 0) {
        store_wide(load_wide(ggamma + ggo, j, d) + s * sum_q, ggamma + ggo, j, d);
        store_wide(load_wide(gbeta + gbo, j, d) + sum_b, gbeta + gbo, j, d);
    }
}

/* Computes: out[0] = (eps + sum_j var_j)^-1/2, NaN when a variance overflows, out[1] = sum_j q_j (0 without q).   Shapes: var and q 1 x d, out 2.
 * Launch: one work-group.   Memory: one float per item.   Order: columns by item, then a tree. */
__kernel void pair_scale(__global float *out, long oo, __global const float *var, long vo, __global const float *q,
                         long qo, uint has_q, uint d, float eps, __local float *tmp) {
    float spread = 0.0f, sum = 0.0f;
    for (uint j = (uint)get_local_id(0); j < d; j += (uint)get_local_size(0)) {
        spread += var[vo + j] < VARIANCE_LIMIT ? STATS_UNIT * STATS_UNIT * var[vo + j] : NAN;
        if (has_q)
            sum += q[qo + j];
    }
    spread = group_sum(tmp, spread);
    sum = group_sum(tmp, sum);
    if (get_local_id(0) == 0) {
        out[oo] = STATS_UNIT * rsqrt(spread + STATS_UNIT * STATS_UNIT * eps);
        out[oo + 1] = sum;
    }
}

/* Computes: y = act((x - mean) s), s = scale[0] of pair_scale.   Shapes: x and y n x d, mean 1 x d; y may be x.
 * Launch: one item per row and COLUMNS columns. */
__kernel void pair_apply(__global float *y, long yo, long yld, __global const float *x, long xo, long xld,
                         __global const float *mean, long mo, __global const float *scale, long so, uint n, uint d,
                         act_args act) {
    uint across = (d + COLUMNS - 1) / COLUMNS;
    ulong i = get_global_id(0), r = row_of(i, across);
    if (r >= n)
        return;
    uint j = COLUMNS * (uint)(i - r * across);
    wide v = (load_wide(x + xo + (long)r * xld, j, d) - load_wide(mean + mo, j, d)) * scale[so];
    store_wide(act_wide(v, r * d + j, act), y + yo + (long)r * yld, j, d);
}

/* Computes: gx = s (go - db/n) - s^3 (sum_j q_j / n)(x - mean), s and the sum from pair_scale. Where x is large s^3 is
 * far below what a float holds: s = m unit, unit a power of two, and one unit goes to x - mean, which is exact.
 * Shapes: gx, go, x n x d, mean and db 1 x d; gx may be go.   Launch: one item per row and COLUMNS columns. */
__kernel void pair_backward(__global float *gx, long gxo, long gxld, __global const float *go, long goo, long gold,
                            __global const float *x, long xo, long xld, __global const float *mean, long mo,
                            __global const float *db, long dbo, __global const float *scale, long so, uint n, uint d) {
    uint across = (d + COLUMNS - 1) / COLUMNS;
    ulong i = get_global_id(0), r = row_of(i, across);
    if (r >= n)
        return;
    uint j = COLUMNS * (uint)(i - r * across);
    float s = scale[so], each = inverse_of(n);
    float unit = as_float(as_uint(s) & 0x7f800000u), m = as_float((as_uint(s) & 0x007fffffu) | 0x3f800000u);
    float pull = m * m * m * (scale[so + 1] * each * unit * unit);
    wide g = s * (load_wide(go + goo + (long)r * gold, j, d) - load_wide(db + dbo, j, d) * each);
    g -= pull * ((load_wide(x + xo + (long)r * xld, j, d) - load_wide(mean + mo, j, d)) * unit);
    store_wide(g, gx + gxo + (long)r * gxld, j, d);
}
