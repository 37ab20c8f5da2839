/* ref_loss.c - oracles of the losses, of predictions and of scores. */
#include <math.h>

#include "selftest/ref.h"

void ref_softmax_xent(double *loss, double *gz, const double *z, const double *weight, const int32_t *labels,
                      const int32_t *sets, int set, int64_t count, int64_t n, int64_t classes) {
    *loss = 0;
    for (int64_t v = 0; v < n; v++) {
        bool member = count > 0 && (sets[v] >> set & 1);
        double most = -INFINITY, sum = 0, factor = !member ? 0 : weight ? weight[labels[v]] : 1 / (double)count;
        for (int64_t c = 0; c < classes; c++)
            most = fmax(most, z[v * classes + c]);
        for (int64_t c = 0; c < classes; c++)
            sum += exp(z[v * classes + c] - most);
        if (member)
            *loss -= (z[v * classes + labels[v]] - most - log(sum)) * factor;
        for (int64_t c = 0; gz && c < classes; c++) {
            double p = exp(z[v * classes + c] - most) / sum;
            gz[v * classes + c] = member ? (p - (c == labels[v])) * factor : 0;
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

void ref_sigmoid_xent(double *loss, double *gz, const double *z, const double *target, const int32_t *sets, int set,
                      int64_t count, int64_t n, int64_t classes) {
    double all = (double)count * (double)classes;
    *loss = 0;
    for (int64_t i = 0; i < n * classes; i++) {
        bool member = count > 0 && (sets[i / classes] >> set & 1);
        double p = 1 / (1 + exp(-z[i]));
        if (member)
            *loss += (fmax(z[i], 0) - z[i] * target[i] + log1p(exp(-fabs(z[i])))) / all;
        if (gz)
            gz[i] = member ? (p - target[i]) / all : 0;
    }
}

void ref_label_counts(int32_t *hits, int32_t *predicted, int64_t sets_counted, const double *z, const double *target,
                      const int32_t *sets, int64_t n, int64_t classes) {
    for (int64_t k = 0; k < sets_counted; k++) {
        hits[k] = predicted[k] = 0;
        for (int64_t i = 0; i < n * classes; i++)
            if (sets[i / classes] >> k & 1 && z[i] > 0) {
                predicted[k]++;
                hits[k] += target[i] > 0;
            }
    }
}
