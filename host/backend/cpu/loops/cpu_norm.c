/* cpu_norm.c - batch, pair and node normalisation. Statistics are the means and centred
 * sums of blocks of rows, combined in block order (Chan et al. 1979). */
#include "backend/cpu/loops/loops.h"
#include "backend/cpu/loops/stats.h"

CPU_SCRATCH(col_stats) {
    (void)threads;
    return floats_bytes(2 * block_count(a->x.rows) * a->x.cols);
}
CPU_OP(col_stats) {
    char *scratch = ctx->scratch;
    int64_t n = a->x.rows, d = a->x.cols, blocks = block_count(n);
    float *mean = take_floats(&scratch, blocks * 2 * d), *square = mean + d;
    range mine = partition(ctx, blocks);
    for (int64_t b = mine.begin; b < mine.end; b++) {
        range rows = block_range(n, b);
        for (int64_t i = 0; i < vf_count(d); i++) {
            vf first = STATS_UNIT * vf_row(row(a->x, rows.begin), d, i), sum = {0}, centred = {0};
            for (int64_t v = rows.begin; v < rows.end; v++) /* shifted by a row: a large mean would cost digits */
                sum += STATS_UNIT * vf_row(row(a->x, v), d, i) - first;
            vf m = first + sum / (float)(rows.end - rows.begin);
            for (int64_t v = rows.begin; v < rows.end; v++) {
                vf x = STATS_UNIT * vf_row(row(a->x, v), d, i) - m;
                centred += x * x;
            }
            vf_row_set(mean + 2 * b * d, d, i, m);
            vf_row_set(square + 2 * b * d, d, i, centred);
        }
    }
    cpu_barrier(ctx);
    stats_target out = {data(a->mean), data(a->var), data(a->rmean), data(a->rvar), a->momentum};
    combine_stats(ctx, &out, mean, square, n, 2 * d, d);
}

/* Coefficients of columns are computed once per thread, in its own scratch. */
INLINE float *thread_floats(const thread_ctx *ctx, int64_t count) {
    return (float *)(void *)(ctx->scratch + (size_t)ctx->id * floats_bytes(count));
}

CPU_SCRATCH(batch_apply) { return (size_t)threads * floats_bytes(a->x.cols); }
CPU_OP(batch_apply) {
    int64_t d = a->x.cols;
    const float *mean = data(a->mean), *var = data(a->var), *gamma = data(a->gamma), *beta = data(a->beta);
    float *scale = thread_floats(ctx, d);
    for (int64_t j = 0; j < d; j++)
        scale[j] = gamma[j] / deviation(var[j], a->eps);
    range rows = row_partition(ctx, a->x.rows);
    for (int64_t v = rows.begin; v < rows.end; v++) {
        const float *x = row(a->x, v);
        float *y = row(a->y, v);
        for (int64_t i = 0; i < vf_count(d); i++) {
            vf out = (vf_row(x, d, i) - vf_row(mean, d, i)) * vf_row(scale, d, i) + vf_row(beta, d, i);
            vf_row_set(y, d, i, a->act.relu ? vf_relu(out) : out);
        }
    }
    if (a->act.drop.rate > 0.0f)
        dropout_rows(a->y, a->y, rows.begin, rows.end, &a->act.drop);
}

/* s = (eps + sum_j var_j)^-1/2; NaN when a variance overflows */
INLINE float pair_scale(be_mat var, float eps) {
    double sum = 0.0;
    for (int64_t j = 0; j < var.cols; j++)
        sum += data(var)[j] < VARIANCE_LIMIT ? (double)data(var)[j] : (double)NAN;
    return (float)(1.0 / sqrt((double)eps + sum));
}

CPU_NO_SCRATCH(pair_apply)
CPU_OP(pair_apply) {
    int64_t d = a->x.cols;
    const float *mean = data(a->mean), s = pair_scale(a->var, a->eps);
    range rows = row_partition(ctx, a->x.rows);
    for (int64_t v = rows.begin; v < rows.end; v++) {
        const float *x = row(a->x, v);
        float *y = row(a->y, v);
        for (int64_t i = 0; i < vf_count(d); i++) {
            vf out = (vf_row(x, d, i) - vf_row(mean, d, i)) * s;
            vf_row_set(y, d, i, a->act.relu ? vf_relu(out) : out);
        }
    }
    if (a->act.drop.rate > 0.0f)
        dropout_rows(a->y, a->y, rows.begin, rows.end, &a->act.drop);
}

CPU_SCRATCH(norm_sums) {
    (void)threads;
    return floats_bytes(2 * block_count(a->x.rows) * a->x.cols);
}
CPU_OP(norm_sums) {
    char *scratch = ctx->scratch;
    int64_t n = a->x.rows, d = a->x.cols, blocks = block_count(n);
    float *partial = take_floats(&scratch, blocks * 2 * d); /* db, q of each block */
    range mine = partition(ctx, blocks);
    for (int64_t b = mine.begin; b < mine.end; b++) {
        range rows = block_range(n, b);
        for (int64_t i = 0; i < vf_count(d); i++) {
            vf mean = vf_row(data(a->mean), d, i), db = {0}, q = {0};
            for (int64_t v = rows.begin; v < rows.end; v++) {
                vf go = vf_row(row(a->go, v), d, i);
                db += go;
                q += go * (vf_row(row(a->x, v), d, i) - mean);
            }
            vf_row_set(partial + 2 * b * d, d, i, db);
            vf_row_set(partial + 2 * b * d + d, d, i, q);
        }
    }
    cpu_barrier(ctx);
    range mine_cols = partition(ctx, (d + CHUNK - 1) / CHUNK);
    for (int64_t first = mine_cols.begin * CHUNK; first < d && first < mine_cols.end * CHUNK; first += CHUNK) {
        double db[CHUNK], q[CHUNK];
        int64_t some = d - first < CHUNK ? d - first : CHUNK;
        sum_blocks(db, partial + first, blocks, 2 * d, some);
        sum_blocks(q, partial + d + first, blocks, 2 * d, some);
        for (int64_t i = 0; i < some; i++) {
            data(a->db)[first + i] = (float)db[i];
            data(a->q)[first + i] = (float)q[i];
        }
    }
}

CPU_SCRATCH(batch_backward) { return (size_t)threads * floats_bytes(3 * a->x.cols); }
CPU_OP(batch_backward) {
    int64_t n = be_over(a->over, a->x), d = a->x.cols;
    const float *mean = data(a->mean), *var = data(a->var), *gamma = data(a->gamma), *db = data(a->db), *q = data(a->q);
    float *scale = thread_floats(ctx, 3 * d), *shift = scale + d, *pull = shift + d;
    for (int64_t j = 0; j < d; j++) {
        float r = 1.0f / deviation(var[j], a->eps);
        scale[j] = gamma[j] * r;
        shift[j] = db[j] / (float)n;
        pull[j] = r * r * q[j] / (float)n;
    }
    range rows = row_partition(ctx, a->x.rows);
    for (int64_t v = rows.begin; v < rows.end; v++) {
        const float *x = row(a->x, v), *go = row(a->go, v);
        float *gx = row(a->gx, v);
        for (int64_t j = 0; j < d; j++)
            gx[j] = scale[j] * (go[j] - shift[j] - (x[j] - mean[j]) * pull[j]);
    }
    range cols = partition(ctx, a->ggamma.buf ? d : 0);
    for (int64_t j = cols.begin; j < cols.end; j++) {
        data(a->ggamma)[j] += q[j] / deviation(var[j], a->eps);
        data(a->gbeta)[j] += db[j];
    }
}

/* The largest power of two <= s, for s > 0. */
INLINE float power_of_two_below(float s) {
    uint32_t bits;
    memcpy(&bits, &s, sizeof bits);
    bits &= 0x7f800000u;
    memcpy(&s, &bits, sizeof s);
    return s;
}

/* s^3 underflows where x is large: a power of two is moved from it to x - mean, which is exact. */
CPU_NO_SCRATCH(pair_backward)
CPU_OP(pair_backward) {
    int64_t n = be_over(a->over, a->x), d = a->x.cols;
    const float *mean = data(a->mean), *db = data(a->db), s = pair_scale(a->var, a->eps), over_n = 1.0f / (float)n;
    double sum = 0.0;
    for (int64_t j = 0; j < d; j++)
        sum += (double)data(a->q)[j];
    float unit = power_of_two_below(s), pull = (float)((double)s * s * s * sum / (double)n / (double)unit);
    range rows = row_partition(ctx, a->x.rows);
    for (int64_t v = rows.begin; v < rows.end; v++) {
        const float *x = row(a->x, v), *go = row(a->go, v);
        float *gx = row(a->gx, v);
        for (int64_t j = 0; j < d; j++)
            gx[j] = s * (go[j] - db[j] * over_n) - pull * ((x[j] - mean[j]) * unit);
    }
}

/* STATS_UNIT x - centre for vector i of a row of d floats; 0 past its end. */
INLINE vf row_minus(const float *x, int64_t d, int64_t i, float centre) {
    vf v = STATS_UNIT * vf_row(x, d, i) - centre;
    float lanes[VW];
    if (vf_part(d, i) == VW)
        return v;
    vf_store(lanes, v);
    return vf_load_n(lanes, vf_part(d, i));
}

/* The mean of a row in STATS_UNIT, shifted by its first value as in col_stats, and (var + eps) in its square; NaN when
 * the variance overflows. */
INLINE float node_variance(float *mean, const float *x, int64_t d, float eps) {
    float first = STATS_UNIT * x[0];
    vf sum = {0}, centred = {0};
    for (int64_t i = 0; i < vf_count(d); i++)
        sum += row_minus(x, d, i, first);
    *mean = first + vf_sum(sum) / (float)d;
    for (int64_t i = 0; i < vf_count(d); i++) {
        vf v = row_minus(x, d, i, *mean);
        centred += v * v;
    }
    float var = vf_sum(centred) / (float)d;
    return var < VARIANCE_LIMIT ? var + STATS_UNIT * STATS_UNIT * eps : NAN;
}

/* (var + eps)^-1/4 */
INLINE float node_scale(float variance) { return NODE_UNIT / sqrtf(sqrtf(variance)); }

CPU_NO_SCRATCH(node_apply)
CPU_OP(node_apply) {
    int64_t d = a->x.cols;
    range rows = row_partition(ctx, a->x.rows);
    for (int64_t v = rows.begin; v < rows.end; v++) {
        const float *x = row(a->x, v);
        float *y = row(a->y, v), mean, s = node_scale(node_variance(&mean, x, d, a->eps));
        for (int64_t i = 0; i < vf_count(d); i++) {
            vf out = vf_row(x, d, i) * s;
            vf_row_set(y, d, i, a->act.relu ? vf_relu(out) : out);
        }
    }
    if (a->act.drop.rate > 0.0f)
        dropout_rows(a->y, a->y, rows.begin, rows.end, &a->act.drop);
}

CPU_NO_SCRATCH(node_backward)
CPU_OP(node_backward) {
    int64_t d = a->x.cols;
    range rows = row_partition(ctx, a->x.rows);
    for (int64_t v = rows.begin; v < rows.end; v++) {
        const float *x = row(a->x, v), *go = row(a->go, v);
        float *gx = row(a->gx, v), mean, variance = node_variance(&mean, x, d, a->eps), s = node_scale(variance);
        vf dot = {0};
        for (int64_t i = 0; i < vf_count(d); i++)
            dot += STATS_UNIT * vf_row(x, d, i) * vf_row(go, d, i);
        float pull = vf_sum(dot) / variance * (0.5f / (float)d);
        for (int64_t i = 0; i < vf_count(d); i++)
            vf_row_set(gx, d, i, s * (vf_row(go, d, i) - row_minus(x, d, i, mean) * pull));
    }
}
