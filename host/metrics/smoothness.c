/* smoothness.c - Dirichlet energy and mean average distance, which need no labels.
 *
 * Dirichlet energy (Cai and Wang 2020):  1/2 sum over ordered edges ||h_u / sqrt(1 + d_u) - h_v / sqrt(1 + d_v)||^2
 * its mean form (Rusch and others 2023): 1/n sum_u sum_{v in N(u)} ||h_u - h_v||^2
 * Mean average distance (Chen and others 2020): D_ij = 1 - cos(h_i, h_j); the mean of the entries above 1e-12 of each
 * row, then of the rows with such entries; 0 without any. */
#include <math.h>

#include "core/mem.h"
#include "metrics/single_metrics.h"

static fathom_status sum_energy(double *sum, const metrics_rows *rows, const be_csr *a, be_buf *buf, be_mat w,
                                float *host) {
    /* e_u = sum_{v in N(u)} ||w_u h_u - w_v h_v||^2 */
    TRY(be_dirichlet(rows->dev,
                     &(be_dirichlet_args){.e = be_vector(buf, 0, rows->n), .a = *a, .x = rows->raw_dev, .w = w}));
    TRY(be_download(rows->dev, host, buf, 0, be_floats(rows->n)));
    *sum = 0;
    for (int64_t v = 0; v < rows->n; v++)
        *sum += (double)host[v];
    *sum *= rows->scale * rows->scale;
    return FATHOM_OK;
}

fathom_status metrics_dirichlet(double *energy, double *mean, const metrics_rows *rows, const data_graph *graph) {
    int64_t n = rows->n;
    be_csr a = {0};
    be_buf *buf = NULL;
    float *host = NULL;
    double sum;
    fathom_status status;
    *energy = *mean = 0;
    if (graph->edges == 0)
        return FATHOM_OK;
    TRY_OUT(mem_new(&host, n, 1, sizeof *host, "energies"));
    TRY_OUT(be_csr_upload(rows->dev, &a, n, n, graph->indptr, graph->indices, NULL, "graph"));
    TRY_OUT(be_alloc(rows->dev, &buf, be_floats(2 * n), "energies"));
    for (int64_t v = 0; v < n; v++)
        host[v] = (float)(1.0 / sqrt((double)(graph->indptr[v + 1] - graph->indptr[v] + 1)));
    TRY_OUT(be_upload(rows->dev, buf, be_floats(n), host, be_floats(n)));
    /* w_u = 1 / sqrt(1 + d_u) */
    TRY_OUT(sum_energy(&sum, rows, &a, buf, be_vector(buf, n, n), host));
    *energy = 0.5 * sum;
    /* w_u = 1 */
    TRY_OUT(sum_energy(&sum, rows, &a, buf, (be_mat){0}, host));
    *mean = sum / (double)n;
out:
    be_csr_free(rows->dev, &a);
    be_free(rows->dev, buf);
    mem_free(host);
    return status;
}

void metrics_mad_add(metrics_mean *mad, float sum, int32_t count) {
    if (count == 0)
        return;
    mad->total += (double)sum / count;
    metrics_spread_add(&mad->spread, (double)sum / count);
}

void metrics_mad_give(metrics_values *values, const metrics_mean *mad, const metrics_sample *sample) {
    int64_t count = mad->spread.count;
    values->mean_average_distance = count ? mad->total / (double)count : 0;
    values->mean_average_distance_error =
        sample->order && count ? sqrt(metrics_spread_error(&mad->spread, sample->n)) : 0;
}

/* For the rows of the sample: sum_i = sum_j D_ij and their count, over D_ij > 1e-12; adds sum_i / count_i. */
static fathom_status add_means(metrics_mean *mad, const metrics_rows *rows, be_mat x, be_mat norm) {
    int64_t n = rows->n, all = rows->sample->rows, step = metrics_launch_rows(n);
    be_buf *buf = NULL;
    float *sums = NULL;
    int32_t *counts = NULL;
    fathom_status status;
    TRY_OUT(mem_new(&sums, step, 1, sizeof *sums, "distances"));
    TRY_OUT(mem_new(&counts, step, 1, sizeof *counts, "counts"));
    TRY_OUT(be_alloc(rows->dev, &buf, be_floats(2 * step), "distances"));
    for (int64_t first = 0; first < all; first += step) {
        int64_t count = first + step < all ? step : all - first;
        TRY_OUT(metrics_before_launch(rows->in, "mean average distance", first, all));
        TRY_OUT(be_mad_fold(rows->dev, &(be_mad_fold_args){.sum = be_vector(buf, 0, count),
                                                           .count = be_int_view(buf, step, count),
                                                           .x = x,
                                                           .norm = norm,
                                                           .first = first}));
        TRY_OUT(be_download(rows->dev, sums, buf, 0, be_floats(count)));
        TRY_OUT(be_download(rows->dev, counts, buf, be_floats(step), be_floats(count)));
        for (int64_t i = 0; i < count; i++) {
            if (counts[i] < 0 || counts[i] > n)
                TRY_OUT(fail(FATHOM_DEVICE, "%s counts %d of %lld rows: a wrong result; run `fathom selftest`",
                             be_device_info(rows->dev)->name, counts[i], (long long)n));
            metrics_mad_add(mad, sums[i], counts[i]);
        }
    }
out:
    be_free(rows->dev, buf);
    mem_free(sums);
    mem_free(counts);
    return status;
}

fathom_status metrics_mad(metrics_values *values, const metrics_rows *rows) {
    be_mat x = rows->unit_dev, norm = be_view(rows->norm_dev.buf, rows->norm_dev.off, rows->n, 1);
    be_buf *x_buf = NULL, *norm_buf = NULL;
    metrics_mean mad = {0};
    fathom_status status;
    TRY_OUT(metrics_sample_order(rows->dev, &x_buf, &x, rows->sample));
    TRY_OUT(metrics_sample_order(rows->dev, &norm_buf, &norm, rows->sample));
    TRY_OUT(add_means(&mad, rows, x, be_vector(norm.buf, norm.off, rows->n)));
    metrics_mad_give(values, &mad, rows->sample);
out:
    be_free(rows->dev, x_buf);
    be_free(rows->dev, norm_buf);
    return status;
}
