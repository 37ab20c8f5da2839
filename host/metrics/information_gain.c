/* information_gain.c - instance information gain: the mutual information of input and representations, in bits. x_i are
 * unit feature rows, z_i = argmax h_i, k_ij = exp(-||x_i - x_j||^2 / (8 sigma^2)) with sigma^2 = 0.1:
 *
 *   gain = [ -1/n sum_i log(1/n sum_j k_ij) + sum_c p_c 1/P_c sum_{i in c} log(1/P_c sum_{j in c} k_ij) ] / ln 2
 *
 * One pass over the pairs gives both terms: the fold sums k_ij by z_j. Sparse features stay sparse; logs are summed in
 * double on the host. */
#include <math.h>

#include "core/mem.h"
#include "metrics/single_metrics.h"

#define SCALE 1.25f /* 1 / (8 * 0.1) */

typedef struct kernel {
    be_device *dev;
    int64_t n, groups; /* groups: columns of h */
    be_buf *buf;
    be_mat x; /* n x F dense features, or */
    be_csr a, at;
    be_mat val, sq;
    be_ints groups_of;
    const stop_flag *stop;
} kernel;

static void argmax_rows(int32_t *z, int64_t *size, const metrics_input *in) {
    for (int64_t v = 0; v < in->nodes; v++) {
        const float *row = in->h + v * in->width;
        int64_t best = 0;
        for (int64_t j = 1; j < in->width; j++)
            if (row[j] > row[best])
                best = j;
        z[v] = (int32_t)best;
        size[best]++;
    }
}

/* Unit values of sparse rows, and their squared lengths after rounding (about 1, or 0 for a zero row). */
static void unit_values(float *values, float *squares, const data_features *x) {
    for (int32_t v = 0; v < x->rows; v++) {
        double square = 0, rounded = 0;
        for (int64_t e = x->indptr[v]; e < x->indptr[v + 1]; e++)
            square += (double)x->values[e] * (double)x->values[e];
        for (int64_t e = x->indptr[v]; e < x->indptr[v + 1]; e++) {
            values[e] = square > 0 ? (float)((double)x->values[e] / sqrt(square)) : 0.0f;
            rounded += (double)values[e] * (double)values[e];
        }
        squares[v] = (float)rounded;
    }
}

static fathom_status upload_sparse(kernel *k, const data_features *x) {
    float *values = NULL;
    data_features t = {0};
    int64_t *transposed = NULL, n = k->n;
    int32_t *eids = NULL;
    fathom_status status;
    TRY_OUT(mem_new(&values, x->nonzeros + n, 1, sizeof *values, "unit features"));
    TRY_OUT(mem_new(&eids, x->nonzeros, 1, sizeof *eids, "entries of the features"));
    unit_values(values, values + x->nonzeros, x);
    TRY_OUT(data_transpose(&t, &transposed, x));
    for (int64_t e = 0; e < x->nonzeros; e++)
        eids[e] = (int32_t)transposed[e];
    TRY_OUT(be_csr_upload(k->dev, &k->a, x->rows, x->cols, x->indptr, x->indices, NULL, "features"));
    TRY_OUT(be_csr_upload(k->dev, &k->at, x->cols, x->rows, t.indptr, t.indices, eids, "transposed features"));
    TRY_OUT(be_alloc(k->dev, &k->buf, be_floats(x->nonzeros + 2 * n), "unit features"));
    k->val = be_vector(k->buf, 0, x->nonzeros);
    k->sq = be_vector(k->buf, x->nonzeros, n);
    k->groups_of = be_int_view(k->buf, x->nonzeros + n, n);
    TRY_OUT(be_upload(k->dev, k->buf, 0, values, be_floats(x->nonzeros + n)));
out:
    data_features_free(&t);
    mem_free(transposed);
    mem_free(eids);
    mem_free(values);
    return status;
}

static fathom_status upload_dense(kernel *k, const data_features *x) {
    float *unit = NULL;
    int64_t n = k->n, cols = x->cols;
    fathom_status status;
    TRY_OUT(mem_new(&unit, n, cols, sizeof *unit, "unit features"));
    metrics_unit_rows(unit, NULL, x->values, n, cols);
    TRY_OUT(be_alloc(k->dev, &k->buf, be_floats(n * cols + n), "unit features"));
    k->x = be_view(k->buf, 0, n, cols);
    k->groups_of = be_int_view(k->buf, n * cols, n);
    TRY_OUT(be_upload(k->dev, k->buf, 0, unit, be_floats(n * cols)));
out:
    mem_free(unit);
    return status;
}

/* out_ic = sum over j with z_j = c of k_ij */
static fathom_status fold(const kernel *k, be_mat out, int64_t first) {
    if (k->x.buf)
        return be_pair_fold(
            k->dev,
            &(be_pair_fold_args){
                .out = out, .x = k->x, .labels = k->groups_of, .kind = BE_FOLD_GAUSS, .scale = SCALE, .first = first});
    return be_pair_fold_sparse(k->dev, &(be_pair_fold_sparse_args){.out = out,
                                                                   .a = k->a,
                                                                   .at = k->at,
                                                                   .val = k->val,
                                                                   .sq = k->sq,
                                                                   .labels = k->groups_of,
                                                                   .scale = SCALE,
                                                                   .first = first});
}

/* all = sum_i log(1/n sum_j k_ij), within = sum_i log(1/P_c sum_{j in c} k_ij) with c = z_i. */
static fathom_status sum_logs(double *all, double *within, const kernel *k, const int32_t *z, const int64_t *size) {
    int64_t step = metrics_launch_rows(k->n);
    be_buf *buf = NULL;
    float *part = NULL;
    fathom_status status;
    *all = *within = 0;
    TRY_OUT(mem_new(&part, step, k->groups, sizeof *part, "kernel sums"));
    TRY_OUT(be_alloc(k->dev, &buf, be_floats(step * k->groups), "kernel sums"));
    for (int64_t first = 0; first < k->n; first += step) {
        int64_t count = first + step < k->n ? step : k->n - first;
        TRY_OUT(metrics_check_stop(k->stop));
        TRY_OUT(fold(k, be_view(buf, 0, count, k->groups), first));
        TRY_OUT(be_download(k->dev, part, buf, 0, be_floats(count * k->groups)));
        for (int64_t i = 0; i < count; i++) {
            double sum = 0;
            for (int64_t c = 0; c < k->groups; c++)
                sum += (double)part[i * k->groups + c];
            int32_t mine = z[first + i];
            *all += log(sum / (double)k->n);
            *within += log((double)part[i * k->groups + mine] / (double)size[mine]);
        }
    }
out:
    be_free(k->dev, buf);
    mem_free(part);
    return status;
}

fathom_status metrics_information_gain(double *gain, be_device *dev, const metrics_input *in) {
    const data_features *x = in->features;
    kernel k = {.dev = dev, .n = in->nodes, .groups = in->width, .stop = in->stop};
    int32_t *z = NULL;
    int64_t *size = NULL;
    double all, within;
    fathom_status status;
    *gain = 0;
    if (!x->dense && x->nonzeros == 0)
        return FATHOM_OK; /* all rows are equal: the gain is 0 */
    if (!x->dense && x->nonzeros > INT32_MAX)
        return fail(FATHOM_DATA, "features with %lld stored values are too large", (long long)x->nonzeros);
    TRY_OUT(mem_new(&z, in->nodes, 1, sizeof *z, "groups of the nodes"));
    TRY_OUT(mem_new(&size, in->width, 1, sizeof *size, "group sizes"));
    argmax_rows(z, size, in);
    TRY_OUT(x->dense ? upload_dense(&k, x) : upload_sparse(&k, x));
    TRY_OUT(be_upload(dev, k.buf, be_floats(k.groups_of.off), z, be_floats(k.n)));
    TRY_OUT(sum_logs(&all, &within, &k, z, size));
    *gain = (within - all) / (double)in->nodes / log(2.0); /* p_c / P_c = 1/n for every class */
out:
    be_csr_free(dev, &k.a);
    be_csr_free(dev, &k.at);
    be_free(dev, k.buf);
    mem_free(z);
    mem_free(size);
    return status;
}
