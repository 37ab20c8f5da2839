/* cpu_optim.c - Adam over a whole block of parameters, and the limit of its gradient's norm. */
#include <float.h>

#include "args.h"
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

#define SQUARES 4096 /* entries of a block */

INLINE int64_t square_blocks(int64_t count) { return (count + SQUARES - 1) / SQUARES; }

CPU_SCRATCH(clip_norm) {
    (void)threads;
    return padded((size_t)square_blocks(a->x.cols) * sizeof(double));
}
/* Squares in STATS_UNIT, so that gradients up to 1e24 do not overflow; every thread adds the blocks in order. */
CPU_OP(clip_norm) {
    double *partial = (double *)(void *)ctx->scratch, sum = 0.0;
    int64_t count = a->x.cols, blocks = square_blocks(count);
    const float *x = data(a->x);
    float *y = data(a->y);
    range mine = partition(ctx, blocks);
    for (int64_t b = mine.begin; b < mine.end; b++) {
        int64_t some = count - b * SQUARES < SQUARES ? count - b * SQUARES : SQUARES;
        vf square = {0};
        for (int64_t i = 0; i < vf_count(some); i++) {
            vf v = STATS_UNIT * vf_row(x + b * SQUARES, some, i);
            square += v * v;
        }
        partial[b] = (double)vf_sum(square);
    }
    cpu_barrier(ctx);
    for (int64_t b = 0; b < blocks; b++)
        sum += partial[b];
    double factor = (double)a->limit / ((double)STATS_UNIT_INVERSE * sqrt(sum) + 1e-6);
    float scale = !isfinite(sum) ? NAN : factor < 1.0 ? (float)factor : 1.0f;
    int64_t first = mine.begin * SQUARES, end = mine.end * SQUARES < count ? mine.end * SQUARES : count;
    for (int64_t i = 0; first < end && i < vf_count(end - first); i++)
        vf_row_set(y + first, end - first, i, scale * vf_row(x + first, end - first, i));
}
