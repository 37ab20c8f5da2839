/* cpu_attention.c - the edge operations of GAT. Row v of the graph holds v's
 * neighbours u; edge values are indexed by entry id. Several heads are the lanes of a vector, or come one after the
 * other within a window of rows. */
#include "backend/cpu/loops/heads.h"
#include "backend/cpu/loops/loops.h"

INLINE float dot(const float *x, const float *y, int64_t d) {
    vf sum = {0};
    for (int64_t i = 0; i < vf_count(d); i++)
        sum += vf_row(x, d, i) * vf_row(y, d, i);
    return vf_sum(sum);
}

/* x > 0 ? x : slope x, without a branch on x. */
INLINE float leaky_relu(float x, float slope) {
    float y = slope * x, larger = x > y ? x : y, smaller = x > y ? y : x;
    return slope <= 1.0f ? larger : smaller;
}

INLINE int64_t entry_id(const be_csr *a, int64_t e) { return a->eids.buf ? int_data(a->eids)[e] : e; }

/* Head h of `count` <= VW nodes from v; lanes are nodes. */
INLINE void scores_tile(const be_gat_scores_args *a, int64_t h, int64_t v, const int count) {
    int64_t heads = a->a_src.rows, d = a->a_src.cols;
    const float *src = row(a->a_src, h), *dst = row(a->a_dst, h);
    vf s = {0}, t = {0};
    for (int64_t i = 0; i < vf_count(d); i++) {
        vf column[VW];
        vf_load_square(column, row(a->z, v) + h * d, a->z.ld, count, d, i);
        for (int j = 0; j < vf_part(d, i); j++) {
            s += src[i * VW + j] * column[j];
            t += dst[i * VW + j] * column[j];
        }
    }
    if (heads == 1) {
        vf_store_part(data(a->s) + v, s, count);
        vf_store_part(data(a->t) + v, t, count);
        return;
    }
    for (int i = 0; i < count; i++) {
        row(a->s, v + i)[h] = s[i];
        row(a->t, v + i)[h] = t[i];
    }
}

CPU_NO_SCRATCH(gat_scores)
CPU_OP(gat_scores) {
    range rows = row_partition(ctx, a->z.rows);
    for (int64_t v = rows.begin; v < rows.end; v += VW)
        for (int64_t h = 0; h < a->a_src.rows; h++)
            if (v + VW <= rows.end)
                scores_tile(a, h, v, VW);
            else
                scores_tile(a, h, v, (int)(rows.end - v));
}

/* e[i] = 2^e[i] */
INLINE void exp2_all(float *e, int64_t count) {
    for (int64_t i = 0; i < vf_count(count); i++)
        vf_row_set(e, count, i, vf_exp2(vf_row(e, count, i)));
}

/* Softmax of a window of rows: scores minus the row maximum, then 2^x over all entries of the window in vectors, then
 * each row divided by its sum. `score` is indexed by entry. */
static void softmax_window(const be_gat_softmax_args *a, float *score, range rows) {
    const int64_t *indptr = csr_indptr(&a->a);
    const int32_t *indices = csr_indices(&a->a), *order = csr_order(&a->a), *id = int_data(a->a.eids);
    const float *s = data(a->s), *t = data(a->t);
    float *alpha = data(a->alpha), slope = a->slope;
    for (int64_t p = rows.begin; p < rows.end; p++) {
        int64_t v = order ? order[p] : p, end = indptr[v + 1];
        float largest = -INFINITY, own = t[v];
        for (int64_t e = indptr[v]; e < end; e++) {
            float x = leaky_relu(s[indices[e]] + own, slope);
            score[e] = x;
            largest = x > largest ? x : largest;
        }
        for (int64_t e = indptr[v]; e < end; e++)
            score[e] = LOG2E * (score[e] - largest);
    }
    exp2_all(score + indptr[rows.begin], indptr[rows.end] - indptr[rows.begin]);
    for (int64_t p = rows.begin; p < rows.end; p++) {
        int64_t v = order ? order[p] : p, end = indptr[v + 1];
        float sum = 0.0f;
        for (int64_t e = indptr[v]; e < end; e++)
            sum += score[e];
        float over = 1.0f / sum;
        for (int64_t e = indptr[v]; e < end; e++)
            alpha[id ? id[e] : e] = score[e] * over;
    }
}

/* x > 0 ? x : slope x */
INLINE vf leaky_relu_heads(vf x, float slope) {
    vf y = slope * x;
    return slope <= 1.0f ? vf_max(x, y) : -vf_max(-x, -y);
}

/* The same for several heads, which are lanes; `score` is indexed by entry and head. */
static void softmax_window_heads(const be_gat_softmax_args *a, float *score, range rows) {
    const int64_t *indptr = csr_indptr(&a->a);
    const int32_t *indices = csr_indices(&a->a);
    int64_t heads = a->s.cols;
    for (int64_t v = rows.begin; v < rows.end; v++)
        for (int64_t i = 0; i < vf_count(heads); i++) {
            vf largest = vf_set(-INFINITY), own = vf_row(row(a->t, v), heads, i);
            for (int64_t e = indptr[v]; e < indptr[v + 1]; e++) {
                vf x = leaky_relu_heads(vf_row(row(a->s, indices[e]), heads, i) + own, a->slope);
                vf_row_set(score + e * heads, heads, i, x);
                largest = vf_max(x, largest);
            }
            for (int64_t e = indptr[v]; e < indptr[v + 1]; e++)
                vf_row_set(score + e * heads, heads, i, LOG2E * (vf_row(score + e * heads, heads, i) - largest));
        }
    exp2_all(score + indptr[rows.begin] * heads, (indptr[rows.end] - indptr[rows.begin]) * heads);
    for (int64_t v = rows.begin; v < rows.end; v++)
        for (int64_t i = 0; i < vf_count(heads); i++) {
            vf sum = {0};
            for (int64_t e = indptr[v]; e < indptr[v + 1]; e++)
                sum += vf_row(score + e * heads, heads, i);
            vf over = 1.0f / sum;
            for (int64_t e = indptr[v]; e < indptr[v + 1]; e++)
                vf_row_set(row(a->alpha, entry_id(&a->a, e)), heads, i, vf_row(score + e * heads, heads, i) * over);
        }
}

CPU_SCRATCH(gat_softmax) {
    (void)threads;
    return floats_bytes(a->a.nnz * a->s.cols);
}
CPU_OP(gat_softmax) {
    range windows = window_partition(ctx, &a->a);
    for (int64_t w = windows.begin; w < windows.end; w++) {
        int64_t end = (w + 1) * CPU_WINDOW;
        range rows = {w * CPU_WINDOW, end < a->a.rows ? end : a->a.rows};
        if (a->s.cols == 1)
            softmax_window(a, (float *)(void *)ctx->scratch, rows);
        else
            softmax_window_heads(a, (float *)(void *)ctx->scratch, rows);
    }
}

typedef struct edges_view { /* the arguments as pointers */
    const int64_t *indptr;
    const int32_t *indices, *order, *id; /* id: NULL: entry e has id e */
    const float *s, *t, *alpha, *alpha_dropped, *gy, *z;
    float *ge, *gt, mask[2], slope[2]; /* indexed by a bool: a branch would mispredict half the time */
    int64_t ldgy, ldz, d, heads;       /* d: of one head */
} edges_view;

/* q_vu = mask_vu <gy_v, z_u> into ge for the entries of row v; returns their mean weighted by alpha. `width`: 1 if a
 * row is at most one vector, which is then loaded once; else 0. `heads` is 1 as a constant, or w->heads. */
INLINE float edge_products(const edges_view *w, int64_t v, const int width, const int64_t heads) {
    const float *gy = w->gy + v * w->ldgy;
    vf held = width == 1 ? vf_load_n(gy, (int)w->d) : (vf){0};
    float mean = 0.0f;
    for (int64_t e = w->indptr[v], end = w->indptr[v + 1]; e < end; e++) {
        int64_t id = (w->id ? w->id[e] : e) * heads;
        const float *z = w->z + w->indices[e] * w->ldz;
        float q = width == 1 ? vf_sum(held * vf_load_n(z, (int)w->d)) : dot(gy, z, w->d);
        if (w->alpha_dropped)
            q *= w->mask[w->alpha_dropped[id] != 0.0f];
        w->ge[id] = q;
        mean += w->alpha[id] * q;
    }
    return mean;
}

/* The view is passed by value, so that it stays in registers. */
INLINE void edge_sweep(const edges_view w, range rows, const int width, const int64_t heads) {
    for (int64_t p = rows.begin; p < rows.end; p++) {
        int64_t v = w.order ? w.order[p] : p;
        float mean = edge_products(&w, v, width, heads), sum = 0.0f, own = w.t[v * heads];
        for (int64_t e = w.indptr[v], end = w.indptr[v + 1]; e < end; e++) {
            int64_t id = (w.id ? w.id[e] : e) * heads;
            float ge = w.alpha[id] * (w.ge[id] - mean) * w.slope[w.s[w.indices[e] * heads] + own > 0.0f];
            w.ge[id] = ge;
            sum += ge;
        }
        w.gt[v * heads] = sum;
    }
}

/* Several heads: one after the other in a window of rows, whose neighbours stay in the cache. */
static void edge_sweep_heads(edges_view w, range rows) {
    int64_t heads = w.heads;
    bool dropped = w.alpha_dropped;
    for (int64_t h = 0; h < heads; h++) {
        if (w.d <= VW)
            edge_sweep(w, rows, 1, heads);
        else
            edge_sweep(w, rows, 0, heads);
        w.s++, w.t++, w.alpha++, w.ge++, w.gt++;
        w.alpha_dropped += dropped;
        w.gy += w.d, w.z += w.d;
    }
}

CPU_NO_SCRATCH(gat_backward_edges)
CPU_OP(gat_backward_edges) {
    const edges_view w = {.indptr = csr_indptr(&a->a),
                          .indices = csr_indices(&a->a),
                          .order = csr_order(&a->a),
                          .id = int_data(a->a.eids),
                          .s = data(a->s),
                          .t = data(a->t),
                          .alpha = data(a->alpha),
                          .alpha_dropped = data(a->alpha_dropped),
                          .gy = data(a->gy),
                          .z = data(a->z),
                          .ge = data(a->ge),
                          .gt = data(a->gt),
                          .mask = {0.0f, a->scale},
                          .slope = {a->slope, 1.0f},
                          .ldgy = a->gy.ld,
                          .ldz = a->z.ld,
                          .d = a->z.cols / a->alpha.cols,
                          .heads = a->alpha.cols};
    range rows = csr_partition(ctx, &a->a);
    if (w.heads > 1)
        for (int64_t first = rows.begin; first < rows.end; first += CPU_WINDOW)
            edge_sweep_heads(w, (range){first, first + CPU_WINDOW < rows.end ? first + CPU_WINDOW : rows.end});
    else if (w.d <= VW)
        edge_sweep(w, rows, 1, 1);
    else
        edge_sweep(w, rows, 0, 1);
}

CPU_NO_SCRATCH(gat_edge_sums)
CPU_OP(gat_edge_sums) {
    const int64_t *indptr = csr_indptr(&a->at);
    const float *ge = data(a->ge);
    int64_t heads = a->gs.cols;
    range rows = csr_partition(ctx, &a->at);
    for (int64_t u = rows.begin; heads == 1 && u < rows.end; u++) {
        float sum = 0.0f;
        for (int64_t e = indptr[u]; e < indptr[u + 1]; e++)
            sum += ge[entry_id(&a->at, e)];
        data(a->gs)[u] = sum;
    }
    for (int64_t u = rows.begin; heads > 1 && u < rows.end; u++)
        for (int64_t i = 0; i < vf_count(heads); i++) {
            vf sum = {0};
            for (int64_t e = indptr[u]; e < indptr[u + 1]; e++)
                sum += vf_row(row(a->ge, entry_id(&a->at, e)), heads, i);
            vf_row_set(row(a->gs, u), heads, i, sum);
        }
}

/* Vector i of the rows of a block; `many` heads or one, as a constant. */
INLINE void backward_scores_tile(const be_gat_backward_scores_args *a, range rows, int64_t i, float *partial,
                                 const bool many) {
    int64_t heads = a->a_src.rows, d = a->z.cols;
    const float *gs = data(a->gs), *gt = data(a->gt);
    vf sum_src = {0}, sum_dst = {0}, by_src = vf_row(data(a->a_src), d, i), by_dst = vf_row(data(a->a_dst), d, i);
    head_lanes lanes = {0};
    if (many)
        lanes = head_lanes_of(i * VW, vf_part(d, i), a->a_src.cols);
    for (int64_t v = rows.begin; v < rows.end; v++) {
        vf z = vf_row(row(a->z, v), d, i);
        float *gz = row(a->gz, v);
        if (many) {
            vf s = head_values(gs + v * heads, &lanes), t = head_values(gt + v * heads, &lanes);
            vf_row_set(gz, d, i, vf_row(gz, d, i) + s * by_src + t * by_dst);
            sum_src += s * z;
            sum_dst += t * z;
        } else {
            float s = gs[v], t = gt[v];
            vf_row_set(gz, d, i, vf_row(gz, d, i) + s * by_src + t * by_dst);
            sum_src += s * z;
            sum_dst += t * z;
        }
    }
    vf_row_set(partial, d, i, sum_src);
    vf_row_set(partial + d, d, i, sum_dst);
}

CPU_SCRATCH(gat_backward_scores) {
    (void)threads;
    return floats_bytes(2 * block_count(a->z.rows) * a->z.cols);
}
CPU_OP(gat_backward_scores) {
    char *scratch = ctx->scratch;
    int64_t n = a->z.rows, d = a->z.cols, blocks = block_count(n);
    float *partial = take_floats(&scratch, 2 * blocks * d); /* of ga_src and ga_dst, by block */
    range mine = partition(ctx, blocks);
    for (int64_t b = mine.begin; b < mine.end; b++)
        for (int64_t i = 0; i < vf_count(d); i++)
            if (a->a_src.rows > 1)
                backward_scores_tile(a, block_range(n, b), i, partial + 2 * b * d, true);
            else
                backward_scores_tile(a, block_range(n, b), i, partial + 2 * b * d, false);
    cpu_barrier(ctx);
    add_sums(ctx, data(a->ga_src), partial, blocks, 2 * d, d);
    add_sums(ctx, data(a->ga_dst), partial + d, blocks, 2 * d, d);
}
