/* cpu_pointwise.c - element by element and row by row: fill, copy, activation,
 * linear combinations, biases, column sums, row lengths. */
#include "backend/cpu/loops/loops.h"

CPU_NO_SCRATCH(fill)
CPU_OP(fill) {
    tile my = tile_partition(ctx, a->y.rows, a->y.cols);
    for (int64_t r = my.rows.begin; r < my.rows.end; r++) {
        float *y = row(a->y, r);
        for (int64_t j = my.cols.begin; j < my.cols.end; j++)
            y[j] = a->value;
    }
}

CPU_NO_SCRATCH(copy)
CPU_OP(copy) {
    tile my = tile_partition(ctx, a->y.rows, a->y.cols);
    for (int64_t r = my.rows.begin; r < my.rows.end; r++)
        memcpy(row(a->y, r) + my.cols.begin, row(a->x, r) + my.cols.begin,
               (size_t)(my.cols.end - my.cols.begin) * sizeof(float));
}

/* y = expression in VEC_AT(matrix), for the tile of this thread. Explicit vectors: the output may be an input, which
 * keeps compilers from vectorising. */
#define FOR_EACH_VECTOR(y, expression)                                       \
    do {                                                                     \
        tile my = tile_partition(ctx, (y).rows, (y).cols);                   \
        int64_t width = my.cols.end - my.cols.begin;                         \
        for (int64_t r = my.rows.begin; r < my.rows.end; r++)                \
            for (int64_t i = 0; i < vf_count(width); i++)                    \
                vf_row_set(row(y, r) + my.cols.begin, width, i, expression); \
    } while (0)
#define VEC_AT(m) vf_row(row(m, r) + my.cols.begin, width, i)

/* y = dropout(x) for the tile of this thread; y may be x. */
static void dropout_partition(const thread_ctx *ctx, be_mat y, be_mat x, const be_drop *drop) {
    tile my = tile_partition(ctx, y.rows, y.cols);
    if (my.cols.end - my.cols.begin == y.cols) {
        dropout_rows(y, x, my.rows.begin, my.rows.end, drop);
        return;
    }
    for (int64_t r = my.rows.begin; r < my.rows.end; r++)
        for (int64_t j = my.cols.begin, some; j < my.cols.end; j += some) {
            float factors[DROPOUT_RUN];
            int64_t whole = DROPOUT_RUN - (drop->first + r * y.cols + j) % 4;
            some = my.cols.end - j < whole ? my.cols.end - j : whole;
            dropout_factors(factors, drop, r * y.cols + j, some);
            apply_factors(row(y, r) + j, row(x, r) + j, factors, some);
        }
}

CPU_NO_SCRATCH(activate)
CPU_OP(activate) {
    bool drops = a->act.drop.rate > 0.0f;
    if (a->act.relu)
        FOR_EACH_VECTOR(a->y, vf_relu(VEC_AT(a->x)));
    else if (!drops)
        FOR_EACH_VECTOR(a->y, VEC_AT(a->x));
    if (drops)
        dropout_partition(ctx, a->y, a->act.relu ? a->y : a->x, &a->act.drop);
}

CPU_NO_SCRATCH(activate_backward)
CPU_OP(activate_backward) {
    float scale = a->act.drop.rate > 0.0f ? a->act.drop.scale : 1.0f;
    if (a->act.relu) {
        FOR_EACH_VECTOR(a->gx, vf_select(VEC_AT(a->y) > 0.0f, VEC_AT(a->gy) * scale, vf_set(0.0f)));
        return;
    }
    if (a->act.drop.rate > 0.0f)
        dropout_partition(ctx, a->gx, a->gy, &a->act.drop);
    else
        FOR_EACH_VECTOR(a->gx, VEC_AT(a->gy));
}

CPU_NO_SCRATCH(axpby)
CPU_OP(axpby) {
    if (a->z.buf)
        FOR_EACH_VECTOR(a->y, a->a * VEC_AT(a->x) + a->b * VEC_AT(a->z));
    else
        FOR_EACH_VECTOR(a->y, a->a * VEC_AT(a->x));
}

CPU_NO_SCRATCH(bias_add)
CPU_OP(bias_add) {
    const float *b = data(a->b);
    FOR_EACH_VECTOR(a->y, VEC_AT(a->x) + vf_row(b + my.cols.begin, width, i));
}

CPU_SCRATCH(col_sum) {
    (void)threads;
    return floats_bytes(block_count(a->x.rows) * a->x.cols);
}
CPU_OP(col_sum) {
    char *scratch = ctx->scratch;
    int64_t n = a->x.rows, d = a->x.cols, blocks = block_count(n);
    float *partial = take_floats(&scratch, blocks * d);
    range mine = partition(ctx, blocks);
    for (int64_t b = mine.begin; b < mine.end; b++) {
        float *sum = partial + b * d;
        range rows = block_range(n, b);
        memset(sum, 0, (size_t)d * sizeof(float));
        for (int64_t r = rows.begin; r < rows.end; r++) {
            const float *x = row(a->x, r);
            for (int64_t j = 0; j < d; j++)
                sum[j] += x[j];
        }
    }
    cpu_barrier(ctx);
    add_sums(ctx, data(a->s), partial, blocks, d, d);
}

CPU_NO_SCRATCH(row_normalise)
CPU_OP(row_normalise) {
    range rows = row_partition(ctx, a->y.rows);
    int64_t d = a->x.cols, vectors = vf_count(d);
    for (int64_t r = rows.begin; r < rows.end; r++) {
        const float *x = row(a->x, r);
        float *y = row(a->y, r);
        vf sum = {0};
        for (int64_t i = 0; i < vectors; i++) {
            vf v = vf_row(x, d, i);
            sum += a->kind == BE_ROW_L2 ? v * v : v;
        }
        float norm = vf_sum(sum);
        if (a->kind == BE_ROW_L2)
            norm = sqrtf(norm);
        if (a->norm.buf)
            data(a->norm)[r] = norm;
        for (int64_t j = 0; j < d; j++)
            y[j] = norm != 0.0f ? x[j] / norm : 0.0f;
    }
}
