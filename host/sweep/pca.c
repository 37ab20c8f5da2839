/* pca.c - principal components by Jacobi rotations of the covariance matrix (embed2d.h). */
#include <math.h>

#include "core/mem.h"
#include "sweep/embed2d.h"

#define SWEEPS 60

/* Jacobi rotation that zeroes a[p][q]; v accumulates the rotations (columns: eigenvectors). */
static void rotate(double *a, double *v, int64_t d, int64_t p, int64_t q) {
    double off = a[p * d + q];
    if (off == 0)
        return;
    double theta = (a[q * d + q] - a[p * d + p]) / (2 * off);
    double t = (theta >= 0 ? 1 : -1) / (fabs(theta) + sqrt(theta * theta + 1));
    double c = 1 / sqrt(t * t + 1), s = t * c;
    for (int64_t i = 0; i < d; i++) {
        double x = a[i * d + p], y = a[i * d + q];
        a[i * d + p] = c * x - s * y;
        a[i * d + q] = s * x + c * y;
    }
    for (int64_t i = 0; i < d; i++) {
        double x = a[p * d + i], y = a[q * d + i];
        a[p * d + i] = c * x - s * y;
        a[q * d + i] = s * x + c * y;
    }
    for (int64_t i = 0; i < d; i++) {
        double x = v[i * d + p], y = v[i * d + q];
        v[i * d + p] = c * x - s * y;
        v[i * d + q] = s * x + c * y;
    }
}

static void diagonalise(double *a, double *v, int64_t d) {
    for (int64_t i = 0; i < d * d; i++)
        v[i] = i % (d + 1) == 0;
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        double off = 0, on = 0;
        for (int64_t i = 0; i < d * d; i++)
            *(i % (d + 1) == 0 ? &on : &off) += a[i] * a[i];
        if (off <= 1e-24 * on)
            return;
        for (int64_t p = 0; p < d; p++)
            for (int64_t q = p + 1; q < d; q++)
                rotate(a, v, d, p, q);
    }
}

/* a = (x - mean)^T (x - mean) / n */
static void covariance(double *a, double *mean, const double *x, int64_t n, int64_t d) {
    for (int64_t i = 0; i < n * d; i++)
        mean[i % d] += x[i] / (double)n;
    for (int64_t i = 0; i < n; i++)
        for (int64_t p = 0; p < d; p++)
            for (int64_t q = 0; q < d; q++)
                a[p * d + q] += (x[i * d + p] - mean[p]) * (x[i * d + q] - mean[q]) / (double)n;
}

/* Index of the largest eigenvalue (diagonal entry) other than `excluded`; -1: none. */
static int64_t largest(const double *a, int64_t d, int64_t excluded) {
    int64_t best = -1;
    for (int64_t i = 0; i < d; i++)
        if (i != excluded && (best < 0 || a[i * (d + 1)] > a[best * (d + 1)]))
            best = i;
    return best;
}

fathom_status embed2d_pca(double *xy, double *explained, const double *x, int64_t n, int64_t d) {
    double *a = NULL, *v = NULL, *mean = NULL, total = 0;
    fathom_status status;
    TRY_OUT(mem_new(&a, d, d, sizeof *a, "covariance"));
    TRY_OUT(mem_new(&v, d, d, sizeof *v, "principal axes"));
    TRY_OUT(mem_new(&mean, d, 1, sizeof *mean, "column means"));
    covariance(a, mean, x, n, d);
    diagonalise(a, v, d);
    int64_t axis[2] = {largest(a, d, -1), -1};
    axis[1] = largest(a, d, axis[0]);
    for (int64_t i = 0; i < d; i++)
        total += a[i * (d + 1)];
    double sum = a[axis[0] * (d + 1)] + (axis[1] < 0 ? 0 : a[axis[1] * (d + 1)]);
    *explained = total > 0 ? sum / total : 1;
    for (int k = 0; k < 2; k++) {
        int64_t largest_at = 0;
        for (int64_t j = 1; axis[k] >= 0 && j < d; j++)
            if (fabs(v[j * d + axis[k]]) > fabs(v[largest_at * d + axis[k]]) + 1e-12)
                largest_at = j;
        double sign = axis[k] >= 0 && v[largest_at * d + axis[k]] < 0 ? -1 : 1;
        for (int64_t i = 0; i < n; i++) {
            xy[2 * i + k] = 0;
            for (int64_t j = 0; axis[k] >= 0 && j < d; j++)
                xy[2 * i + k] += sign * (x[i * d + j] - mean[j]) * v[j * d + axis[k]];
        }
    }
out:
    mem_free(a);
    mem_free(v);
    mem_free(mean);
    return status;
}
