/* ref_sparse.c - the oracle of the sparse product. */
#include "ref/ref.h"

void ref_spmm(double *y, const ref_csr *a, const double *val, const double *x, const double *z, const be_drop *drop,
              double alpha, double beta, int64_t d) {
    for (int64_t r = 0; r < a->rows; r++)
        for (int64_t j = 0; j < d; j++) {
            double sum = 0;
            for (int64_t e = a->ptr[r]; e < a->ptr[r + 1]; e++) {
                int64_t id = ref_id(a, e);
                sum += (val ? val[id] : 1) * ref_keep(drop, id) * x[a->idx[e] * d + j];
            }
            y[r * d + j] = alpha * sum + (z ? beta * z[r * d + j] : 0);
        }
}
