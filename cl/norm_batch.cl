/* norm_batch.cl - batch and pair normalisation, forward and backward; their sums over rows are in norm_blocks.cl. */
#include "common.h"

/* Computes: y = act(gamma (x - mean) r + beta), r = (var + eps)^-1/2.
 * Shapes: x and y n x d, the others 1 x d; y may be x.
 * Launch: one work-item per row and VEC columns. */
__kernel void batch_apply(__global float *y, __global const float *x, __global const float *mean,
                          __global const float *var, __global const float *gamma, __global const float *beta,
                          batch_apply_args a) {
    uint i = (uint)get_global_id(0), d = a.d, vecs = CEIL_DIV(d, VEC), r = i / vecs, j = VEC * (i - r * vecs);
    if (r >= a.n)
        return;
    float4 slope = load_at(gamma, &a.gamma, 0, j, d) * inv_std(load_at(var, &a.var, 0, j, d), a.eps);
    float4 diff = load_at(x, &a.x, r, j, d) - load_at(mean, &a.mean, 0, j, d);
    float4 v = slope * diff + load_at(beta, &a.beta, 0, j, d);
    store_at(act4(v, (ulong)r * d + j, a.act), y, &a.y, r, j, d);
}

/* Computes: gx = gamma r (go - db / n - (x - mean) r^2 q / n) with n = over; the work-items of row 0 also add
 * ggamma += r q, gbeta += db.
 * Shapes: gx, go, x n x d, the others 1 x d; gx may be go.
 * Launch: one work-item per row and VEC columns. */
__kernel void batch_backward(__global float *gx, __global float *ggamma, __global float *gbeta,
                             __global const float *go, __global const float *x, __global const float *mean,
                             __global const float *var, __global const float *gamma, __global const float *db,
                             __global const float *q, batch_backward_args a) {
    uint i = (uint)get_global_id(0), d = a.d, vecs = CEIL_DIV(d, VEC), r = i / vecs, j = VEC * (i - r * vecs);
    if (r >= a.n)
        return;
    float inv_n = reciprocal(a.over);
    float4 s = inv_std(load_at(var, &a.var, 0, j, d), a.eps);
    float4 sum_b = load_at(db, &a.db, 0, j, d), sum_q = load_at(q, &a.q, 0, j, d);
    float4 diff = load_at(x, &a.x, r, j, d) - load_at(mean, &a.mean, 0, j, d);
    float4 g = load_at(go, &a.go, r, j, d) - sum_b * inv_n - diff * (s * s * sum_q * inv_n);
    store_at(load_at(gamma, &a.gamma, 0, j, d) * s * g, gx, &a.gx, r, j, d);
    if (r == 0 && a.has_gradients) {
        store4(load4(ggamma + a.ggamma.off, j, d) + s * sum_q, ggamma + a.ggamma.off, j, d);
        store4(load4(gbeta + a.gbeta.off, j, d) + sum_b, gbeta + a.gbeta.off, j, d);
    }
}

/* Sum of v_j factor over d columns, which every work-item gets, by PAIR_PARTS parts in a fixed order; NaN when a v_j
 * is VARIANCE_LIMIT or more and `limited`. */
HELPER float sum_columns(__local float4 *tmp, __global const float *v, uint d, float factor, uint limited) {
    __local float *parts = (__local float *)tmp;
    for (uint u = (uint)get_local_id(0); u < PAIR_PARTS; u += (uint)get_local_size(0)) {
        float sum = 0.0f;
        for (uint j = u; j < d; j += PAIR_PARTS)
            sum += limited && !(v[j] < VARIANCE_LIMIT) ? NAN : factor * v[j];
        parts[u] = sum;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    float4 sum = (float4)(0.0f);
#pragma nounroll /* unrolled, too many registers; by four, LLVM 19 drops the exit of the loop above (PoCL 6) */
    for (uint i = 0; i < PAIR_PARTS / 4; i++)
        sum += tmp[i];
    return sum4(sum);
}

/* (eps + sum_j var_j)^-1/2, NaN when a variance overflows. */
HELPER float pair_scale(__local float4 *tmp, __global const float *var, uint d, float eps) {
    const float unit2 = STATS_UNIT * STATS_UNIT;
    return STATS_UNIT * rsqrt(sum_columns(tmp, var, d, unit2, 1) + unit2 * eps);
}

/* Computes: y = act((x - mean) s), s = (eps + sum_j var_j)^-1/2.
 * Shapes: x and y n x d, mean and var 1 x d; y may be x.
 * Launch: one work-item per row and VEC columns.
 * Memory: local: PAIR_PARTS floats. */
__kernel void pair_apply(__global float *y, __global const float *x, __global const float *mean,
                         __global const float *var, __local float4 *tmp, pair_apply_args a) {
    uint i = (uint)get_global_id(0), d = a.d, vecs = CEIL_DIV(d, VEC), r = i / vecs, j = VEC * (i - r * vecs);
    float s = pair_scale(tmp, var + a.var.off, d, a.eps);
    if (r >= a.n)
        return;
    float4 diff = load_at(x, &a.x, r, j, d) - load_at(mean, &a.mean, 0, j, d);
    store_at(act4(diff * s, (ulong)r * d + j, a.act), y, &a.y, r, j, d);
}

/* Computes: gx = s (go - db / n) - s^3 (sum_j q_j / n)(x - mean), n = over, s as pair_apply. For large x s^3
 * underflows: s = m unit with unit a power of two, and x - mean is multiplied by one unit, which is exact.
 * Shapes: gx, go, x n x d, mean, var, db and q 1 x d; gx may be go.
 * Launch: one work-item per row and VEC columns.
 * Memory: local: 2 PAIR_PARTS floats. */
__kernel void pair_backward(__global float *gx, __global const float *go, __global const float *x,
                            __global const float *mean, __global const float *var, __global const float *db,
                            __global const float *q, __local float4 *tmp, pair_backward_args a) {
    uint i = (uint)get_global_id(0), d = a.d, vecs = CEIL_DIV(d, VEC), r = i / vecs, j = VEC * (i - r * vecs);
    float s = pair_scale(tmp, var + a.var.off, d, a.eps), inv_n = reciprocal(a.over);
    float sum_q = sum_columns(tmp + PAIR_PARTS / 4, q + a.q.off, d, 1.0f, 0);
    if (r >= a.n)
        return;
    float unit = as_float(as_uint(s) & 0x7f800000u), m = as_float((as_uint(s) & 0x007fffffu) | 0x3f800000u);
    float coef = m * m * m * (sum_q * inv_n * unit * unit);
    float4 diff = load_at(x, &a.x, r, j, d) - load_at(mean, &a.mean, 0, j, d);
    float4 g = s * (load_at(go, &a.go, r, j, d) - load_at(db, &a.db, 0, j, d) * inv_n);
    store_at(g - coef * (diff * unit), gx, &a.gx, r, j, d);
}
