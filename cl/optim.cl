/* optim.cl - Adam over all parameters in one launch. */
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
