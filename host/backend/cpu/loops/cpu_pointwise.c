/* cpu_pointwise.c - element by element and row by row: fill, copy, activation,
 * linear combinations, biases, column sums, row lengths. */
#include "backend/cpu/loops/loops.h"

NO_SCRATCH(fill)
OP(fill) {
    tile my = tile_share(team, a->y.rows, a->y.cols);
    for (int64_t r = my.rows.begin; r < my.rows.end; r++) {
        float *y = row(a->y, r);
        for (int64_t j = my.cols.begin; j < my.cols.end; j++)
            y[j] = a->value;
    }
}

NO_SCRATCH(copy)
OP(copy) {
    tile my = tile_share(team, a->y.rows, a->y.cols);
    for (int64_t r = my.rows.begin; r < my.rows.end; r++)
        memcpy(row(a->y, r) + my.cols.begin, row(a->x, r) + my.cols.begin,
               (size_t)(my.cols.end - my.cols.begin) * sizeof(float));
}

/* Rows of a share: an operation on vectors of a row, named by its expression in `i`. Spelled out as vectors because
 * an output may be its own input, which keeps a compiler from doing so. */
#define EACH_VECTOR(y, expression)                                           \
    do {                                                                     \
        tile my = tile_share(team, (y).rows, (y).cols);                      \
        int64_t width = my.cols.end - my.cols.begin;                         \
        for (int64_t r = my.rows.begin; r < my.rows.end; r++)                \
            for (int64_t i = 0; i < vf_count(width); i++)                    \
                vf_row_set(row(y, r) + my.cols.begin, width, i, expression); \
    } while (0)
#define AT(m) vf_row(row(m, r) + my.cols.begin, width, i)

/* y = x with elements dropped, the thread's share of tile_share; y may be x. */
static void drop_share(const cpu_team *team, be_mat y, be_mat x, const be_drop *drop) {
    tile my = tile_share(team, y.rows, y.cols);
    if (my.cols.end - my.cols.begin == y.cols) {
        drop_rows(y, x, my.rows.begin, my.rows.end, drop);
        return;
    }
    for (int64_t r = my.rows.begin; r < my.rows.end; r++)
        for (int64_t j = my.cols.begin; j < my.cols.end; j += DROP_RUN) {
            float keep[DROP_RUN];
            int64_t some = my.cols.end - j < DROP_RUN ? my.cols.end - j : DROP_RUN;
            drop_factors(keep, drop, r * y.cols + j, some);
            drop_some(row(y, r) + j, row(x, r) + j, keep, some);
        }
}

NO_SCRATCH(activate)
OP(activate) {
    bool drops = a->act.drop.rate > 0.0f;
    if (a->act.relu)
        EACH_VECTOR(a->y, vf_relu(AT(a->x)));
    else if (!drops)
        EACH_VECTOR(a->y, AT(a->x));
    if (drops)
        drop_share(team, a->y, a->act.relu ? a->y : a->x, &a->act.drop);
}

NO_SCRATCH(activate_backward)
OP(activate_backward) {
    float scale = a->act.drop.rate > 0.0f ? a->act.drop.scale : 1.0f;
    if (a->act.relu) {
        EACH_VECTOR(a->gx, vf_pick(AT(a->y) > 0.0f, AT(a->gy) * scale, vf_set(0.0f)));
        return;
    }
    if (a->act.drop.rate > 0.0f)
        drop_share(team, a->gx, a->gy, &a->act.drop);
    else
        EACH_VECTOR(a->gx, AT(a->gy));
}

NO_SCRATCH(axpby)
OP(axpby) {
    if (a->z.buf)
        EACH_VECTOR(a->y, a->a * AT(a->x) + a->b * AT(a->z));
    else
        EACH_VECTOR(a->y, a->a * AT(a->x));
}

NO_SCRATCH(bias_add)
OP(bias_add) {
    const float *b = data(a->b);
    EACH_VECTOR(a->y, AT(a->x) + vf_row(b + my.cols.begin, width, i));
}

SCRATCH(col_sum) {
    (void)threads;
    return floats_bytes(block_count(a->x.rows) * a->x.cols);
}
OP(col_sum) {
    char *scratch = team->scratch;
    int64_t n = a->x.rows, d = a->x.cols, blocks = block_count(n);
    float *partial = take(&scratch, blocks * d);
    span mine = share(team, blocks);
    for (int64_t b = mine.begin; b < mine.end; b++) {
        float *sum = partial + b * d;
        span rows = block_span(n, b);
        memset(sum, 0, (size_t)d * sizeof(float));
        for (int64_t r = rows.begin; r < rows.end; r++) {
            const float *x = row(a->x, r);
            for (int64_t j = 0; j < d; j++)
                sum[j] += x[j];
        }
    }
    cpu_barrier(team);
    add_sums(team, data(a->s), partial, blocks, d, d);
}

NO_SCRATCH(row_normalise)
OP(row_normalise) {
    span rows = row_share(team, a->y.rows);
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
