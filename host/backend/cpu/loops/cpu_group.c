/* cpu_group.c - differentiable group normalisation without the n x G x d array:
 * t_vgj = S_vg H_vj lives in registers. Lanes are columns j, but groups g for the
 * assignment. Formulas: operations.h. */
#include "backend/cpu/loops/loops.h"
#include "backend/cpu/loops/stats.h"

/* A thread's own piece of scratch, behind `shared` bytes that all of them use. */
INLINE char *own_piece(const cpu_team *team, size_t shared, size_t each) {
    return team->scratch + shared + (size_t)team->id * each;
}

/* ---- S = softmax(H u' + c) ---- */

INLINE size_t assign_each(const be_group_assign_args *a) {
    return floats_bytes((a->h.cols + 1) * vf_count(a->u.rows) * VW);
}

/* Row v of the logits: one vector of groups at a time. ut is u' with its rows padded to whole vectors, its last row c.
 */
INLINE void logits(float *s, const float *h, const float *ut, int64_t d, int64_t groups, int64_t width) {
    for (int64_t i = 0; i < vf_count(groups); i++) {
        vf sum = vf_load(ut + d * width + i * VW);
        for (int64_t j = 0; j < d; j++)
            sum += h[j] * vf_load(ut + j * width + i * VW);
        vf_row_set(s, groups, i, sum);
    }
}

INLINE void softmax_row(float *s, int64_t groups) {
    float largest = s[0], sum = 0.0f;
    for (int64_t g = 1; g < groups; g++)
        largest = s[g] > largest ? s[g] : largest;
    for (int64_t i = 0; i < vf_count(groups); i++)
        vf_row_set(s, groups, i, vf_exp(vf_row(s, groups, i) - largest));
    for (int64_t i = 0; i < vf_count(groups); i++)
        sum += vf_sum(vf_row(s, groups, i));
    for (int64_t g = 0; g < groups; g++)
        s[g] /= sum;
}

SCRATCH(group_assign) { return (size_t)threads * assign_each(a); }
OP(group_assign) {
    int64_t d = a->h.cols, groups = a->u.rows, width = vf_count(groups) * VW;
    char *piece = own_piece(team, 0, assign_each(a));
    float *ut = take(&piece, (d + 1) * width);
    for (int64_t g = 0; g < width; g++) {
        for (int64_t j = 0; j < d; j++)
            ut[j * width + g] = g < groups ? row(a->u, g)[j] : 0.0f;
        ut[d * width + g] = g < groups && a->c.buf ? data(a->c)[g] : 0.0f;
    }
    span rows = row_share(team, a->h.rows);
    for (int64_t v = rows.begin; v < rows.end; v++) {
        logits(row(a->s, v), row(a->h, v), ut, d, groups, width);
        softmax_row(row(a->s, v), groups);
    }
}

/* ---- statistics of t ---- */

/* `count` groups from g, vector i of the columns, over the rows of one block: mean and centred sum. */
INLINE void stats_tile(float *mean, float *square, be_mat s, be_mat h, span rows, int64_t g, int64_t i,
                       const int count) {
    int64_t d = h.cols;
    vf sum[8] = {{0}}, middle[8];
    for (int64_t v = rows.begin; v < rows.end; v++) {
        vf x = vf_row(row(h, v), d, i);
        for (int c = 0; c < count; c++)
            sum[c] += row(s, v)[g + c] * x;
    }
    for (int c = 0; c < count; c++) {
        middle[c] = sum[c] / (float)(rows.end - rows.begin);
        vf_row_set(mean + (g + c) * d, d, i, middle[c]);
        sum[c] = (vf){0};
    }
    for (int64_t v = rows.begin; v < rows.end; v++) {
        vf x = vf_row(row(h, v), d, i);
        for (int c = 0; c < count; c++) {
            vf t = row(s, v)[g + c] * x - middle[c];
            sum[c] += t * t;
        }
    }
    for (int c = 0; c < count; c++)
        vf_row_set(square + (g + c) * d, d, i, sum[c]);
}

SCRATCH(group_stats) {
    (void)threads;
    return floats_bytes(2 * block_count(a->h.rows) * a->s.cols * a->h.cols);
}
OP(group_stats) {
    char *scratch = team->scratch;
    int64_t n = a->h.rows, d = a->h.cols, groups = a->s.cols, size = groups * d, blocks = block_count(n);
    float *mean = take(&scratch, 2 * blocks * size), *square = mean + size;
    span mine = share(team, blocks);
    for (int64_t b = mine.begin; b < mine.end; b++) {
        float *m = mean + 2 * b * size, *q = square + 2 * b * size;
        span rows = block_span(n, b);
        for (int64_t i = 0; i < vf_count(d); i++) {
            int64_t g = 0;
            for (; g + 5 <= groups; g += 5)
                stats_tile(m, q, a->s, a->h, rows, g, i, 5);
            for (; g < groups; g++)
                stats_tile(m, q, a->s, a->h, rows, g, i, 1);
        }
    }
    cpu_barrier(team);
    stats_target out = {data(a->mean), data(a->var), data(a->rmean), data(a->rvar), a->momentum};
    combine_stats(&out, mean, square, n, 2 * size, share(team, size));
}

/* ---- out = H (1 + lambda S A) + lambda b ---- */

INLINE size_t apply_each(const be_group_apply_args *a) { return floats_bytes((a->s.cols + 1) * a->h.cols); }

/* `count` rows from v, vector i: the coefficients are loaded once for all of them. */
INLINE void apply_tile(const be_group_apply_args *a, const float *slope, const float *shift, int64_t v, int64_t i,
                       const int count) {
    int64_t d = a->h.cols;
    vf factor[4];
    for (int c = 0; c < count; c++)
        factor[c] = vf_set(1.0f);
    for (int64_t g = 0; g < a->s.cols; g++) {
        vf coefficient = vf_row(slope + g * d, d, i);
        for (int c = 0; c < count; c++)
            factor[c] += row(a->s, v + c)[g] * coefficient;
    }
    vf b = vf_row(shift, d, i);
    for (int c = 0; c < count; c++)
        vf_row_set(row(a->y, v + c), d, i, vf_row(row(a->h, v + c), d, i) * factor[c] + b);
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
    for (int64_t v = rows.begin; v < rows.end;) {
        int count = rows.end - v >= 4 ? 4 : 1;
        for (int64_t i = 0; i < vf_count(d); i++)
            if (count == 4)
                apply_tile(a, slope, shift, v, i, 4);
            else
                apply_tile(a, slope, shift, v, i, 1);
        for (int c = 0; c < count; c++)
            act_row(row(a->y, v + c), d, &a->act, (v + c) * d);
        v += count;
    }
}

/* ---- backward, first sweep: db, Q ---- */

INLINE void sums_tile(float *q, const be_group_backward_sums_args *a, span rows, int64_t g, int64_t i,
                      const int count) {
    int64_t d = a->h.cols;
    vf sum[8] = {{0}}, middle[8];
    for (int c = 0; c < count; c++)
        middle[c] = vf_row(data(a->mean) + (g + c) * d, d, i);
    for (int64_t v = rows.begin; v < rows.end; v++) {
        vf x = vf_row(row(a->h, v), d, i), go = vf_row(row(a->go, v), d, i);
        for (int c = 0; c < count; c++)
            sum[c] += go * (row(a->s, v)[g + c] * x - middle[c]);
    }
    for (int c = 0; c < count; c++)
        vf_row_set(q + (g + c) * d, d, i, sum[c]);
}

SCRATCH(group_backward_sums) {
    (void)threads;
    return floats_bytes(block_count(a->h.rows) * (a->s.cols + 1) * a->h.cols);
}
OP(group_backward_sums) {
    char *scratch = team->scratch;
    int64_t n = a->h.rows, d = a->h.cols, groups = a->s.cols, size = (groups + 1) * d, blocks = block_count(n);
    float *partial = take(&scratch, blocks * size); /* q, then db, of each block */
    span mine = share(team, blocks);
    for (int64_t b = mine.begin; b < mine.end; b++) {
        float *p = partial + b * size;
        span rows = block_span(n, b);
        for (int64_t i = 0; i < vf_count(d); i++) {
            int64_t g = 0;
            for (; g + 5 <= groups; g += 5)
                sums_tile(p, a, rows, g, i, 5);
            for (; g < groups; g++)
                sums_tile(p, a, rows, g, i, 1);
            vf db = {0};
            for (int64_t v = rows.begin; v < rows.end; v++)
                db += vf_row(row(a->go, v), d, i);
            vf_row_set(p + groups * d, d, i, db);
        }
    }
    cpu_barrier(team);
    span cols = share(team, d);
    for (int64_t j = cols.begin; j < cols.end; j++) {
        float db = (float)((double)a->lambda * sum_blocks(partial, blocks, size, groups * d + j));
        data(a->db)[j] = db;
        for (int64_t i = j; i < groups * d; i += d) {
            float q = (float)((double)a->lambda * sum_blocks(partial, blocks, size, i));
            data(a->q)[i] = q;
            data(a->ggamma)[i] += q / sqrtf(data(a->var)[i] + a->eps);
            data(a->gbeta)[i] += db;
        }
    }
}

/* ---- backward, second sweep: everything row by row ---- */

/* dt = slope go + level + (t - mean) pull, per (g, j). */
typedef struct rows_coefficients {
    float *slope, *level, *pull, *gh, *ds;
} rows_coefficients;

INLINE int64_t rows_floats(const be_group_backward_rows_args *a) {
    return 3 * a->s.cols * a->h.cols + a->h.cols + a->s.cols * VW;
}

static rows_coefficients rows_prepare(const be_group_backward_rows_args *a, char *piece) {
    int64_t n = a->h.rows, d = a->h.cols, size = a->s.cols * d;
    rows_coefficients k;
    k.slope = take(&piece, rows_floats(a));
    k.level = k.slope + size;
    k.pull = k.level + size;
    k.gh = k.pull + size;
    k.ds = k.gh + d;
    for (int64_t i = 0; i < size; i++) {
        float r = 1.0f / sqrtf(data(a->var)[i] + a->eps), gamma = data(a->gamma)[i];
        k.slope[i] = a->lambda * gamma * r;
        k.level[i] = -gamma * r * data(a->db)[i % d] / (float)n;
        k.pull[i] = -r * r * r * gamma * data(a->q)[i] / (float)n; /* (2/n) (-1/2 r^3 gamma q) */
    }
    return k;
}

/* Row v: gh without the part through the assignment into k->gh, dS into gz. */
static void rows_sweep(const be_group_backward_rows_args *a, const rows_coefficients *k, int64_t v) {
    int64_t d = a->h.cols, groups = a->s.cols;
    const float *s = row(a->s, v), *mean = data(a->mean);
    float *gz = row(a->gz, v);
    for (int64_t i = 0; i < vf_count(d); i++) {
        vf h = vf_row(row(a->h, v), d, i), go = vf_row(row(a->go, v), d, i), gh = go;
        for (int64_t g = 0; g < groups; g++) {
            vf t = s[g] * h - vf_row(mean + g * d, d, i);
            vf dt = vf_row(k->slope + g * d, d, i) * go + vf_row(k->level + g * d, d, i);
            dt += t * vf_row(k->pull + g * d, d, i);
            gh += s[g] * dt;
            vf ds = h * dt; /* lanes behind the row are 0 because h is 0 there */
            vf_store(k->ds + g * VW, i == 0 ? ds : vf_load(k->ds + g * VW) + ds);
        }
        vf_row_set(k->gh, d, i, gh);
    }
    for (int64_t g = 0; g < groups; g++)
        gz[g] = vf_sum(vf_load(k->ds + g * VW));
}

/* gz = S (dS - sum_k dS_k S_k); gh += gz u; both then stand in their places. */
static void rows_finish(const be_group_backward_rows_args *a, const rows_coefficients *k, int64_t v, float *gc) {
    int64_t d = a->h.cols, groups = a->s.cols;
    const float *s = row(a->s, v);
    float *gz = row(a->gz, v), mean = 0.0f;
    for (int64_t g = 0; g < groups; g++)
        mean += gz[g] * s[g];
    for (int64_t g = 0; g < groups; g++) {
        gz[g] = s[g] * (gz[g] - mean);
        gc[g] += gz[g];
    }
    for (int64_t i = 0; i < vf_count(d); i++) {
        vf gh = vf_row(k->gh, d, i);
        for (int64_t g = 0; g < groups; g++)
            gh += gz[g] * vf_row(row(a->u, g), d, i);
        vf_row_set(row(a->gh, v), d, i, gh);
    }
}

SCRATCH(group_backward_rows) {
    return floats_bytes(block_count(a->h.rows) * a->s.cols) + (size_t)threads * floats_bytes(rows_floats(a));
}
OP(group_backward_rows) {
    int64_t n = a->h.rows, groups = a->s.cols, blocks = block_count(n);
    size_t shared = floats_bytes(blocks * groups);
    float *partial = (float *)(void *)team->scratch; /* gc of each block */
    rows_coefficients k = rows_prepare(a, own_piece(team, shared, floats_bytes(rows_floats(a))));
    span mine = share(team, blocks);
    for (int64_t b = mine.begin; b < mine.end; b++) {
        float *gc = partial + b * groups;
        memset(gc, 0, (size_t)groups * sizeof(float));
        span rows = block_span(n, b);
        for (int64_t v = rows.begin; v < rows.end; v++) {
            rows_sweep(a, &k, v);
            rows_finish(a, &k, v, gc);
        }
    }
    if (!a->gc.buf)
        return;
    cpu_barrier(team);
    span cols = share(team, groups);
    for (int64_t g = cols.begin; g < cols.end; g++)
        data(a->gc)[g] += (float)sum_blocks(partial, blocks, groups, g);
}
