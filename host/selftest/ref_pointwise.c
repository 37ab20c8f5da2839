/* ref_pointwise.c - oracles of the element-wise operations and of row and column sums. */
#include <math.h>

#include "philox.h"
#include "selftest/ref.h"

double ref_drop_factor(const be_drop *drop, int64_t i) {
    double rate = (double)drop->rate;
    if (rate <= 0)
        return 1;
    philox_block r;
    i += drop->first;
    philox_into(&r, (uint32_t)(i / 4), drop->layer, drop->epoch, drop->stream, drop->key[0], drop->key[1]);
    return (double)r.v[i % 4] < floor(rate * 4294967296.0) ? 0 : 1 / (1 - rate);
}

double ref_act(const be_act *act, double x, int64_t i) {
    return (act->relu && x < 0 ? 0 : x) * ref_drop_factor(&act->drop, i);
}

void ref_fill(double *y, double value, int64_t n, int64_t d) {
    for (int64_t i = 0; i < n * d; i++)
        y[i] = value;
}

void ref_copy(double *y, const double *x, int64_t n, int64_t d) {
    for (int64_t i = 0; i < n * d; i++)
        y[i] = x[i];
}

void ref_activate(double *y, const double *x, const be_act *act, int64_t n, int64_t d) {
    for (int64_t i = 0; i < n * d; i++)
        y[i] = ref_act(act, x[i], i);
}

/* With ReLU, y > 0 exactly where neither ReLU nor dropout zeroed the element. */
void ref_activate_backward(double *gx, const double *gy, const double *y, const be_act *act, int64_t n, int64_t d) {
    double scale = 1 / (1 - (double)act->drop.rate);
    for (int64_t i = 0; i < n * d; i++)
        gx[i] = act->relu ? (y[i] > 0 ? gy[i] * scale : 0) : gy[i] * ref_drop_factor(&act->drop, i);
}

void ref_axpby(double *y, const double *x, const double *z, double a, double b, int64_t n, int64_t d) {
    for (int64_t i = 0; i < n * d; i++)
        y[i] = a * x[i] + (z ? b * z[i] : 0);
}

void ref_bias_add(double *y, const double *x, const double *b, int64_t n, int64_t d) {
    for (int64_t v = 0; v < n; v++)
        for (int64_t j = 0; j < d; j++)
            y[v * d + j] = x[v * d + j] + b[j];
}

void ref_col_sum(double *s, const double *x, int64_t n, int64_t d) {
    for (int64_t v = 0; v < n; v++)
        for (int64_t j = 0; j < d; j++)
            s[j] += x[v * d + j];
}

void ref_row_normalise(double *y, double *norm, const double *x, be_row_norm kind, int64_t n, int64_t d) {
    for (int64_t v = 0; v < n; v++) {
        double sum = 0;
        for (int64_t j = 0; j < d; j++)
            sum += kind == BE_ROW_L2 ? x[v * d + j] * x[v * d + j] : x[v * d + j];
        double length = kind == BE_ROW_L2 ? sqrt(sum) : sum;
        for (int64_t j = 0; j < d; j++)
            y[v * d + j] = length != 0 ? x[v * d + j] / length : 0;
        if (norm)
            norm[v] = length;
    }
}
