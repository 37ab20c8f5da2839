/* cpu_optim.c - Adam over a whole block of parameters. */
#include <float.h>

#include "backend/cpu/loops/loops.h"

/* Explicit vectors: a compiler must assume that the four arrays overlap. A second moment that overflows would freeze
 * its weight, since the step is divided by its root; the root becomes NaN instead, and so does the next loss. */
CPU_NO_SCRATCH(adam)
CPU_OP(adam) {
    range mine = row_partition(ctx, a->w.cols);
    int64_t count = mine.end - mine.begin;
    float *w = data(a->w) + mine.begin, *m = data(a->m) + mine.begin, *v = data(a->v) + mine.begin;
    const float *g = data(a->g) + mine.begin;
    /* Bias corrections in double: 1 - 0.999^step loses digits in float. */
    float rate = (float)((double)a->lr / (1.0 - pow((double)a->beta1, (double)a->step)));
    float correction = (float)(1.0 / (1.0 - pow((double)a->beta2, (double)a->step)));
    float keep1 = 1.0f - a->beta1, keep2 = 1.0f - a->beta2;
    for (int64_t i = 0; i < vf_count(count); i++) {
        vf weight = vf_row(w, count, i), grad = vf_row(g, count, i) + a->decay * weight;
        vf first = a->beta1 * vf_row(m, count, i) + keep1 * grad;
        vf second = a->beta2 * vf_row(v, count, i) + keep2 * grad * grad, square = second * correction;
        vf root = vf_select(square <= FLT_MAX, vf_sqrt(square), vf_set(NAN));
        vf_row_set(m, count, i, first);
        vf_row_set(v, count, i, second);
        vf_row_set(w, count, i, weight - rate * first / (root + a->eps));
    }
}
