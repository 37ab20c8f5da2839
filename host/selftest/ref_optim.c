/* ref_optim.c - the oracle of Adam. */
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
