/* optim.cl - Adam over all parameters in one launch, and the limit of the norm of their gradient. */
#include "common.h"

/* Computes: g' = g + decay w; m = beta1 m + (1 - beta1) g'; v = beta2 v + (1 - beta2) g'^2;
 *   w -= lr (m / correct1) / (sqrt(v / correct2) + eps), correct = 1 - beta^step from the host.
 *   An overflowing second moment would freeze its weight: the weight becomes NaN, and so does the next loss.
 * Shapes: all 1 x len.
 * Launch: one work-item per parameter. */
__kernel void adam(__global float *w, __global float *m, __global float *v, __global const float *g, adam_args a) {
    uint i = (uint)get_global_id(0);
    if (i >= a.len)
        return;
    float weight = w[a.w.off + i], grad = g[a.g.off + i] + a.decay * weight;
    float first = a.beta1 * m[a.m.off + i] + (1.0f - a.beta1) * grad;
    float second = a.beta2 * v[a.v.off + i] + (1.0f - a.beta2) * grad * grad;
    m[a.m.off + i] = first;
    v[a.v.off + i] = second;
    float square = second / a.correct2, root = square <= FLT_MAX ? sqrt(square) : NAN;
    w[a.w.off + i] = weight - a.lr * (first / a.correct1) / (root + a.eps);
}

/* Computes: parts_b = sum of the squares of x, in STATS_UNIT, over part b.
 * Shapes: x 1 x len, parts CLIP_PARTS.
 * Launch: CLIP_PARTS work-groups.
 * Memory: local: SLOTS floats.
 * Order: every SLOTS-th entry of a part ascending, then the slots. */
__kernel void clip_squares(__global float *parts, __global const float *x, __local float *sums, clip_args a) {
    uint first = (uint)get_group_id(0) * a.part, end = min(a.len, first + a.part);
    for (uint slot = (uint)get_local_id(0); slot < SLOTS; slot += (uint)get_local_size(0)) {
        float sum = 0.0f;
        for (uint i = first + slot; i < end; i += SLOTS) {
            float v = STATS_UNIT * x[a.x.off + i];
            sum = fma(v, v, sum);
        }
        sums[slot] = sum;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0)
        parts[get_group_id(0)] = lanes_sum(sums, SLOTS);
}

/* Computes: y = x min(1, limit / (||x|| + 1e-6)), NaN where the norm is not finite.
 * Shapes: y and x 1 x len, parts CLIP_PARTS; y may be x.
 * Launch: one work-item per entry.
 * Memory: local: CLIP_PARTS floats.
 * Order: the parts ascending, the same in every work-group. */
__kernel void clip_scale(__global float *y, __global const float *x, __global const float *parts, __local float *sums,
                         clip_args a) {
    uint i = (uint)get_global_id(0);
    for (uint b = (uint)get_local_id(0); b < CLIP_PARTS; b += (uint)get_local_size(0))
        sums[b] = parts[b];
    barrier(CLK_LOCAL_MEM_FENCE);
    float sum = lanes_sum(sums, CLIP_PARTS);
    float factor = min(1.0f, a.limit / (STATS_UNIT_INVERSE * sqrt(sum) + 1e-6f));
    if (i < a.len)
        y[a.y.off + i] = x[a.x.off + i] * (sum <= FLT_MAX ? factor : NAN);
}
