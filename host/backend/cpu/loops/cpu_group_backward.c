/* cpu_group_backward.c - the two passes of the backward of group normalisation: sums over rows, then the rows.
 * Formulas: operations.h. */
#include "backend/cpu/loops/group.h"

/* ---- first pass: db, q ---- */

/* The incoming gradient, masked by the ReLU (and scaled by the dropout) that follows the norm: y is its output or NULL.
 */
INLINE vf gradient_at(const float *go, const float *y, int part, float scale) {
    vf gradient = vf_load_n(go, part);
    return y ? vf_where_positive(vf_load_n(y, part), gradient * scale) : gradient;
}

#define SUMS_HINTS 3 /* h of a later operation; go and y of this one */

/* q_g for `count` groups from g. The first tile also sums db, stored after the q of all groups, and prefetches the
 * same rows of `later`. */
INLINE void sums_tile(float *q, const be_group_backward_sums_args *a, const prefetch_hint *later, range rows, int64_t g,
                      int64_t i, const int count, int64_t d, int64_t groups) {
    int part = vf_part(d, i);
    vf sum[GROUPS_PER_TILE] = {{0}}, middle[GROUPS_PER_TILE], db = {0};
    for (int c = 0; c < count; c++)
        middle[c] = vf_row(data(a->mean) + (g + c) * d, d, i);
    const float *h = row(a->h, rows.begin) + i * VW, *go = row(a->go, rows.begin) + i * VW;
    const float *s = row(a->s, rows.begin) + g, *y = a->y.buf ? row(a->y, rows.begin) + i * VW : NULL;
    for (int64_t v = 0; v < rows.end - rows.begin; v++, h += a->h.ld, go += a->go.ld, s += a->s.ld) {
        vf x = vf_load_n(h, part), gradient = gradient_at(go, y ? y + v * a->y.ld : NULL, part, a->scale);
        if (g == 0)
            for (int slot = 0; slot < SUMS_HINTS; slot++)
                prefetch_row(later[slot], rows.begin + v, i * VW);
        for (int c = 0; c < count; c++)
            sum[c] += gradient * (s[c] * x - middle[c]);
        db += gradient;
    }
    for (int c = 0; c < count; c++)
        vf_store_part(q + (g + c) * d + i * VW, sum[c], part);
    if (g == 0)
        vf_store_part(q + groups * d + i * VW, db, part);
}

/* partial: q, then db, of each block */
INLINE void sums_sweep(const be_group_backward_sums_args *a, const prefetch_hint *later, float *partial, range blocks,
                       int64_t d, int64_t groups) {
    for (int64_t b = blocks.begin; b < blocks.end; b++) {
        float *p = partial + b * (groups + 1) * d;
        range rows = block_range(a->h.rows, b);
        for (int64_t i = 0; i < vf_count(d); i++)
            for (int64_t g = 0; g < groups; g += group_tile(groups, g))
                if (group_tile(groups, g) == GROUPS_PER_TILE)
                    sums_tile(p, a, later, rows, g, i, GROUPS_PER_TILE, d, groups);
                else
                    sums_tile(p, a, later, rows, g, i, 1, d, groups);
    }
}

/* db over all blocks for one chunk of columns. */
typedef struct db_sums {
    int64_t chunk;
    double sum[CHUNK];
} db_sums;

/* db, q, ggamma and gbeta of group g and one chunk of columns from the sums of the blocks; db is computed once per
 * chunk. */
static void sums_finish(const be_group_backward_sums_args *a, db_sums *all, const float *partial, int64_t chunk,
                        int64_t g) {
    double sum[CHUNK];
    int64_t d = a->h.cols, groups = a->s.cols, size = (groups + 1) * d, blocks = block_count(a->h.rows);
    int64_t j = chunk * CHUNK, some = d - j < CHUNK ? d - j : CHUNK, at = g * d + j;
    if (all->chunk != chunk)
        sum_blocks(all->sum, partial + groups * d + j, blocks, size, some);
    all->chunk = chunk;
    sum_blocks(sum, partial + at, blocks, size, some);
    for (int64_t i = 0; i < some; i++, at++) {
        float db = (float)((double)a->lambda * all->sum[i]), q = (float)((double)a->lambda * sum[i]);
        if (g == 0)
            data(a->db)[j + i] = db;
        data(a->q)[at] = q;
        data(a->ggamma)[at] += q / deviation(data(a->var)[at], a->eps);
        data(a->gbeta)[at] += db;
    }
}

CPU_SCRATCH(group_backward_sums) {
    (void)threads;
    return floats_bytes(block_count(a->h.rows) * (a->s.cols + 1) * a->h.cols);
}
CPU_OP(group_backward_sums) {
    int64_t d = a->h.cols, groups = a->s.cols, blocks = block_count(a->h.rows);
    float *partial = (float *)(void *)ctx->scratch;
    const prefetch_hint later[SUMS_HINTS] = {hint_or(ctx->hint[CPU_HINT_H], rows_ahead(a->h, ROWS_AHEAD)),
                                             rows_ahead(a->go, ROWS_AHEAD), rows_ahead(a->y, ROWS_AHEAD)};
    WITH_SHAPE(d, groups, sums_sweep, a, later, partial, partition(ctx, blocks));
    cpu_barrier(ctx);
    range mine = partition(ctx, (d + CHUNK - 1) / CHUNK * groups);
    db_sums all = {.chunk = -1};
    for (int64_t i = mine.begin; i < mine.end; i++)
        sums_finish(a, &all, partial, i / groups, i % groups);
}

/* ---- second pass: gh and gz by row; lanes are nodes ---- */

/* dt = slope go + level + (t - mean) pull: the four coefficients of each (g, j), in the order of access.
 * Then vectors over VW nodes: columns of h, go and gh, and per group s, dS (which becomes gz) and the sum of gz
 * over a block. */
typedef struct coefficients {
    float mean, slope, level, pull;
} coefficients;

typedef struct rows_work {
    coefficients *k;
    vf *h, *go, *gh, *s, *ds, *gc;
    float unit;                              /* of h, dS and the means: see rows_unit */
    prefetch_hint later_h, later_y, later_s; /* read first by the backward of the previous layer, or next here */
    prefetch_hint next_go;
} rows_work;

INLINE size_t rows_each(const be_group_backward_rows_args *a) {
    int64_t d = a->h.cols, groups = a->s.cols;
    return floats_bytes(4 * groups * d) + floats_bytes((3 * d + 3 * groups) * VW);
}

/* r^3, and with it pull, underflows where h is large: h and the mean are then scaled by this power of two, and pull by
 * its inverse, which is exact. */
INLINE float rows_unit(const float *var, int64_t count) {
    float largest = 0.0f;
    for (int64_t i = 0; i < count; i++)
        largest = var[i] > largest ? var[i] : largest;
    return largest > 0x1p40f ? 0x1p-40f : 1.0f;
}

static rows_work rows_prepare(const thread_ctx *ctx, const be_group_backward_rows_args *a, char *scratch) {
    int64_t n = be_over(a->over, a->h), d = a->h.cols, groups = a->s.cols;
    rows_work w = {0};
    w.later_h = hint_or(ctx->hint[CPU_HINT_H], rows_ahead(a->h, VW));
    w.later_y = hint_or(ctx->hint[CPU_HINT_Y], rows_ahead(a->y, VW));
    w.next_go = rows_ahead(a->go, VW);
    w.later_s = ctx->hint[CPU_HINT_S];
    w.k = (coefficients *)(void *)take_floats(&scratch, 4 * groups * d);
    w.h = (vf *)(void *)scratch;
    w.go = w.h + d;
    w.gh = w.go + d;
    w.s = w.gh + d;
    w.ds = w.s + groups;
    w.gc = w.ds + groups;
    w.unit = rows_unit(data(a->var), groups * d);
    coefficients *k = w.k;
    for (int64_t g = 0; g < groups; g += group_tile(groups, g))
        for (int64_t j = 0; j < d; j++)
            for (int c = 0; c < group_tile(groups, g); c++, k++) {
                int64_t i = (g + c) * d + j;
                float r = 1.0f / deviation(data(a->var)[i], a->eps), gamma = data(a->gamma)[i], q = data(a->q)[i];
                k->mean = data(a->mean)[i] * w.unit;
                k->slope = a->lambda * gamma * r;
                k->level = -gamma * r * data(a->db)[j] / (float)n;
                k->pull = -r * r * r * gamma * q / (float)n; /* (2/n) (-1/2 r^3 gamma q) */
                if (w.unit != 1.0f)
                    k->pull = (float)(-(double)r * r * r * gamma * q / (double)n / (double)w.unit);
            }
    return w;
}

/* `count` groups from g: dS into w->ds, S dt added to w->gh; the first tile prefetches VW rows from row v. */
INLINE void rows_tile(const rows_work *w, int64_t v, int64_t d, int64_t g, const int count) {
    const coefficients *k = w->k + g * d;
    vf s[GROUPS_PER_TILE], ds[GROUPS_PER_TILE] = {{0}};
    for (int c = 0; c < count; c++)
        s[c] = w->s[g + c];
    for (int64_t j = 0; j < d; j++, k += count) {
        vf h = w->h[j], go = w->go[j], gh = w->gh[j];
        if (g == 0) {
            prefetch_row(w->later_h, v, j * VW);
            prefetch_row(w->later_y, v, j * VW);
            prefetch_row(w->next_go, v, j * VW);
        }
        for (int c = 0; c < count; c++) {
            vf dt = k[c].slope * go + k[c].level;
            dt += (s[c] * h - k[c].mean) * k[c].pull;
            gh += s[c] * dt;
            ds[c] += h * dt;
        }
        w->gh[j] = gh;
    }
    for (int c = 0; c < count; c++)
        w->ds[g + c] = ds[c];
}

/* gh_j += sum_g gz_g u_gj for `count` columns from j, side by side. */
INLINE void columns_tile(const rows_work *w, const float *u, int64_t j, const int count, int64_t d, int64_t groups) {
    vf gh[4];
    for (int c = 0; c < count; c++)
        gh[c] = w->gh[j + c];
    for (int64_t g = 0; g < groups; g++)
        for (int c = 0; c < count; c++)
            gh[c] += u[g * d + j + c] * w->ds[g];
    for (int c = 0; c < count; c++)
        w->gh[j + c] = gh[c];
}

/* gz = S (dS - sum_k dS_k S_k) in place of dS; gh += gz u. */
INLINE void rows_finish(const rows_work *w, const float *u, int64_t v, int64_t d, int64_t groups) {
    vf mean = {0};
    for (int64_t g = 0; g < groups; g++) {
        prefetch_row(w->later_s, v, g * VW);
        mean += w->ds[g] * w->s[g];
    }
    for (int64_t g = 0; g < groups; g++) {
        w->ds[g] = w->s[g] * (w->ds[g] - mean);
        w->gc[g] += w->ds[g];
    }
    int64_t j = 0;
    for (; j + 4 <= d; j += 4)
        columns_tile(w, u, j, 4, d, groups);
    for (; j < d; j++)
        columns_tile(w, u, j, 1, d, groups);
}

/* Columns 0 .. d-1 of the gradient of `count` rows from v. */
INLINE void load_gradient(vf *out, const be_group_backward_rows_args *a, int64_t v, const int count, int64_t d) {
    for (int64_t i = 0; i < vf_count(d); i++) {
        int part = vf_part(d, i);
        vf rows[VW];
        for (int r = 0; r < VW; r++)
            rows[r] = r < count ? gradient_at(row(a->go, v + r) + i * VW, a->y.buf ? row(a->y, v + r) + i * VW : NULL,
                                              part, a->scale)
                                : (vf){0};
        vf_transpose(rows);
        for (int j = 0; j < part; j++)
            out[i * VW + j] = rows[j];
    }
}

static void scale_all(vf *v, float factor, int64_t count) {
    for (int64_t i = 0; i < count; i++)
        v[i] *= factor;
}

/* `count` rows from v; the remaining lanes have s = 0, so gz = 0. */
INLINE void rows_lanes(const be_group_backward_rows_args *a, const rows_work *w, int64_t v, const int count, int64_t d,
                       int64_t groups) {
    vf_load_columns(w->h, row(a->h, v), a->h.ld, count, d);
    load_gradient(w->go, a, v, count, d);
    vf_load_columns(w->s, row(a->s, v), a->s.ld, count, groups);
    memcpy(w->gh, w->go, (size_t)d * sizeof(vf));
    if (w->unit != 1.0f)
        scale_all(w->h, w->unit, d);
    for (int64_t g = 0; g < groups; g += group_tile(groups, g))
        if (group_tile(groups, g) == GROUPS_PER_TILE)
            rows_tile(w, v, d, g, GROUPS_PER_TILE);
        else
            rows_tile(w, v, d, g, 1);
    if (w->unit != 1.0f)
        scale_all(w->ds, 1.0f / w->unit, groups);
    rows_finish(w, data(a->u), v, d, groups);
    vf_store_columns(w->gh, row(a->gh, v), a->gh.ld, count, d);
    vf_store_columns(w->ds, row(a->gz, v), a->gz.ld, count, groups);
}

/* partial: gc of each block */
INLINE void rows_sweep(const be_group_backward_rows_args *a, const rows_work w, float *partial, range blocks, int64_t d,
                       int64_t groups) {
    for (int64_t b = blocks.begin; b < blocks.end; b++) {
        range rows = block_range(a->h.rows, b);
        int64_t v = rows.begin;
        memset(w.gc, 0, (size_t)groups * sizeof(vf));
        for (; v + VW <= rows.end; v += VW)
            rows_lanes(a, &w, v, VW, d, groups);
        if (v < rows.end)
            rows_lanes(a, &w, v, (int)(rows.end - v), d, groups);
        for (int64_t g = 0; g < groups; g++)
            partial[b * groups + g] = vf_sum(w.gc[g]);
    }
}

CPU_SCRATCH(group_backward_rows) {
    return floats_bytes(block_count(a->h.rows) * a->s.cols) + (size_t)threads * rows_each(a);
}
CPU_OP(group_backward_rows) {
    int64_t n = a->h.rows, groups = a->s.cols, blocks = block_count(n);
    float *partial = (float *)(void *)ctx->scratch; /* gc of each block */
    rows_work w = rows_prepare(ctx, a, thread_scratch(ctx, floats_bytes(blocks * groups), rows_each(a)));
    WITH_SHAPE(a->h.cols, groups, rows_sweep, a, w, partial, partition(ctx, blocks));
    if (!a->gc.buf)
        return;
    cpu_barrier(ctx);
    add_sums(ctx, data(a->gc), partial, blocks, groups, groups);
}
