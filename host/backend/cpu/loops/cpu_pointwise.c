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

/* Columns of row r through relu and dropout; x may be y. */
INLINE void activate_part(float *y, const float *x, span cols, const be_act *act, int64_t first) {
    y += cols.begin;
    x += cols.begin;
    int64_t count = cols.end - cols.begin;
    for (int64_t i = 0; i < vf_count(count); i++) {
        vf v = vf_row(x, count, i);
        vf_row_set(y, count, i, act->relu ? vf_relu(v) : v);
    }
    drop_row(y, count, &act->drop, first + cols.begin);
}

NO_SCRATCH(activate)
OP(activate) {
    tile my = tile_share(team, a->y.rows, a->y.cols);
    for (int64_t r = my.rows.begin; r < my.rows.end; r++)
        activate_part(row(a->y, r), row(a->x, r), my.cols, &a->act, r * a->y.cols);
}

NO_SCRATCH(activate_backward)
OP(activate_backward) {
    tile my = tile_share(team, a->gx.rows, a->gx.cols);
    float scale = a->act.drop.scale;
    for (int64_t r = my.rows.begin; r < my.rows.end; r++) {
        float *gx = row(a->gx, r);
        const float *gy = row(a->gy, r), *y = a->act.relu ? row(a->y, r) : NULL;
        if (a->act.relu) {
            for (int64_t j = my.cols.begin; j < my.cols.end; j++)
                gx[j] = y[j] > 0.0f ? gy[j] * scale : 0.0f;
        } else {
            activate_part(gx, gy, my.cols, &a->act, r * a->gx.cols);
        }
    }
}

NO_SCRATCH(axpby)
OP(axpby) {
    tile my = tile_share(team, a->y.rows, a->y.cols);
    for (int64_t r = my.rows.begin; r < my.rows.end; r++) {
        float *y = row(a->y, r);
        const float *x = row(a->x, r), *z = a->z.buf ? row(a->z, r) : NULL;
        for (int64_t j = my.cols.begin; j < my.cols.end; j++)
            y[j] = z ? a->a * x[j] + a->b * z[j] : a->a * x[j];
    }
}

NO_SCRATCH(bias_add)
OP(bias_add) {
    tile my = tile_share(team, a->y.rows, a->y.cols);
    const float *b = data(a->b);
    for (int64_t r = my.rows.begin; r < my.rows.end; r++) {
        float *y = row(a->y, r);
        const float *x = row(a->x, r);
        for (int64_t j = my.cols.begin; j < my.cols.end; j++)
            y[j] = x[j] + b[j];
    }
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
