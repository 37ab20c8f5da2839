/* cpu_pairwise.c - folds over all pairs of rows, for the metrics. Nodes are sorted by
 * class and their rows transposed, so that lanes are nodes of one class and a class
 * is contiguous; nothing of size n x n is stored. */
#include "backend/cpu/loops/loops.h"

#define FLUSH_VECTORS 64 /* vectors summed in float before they are added to the sum in double */

/* Nodes sorted by class: class c has the places start[c] .. start[c+1]-1; place[v] is
 * -1 for a node without a class. */
typedef struct class_order {
    int64_t stride; /* places, padded to whole vectors */
    int32_t *place; /* n */
    int32_t *node;  /* by place */
    int32_t *start; /* classes + 1 */
} class_order;

INLINE size_t class_order_bytes(int64_t n, int64_t classes) {
    return padded((size_t)n * 4) * 2 + padded((size_t)(classes + 1) * 4);
}

INLINE class_order class_order_take(char **scratch, int64_t n, int64_t classes) {
    class_order o = {.stride = vf_count(n) * VW + VW};
    o.place = (int32_t *)(void *)*scratch;
    o.node = (int32_t *)(void *)(*scratch + padded((size_t)n * 4));
    o.start = (int32_t *)(void *)(*scratch + 2 * padded((size_t)n * 4));
    *scratch += class_order_bytes(n, classes);
    return o;
}

/* A stable counting sort by label, or, without labels, into one class of the nodes with norm != 0. */
static void class_order_fill(class_order *o, const int32_t *labels, const float *norm, int64_t n, int64_t classes) {
    memset(o->start, 0, (size_t)(classes + 1) * sizeof *o->start);
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t v = 0; v < n; v++) {
            int32_t c = labels ? labels[v] : norm[v] != 0.0f ? 0 : -1;
            bool counts = c >= 0 && c < classes;
            if (pass == 0) {
                o->start[counts ? c + 1 : 0] += counts;
            } else {
                o->place[v] = counts ? o->start[c]++ : -1;
                if (counts)
                    o->node[o->place[v]] = (int32_t)v;
            }
        }
        if (pass == 0)
            for (int64_t c = 0; c < classes; c++)
                o->start[c + 1] += o->start[c];
        else
            for (int64_t c = classes; c > 0; c--)
                o->start[c] = o->start[c - 1];
    }
    o->start[0] = 0;
}

/* xt[k][place] = x[node][k], padded with zeros. */
static void transpose(const thread_ctx *ctx, float *xt, be_mat x, const class_order *o, int64_t places) {
    range mine = row_partition(ctx, o->stride);
    for (int64_t p = mine.begin; p < mine.end; p++)
        for (int64_t k = 0; k < x.cols; k++)
            xt[k * o->stride + p] = p < places ? row(x, o->node[p])[k] : 0.0f;
}

/* Squared distances of row x to the VW nodes from place p. */
INLINE vf distances(const float *x, const float *xt, int64_t stride, int64_t d, int64_t p) {
    vf sum = {0};
    for (int64_t k = 0; k < d; k++) {
        vf difference = x[k] - vf_load(xt + k * stride + p);
        sum += difference * difference;
    }
    return sum;
}

INLINE vf fold(vf square, be_fold kind, float scale) {
    return kind == BE_FOLD_EUCLID    ? vf_sqrt(square)
           : kind == BE_FOLD_SQUARED ? square
                                     : vf_exp2(-LOG2E * scale * square);
}

/* The first `count` lanes of v, the others 0. */
INLINE vf lanes(vf v, int count) {
    float all[VW];
    memcpy(all, &v, sizeof all);
    return vf_load_n(all, count);
}

/* ---- dense rows ---- */

CPU_SCRATCH(pair_fold) {
    (void)threads;
    int64_t stride = vf_count(a->x.rows) * VW + VW;
    return class_order_bytes(a->x.rows, a->out.cols) + floats_bytes(stride * a->x.cols);
}
CPU_OP(pair_fold) {
    char *scratch = ctx->scratch;
    int64_t n = a->x.rows, d = a->x.cols, classes = a->out.cols;
    class_order o = class_order_take(&scratch, n, classes);
    float *xt = take_floats(&scratch, o.stride * d);
    if (ctx->id == 0)
        class_order_fill(&o, int_data(a->labels), NULL, n, classes);
    cpu_barrier(ctx);
    transpose(ctx, xt, a->x, &o, o.start[classes]);
    cpu_barrier(ctx);
    range mine = partition(ctx, a->out.rows);
    for (int64_t i = mine.begin; i < mine.end; i++)
        for (int64_t c = 0; c < classes; c++) {
            const float *x = row(a->x, a->first + i);
            double total = 0.0;
            for (int64_t p = o.start[c]; p < o.start[c + 1];) {
                vf sum = {0};
                for (int f = 0; f < FLUSH_VECTORS && p < o.start[c + 1]; f++, p += VW) {
                    vf value = fold(distances(x, xt, o.stride, d, p), a->kind, a->scale);
                    int64_t left = o.start[c + 1] - p;
                    sum += left >= VW ? value : lanes(value, (int)left);
                }
                total += (double)vf_sum(sum);
            }
            row(a->out, i)[c] = (float)total;
        }
}

/* ---- sparse rows: <x_i, x_j> for all j through the columns of x_i ---- */

/* The transpose with places for nodes and values for ids, so that the inner loop reads two arrays sequentially. Nodes
 * without a class have a place after the last, which is not summed. */
typedef struct sparse_work {
    class_order o;
    float *squares, *value; /* by place; by entry of the transpose */
    int32_t *place;         /* by entry of the transpose */
    float *dots;            /* by place, of one thread */
} sparse_work;

CPU_SCRATCH(pair_fold_sparse) {
    int64_t stride = vf_count(a->a.rows) * VW + VW;
    return class_order_bytes(a->a.rows, a->out.cols) + 2 * floats_bytes(a->a.nnz) + floats_bytes(stride) +
           (size_t)threads * floats_bytes(stride);
}

static sparse_work sparse_prepare(const thread_ctx *ctx, const be_pair_fold_sparse_args *a) {
    char *scratch = ctx->scratch;
    int64_t n = a->a.rows, classes = a->out.cols;
    sparse_work w = {.o = class_order_take(&scratch, n, classes)};
    w.squares = take_floats(&scratch, w.o.stride);
    w.value = take_floats(&scratch, a->a.nnz);
    w.place = (int32_t *)(void *)take_floats(&scratch, a->a.nnz);
    w.dots = (float *)(void *)(scratch + (size_t)ctx->id * floats_bytes(w.o.stride));
    if (ctx->id == 0) {
        class_order_fill(&w.o, int_data(a->labels), NULL, n, classes);
        memset(w.squares, 0, (size_t)w.o.stride * sizeof(float));
        for (int64_t p = 0; p < w.o.start[classes]; p++)
            w.squares[p] = data(a->sq)[w.o.node[p]];
    }
    cpu_barrier(ctx);
    const int32_t *node = csr_indices(&a->at), *id = int_data(a->at.eids), nowhere = (int32_t)(w.o.stride - 1);
    range entries = row_partition(ctx, a->a.nnz);
    for (int64_t t = entries.begin; t < entries.end; t++) {
        w.place[t] = w.o.place[node[t]] >= 0 ? w.o.place[node[t]] : nowhere;
        w.value[t] = data(a->val)[id[t]];
    }
    cpu_barrier(ctx);
    return w;
}

/* dots[place of j] = <x_i, x_j> */
INLINE void sparse_dots(const sparse_work *w, const be_pair_fold_sparse_args *a, int64_t i) {
    const int64_t *indptr = csr_indptr(&a->a), *column = csr_indptr(&a->at);
    const int32_t *indices = csr_indices(&a->a), *id = int_data(a->a.eids), *place = w->place;
    const float *val = data(a->val), *value = w->value;
    float *dots = w->dots;
    memset(dots, 0, (size_t)w->o.stride * sizeof(float));
    for (int64_t e = indptr[i]; e < indptr[i + 1]; e++) {
        float x = val[id ? id[e] : e];
        for (int64_t t = column[indices[e]], end = column[indices[e] + 1]; t < end; t++)
            dots[place[t]] += x * value[t];
    }
}

/* sum over the places first .. end-1 of exp(-scale max(0, own + square - 2 dot)) */
INLINE double gauss_sum(const sparse_work *w, float own, float scale, int64_t first, int64_t end) {
    double total = 0.0;
    for (int64_t p = first; p < end;) {
        vf sum = {0};
        for (int f = 0; f < FLUSH_VECTORS && p < end; f++, p += VW) {
            vf square = own + vf_load(w->squares + p) - 2.0f * vf_load(w->dots + p);
            vf value = vf_exp2(-LOG2E * scale * vf_max(square, vf_set(0.0f)));
            sum += end - p >= VW ? value : lanes(value, (int)(end - p));
        }
        total += (double)vf_sum(sum);
    }
    return total;
}

CPU_OP(pair_fold_sparse) {
    sparse_work w = sparse_prepare(ctx, a);
    range mine = partition(ctx, a->out.rows);
    for (int64_t i = mine.begin; i < mine.end; i++) {
        sparse_dots(&w, a, a->first + i);
        for (int64_t c = 0; c < a->out.cols; c++)
            row(a->out, i)[c] =
                (float)gauss_sum(&w, data(a->sq)[a->first + i], a->scale, w.o.start[c], w.o.start[c + 1]);
    }
}

/* ---- mean average distance ---- */

CPU_SCRATCH(mad_fold) {
    (void)threads;
    int64_t stride = vf_count(a->x.rows) * VW + VW;
    return class_order_bytes(a->x.rows, 1) + floats_bytes(stride * a->x.cols);
}
CPU_OP(mad_fold) {
    char *scratch = ctx->scratch;
    int64_t n = a->x.rows, d = a->x.cols;
    class_order o = class_order_take(&scratch, n, 1);
    float *xt = take_floats(&scratch, o.stride * d);
    if (ctx->id == 0)
        class_order_fill(&o, NULL, data(a->norm), n, 1);
    cpu_barrier(ctx);
    transpose(ctx, xt, a->x, &o, o.start[1]);
    cpu_barrier(ctx);
    range mine = partition(ctx, a->sum.cols);
    for (int64_t i = mine.begin; i < mine.end; i++) {
        const float *x = row(a->x, a->first + i);
        double total = 0.0;
        int32_t count = 0;
        int64_t places = data(a->norm)[a->first + i] != 0.0f ? o.start[1] : 0;
        for (int64_t p = 0; p < places; p += VW) {
            vf distance = 0.5f * distances(x, xt, o.stride, d, p);
            distance = places - p >= VW ? distance : lanes(distance, (int)(places - p));
            vi far = distance > 1e-12f;
            total += (double)vf_sum(vf_select(far, distance, vf_set(0.0f)));
            for (int lane = 0; lane < VW; lane++)
                count -= far[lane];
        }
        data(a->sum)[i] = (float)total;
        int_data(a->count)[i] = count;
    }
}
