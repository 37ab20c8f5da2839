/* ref_optim.c - the oracles of Adam and of the limit of a norm. */
#include <math.h>

#include "selftest/ref.h"

void ref_adam(double *w, double *m, double *v, const double *g, double lr, double beta1, double beta2, double eps,
              double decay, int64_t step, int64_t len) {
    for (int64_t i = 0; i < len; i++) {
        double gradient = g[i] + decay * w[i];
        m[i] = beta1 * m[i] + (1 - beta1) * gradient;
        v[i] = beta2 * v[i] + (1 - beta2) * gradient * gradient;
        double mean = m[i] / (1 - pow(beta1, (double)step)), square = v[i] / (1 - pow(beta2, (double)step));
        w[i] -= lr * mean / (sqrt(square) + eps);
    }
}

void ref_clip_norm(double *y, const double *x, double limit, int64_t len) {
    double sum = 0;
    for (int64_t i = 0; i < len; i++)
        sum += x[i] * x[i];
    for (int64_t i = 0; i < len; i++)
        y[i] = x[i] * fmin(1, limit / (sqrt(sum) + 1e-6));
}
