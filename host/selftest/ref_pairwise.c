/* ref_pairwise.c - oracles of the folds over pairs of rows and of the Dirichlet energy. */
#include <math.h>

#include "selftest/ref.h"

static double squared_distance(const double *x, const double *y, int64_t d) {
    double sum = 0;
    for (int64_t j = 0; j < d; j++)
        sum += (x[j] - y[j]) * (x[j] - y[j]);
    return sum;
}

static double fold(be_fold kind, double scale, double squared) {
    return kind == BE_FOLD_EUCLID ? sqrt(squared) : kind == BE_FOLD_SQUARED ? squared : exp(-scale * squared);
}

void ref_pair_fold(double *out, const double *x, const int32_t *labels, be_fold kind, double scale, int64_t first,
                   int64_t rows, int64_t n, int64_t d, int64_t classes) {
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t c = 0; c < classes; c++)
            out[i * classes + c] = 0;
        for (int64_t j = 0; j < n; j++)
            if (labels[j] >= 0 && labels[j] < classes)
                out[i * classes + labels[j]] += fold(kind, scale, squared_distance(x + (first + i) * d, x + j * d, d));
    }
}

/* <x_i, x_j> of two sparse rows: every entry of i against every entry of j. */
static double sparse_dot(const ref_csr *a, const double *val, int64_t i, int64_t j) {
    double dot = 0;
    for (int64_t e = a->indptr[i]; e < a->indptr[i + 1]; e++)
        for (int64_t f = a->indptr[j]; f < a->indptr[j + 1]; f++)
            if (a->indices[e] == a->indices[f])
                dot += val[ref_id(a, e)] * val[ref_id(a, f)];
    return dot;
}

void ref_pair_fold_sparse(double *out, const ref_csr *a, const double *val, const double *sq, const int32_t *labels,
                          double scale, int64_t first, int64_t rows, int64_t classes) {
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t c = 0; c < classes; c++)
            out[i * classes + c] = 0;
        for (int64_t j = 0; j < a->rows; j++)
            if (labels[j] >= 0 && labels[j] < classes) {
                double squared = sq[first + i] + sq[j] - 2 * sparse_dot(a, val, first + i, j);
                out[i * classes + labels[j]] += exp(-scale * fmax(squared, 0));
            }
    }
}

void ref_mad_fold(double *sum, int32_t *count, const double *x, const double *norm, int64_t first, int64_t rows,
                  int64_t n, int64_t d) {
    for (int64_t i = 0; i < rows; i++) {
        sum[i] = 0;
        count[i] = 0;
        for (int64_t j = 0; j < n; j++) {
            double distance = squared_distance(x + (first + i) * d, x + j * d, d) / 2;
            if (norm[first + i] == 0 || norm[j] == 0)
                distance = 0;
            if (distance > 1e-12) {
                sum[i] += distance;
                count[i]++;
            }
        }
    }
}

void ref_dirichlet(double *e, const ref_csr *a, const double *x, const double *w, int64_t d) {
    for (int64_t v = 0; v < a->rows; v++) {
        e[v] = 0;
        for (int64_t k = a->indptr[v]; k < a->indptr[v + 1]; k++)
            for (int64_t j = 0; j < d; j++) {
                int64_t u = a->indices[k];
                double edge = (w ? w[v] : 1) * x[v * d + j] - (w ? w[u] : 1) * x[u * d + j];
                e[v] += edge * edge;
            }
    }
}
