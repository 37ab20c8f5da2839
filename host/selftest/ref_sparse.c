/* ref_sparse.c - the oracles of the sparse product, alone and followed by a dense one, and of DropEdge. */
#include "philox.h"
#include "selftest/ref.h"

void ref_spmm(double *y, const ref_csr *a, const double *val, const double *x, const double *z, const be_drop *drop,
              double alpha, double beta, int64_t heads, int64_t d) {
    int64_t cols = heads * d;
    for (int64_t r = 0; r < a->rows; r++)
        for (int64_t j = 0; j < cols; j++) {
            double sum = 0;
            for (int64_t e = a->indptr[r]; e < a->indptr[r + 1]; e++) {
                int64_t id = ref_id(a, e) * heads + j / d;
                sum += (val ? val[id] : 1) * ref_drop_factor(drop, id) * x[a->indices[e] * cols + j];
            }
            y[r * cols + j] = alpha * sum + (z ? beta * z[r * cols + j] : 0);
        }
}

void ref_aggregate(double *y, double *p, const ref_csr *a, const double *val, const double *x, const double *w, bool tw,
                   int64_t d, int64_t m) {
    for (int64_t i = 0; i < a->rows * m; i++)
        y[i] = 0;
    for (int64_t r = 0; r < a->rows; r++)
        for (int64_t k = 0; k < d; k++) {
            double sum = 0;
            for (int64_t e = a->indptr[r]; e < a->indptr[r + 1]; e++)
                sum += (val ? val[ref_id(a, e)] : 1) * x[a->indices[e] * d + k];
            if (p)
                p[r * d + k] = sum;
            for (int64_t j = 0; j < m; j++)
                y[r * m + j] += sum * w[tw ? j * d + k : k * m + j];
        }
}

void ref_edge_drop(double *keep, int32_t *degree, const ref_csr *a, const be_drop *drop) {
    for (int64_t r = 0; r < a->rows; r++) {
        degree[r] = 0;
        for (int64_t e = a->indptr[r]; e < a->indptr[r + 1]; e++) {
            uint32_t u = (uint32_t)r, v = (uint32_t)a->indices[e];
            philox_block b;
            philox_into(&b, u < v ? u : v, u < v ? v : u, drop->epoch, drop->stream, drop->key[0], drop->key[1]);
            keep[e] = u != v && b.v[0] < drop->threshold ? 0 : 1;
            degree[r] += keep[e] != 0;
        }
    }
}

void ref_edge_norm(double *val, const ref_csr *a, const int32_t *degree, const double *root) {
    for (int64_t r = 0; r < a->rows; r++)
        for (int64_t e = a->indptr[r]; e < a->indptr[r + 1]; e++)
            val[e] *= root[degree[r]] * root[degree[a->indices[e]]];
}
