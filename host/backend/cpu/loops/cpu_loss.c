/* cpu_loss.c - cross-entropy over a set of rows and its gradient, predictions and
 * accuracy. */
#include "backend/cpu/loops/loops.h"

/* Returns -log softmax(z)[label] and, where gz is given, writes (softmax - onehot) / count. */
static double xent_row(float *gz, const float *z, int64_t classes, int32_t label, float over_count) {
    float largest = z[0], wanted = z[label], sum = 0.0f;
    for (int64_t c = 1; c < classes; c++)
        largest = z[c] > largest ? z[c] : largest;
    for (int64_t i = 0; i < vf_count(classes); i++) {
        vf e = vf_exp(vf_row(z, classes, i) - largest);
        if (gz)
            vf_row_set(gz, classes, i, e);
        for (int lane = 0; lane < vf_part(classes, i); lane++)
            sum += e[lane];
    }
    if (gz) {
        for (int64_t c = 0; c < classes; c++)
            gz[c] *= over_count / sum;
        gz[label] -= over_count;
    }
    return log((double)sum) + (double)largest - (double)wanted;
}

CPU_SCRATCH(softmax_xent) {
    (void)threads;
    return padded((size_t)block_count(a->z.rows) * sizeof(double));
}
CPU_OP(softmax_xent) {
    int64_t n = a->z.rows, classes = a->z.cols, blocks = block_count(n);
    double *partial = (double *)(void *)ctx->scratch;
    const int32_t *labels = int_data(a->labels), *sets = int_data(a->sets);
    float over_count = a->count > 0 ? 1.0f / (float)a->count : 0.0f;
    range mine = partition(ctx, blocks);
    for (int64_t b = mine.begin; b < mine.end; b++) {
        range rows = block_range(n, b);
        partial[b] = 0.0;
        for (int64_t v = rows.begin; v < rows.end; v++) {
            float *gz = a->gz.buf ? row(a->gz, v) : NULL;
            if (a->count > 0 && (sets[v] >> a->set & 1))
                partial[b] += xent_row(gz, row(a->z, v), classes, labels[v], over_count);
            else if (gz)
                memset(gz, 0, (size_t)classes * sizeof(float));
        }
    }
    cpu_barrier(ctx);
    if (ctx->id != 0)
        return;
    double sum = 0.0;
    for (int64_t b = 0; b < blocks; b++)
        sum += partial[b];
    data(a->loss)[0] = a->count > 0 ? (float)(sum / (double)a->count) : 0.0f;
}

static int32_t argmax(const float *z, int64_t classes) {
    float best = -INFINITY;
    int32_t at = 0;
    for (int64_t c = 0; c < classes; c++)
        if (z[c] > best) {
            best = z[c];
            at = (int32_t)c;
        }
    return at;
}

#define SETS 16 /* counters per thread: one cache line, against false sharing */

CPU_SCRATCH(accuracy) {
    (void)a;
    return (size_t)threads * SETS * sizeof(int32_t);
}
CPU_OP(accuracy) {
    int32_t *counts = (int32_t *)(void *)ctx->scratch, *own = counts + SETS * ctx->id;
    const int32_t *labels = int_data(a->labels), *sets = int_data(a->sets);
    int32_t *pred = int_data(a->pred);
    memset(own, 0, SETS * sizeof *own);
    range rows = row_partition(ctx, a->z.rows);
    for (int64_t v = rows.begin; v < rows.end; v++) {
        pred[v] = argmax(row(a->z, v), a->z.cols);
        if (pred[v] == labels[v])
            for (int k = 0; k < a->correct.len; k++)
                own[k] += sets[v] >> k & 1;
    }
    cpu_barrier(ctx);
    if (ctx->id != 0)
        return;
    for (int k = 0; k < a->correct.len; k++) {
        int32_t sum = 0;
        for (int t = 0; t < ctx->size; t++)
            sum += counts[SETS * t + k];
        int_data(a->correct)[k] = sum;
    }
}
