/* cpu_optim.c - Adam over a whole block of parameters. */
#include "backend/cpu/loops/loops.h"

NO_SCRATCH(adam)
OP(adam) {
    span mine = row_share(team, a->w.cols);
    float *w = data(a->w), *m = data(a->m), *v = data(a->v);
    const float *g = data(a->g);
    /* The corrections in double: 1 - 0.999^step loses digits in float. */
    float rate = (float)((double)a->lr / (1.0 - pow((double)a->beta1, (double)a->step)));
    float correction = (float)(1.0 / (1.0 - pow((double)a->beta2, (double)a->step)));
    float keep1 = 1.0f - a->beta1, keep2 = 1.0f - a->beta2;
    for (int64_t i = mine.begin; i < mine.end; i++) {
        float grad = g[i] + a->decay * w[i];
        m[i] = a->beta1 * m[i] + keep1 * grad;
        v[i] = a->beta2 * v[i] + keep2 * grad * grad;
        w[i] -= rate * m[i] / (sqrtf(v[i] * correction) + a->eps);
    }
}
