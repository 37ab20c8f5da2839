/* optim.cl - Adam over all parameters in one launch. */
#include "common.h"

/* Computes: g' = g + decay w; m = beta1 m + (1 - beta1) g'; v = beta2 v + (1 - beta2) g'^2;
 *   w -= lr (m / correct1) / (sqrt(v / correct2) + eps), correct = 1 - beta^step from the host.
 *   An overflowing second moment would freeze its weight: the weight becomes NaN, and so does the next loss.
 * Shapes: all 1 x len.
 * Launch: one work-item per parameter. */
__kernel void adam(__global float *w, long wo, __global float *m, long mo, __global float *v, long vo,
                   __global const float *g, long go, ulong len, float lr, float beta1, float beta2, float eps,
                   float decay, float correct1, float correct2) {
    ulong i = get_global_id(0);
    if (i >= len)
        return;
    long at = (long)i;
    float weight = w[wo + at], grad = g[go + at] + decay * weight;
    float first = beta1 * m[mo + at] + (1.0f - beta1) * grad;
    float second = beta2 * v[vo + at] + (1.0f - beta2) * grad * grad;
    m[mo + at] = first;
    v[vo + at] = second;
    float square = second / correct2, root = square <= FLT_MAX ? sqrt(square) : NAN;
    w[wo + at] = weight - lr * (first / correct1) / (root + eps);
}
