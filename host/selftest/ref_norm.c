/* ref_norm.c - oracles of batch, pair and node normalisation. */
#include <math.h>

#include "selftest/ref.h"

/* r = (1 - momentum) r + momentum now; the variance unbiased, 0 for a single row. */
static void running(double *rmean, double *rvar, double mean, double var, double momentum, int64_t n) {
    double unbiased = n > 1 ? var * (double)n / (double)(n - 1) : 0;
    *rmean = (1 - momentum) * *rmean + momentum * mean;
    *rvar = (1 - momentum) * *rvar + momentum * unbiased;
}

void ref_col_stats(double *mean, double *var, double *rmean, double *rvar, const double *x, double momentum, int64_t n,
                   int64_t d) {
    for (int64_t j = 0; j < d; j++) {
        double sum = 0, squares = 0;
        for (int64_t v = 0; v < n; v++)
            sum += x[v * d + j];
        mean[j] = sum / (double)n;
        for (int64_t v = 0; v < n; v++)
            squares += (x[v * d + j] - mean[j]) * (x[v * d + j] - mean[j]);
        var[j] = squares / (double)n;
        if (rmean)
            running(&rmean[j], &rvar[j], mean[j], var[j], momentum, n);
    }
}

void ref_batch_apply(double *y, const double *x, const double *mean, const double *var, const double *gamma,
                     const double *beta, double eps, const be_act *act, int64_t n, int64_t d) {
    for (int64_t v = 0; v < n; v++)
        for (int64_t j = 0; j < d; j++)
            y[v * d + j] = ref_act(act, gamma[j] * (x[v * d + j] - mean[j]) / sqrt(var[j] + eps) + beta[j], v * d + j);
}

static double pair_scale(const double *var, double eps, int64_t d) {
    double sum = eps;
    for (int64_t j = 0; j < d; j++)
        sum += var[j];
    return 1 / sqrt(sum);
}

void ref_pair_apply(double *y, const double *x, const double *mean, const double *var, double eps, const be_act *act,
                    int64_t n, int64_t d) {
    double s = pair_scale(var, eps, d);
    for (int64_t v = 0; v < n; v++)
        for (int64_t j = 0; j < d; j++)
            y[v * d + j] = ref_act(act, (x[v * d + j] - mean[j]) * s, v * d + j);
}

void ref_norm_sums(double *db, double *q, const double *go, const double *x, const double *mean, int64_t n, int64_t d) {
    for (int64_t j = 0; j < d; j++) {
        db[j] = q[j] = 0;
        for (int64_t v = 0; v < n; v++) {
            db[j] += go[v * d + j];
            q[j] += go[v * d + j] * (x[v * d + j] - mean[j]);
        }
    }
}

void ref_batch_backward(double *gx, double *ggamma, double *gbeta, const double *go, const double *x,
                        const double *mean, const double *var, const double *gamma, const double *db, const double *q,
                        double eps, int64_t over, int64_t n, int64_t d) {
    for (int64_t j = 0; j < d; j++) {
        double r = 1 / sqrt(var[j] + eps);
        if (ggamma) {
            ggamma[j] += r * q[j];
            gbeta[j] += db[j];
        }
        for (int64_t v = 0; v < n; v++)
            gx[v * d + j] =
                gamma[j] * r *
                (go[v * d + j] - db[j] / (double)over - (x[v * d + j] - mean[j]) * r * r * q[j] / (double)over);
    }
}

void ref_pair_backward(double *gx, const double *go, const double *x, const double *mean, const double *var,
                       const double *db, const double *q, double eps, int64_t over, int64_t n, int64_t d) {
    double s = pair_scale(var, eps, d), total = 0;
    for (int64_t j = 0; j < d; j++)
        total += q[j];
    for (int64_t v = 0; v < n; v++)
        for (int64_t j = 0; j < d; j++)
            gx[v * d + j] = s * (go[v * d + j] - db[j] / (double)over) -
                            s * s * s * (total / (double)over) * (x[v * d + j] - mean[j]);
}

/* Mean and biased variance of a row. */
static void row_stats(double *mean, double *var, const double *x, int64_t d) {
    *mean = *var = 0;
    for (int64_t j = 0; j < d; j++)
        *mean += x[j] / (double)d;
    for (int64_t j = 0; j < d; j++)
        *var += (x[j] - *mean) * (x[j] - *mean) / (double)d;
}

void ref_node_apply(double *y, const double *x, double eps, const be_act *act, int64_t n, int64_t d) {
    for (int64_t v = 0; v < n; v++) {
        double mean, var;
        row_stats(&mean, &var, x + v * d, d);
        for (int64_t j = 0; j < d; j++)
            y[v * d + j] = ref_act(act, x[v * d + j] * pow(var + eps, -0.25), v * d + j);
    }
}

void ref_node_backward(double *gx, const double *go, const double *x, double eps, int64_t n, int64_t d) {
    for (int64_t v = 0; v < n; v++) {
        double mean, var, dot = 0;
        row_stats(&mean, &var, x + v * d, d);
        for (int64_t j = 0; j < d; j++)
            dot += go[v * d + j] * x[v * d + j];
        for (int64_t j = 0; j < d; j++)
            gx[v * d + j] =
                pow(var + eps, -0.25) * (go[v * d + j] - (x[v * d + j] - mean) * dot / (2 * (double)d * (var + eps)));
    }
}
