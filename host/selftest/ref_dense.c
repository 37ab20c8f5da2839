/* ref_dense.c - the oracle of gemm. */
#include "selftest/ref.h"

void ref_gemm(double *c, const double *a, const double *b, bool ta, bool tb, double alpha, double beta, int64_t m,
              int64_t n, int64_t k) {
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            double sum = 0;
            for (int64_t l = 0; l < k; l++)
                sum += (ta ? a[l * m + i] : a[i * k + l]) * (tb ? b[j * k + l] : b[l * n + j]);
            c[i * n + j] = alpha * sum + (beta != 0 ? beta * c[i * n + j] : 0);
        }
}
