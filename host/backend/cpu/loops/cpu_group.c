/* cpu_group.c - differentiable group normalisation without the n x G x d array:
 * t_vgj = S_vg H_vj stays in registers. Lanes are nodes v where a sum runs over
 * columns, else columns j. Formulas: operations.h; the backward pass is
 * cpu_group_backward.c. */
#include "backend/cpu/loops/group.h"

/* ---- S = softmax(H u' + c): lanes are nodes ---- */

/* Scratch per thread in vectors over VW nodes: columns of h, then the logits of every group. */
INLINE int64_t assign_vectors(const be_group_assign_args *a) { return a->h.cols + a->u.rows; }

/* logit[g + c] = c_g + sum_j u_gj h_j for `count` groups from g; the first tile prefetches VW rows of y from
 * row v. */
INLINE void logits_tile(vf *logit, const vf *h, const be_group_assign_args *a, prefetch_hint y, int64_t v, int64_t d,
                        int64_t g, const int count) {
    vf sum[GROUPS_PER_TILE];
    const float *u = data(a->u) + g * d, *bias = data(a->c);
    for (int c = 0; c < count; c++)
        sum[c] = vf_set(bias ? bias[g + c] : 0.0f);
    for (int64_t j = 0; j < d; j++) {
        if (g == 0)
            prefetch_row(y, v, j * VW);
        for (int c = 0; c < count; c++)
            sum[c] += u[c * d + j] * h[j];
    }
    for (int c = 0; c < count; c++)
        logit[g + c] = sum[c];
}

/* Softmax over groups, in place; prefetches VW rows of `later` from row v. */
INLINE void softmax_lanes(vf *s, prefetch_hint later, int64_t v, int64_t groups) {
    vf largest = s[0], sum = {0};
    for (int64_t g = 1; g < groups; g++)
        largest = vf_max(s[g], largest);
    for (int64_t g = 0; g < groups; g++) {
        prefetch_row(later, v, g * VW);
        s[g] = vf_exp(s[g] - largest);
        sum += s[g];
    }
    vf scale = 1.0f / sum;
    for (int64_t g = 0; g < groups; g++)
        s[g] *= scale;
}

INLINE void assign_tile(const be_group_assign_args *a, prefetch_hint y, prefetch_hint later, vf *h, vf *s, int64_t v,
                        const int count, int64_t d, int64_t groups) {
    vf_load_columns(h, row(a->h, v), a->h.ld, count, d);
    for (int64_t g = 0; g < groups; g += group_tile(groups, g))
        if (group_tile(groups, g) == GROUPS_PER_TILE)
            logits_tile(s, h, a, y, v, d, g, GROUPS_PER_TILE);
        else
            logits_tile(s, h, a, y, v, d, g, 1);
    softmax_lanes(s, later, v, groups);
    vf_store_columns(s, row(a->s, v), a->s.ld, count, groups);
}

INLINE void assign_sweep(const be_group_assign_args *a, prefetch_hint y, prefetch_hint later, vf *h, range rows,
                         int64_t d, int64_t groups) {
    int64_t v = rows.begin;
    for (; v + VW <= rows.end; v += VW)
        assign_tile(a, y, later, h, h + d, v, VW, d, groups);
    if (v < rows.end)
        assign_tile(a, y, later, h, h + d, v, (int)(rows.end - v), d, groups);
}

CPU_SCRATCH(group_assign) { return (size_t)threads * floats_bytes(assign_vectors(a) * VW); }
CPU_OP(group_assign) {
    prefetch_hint y = hint_or(ctx->hint[CPU_HINT_H], rows_ahead(a->h, VW)), later = ctx->hint[CPU_HINT_S];
    vf *vectors = (vf *)(void *)thread_scratch(ctx, 0, floats_bytes(assign_vectors(a) * VW));
    WITH_SHAPE(a->h.cols, a->u.rows, assign_sweep, a, y, later, vectors, row_partition(ctx, a->h.rows));
}

/* ---- statistics of t ---- */

/* `count` groups from g, vector i of the columns, over the rows of one block: mean and centred sum, in one pass shifted
 * by the block's first row f: with e = t - f, mean = f + sum e / m and M2 = sum e^2 - (sum e)^2 / m. The first row is
 * one of the m, so (mean - f)^2 <= M2 and the difference loses at most the factor m + 1 of its digits, whatever the
 * mean. The first tile prefetches the same rows of `z`. */
INLINE void stats_tile(float *mean, float *square, be_mat s, be_mat h, prefetch_hint z, range rows, int64_t g,
                       int64_t i, const int count, int64_t d) {
    int part = vf_part(d, i);
    vf sum[GROUPS_PER_TILE] = {{0}}, squares[GROUPS_PER_TILE] = {{0}}, first[GROUPS_PER_TILE];
    const float *x = row(h, rows.begin) + i * VW, *w = row(s, rows.begin) + g;
    for (int c = 0; c < count; c++)
        first[c] = w[c] * (STATS_UNIT * vf_load_n(x, part));
    for (int64_t v = rows.begin; v < rows.end; v++, x += h.ld, w += s.ld) {
        vf here = STATS_UNIT * vf_load_n(x, part);
        if (g == 0)
            prefetch_row(z, v, i * VW);
        for (int c = 0; c < count; c++) {
            vf e = w[c] * here - first[c];
            sum[c] += e;
            squares[c] += e * e;
        }
    }
    float over = 1.0f / (float)(rows.end - rows.begin);
    for (int c = 0; c < count; c++) {
        vf shift = sum[c] * over;
        vf_store_part(mean + (g + c) * d + i * VW, first[c] + shift, part);
        vf_store_part(square + (g + c) * d + i * VW, vf_max(vf_set(0.0f), squares[c] - shift * sum[c]), part);
    }
}

INLINE void stats_sweep(const be_group_stats_args *a, prefetch_hint z, float *partial, range blocks, int64_t d,
                        int64_t groups) {
    for (int64_t b = blocks.begin; b < blocks.end; b++) {
        float *mean = partial + 2 * b * groups * d, *square = mean + groups * d;
        range rows = block_range(a->h.rows, b);
        for (int64_t i = 0; i < vf_count(d); i++)
            for (int64_t g = 0; g < groups; g += group_tile(groups, g))
                if (group_tile(groups, g) == GROUPS_PER_TILE)
                    stats_tile(mean, square, a->s, a->h, z, rows, g, i, GROUPS_PER_TILE, d);
                else
                    stats_tile(mean, square, a->s, a->h, z, rows, g, i, 1, d);
    }
}

CPU_SCRATCH(group_stats) {
    (void)threads;
    return floats_bytes(2 * block_count(a->h.rows) * a->s.cols * a->h.cols);
}
CPU_OP(group_stats) {
    int64_t n = a->h.rows, size = a->s.cols * a->h.cols;
    float *partial = (float *)(void *)ctx->scratch; /* mean, then centred sum, of each block */
    prefetch_hint z = hint_or(ctx->hint[CPU_HINT_H], rows_ahead(a->h, ROWS_AHEAD));
    WITH_SHAPE(a->h.cols, a->s.cols, stats_sweep, a, z, partial, partition(ctx, block_count(n)));
    cpu_barrier(ctx);
    stats_target out = {data(a->mean), data(a->var), data(a->rmean), data(a->rvar), a->momentum};
    combine_stats(ctx, &out, partial, partial + size, n, 2 * size, size);
}

/* ---- out = H (1 + lambda S A) + lambda b ---- */

INLINE size_t apply_each(const be_group_apply_args *a) { return floats_bytes((a->s.cols + 1) * a->h.cols); }

#define APPLY_AHEAD 8 /* rows that are prefetched where h exceeds the cache */

typedef struct apply_view { /* the arguments as pointers */
    const float *h, *s, *slope, *shift;
    float *y;
    int64_t ldh, lds, ldy;
    bool relu;
    prefetch_hint next; /* rows of h */
} apply_view;

/* `count` rows from v, vector i: the coefficients are loaded once for all of them. `stream`: non-temporal stores. */
INLINE void apply_tile(const apply_view *a, int64_t v, int64_t i, const int count, int64_t d, int64_t groups,
                       const bool stream) {
    int part = vf_part(d, i);
    const float *s[4], *coefficient = a->slope + i * VW;
    vf factor[4];
    for (int c = 0; c < count; c++) {
        s[c] = a->s + (v + c) * a->lds;
        factor[c] = vf_set(1.0f);
    }
    for (int64_t g = 0; g < groups; g++, coefficient += d) {
        vf here = vf_load_n(coefficient, part);
        for (int c = 0; c < count; c++)
            factor[c] += s[c][g] * here;
    }
    vf b = vf_load_n(a->shift + i * VW, part), least = vf_set(a->relu ? 0.0f : -INFINITY);
    for (int c = 0; c < count; c++) {
        vf out = vf_load_n(a->h + (v + c) * a->ldh + i * VW, part) * factor[c] + b;
        out = vf_max(least, out); /* NaN stays NaN */
        if (stream)
            vf_stream(a->y + (v + c) * a->ldy + i * VW, out);
        else
            vf_store_part(a->y + (v + c) * a->ldy + i * VW, out, part);
    }
}

/* The view is passed by value, so that it stays in registers. */
INLINE void apply_sweep(const apply_view a, range rows, int64_t d, int64_t groups) {
    for (int64_t i = 0; i < vf_count(d); i++) {
        int64_t v = rows.begin;
        for (; v + 4 <= rows.end; v += 4)
            apply_tile(&a, v, i, 4, d, groups, false);
        for (; v < rows.end; v++)
            apply_tile(&a, v, i, 1, d, groups, false);
    }
}

/* Rows of several vectors as they are in memory. */
INLINE void apply_wide(const apply_view a, range rows, int64_t d, int64_t groups, const bool stream) {
    int64_t v = rows.begin;
    for (; v + 4 <= rows.end; v += 4)
        for (int64_t i = 0; i < vf_count(d); i++) {
            for (int c = 0; c < 4; c++)
                prefetch_row(a.next, v + c, i * VW);
            apply_tile(&a, v, i, 4, d, groups, stream);
        }
    for (; v < rows.end; v++)
        for (int64_t i = 0; i < vf_count(d); i++)
            apply_tile(&a, v, i, 1, d, groups, stream);
}

CPU_SCRATCH(group_apply) { return (size_t)threads * apply_each(a); }
CPU_OP(group_apply) {
    int64_t d = a->h.cols, groups = a->s.cols;
    const float *mean = data(a->mean), *var = data(a->var), *gamma = data(a->gamma), *beta = data(a->beta);
    char *scratch = thread_scratch(ctx, 0, apply_each(a));
    float *slope = take_floats(&scratch, (groups + 1) * d), *shift = slope + groups * d;
    for (int64_t j = 0; j < d; j++) {
        double b = 0.0;
        for (int64_t i = j; i < groups * d; i += d) {
            float scale = gamma[i] / deviation(var[i], a->eps);
            slope[i] = a->lambda * scale;
            b += (double)beta[i] - (double)scale * (double)mean[i];
        }
        shift[j] = (float)((double)a->lambda * b);
    }
    range rows = row_partition(ctx, a->h.rows);
    const apply_view view = {.h = data(a->h),
                             .s = data(a->s),
                             .slope = slope,
                             .shift = shift,
                             .y = data(a->y),
                             .ldh = a->h.ld,
                             .lds = a->s.ld,
                             .ldy = a->y.ld,
                             .relu = a->act.relu,
                             .next = rows_ahead(a->h, APPLY_AHEAD)};
    bool drops = a->act.drop.rate > 0.0f;
    if (vf_count(d) <= 2)
        WITH_SHAPE(d, groups, apply_sweep, view, rows);
    else if (!drops && a->y.buf != a->h.buf && exceeds_cache(a->y) && on_vectors(a->y))
        apply_wide(view, rows, d, groups, true);
    else
        apply_wide(view, rows, d, groups, false);
    vf_sfence();
    if (drops)
        dropout_rows(a->y, a->y, rows.begin, rows.end, &a->act.drop);
}
