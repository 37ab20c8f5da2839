/* ref_attention.c - oracles of GAT's edge operations. */
#include <math.h>

#include "selftest/ref.h"

static double leaky(double x, double slope) { return x > 0 ? x : slope * x; }

void ref_gat_scores(double *s, double *t, const double *z, const double *a_src, const double *a_dst, int64_t n,
                    int64_t d) {
    for (int64_t v = 0; v < n; v++) {
        s[v] = t[v] = 0;
        for (int64_t j = 0; j < d; j++) {
            s[v] += z[v * d + j] * a_src[j];
            t[v] += z[v * d + j] * a_dst[j];
        }
    }
}

void ref_gat_softmax(double *alpha, const ref_csr *a, const double *s, const double *t, double slope) {
    for (int64_t v = 0; v < a->rows; v++) {
        double most = -INFINITY, sum = 0;
        for (int64_t e = a->indptr[v]; e < a->indptr[v + 1]; e++)
            most = fmax(most, leaky(s[a->indices[e]] + t[v], slope));
        for (int64_t e = a->indptr[v]; e < a->indptr[v + 1]; e++)
            sum += exp(leaky(s[a->indices[e]] + t[v], slope) - most);
        for (int64_t e = a->indptr[v]; e < a->indptr[v + 1]; e++)
            alpha[ref_id(a, e)] = exp(leaky(s[a->indices[e]] + t[v], slope) - most) / sum;
    }
}

/* q_e = mask <gy_v, z_u> */
static double edge_dot(const ref_csr *a, int64_t v, int64_t e, const double *gy, const double *z, const be_drop *drop,
                       int64_t d) {
    double dot = 0;
    for (int64_t j = 0; j < d; j++)
        dot += gy[v * d + j] * z[a->indices[e] * d + j];
    return dot * ref_drop_factor(drop, ref_id(a, e));
}

void ref_gat_backward_edges(double *ge, double *gt, const ref_csr *a, const double *alpha, const double *s,
                            const double *t, const double *gy, const double *z, const be_drop *drop, double slope,
                            int64_t d) {
    for (int64_t v = 0; v < a->rows; v++) {
        double mean = 0;
        for (int64_t e = a->indptr[v]; e < a->indptr[v + 1]; e++)
            mean += alpha[ref_id(a, e)] * edge_dot(a, v, e, gy, z, drop, d);
        gt[v] = 0;
        for (int64_t e = a->indptr[v]; e < a->indptr[v + 1]; e++) {
            int64_t id = ref_id(a, e);
            double slope_e = s[a->indices[e]] + t[v] > 0 ? 1 : slope;
            ge[id] = alpha[id] * (edge_dot(a, v, e, gy, z, drop, d) - mean) * slope_e;
            gt[v] += ge[id];
        }
    }
}

void ref_gat_edge_sums(double *gs, const ref_csr *at, const double *ge) {
    for (int64_t u = 0; u < at->rows; u++) {
        gs[u] = 0;
        for (int64_t e = at->indptr[u]; e < at->indptr[u + 1]; e++)
            gs[u] += ge[ref_id(at, e)];
    }
}

void ref_gat_backward_scores(double *gz, double *ga_src, double *ga_dst, const double *z, const double *a_src,
                             const double *a_dst, const double *gs, const double *gt, int64_t n, int64_t d) {
    for (int64_t v = 0; v < n; v++)
        for (int64_t j = 0; j < d; j++) {
            gz[v * d + j] += gs[v] * a_src[j] + gt[v] * a_dst[j];
            ga_src[j] += gs[v] * z[v * d + j];
            ga_dst[j] += gt[v] * z[v * d + j];
        }
}
