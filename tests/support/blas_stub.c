/* blas_stub.c - the OpenBLAS calls of the CPU back end as plain loops, for programs on machines whose OpenBLAS is not
 * installed here (package_arm64.sh). */
void openblas_set_num_threads(int count) { (void)count; }
int openblas_get_num_threads(void) { return 1; }
const char *openblas_get_config(void) { return "plain loops"; }
const char *openblas_get_corename(void) { return "none"; }

/* C = alpha op(A) op(B) + beta C; row major, as the back end calls it. */
enum { NO_TRANS = 111 }; /* of cblas.h, which only the CPU back end includes */
void cblas_sgemm(int order, int trans_a, int trans_b, int m, int n, int k, float alpha, const float *a, int lda,
                 const float *b, int ldb, float beta, float *c, int ldc) {
    (void)order;
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0;
            for (int l = 0; l < k; l++)
                sum += (double)(trans_a == NO_TRANS ? a[i * lda + l] : a[l * lda + i]) *
                       (double)(trans_b == NO_TRANS ? b[l * ldb + j] : b[j * ldb + l]);
            c[i * ldc + j] = (float)(alpha * sum) + (beta != 0 ? beta * c[i * ldc + j] : 0);
        }
}
