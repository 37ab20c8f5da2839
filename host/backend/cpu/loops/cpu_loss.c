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
    const float *weight = data(a->weight);
    float over_count = a->count > 0 ? 1.0f / (float)a->count : 0.0f;
    range mine = partition(ctx, blocks);
    for (int64_t b = mine.begin; b < mine.end; b++) {
        range rows = block_range(n, b);
        partial[b] = 0.0;
        for (int64_t v = rows.begin; v < rows.end; v++) {
            float *gz = a->gz.buf ? row(a->gz, v) : NULL;
            bool member = a->count > 0 && (sets[v] >> a->set & 1);
            if (member && weight)
                partial[b] +=
                    (double)weight[labels[v]] * xent_row(gz, row(a->z, v), classes, labels[v], weight[labels[v]]);
            else if (member)
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
    double terms = weight ? 1.0 : (double)a->count;
    data(a->loss)[0] = a->count > 0 ? (float)(sum / terms) : 0.0f;
}

/* -log of the probability of every target of a row: max(z, 0) - z t + log(1 + exp(-|z|)); gz = (sigmoid(z) - t) scale.
 */
static double sigmoid_row(float *gz, const float *z, const float *target, int64_t classes, float scale) {
    double sum = 0.0;
    for (int64_t c = 0; c < classes; c++) {
        float x = z[c], t = target[c], e = expf(-fabsf(x)); /* gz may be z */
        sum += (double)((x > 0.0f ? x : 0.0f) - x * t) + (double)log1pf(e);
        if (gz)
            gz[c] = ((x >= 0.0f ? 1.0f : e) / (1.0f + e) - t) * scale;
    }
    return sum;
}

CPU_SCRATCH(sigmoid_xent) {
    (void)threads;
    return padded((size_t)block_count(a->z.rows) * sizeof(double));
}
CPU_OP(sigmoid_xent) {
    int64_t n = a->z.rows, classes = a->z.cols, blocks = block_count(n);
    double *partial = (double *)(void *)ctx->scratch, all = (double)a->count * (double)classes;
    const int32_t *sets = int_data(a->sets);
    range mine = partition(ctx, blocks);
    for (int64_t b = mine.begin; b < mine.end; b++) {
        range rows = block_range(n, b);
        partial[b] = 0.0;
        for (int64_t v = rows.begin; v < rows.end; v++) {
            float *gz = a->gz.buf ? row(a->gz, v) : NULL;
            if (a->count > 0 && (sets[v] >> a->set & 1))
                partial[b] += sigmoid_row(gz, row(a->z, v), row(a->target, v), classes, (float)(1.0 / all));
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
    data(a->loss)[0] = a->count > 0 ? (float)(sum / all) : 0.0f;
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

CPU_SCRATCH(label_counts) {
    (void)a;
    return (size_t)threads * SETS * sizeof(int32_t);
}
CPU_OP(label_counts) {
    int32_t *counts = (int32_t *)(void *)ctx->scratch, *own = counts + SETS * ctx->id;
    const int32_t *sets = int_data(a->sets);
    int64_t count = a->hits.len;
    memset(own, 0, SETS * sizeof *own);
    range rows = row_partition(ctx, a->z.rows);
    for (int64_t v = rows.begin; v < rows.end; v++) {
        const float *z = row(a->z, v), *target = row(a->target, v);
        int32_t hits = 0, predicted = 0;
        for (int64_t c = 0; c < a->z.cols; c++) {
            predicted += z[c] > 0.0f;
            hits += z[c] > 0.0f && target[c] > 0.0f;
        }
        for (int64_t k = 0; k < count; k++)
            if (sets[v] >> k & 1) {
                own[2 * k] += hits;
                own[2 * k + 1] += predicted;
            }
    }
    cpu_barrier(ctx);
    if (ctx->id != 0)
        return;
    for (int64_t k = 0; k < count; k++) {
        int32_t hits = 0, predicted = 0;
        for (int t = 0; t < ctx->size; t++) {
            hits += counts[SETS * t + 2 * k];
            predicted += counts[SETS * t + 2 * k + 1];
        }
        int_data(a->hits)[k] = hits;
        int_data(a->predicted)[k] = predicted;
    }
}
