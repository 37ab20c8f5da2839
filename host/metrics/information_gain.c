/* information_gain.c - instance information gain: the mutual information of input and representations, in bits. x_i are
 * unit feature rows, z_i = argmax h_i, k_ij = exp(-||x_i - x_j||^2 / (8 sigma^2)) with sigma^2 = 0.1:
 *
 *   gain = [ -1/n sum_i log(1/n sum_j k_ij) + sum_c p_c 1/P_c sum_{i in c} log(1/P_c sum_{j in c} k_ij) ] / ln 2
 *
 * One pass over the pairs gives both terms: the fold sums k_ij by z_j. Both outer sums are over i with weight 1/n, so
 * that rows of a sample estimate the gain by the mean of their terms. Sparse features stay sparse; logs are summed in
 * double on the host. */
#include <math.h>
#include <string.h>

#include "core/mem.h"
#include "metrics/single_metrics.h"

#define SCALE 1.25f /* 1 / (8 * 0.1) */

/* Row i of the kernel: the sampled ones first. */
static int64_t row_at(const metrics_sample *sample, int64_t i) { return sample->order ? sample->order[i] : i; }

static void argmax_rows(int32_t *z, int64_t *size, const metrics_input *in, const metrics_sample *sample) {
    for (int64_t v = 0; v < in->nodes; v++) {
        const float *row = in->h + row_at(sample, v) * in->width;
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

/* *ordered = the rows of x in the order of the sample. */
static fathom_status order_rows(data_features *ordered, const data_features *x, const metrics_sample *sample) {
    *ordered = (data_features){.rows = x->rows, .cols = x->cols, .nonzeros = x->nonzeros};
    TRY(mem_new(&ordered->indptr, (int64_t)x->rows + 1, 1, sizeof *ordered->indptr, "features"));
    TRY(mem_new(&ordered->indices, x->nonzeros, 1, sizeof *ordered->indices, "features"));
    TRY(mem_new(&ordered->values, x->nonzeros, 1, sizeof *ordered->values, "features"));
    for (int32_t i = 0; i < x->rows; i++) {
        int64_t from = x->indptr[sample->order[i]], count = x->indptr[sample->order[i] + 1] - from;
        int64_t to = ordered->indptr[i];
        ordered->indptr[i + 1] = to + count;
        memcpy(ordered->indices + to, x->indices + from, (size_t)count * sizeof *x->indices);
        memcpy(ordered->values + to, x->values + from, (size_t)count * sizeof *x->values);
    }
    return FATHOM_OK;
}

static fathom_status upload_sparse(metrics_kernel *k, const data_features *x) {
    float *values = NULL;
    data_features t = {0}, ordered = {0};
    int64_t *transposed = NULL, n = k->n;
    int32_t *eids = NULL;
    fathom_status status;
    if (k->sample->order) {
        TRY_OUT(order_rows(&ordered, x, k->sample));
        x = &ordered;
    }
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
    data_features_free(&ordered);
    mem_free(transposed);
    mem_free(eids);
    mem_free(values);
    return status;
}

static fathom_status upload_dense(metrics_kernel *k, const data_features *x) {
    float *unit = NULL;
    int64_t n = k->n, cols = x->cols;
    fathom_status status;
    TRY_OUT(mem_new(&unit, n, cols, sizeof *unit, "unit features"));
    for (int64_t i = 0; i < n; i++)
        metrics_unit_rows(unit + i * cols, NULL, x->values + row_at(k->sample, i) * cols, 1, cols);
    TRY_OUT(be_alloc(k->dev, &k->buf, be_floats(n * cols + n), "unit features"));
    k->x = be_view(k->buf, 0, n, cols);
    k->groups_of = be_int_view(k->buf, n * cols, n);
    TRY_OUT(be_upload(k->dev, k->buf, 0, unit, be_floats(n * cols)));
out:
    mem_free(unit);
    return status;
}

fathom_status metrics_kernel_upload(metrics_kernel *k, const data_features *x) {
    if (!x->dense && x->nonzeros > INT32_MAX)
        return fail(FATHOM_DATA, "features with %lld stored values are too large", (long long)x->nonzeros);
    return x->dense ? upload_dense(k, x) : upload_sparse(k, x);
}

void metrics_kernel_free(metrics_kernel *k) {
    be_csr_free(k->dev, &k->a);
    be_csr_free(k->dev, &k->at);
    be_free(k->dev, k->buf);
    k->buf = NULL;
}

fathom_status metrics_kernel_fold(const metrics_kernel *k, be_mat out, int64_t first) {
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

void metrics_gain_add(metrics_gain *gain, const float *part, int64_t groups, int32_t mine, double size, int64_t n) {
    double sum = 0;
    for (int64_t c = 0; c < groups; c++)
        sum += (double)part[c];
    double all = log(sum / (double)n), within = log((double)part[mine] / size);
    gain->all += all;
    gain->within += within;
    metrics_spread_add(&gain->spread, within - all);
}

void metrics_gain_give(metrics_values *values, const metrics_gain *gain, int64_t n) {
    /* p_c / P_c = 1/n for every class */
    values->instance_information_gain = (gain->within - gain->all) / (double)gain->spread.count / log(2.0);
    values->instance_information_gain_error = sqrt(metrics_spread_error(&gain->spread, n)) / log(2.0);
}

static fathom_status add_rows(metrics_gain *gain, const metrics_kernel *k, const metrics_input *in, int64_t rows,
                              const int32_t *z, const int64_t *size) {
    int64_t step = metrics_launch_rows(k->n), groups = in->width;
    be_buf *buf = NULL;
    float *part = NULL;
    fathom_status status;
    TRY_OUT(mem_new(&part, step, groups, sizeof *part, "kernel sums"));
    TRY_OUT(be_alloc(k->dev, &buf, be_floats(step * groups), "kernel sums"));
    for (int64_t first = 0; first < rows; first += step) {
        int64_t count = first + step < rows ? step : rows - first;
        TRY_OUT(metrics_before_launch(in, "instance information gain", first, rows));
        TRY_OUT(metrics_kernel_fold(k, be_view(buf, 0, count, groups), first));
        TRY_OUT(be_download(k->dev, part, buf, 0, be_floats(count * groups)));
        for (int64_t i = 0; i < count; i++)
            metrics_gain_add(gain, part + i * groups, groups, z[first + i], (double)size[z[first + i]], k->n);
    }
out:
    be_free(k->dev, buf);
    mem_free(part);
    return status;
}

fathom_status metrics_information_gain(metrics_values *values, be_device *dev, const metrics_input *in,
                                       const metrics_sample *sample) {
    const data_features *x = in->features;
    metrics_kernel k = {.dev = dev, .n = in->nodes, .sample = sample};
    metrics_gain gain = {0};
    int32_t *z = NULL;
    int64_t *size = NULL;
    fathom_status status;
    values->instance_information_gain = values->instance_information_gain_error = 0;
    if (!x->dense && x->nonzeros == 0)
        return FATHOM_OK; /* all rows are equal: the gain is 0 */
    TRY_OUT(mem_new(&z, in->nodes, 1, sizeof *z, "groups of the nodes"));
    TRY_OUT(mem_new(&size, in->width, 1, sizeof *size, "group sizes"));
    argmax_rows(z, size, in, sample);
    TRY_OUT(metrics_kernel_upload(&k, x));
    TRY_OUT(be_upload(dev, k.buf, be_floats(k.groups_of.off), z, be_floats(k.n)));
    TRY_OUT(add_rows(&gain, &k, in, sample->rows, z, size));
    metrics_gain_give(values, &gain, k.n);
out:
    metrics_kernel_free(&k);
    mem_free(z);
    mem_free(size);
    return status;
}
