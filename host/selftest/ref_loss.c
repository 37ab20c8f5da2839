/* ref_loss.c - oracles of the loss, of predictions and of accuracy. */
#include <math.h>

#include "selftest/ref.h"

void ref_softmax_xent(double *loss, double *gz, const double *z, const int32_t *labels, const int32_t *sets, int set,
                      int64_t count, int64_t n, int64_t classes) {
    *loss = 0;
    for (int64_t v = 0; v < n; v++) {
        bool member = count > 0 && (sets[v] >> set & 1);
        double most = -INFINITY, sum = 0;
        for (int64_t c = 0; c < classes; c++)
            most = fmax(most, z[v * classes + c]);
        for (int64_t c = 0; c < classes; c++)
            sum += exp(z[v * classes + c] - most);
        if (member)
            *loss -= (z[v * classes + labels[v]] - most - log(sum)) / (double)count;
        for (int64_t c = 0; gz && c < classes; c++) {
            double p = exp(z[v * classes + c] - most) / sum;
            gz[v * classes + c] = member ? (p - (c == labels[v])) / (double)count : 0;
        }
    }
}

void ref_argmax(int32_t *pred, const double *z, int64_t n, int64_t classes) {
    for (int64_t v = 0; v < n; v++) {
        double best = -INFINITY;
        pred[v] = 0;
        for (int64_t c = 0; c < classes; c++)
            if (z[v * classes + c] > best) {
                best = z[v * classes + c];
                pred[v] = (int32_t)c;
            }
    }
}

void ref_accuracy(int32_t *correct, int64_t sets_counted, const int32_t *pred, const int32_t *labels,
                  const int32_t *sets, int64_t n) {
    for (int64_t k = 0; k < sets_counted; k++) {
        correct[k] = 0;
        for (int64_t v = 0; v < n; v++)
            correct[k] += (sets[v] >> k & 1) && pred[v] == labels[v];
    }
}
