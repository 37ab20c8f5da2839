/* ref_group.c - oracles of differentiable group normalisation. t_vgj = S_vg H_vj is
 * written out wherever the formula says t; nothing is rearranged. */
#include <math.h>

#include "selftest/ref.h"

void ref_group_assign(double *s, const double *h, const double *u, const double *c, int64_t n, int64_t d,
                      int64_t groups) {
    for (int64_t v = 0; v < n; v++) {
        double most = -INFINITY, sum = 0;
        for (int64_t g = 0; g < groups; g++) {
            double z = c ? c[g] : 0;
            for (int64_t j = 0; j < d; j++)
                z += h[v * d + j] * u[g * d + j];
            s[v * groups + g] = z;
            most = fmax(most, z);
        }
        for (int64_t g = 0; g < groups; g++)
            sum += s[v * groups + g] = exp(s[v * groups + g] - most);
        for (int64_t g = 0; g < groups; g++)
            s[v * groups + g] /= sum;
    }
}

void ref_group_stats(double *mean, double *var, double *rmean, double *rvar, const double *s, const double *h,
                     double momentum, int64_t n, int64_t d, int64_t groups) {
    for (int64_t g = 0; g < groups; g++)
        for (int64_t j = 0; j < d; j++) {
            double sum = 0, squares = 0;
            int64_t at = g * d + j;
            for (int64_t v = 0; v < n; v++)
                sum += s[v * groups + g] * h[v * d + j];
            mean[at] = sum / (double)n;
            for (int64_t v = 0; v < n; v++) {
                double centred = s[v * groups + g] * h[v * d + j] - mean[at];
                squares += centred * centred;
            }
            var[at] = squares / (double)n;
            if (rmean) {
                rmean[at] = (1 - momentum) * rmean[at] + momentum * mean[at];
                rvar[at] = (1 - momentum) * rvar[at] + momentum * (n > 1 ? squares / (double)(n - 1) : 0);
            }
        }
}

/* out = H + lambda sum_g BN_g(t): the definition, not the folded form of the contract. */
void ref_group_apply(double *y, const double *h, const double *s, const double *mean, const double *var,
                     const double *gamma, const double *beta, double eps, double lambda, const be_act *act, int64_t n,
                     int64_t d, int64_t groups) {
    for (int64_t v = 0; v < n; v++)
        for (int64_t j = 0; j < d; j++) {
            double sum = 0;
            for (int64_t g = 0; g < groups; g++) {
                int64_t at = g * d + j;
                double t = s[v * groups + g] * h[v * d + j];
                sum += gamma[at] * (t - mean[at]) / sqrt(var[at] + eps) + beta[at];
            }
            y[v * d + j] = ref_act(act, h[v * d + j] + lambda * sum, v * d + j);
        }
}

void ref_group_backward_sums(double *db, double *q, double *ggamma, double *gbeta, const double *go, const double *h,
                             const double *s, const double *mean, const double *var, double eps, double lambda,
                             int64_t n, int64_t d, int64_t groups) {
    for (int64_t j = 0; j < d; j++) {
        db[j] = 0;
        for (int64_t v = 0; v < n; v++)
            db[j] += lambda * go[v * d + j];
    }
    for (int64_t g = 0; g < groups; g++)
        for (int64_t j = 0; j < d; j++) {
            int64_t at = g * d + j;
            q[at] = 0;
            for (int64_t v = 0; v < n; v++)
                q[at] += lambda * go[v * d + j] * (s[v * groups + g] * h[v * d + j] - mean[at]);
            ggamma[at] += q[at] / sqrt(var[at] + eps);
            gbeta[at] += db[j];
        }
}

void ref_group_backward_rows(double *gh, double *gz, double *gc, double *gu, const double *go, const double *h,
                             const double *s, const double *mean, const double *var, const double *gamma,
                             const double *u, const double *db, const double *q, double eps, double lambda,
                             int64_t over, int64_t n, int64_t d, int64_t groups) {
    for (int64_t v = 0; v < n; v++) {
        double weighted = 0; /* sum_k dS_vk S_vk */
        for (int64_t j = 0; j < d; j++)
            gh[v * d + j] = go[v * d + j];
        for (int64_t g = 0; g < groups; g++) {
            double ds = 0;
            for (int64_t j = 0; j < d; j++) {
                int64_t at = g * d + j;
                double r = 1 / sqrt(var[at] + eps), t = s[v * groups + g] * h[v * d + j];
                double big_a = gamma[at] * r, big_d = -0.5 * r * r * r * gamma[at] * q[at];
                double dt = lambda * big_a * go[v * d + j] + 2 / (double)over * (t - mean[at]) * big_d -
                            1 / (double)over * big_a * db[j];
                ds += h[v * d + j] * dt;
                gh[v * d + j] += s[v * groups + g] * dt;
            }
            gz[v * groups + g] = ds;
            weighted += ds * s[v * groups + g];
        }
        for (int64_t g = 0; g < groups; g++) {
            double z = s[v * groups + g] * (gz[v * groups + g] - weighted);
            gz[v * groups + g] = z;
            for (int64_t j = 0; j < d; j++)
                gh[v * d + j] += z * u[g * d + j];
            for (int64_t j = 0; gu && j < d; j++)
                gu[g * d + j] += z * h[v * d + j];
            if (gc)
                gc[g] += z;
        }
    }
}
