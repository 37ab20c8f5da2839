/* cpu_group.c - differentiable group normalisation without the n x G x d array:
 * t_vgj = S_vg H_vj lives in registers. Lanes are nodes v where a sum runs over
 * columns, else columns j. Formulas: operations.h. */
#include "backend/cpu/loops/loops.h"
#include "backend/cpu/loops/stats.h"

/* A thread's own piece of scratch, behind `shared` bytes that all of them use. */
INLINE char *own_piece(const cpu_team *team, size_t shared, size_t each) {
    return team->scratch + shared + (size_t)team->id * each;
}

/* Groups are taken five at a time, the rest one by one. */
#define GROUPS 5
INLINE int group_tile(int64_t groups, int64_t g) { return groups - g >= GROUPS ? GROUPS : 1; }

/* Calls sweep(.., d, groups) with constants for the usual shape, so that its loops have a known length and its arrays
 * stay in registers, else as they are. */
#define WITH_SHAPE(d, groups, sweep, ...)      \
    do {                                       \
        if ((d) == 16 && (groups) == 10)       \
            sweep(__VA_ARGS__, 16, 10);        \
        else                                   \
            sweep(__VA_ARGS__, (d), (groups)); \
    } while (0)

/* ---- S = softmax(H u' + c): lanes are nodes ---- */

/* VW nodes at a time: columns of h, then the logits of every group. */
INLINE int64_t assign_vectors(const be_group_assign_args *a) { return a->h.cols + a->u.rows; }

/* logit[g + c] = c_g + sum_j u_gj h_j for `count` groups from g; with the first ones VW rows of y from v are asked
 * for. */
INLINE void logits_tile(vf *logit, const vf *h, const be_group_assign_args *a, rows_ahead y, int64_t v, int64_t d,
                        int64_t g, const int count) {
    vf sum[GROUPS];
    const float *u = data(a->u) + g * d, *bias = data(a->c);
    for (int c = 0; c < count; c++)
        sum[c] = vf_set(bias ? bias[g + c] : 0.0f);
    for (int64_t j = 0; j < d; j++) {
        if (g == 0)
            ask_for(y, v, j * VW);
        for (int c = 0; c < count; c++)
            sum[c] += u[c * d + j] * h[j];
    }
    for (int c = 0; c < count; c++)
        logit[g + c] = sum[c];
}

/* In place; VW rows of `later` from v are asked for. */
INLINE void softmax_lanes(vf *s, rows_ahead later, int64_t v, int64_t groups) {
    vf largest = s[0], sum = {0};
    for (int64_t g = 1; g < groups; g++)
        largest = vf_max(s[g], largest);
    for (int64_t g = 0; g < groups; g++) {
        ask_for(later, v, g * VW);
        s[g] = vf_exp(s[g] - largest);
        sum += s[g];
    }
    vf scale = 1.0f / sum;
    for (int64_t g = 0; g < groups; g++)
        s[g] *= scale;
}

INLINE void assign_tile(const be_group_assign_args *a, rows_ahead y, rows_ahead later, vf *h, vf *s, int64_t v,
                        const int count, int64_t d, int64_t groups) {
    vf_load_columns(h, row(a->h, v), a->h.ld, count, d);
    for (int64_t g = 0; g < groups; g += group_tile(groups, g))
        if (group_tile(groups, g) == GROUPS)
            logits_tile(s, h, a, y, v, d, g, GROUPS);
        else
            logits_tile(s, h, a, y, v, d, g, 1);
    softmax_lanes(s, later, v, groups);
    vf_store_columns(s, row(a->s, v), a->s.ld, count, groups);
}

INLINE void assign_sweep(const be_group_assign_args *a, rows_ahead y, rows_ahead later, vf *h, span rows, int64_t d,
                         int64_t groups) {
    int64_t v = rows.begin;
    for (; v + VW <= rows.end; v += VW)
        assign_tile(a, y, later, h, h + d, v, VW, d, groups);
    if (v < rows.end)
        assign_tile(a, y, later, h, h + d, v, (int)(rows.end - v), d, groups);
}

SCRATCH(group_assign) { return (size_t)threads * floats_bytes(assign_vectors(a) * VW); }
OP(group_assign) {
    rows_ahead y = ahead_of(soon(team, BE_OP_group_apply)->args.group_apply.y);
    rows_ahead later = ahead_of(soon(team, BE_OP_group_assign)->args.group_assign.s);
    vf *vectors = (vf *)(void *)own_piece(team, 0, floats_bytes(assign_vectors(a) * VW));
    WITH_SHAPE(a->h.cols, a->u.rows, assign_sweep, a, y, later, vectors, row_share(team, a->h.rows));
}

/* ---- statistics of t ---- */

/* `count` groups from g, vector i of the columns, over the rows of one block: mean and centred sum, in one sweep about
 * the block's first row f: with e = t - f, mean = f + sum e / m and M2 = sum e^2 - (sum e)^2 / m. The first row is one
 * of the m, so (mean - f)^2 <= M2 and the difference loses at most the factor m + 1 of its digits, whatever the mean.
 * With the first groups the same rows of `z` are asked for. */
INLINE void stats_tile(float *mean, float *square, be_mat s, be_mat h, rows_ahead z, span rows, int64_t g, int64_t i,
                       const int count, int64_t d) {
    int part = vf_part(d, i);
    vf sum[GROUPS] = {{0}}, squares[GROUPS] = {{0}}, first[GROUPS];
    const float *x = row(h, rows.begin) + i * VW, *w = row(s, rows.begin) + g;
    for (int c = 0; c < count; c++)
        first[c] = w[c] * vf_load_n(x, part);
    for (int64_t v = rows.begin; v < rows.end; v++, x += h.ld, w += s.ld) {
        vf here = vf_load_n(x, part);
        if (g == 0)
            ask_for(z, v, i * VW);
        for (int c = 0; c < count; c++) {
            vf e = w[c] * here - first[c];
            sum[c] += e;
            squares[c] += e * e;
        }
    }
    float over = 1.0f / (float)(rows.end - rows.begin);
    for (int c = 0; c < count; c++) {
        vf shift = sum[c] * over;
        vf_put(mean + (g + c) * d + i * VW, first[c] + shift, part);
        vf_put(square + (g + c) * d + i * VW, vf_max(vf_set(0.0f), squares[c] - shift * sum[c]), part);
    }
}

INLINE void stats_sweep(const be_group_stats_args *a, rows_ahead z, float *partial, span blocks, int64_t d,
                        int64_t groups) {
    for (int64_t b = blocks.begin; b < blocks.end; b++) {
        float *mean = partial + 2 * b * groups * d, *square = mean + groups * d;
        span rows = block_span(a->h.rows, b);
        for (int64_t i = 0; i < vf_count(d); i++)
            for (int64_t g = 0; g < groups; g += group_tile(groups, g))
                if (group_tile(groups, g) == GROUPS)
                    stats_tile(mean, square, a->s, a->h, z, rows, g, i, GROUPS, d);
                else
                    stats_tile(mean, square, a->s, a->h, z, rows, g, i, 1, d);
    }
}

SCRATCH(group_stats) {
    (void)threads;
    return floats_bytes(2 * block_count(a->h.rows) * a->s.cols * a->h.cols);
}
OP(group_stats) {
    int64_t n = a->h.rows, size = a->s.cols * a->h.cols;
    float *partial = (float *)(void *)team->scratch; /* mean, then centred sum, of each block */
    rows_ahead z = ahead_of(soon(team, BE_OP_group_assign)->args.group_assign.h);
    WITH_SHAPE(a->h.cols, a->s.cols, stats_sweep, a, z, partial, share(team, block_count(n)));
    cpu_barrier(team);
    stats_target out = {data(a->mean), data(a->var), data(a->rmean), data(a->rvar), a->momentum};
    combine_stats(team, &out, partial, partial + size, n, 2 * size, size);
}

/* ---- out = H (1 + lambda S A) + lambda b ---- */

INLINE size_t apply_each(const be_group_apply_args *a) { return floats_bytes((a->s.cols + 1) * a->h.cols); }

typedef struct apply_view { /* what the loop needs, out of the arguments */
    const float *h, *s, *slope, *shift;
    float *y;
    int64_t ldh, lds, ldy;
    bool relu;
} apply_view;

/* `count` rows from v, vector i: the coefficients are loaded once for all of them. */
INLINE void apply_tile(const apply_view *a, int64_t v, int64_t i, const int count, int64_t d, int64_t groups) {
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
        vf_put(a->y + (v + c) * a->ldy + i * VW, vf_max(least, out), part); /* NaN is kept: it must be seen */
    }
}

/* The view is a copy: it stays in registers. */
INLINE void apply_sweep(const apply_view a, span rows, int64_t d, int64_t groups) {
    for (int64_t i = 0; i < vf_count(d); i++) {
        int64_t v = rows.begin;
        for (; v + 4 <= rows.end; v += 4)
            apply_tile(&a, v, i, 4, d, groups);
        for (; v < rows.end; v++)
            apply_tile(&a, v, i, 1, d, groups);
    }
}

SCRATCH(group_apply) { return (size_t)threads * apply_each(a); }
OP(group_apply) {
    int64_t d = a->h.cols, groups = a->s.cols;
    const float *mean = data(a->mean), *var = data(a->var), *gamma = data(a->gamma), *beta = data(a->beta);
    char *piece = own_piece(team, 0, apply_each(a));
    float *slope = take(&piece, (groups + 1) * d), *shift = slope + groups * d;
    for (int64_t j = 0; j < d; j++) {
        double b = 0.0;
        for (int64_t i = j; i < groups * d; i += d) {
            float scale = gamma[i] / sqrtf(var[i] + a->eps);
            slope[i] = a->lambda * scale;
            b += (double)beta[i] - (double)scale * (double)mean[i];
        }
        shift[j] = (float)((double)a->lambda * b);
    }
    span rows = row_share(team, a->h.rows);
    const apply_view view = {data(a->h), data(a->s), slope, shift, data(a->y), a->h.ld, a->s.ld, a->y.ld, a->act.relu};
    WITH_SHAPE(d, groups, apply_sweep, view, rows);
    if (a->act.drop.rate > 0.0f)
        drop_rows(a->y, a->y, rows.begin, rows.end, &a->act.drop);
}

/* ---- backward, first sweep: db, Q ---- */

/* The gradient that comes in, through the activation where there is one: y is NULL or its output. */
INLINE vf gradient_at(const float *go, const float *y, int part, float scale) {
    vf gradient = vf_load_n(go, part);
    return y ? vf_where_positive(vf_load_n(y, part), gradient * scale) : gradient;
}

/* `count` groups from g; with the first ones db, the sum of the gradient alone, behind the q of all groups, and the
 * same rows of `later` are asked for. */
INLINE void sums_tile(float *q, const be_group_backward_sums_args *a, rows_ahead later, span rows, int64_t g, int64_t i,
                      const int count, int64_t d, int64_t groups) {
    int part = vf_part(d, i);
    vf sum[GROUPS] = {{0}}, middle[GROUPS], db = {0};
    for (int c = 0; c < count; c++)
        middle[c] = vf_row(data(a->mean) + (g + c) * d, d, i);
    const float *h = row(a->h, rows.begin) + i * VW, *go = row(a->go, rows.begin) + i * VW;
    const float *s = row(a->s, rows.begin) + g, *y = a->y.buf ? row(a->y, rows.begin) + i * VW : NULL;
    for (int64_t v = 0; v < rows.end - rows.begin; v++, h += a->h.ld, go += a->go.ld, s += a->s.ld) {
        vf x = vf_load_n(h, part), gradient = gradient_at(go, y ? y + v * a->y.ld : NULL, part, a->scale);
        if (g == 0)
            ask_for(later, rows.begin + v, i * VW);
        for (int c = 0; c < count; c++)
            sum[c] += gradient * (s[c] * x - middle[c]);
        db += gradient;
    }
    for (int c = 0; c < count; c++)
        vf_put(q + (g + c) * d + i * VW, sum[c], part);
    if (g == 0)
        vf_put(q + groups * d + i * VW, db, part);
}

/* partial: q, then db, of each block */
INLINE void sums_sweep(const be_group_backward_sums_args *a, rows_ahead later, float *partial, span blocks, int64_t d,
                       int64_t groups) {
    for (int64_t b = blocks.begin; b < blocks.end; b++) {
        float *p = partial + b * (groups + 1) * d;
        span rows = block_span(a->h.rows, b);
        for (int64_t i = 0; i < vf_count(d); i++)
            for (int64_t g = 0; g < groups; g += group_tile(groups, g))
                if (group_tile(groups, g) == GROUPS)
                    sums_tile(p, a, later, rows, g, i, GROUPS, d, groups);
                else
                    sums_tile(p, a, later, rows, g, i, 1, d, groups);
    }
}

/* The sums of the gradient alone over all blocks, for a chunk of columns. */
typedef struct db_sums {
    int64_t chunk;
    double sum[CHUNK];
} db_sums;

/* What follows from the sums of the blocks for group g and a chunk of columns; db's are made anew only where the chunk
 * is another than before. */
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
        data(a->ggamma)[at] += q / sqrtf(data(a->var)[at] + a->eps);
        data(a->gbeta)[at] += db;
    }
}

SCRATCH(group_backward_sums) {
    (void)threads;
    return floats_bytes(block_count(a->h.rows) * (a->s.cols + 1) * a->h.cols);
}
OP(group_backward_sums) {
    int64_t d = a->h.cols, groups = a->s.cols, blocks = block_count(a->h.rows);
    float *partial = (float *)(void *)team->scratch;
    rows_ahead later = ahead_of(soon(team, BE_OP_gat_backward_edges)->args.gat_backward_edges.z);
    WITH_SHAPE(d, groups, sums_sweep, a, later, partial, share(team, blocks));
    cpu_barrier(team);
    span mine = share(team, (d + CHUNK - 1) / CHUNK * groups);
    db_sums all = {.chunk = -1};
    for (int64_t i = mine.begin; i < mine.end; i++)
        sums_finish(a, &all, partial, i / groups, i % groups);
}

/* ---- backward, second sweep: everything row by row; lanes are nodes ---- */

/* dt = slope go + level + (t - mean) pull: the four coefficients of each (g, j), in the order in which the sweep meets
 * them. Then vectors over VW nodes: columns of h, go and gh, and per group s, dS (which becomes gz) and the sum of gz
 * over a block. */
typedef struct coefficients {
    float mean, slope, level, pull;
} coefficients;

typedef struct rows_work {
    coefficients *k;
    vf *h, *go, *gh, *s, *ds, *gc;
    rows_ahead later_h, later_y, later_s; /* what the backward pass of the layer before begins with */
} rows_work;

INLINE size_t rows_each(const be_group_backward_rows_args *a) {
    int64_t d = a->h.cols, groups = a->s.cols;
    return floats_bytes(4 * groups * d) + floats_bytes((3 * d + 3 * groups) * VW);
}

static rows_work rows_prepare(const cpu_team *team, const be_group_backward_rows_args *a, char *piece) {
    int64_t n = a->h.rows, d = a->h.cols, groups = a->s.cols;
    rows_work w = {0};
    const be_group_backward_sums_args *later = &soon(team, BE_OP_group_backward_sums)->args.group_backward_sums;
    w.later_h = ahead_of(later->h);
    w.later_y = ahead_of(later->y);
    w.later_s = ahead_of(later->s);
    w.k = (coefficients *)(void *)take(&piece, 4 * groups * d);
    w.h = (vf *)(void *)piece;
    w.go = w.h + d;
    w.gh = w.go + d;
    w.s = w.gh + d;
    w.ds = w.s + groups;
    w.gc = w.ds + groups;
    coefficients *k = w.k;
    for (int64_t g = 0; g < groups; g += group_tile(groups, g))
        for (int64_t j = 0; j < d; j++)
            for (int c = 0; c < group_tile(groups, g); c++, k++) {
                int64_t i = (g + c) * d + j;
                float r = 1.0f / sqrtf(data(a->var)[i] + a->eps), gamma = data(a->gamma)[i];
                k->mean = data(a->mean)[i];
                k->slope = a->lambda * gamma * r;
                k->level = -gamma * r * data(a->db)[j] / (float)n;
                k->pull = -r * r * r * gamma * data(a->q)[i] / (float)n; /* (2/n) (-1/2 r^3 gamma q) */
            }
    return w;
}

/* `count` groups from g: dS into w->ds, S dt added to w->gh; with the first ones VW later rows from v are asked for. */
INLINE void rows_tile(const rows_work *w, int64_t v, int64_t d, int64_t g, const int count) {
    const coefficients *k = w->k + g * d;
    vf s[GROUPS], ds[GROUPS] = {{0}};
    for (int c = 0; c < count; c++)
        s[c] = w->s[g + c];
    for (int64_t j = 0; j < d; j++, k += count) {
        vf h = w->h[j], go = w->go[j], gh = w->gh[j];
        if (g == 0) {
            ask_for(w->later_h, v, j * VW);
            ask_for(w->later_y, v, j * VW);
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
        ask_for(w->later_s, v, g * VW);
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

/* `count` rows from v; lanes behind them have s = 0, so gz = 0 there. */
INLINE void rows_lanes(const be_group_backward_rows_args *a, const rows_work *w, int64_t v, const int count, int64_t d,
                       int64_t groups) {
    vf_load_columns(w->h, row(a->h, v), a->h.ld, count, d);
    load_gradient(w->go, a, v, count, d);
    vf_load_columns(w->s, row(a->s, v), a->s.ld, count, groups);
    memcpy(w->gh, w->go, (size_t)d * sizeof(vf));
    for (int64_t g = 0; g < groups; g += group_tile(groups, g))
        if (group_tile(groups, g) == GROUPS)
            rows_tile(w, v, d, g, GROUPS);
        else
            rows_tile(w, v, d, g, 1);
    rows_finish(w, data(a->u), v, d, groups);
    vf_store_columns(w->gh, row(a->gh, v), a->gh.ld, count, d);
    vf_store_columns(w->ds, row(a->gz, v), a->gz.ld, count, groups);
}

/* partial: gc of each block */
INLINE void rows_sweep(const be_group_backward_rows_args *a, const rows_work w, float *partial, span blocks, int64_t d,
                       int64_t groups) {
    for (int64_t b = blocks.begin; b < blocks.end; b++) {
        span rows = block_span(a->h.rows, b);
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

SCRATCH(group_backward_rows) {
    return floats_bytes(block_count(a->h.rows) * a->s.cols) + (size_t)threads * rows_each(a);
}
OP(group_backward_rows) {
    int64_t n = a->h.rows, groups = a->s.cols, blocks = block_count(n);
    float *partial = (float *)(void *)team->scratch; /* gc of each block */
    rows_work w = rows_prepare(team, a, own_piece(team, floats_bytes(blocks * groups), rows_each(a)));
    WITH_SHAPE(a->h.cols, groups, rows_sweep, a, w, partial, share(team, blocks));
    if (!a->gc.buf)
        return;
    cpu_barrier(team);
    add_sums(team, data(a->gc), partial, blocks, groups, groups);
}
