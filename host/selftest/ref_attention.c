/* ref_attention.c - oracles of GAT's edge operations. Value (i, h) of node or entry i is number i heads + h. */
#include <math.h>

#include "selftest/ref.h"

static double leaky(double x, double slope) { return x > 0 ? x : slope * x; }

void ref_gat_scores(double *s, double *t, const double *z, const double *a_src, const double *a_dst, int64_t n,
                    int64_t heads, int64_t d) {
    for (int64_t i = 0; i < n * heads; i++) {
        int64_t h = i % heads;
        s[i] = t[i] = 0;
        for (int64_t j = 0; j < d; j++) {
            s[i] += z[i * d + j] * a_src[h * d + j];
            t[i] += z[i * d + j] * a_dst[h * d + j];
        }
    }
}

static double score(const ref_csr *a, const double *s, const double *t, int64_t v, int64_t e, int64_t h,
                    int64_t heads) {
    return s[a->indices[e] * heads + h] + t[v * heads + h];
}

static void softmax_row(double *alpha, const ref_csr *a, const double *s, const double *t, double slope, int64_t v,
                        int64_t h, int64_t heads) {
    double most = -INFINITY, sum = 0;
    for (int64_t e = a->indptr[v]; e < a->indptr[v + 1]; e++)
        most = fmax(most, leaky(score(a, s, t, v, e, h, heads), slope));
    for (int64_t e = a->indptr[v]; e < a->indptr[v + 1]; e++)
        sum += exp(leaky(score(a, s, t, v, e, h, heads), slope) - most);
    for (int64_t e = a->indptr[v]; e < a->indptr[v + 1]; e++)
        alpha[ref_id(a, e) * heads + h] = exp(leaky(score(a, s, t, v, e, h, heads), slope) - most) / sum;
}

void ref_gat_softmax(double *alpha, const ref_csr *a, const double *s, const double *t, double slope, int64_t heads) {
    for (int64_t v = 0; v < a->rows; v++)
        for (int64_t h = 0; h < heads; h++)
            softmax_row(alpha, a, s, t, slope, v, h, heads);
}

/* q_e = mask <gy_v, z_u>, of head h */
static double edge_dot(const ref_csr *a, int64_t v, int64_t e, int64_t h, const double *gy, const double *z,
                       const be_drop *drop, int64_t heads, int64_t d) {
    double dot = 0;
    for (int64_t j = 0; j < d; j++)
        dot += gy[(v * heads + h) * d + j] * z[(a->indices[e] * heads + h) * d + j];
    return dot * ref_drop_factor(drop, ref_id(a, e) * heads + h);
}

void ref_gat_backward_edges(double *ge, double *gt, const ref_csr *a, const double *alpha, const double *s,
                            const double *t, const double *gy, const double *z, const be_drop *drop, double slope,
                            int64_t heads, int64_t d) {
    for (int64_t i = 0; i < a->rows * heads; i++) {
        int64_t v = i / heads, h = i % heads;
        double mean = 0;
        for (int64_t e = a->indptr[v]; e < a->indptr[v + 1]; e++)
            mean += alpha[ref_id(a, e) * heads + h] * edge_dot(a, v, e, h, gy, z, drop, heads, d);
        gt[i] = 0;
        for (int64_t e = a->indptr[v]; e < a->indptr[v + 1]; e++) {
            int64_t id = ref_id(a, e) * heads + h;
            double slope_e = score(a, s, t, v, e, h, heads) > 0 ? 1 : slope;
            ge[id] = alpha[id] * (edge_dot(a, v, e, h, gy, z, drop, heads, d) - mean) * slope_e;
            gt[i] += ge[id];
        }
    }
}

void ref_gat_edge_sums(double *gs, const ref_csr *at, const double *ge, int64_t heads) {
    for (int64_t i = 0; i < at->rows * heads; i++) {
        gs[i] = 0;
        for (int64_t e = at->indptr[i / heads]; e < at->indptr[i / heads + 1]; e++)
            gs[i] += ge[ref_id(at, e) * heads + i % heads];
    }
}

void ref_gat_backward_scores(double *gz, double *ga_src, double *ga_dst, const double *z, const double *a_src,
                             const double *a_dst, const double *gs, const double *gt, int64_t n, int64_t heads,
                             int64_t d) {
    for (int64_t i = 0; i < n * heads; i++)
        for (int64_t j = 0; j < d; j++) {
            int64_t p = i % heads * d + j;
            gz[i * d + j] += gs[i] * a_src[p] + gt[i] * a_dst[p];
            ga_src[p] += gs[i] * z[i * d + j];
            ga_dst[p] += gt[i] * z[i * d + j];
        }
}
