/* sample.c - see sample.h. Row v has the key (Philox of v, v); the rows with the smallest keys are taken. */
#include "metrics/sample.h"

#include <math.h>
#include <stdlib.h>

#include "core/mem.h"
#include "core/random.h"

#define SEED 1
#define ROWS_OF_A_CLASS 2

static int compare_keys(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Marks the rows to take, given all keys in ascending order; returns how many. */
static int64_t mark(bool *taken, const uint64_t *keys, int64_t n, int64_t rows, const int32_t *labels, int64_t *count) {
    int64_t marked = 0;
    for (int64_t i = 0; i < n; i++) {
        int32_t v = (int32_t)(keys[i] & INT32_MAX), label = labels ? labels[v] : -1;
        if (i >= rows && (label < 0 || count[label] >= ROWS_OF_A_CLASS))
            continue;
        taken[v] = true;
        marked++;
        if (label >= 0)
            count[label]++;
    }
    return marked;
}

fathom_status metrics_sample_make(metrics_sample *sample, int64_t n, int64_t rows, const int32_t *labels,
                                  int32_t classes) {
    uint64_t *keys = NULL;
    bool *taken = NULL;
    int64_t *count = NULL;
    fathom_status status;
    *sample = (metrics_sample){.n = n, .rows = n};
    if (rows >= n)
        return FATHOM_OK;
    TRY_OUT(mem_new(&keys, n, 1, sizeof *keys, "sampled rows"));
    TRY_OUT(mem_new(&taken, n, 1, sizeof *taken, "sampled rows"));
    TRY_OUT(mem_new(&count, labels ? classes : 0, 1, sizeof *count, "sampled rows"));
    TRY_OUT(mem_new(&sample->order, n, 1, sizeof *sample->order, "sampled rows"));
    for (int64_t v = 0; v < n; v++)
        keys[v] = (uint64_t)random_bits(SEED, RANDOM_METRICS, 0, 0, (uint64_t)v) << 32 | (uint64_t)v;
    qsort(keys, (size_t)n, sizeof *keys, compare_keys);
    sample->rows = mark(taken, keys, n, rows, labels, count);
    int64_t next[] = {sample->rows, 0}; /* places of the rows that are left, and of those taken */
    for (int64_t v = 0; v < n; v++)
        sample->order[next[taken[v]]++] = (int32_t)v;
out:
    mem_free(keys);
    mem_free(taken);
    mem_free(count);
    return status;
}

void metrics_sample_free(metrics_sample *sample) {
    mem_free(sample->order);
    *sample = (metrics_sample){0};
}

fathom_status metrics_sample_order(be_device *dev, be_buf **buf, be_mat *x, const metrics_sample *sample) {
    int64_t *indptr = NULL;
    be_csr pick = {0};
    fathom_status status;
    if (!sample->order)
        return FATHOM_OK;
    TRY_OUT(mem_new(&indptr, sample->n + 1, 1, sizeof *indptr, "sampled rows"));
    for (int64_t i = 0; i <= sample->n; i++)
        indptr[i] = i;
    TRY_OUT(be_csr_upload(dev, &pick, sample->n, sample->n, indptr, sample->order, NULL, "sampled rows"));
    TRY_OUT(be_alloc(dev, buf, be_floats(x->rows * x->cols), "sampled rows"));
    be_mat ordered = be_view(*buf, 0, x->rows, x->cols);
    /* y_i = x_order[i] */
    TRY_OUT(be_spmm(dev, &(be_spmm_args){.y = ordered, .a = pick, .x = *x, .alpha = 1}));
    *x = ordered;
out:
    be_csr_free(dev, &pick);
    mem_free(indptr);
    return status;
}

void metrics_spread_add(metrics_spread *spread, double value) {
    double off = value - spread->mean;
    spread->mean += off / (double)++spread->count;
    spread->squares += off * (value - spread->mean);
}

double metrics_spread_error(const metrics_spread *spread, int64_t of) {
    double count = (double)spread->count;
    if (spread->count >= of)
        return 0;
    return spread->count < 2 ? NAN : spread->squares / (count - 1) / count * (1 - count / (double)of);
}
