/* norm_blocks.cl - sums and statistics over rows in two stages: work-groups leave partial results of blocks of rows in
 * scratch, and the combine kernels merge them. Used by every normalisation and by column sums. */
#include "common.h"

/* Where a work-group reads: block, rows begin .. end - 1, first column; `parts` rows are read at the same time. */
typedef struct span {
    uint block, begin, end, j, parts;
} span;

HELPER void find_span(span *s, const rows_args *a) {
    uint across = a->across, groups_across = CEIL_DIV(CEIL_DIV(a->d, VEC), across);
    s->block = (uint)get_group_id(0) / groups_across;
    s->j = VEC * across * ((uint)get_group_id(0) - s->block * groups_across);
    s->begin = s->block * a->block_rows;
    s->end = min(a->n, s->begin + a->block_rows);
    s->parts = ROW_ITEMS / across;
}

/* Sum of column c over the parts, ascending. */
HELPER float4 add_parts(__local const float4 *parts, uint c, uint across) {
    float4 sum = (float4)(0.0f);
    for (; c < ROW_ITEMS; c += across)
        sum += parts[c];
    return sum;
}

/* Computes: p[b][j] = sum of x_vj over the rows of block b.
 * Shapes: x n x d, p blocks x d_pad.
 * Launch: one work-group per block and `across` times VEC columns (rows_args).
 * Memory: local: ROW_ITEMS float4.
 * Order: rows of a part ascending in runs of RUN_ROWS, then parts ascending. */
__kernel void sum_blocks(__global float *p, __global const float *x, __local float4 *parts, sum_blocks_args a) {
    uint item = (uint)get_local_id(0), size = (uint)get_local_size(0), across = a.rows.across, d = a.rows.d;
    span s;
    find_span(&s, &a.rows);
    for (uint u = item; u < ROW_ITEMS; u += size) {
        uint v = s.begin + u / across, j = s.j + VEC * (u % across);
        float4 sum = (float4)(0.0f);
        while (v < s.end && j < d) {
            float4 run = (float4)(0.0f);
            for (uint i = 0; i < RUN_ROWS && v < s.end; i++, v += s.parts)
                run += load_row4(x + a.x.off + v * a.x.ld, j, d, a.x.aligned);
            sum += run;
        }
        parts[u] = sum;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint c = item; c < across && s.j + VEC * c < d; c += size)
        store_row4(add_parts(parts, c, across), p + s.block * PADDED(d, VEC), s.j + VEC * c, PADDED(d, VEC), 1);
}

/* Computes: p[b][0][j] = sum go_vj, p[b][1][j] = sum go_vj (x_vj - mean_j) over block b.
 * Shapes: go and x n x d, mean 1 x d, p blocks x 2 x d_pad (WS_TWO_ROWS).
 * Launch: as sum_blocks.
 * Memory: local: 2 ROW_ITEMS float4.
 * Order: as sum_blocks. */
__kernel void norm_sums_blocks(__global float *p, __global const float *go, __global const float *x,
                               __global const float *mean, __local float4 *parts, norm_sums_blocks_args a) {
    uint item = (uint)get_local_id(0), size = (uint)get_local_size(0), across = a.rows.across, d = a.rows.d;
    span s;
    find_span(&s, &a.rows);
    for (uint u = item; u < ROW_ITEMS; u += size) {
        uint v = s.begin + u / across, j = s.j + VEC * (u % across);
        float4 db = (float4)(0.0f), q = db, m = j < d ? load_row4(mean + a.mean.off, j, d, a.mean.aligned) : db;
        while (v < s.end && j < d) {
            float4 run_db = (float4)(0.0f), run_q = run_db;
            for (uint i = 0; i < RUN_ROWS && v < s.end; i++, v += s.parts) {
                float4 g = load_row4(go + a.go.off + v * a.go.ld, j, d, a.go.aligned);
                run_db += g;
                run_q += g * (load_row4(x + a.x.off + v * a.x.ld, j, d, a.x.aligned) - m);
            }
            db += run_db;
            q += run_q;
        }
        parts[u] = db;
        parts[ROW_ITEMS + u] = q;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = item; i < 2 * across; i += size) {
        uint row = i / across, c = i - row * across;
        if (s.j + VEC * c < d)
            store_row4(add_parts(parts + row * ROW_ITEMS, c, across), p + (2 * s.block + row) * PADDED(d, VEC),
                       s.j + VEC * c, PADDED(d, VEC), 1);
    }
}

/* Mean and centred sum of squares of column j over the rows v, v + step, ... < end, in STATS_UNIT and its square: runs
 * of RUN_ROWS rows, each centred about its own mean, merged by Chan's formula. */
HELPER void column_stats(float4 *mean, float4 *m2, __global const float *x, const mat_args *m, uint v, uint end,
                         uint step, uint j, uint d) {
    float count = 0.0f;
    *mean = *m2 = (float4)(0.0f);
    while (v < end) {
        uint rows = min((uint)RUN_ROWS, CEIL_DIV(end - v, step));
        __global const float *first = x + m->off + v * m->ld;
        float4 base = STATS_UNIT * load_row4(first, j, d, m->aligned), mean_run = (float4)(0.0f), m2_run = mean_run;
        for (uint i = 1; i < rows; i++)
            mean_run += STATS_UNIT * load_row4(first + i * step * m->ld, j, d, m->aligned) - base;
        float count_run = (float)rows, total = count + count_run;
        mean_run = base + mean_run / count_run;
        for (uint i = 0; i < rows; i++) {
            float4 diff = STATS_UNIT * load_row4(first + i * step * m->ld, j, d, m->aligned) - mean_run;
            m2_run += diff * diff;
        }
        float4 delta = mean_run - *mean;
        *mean += delta * (count > 0.0f ? count_run / total : 1.0f); /* x / x may differ from 1 */
        *m2 += m2_run + delta * delta * (count * count_run / total);
        count = total;
        v += rows * step;
    }
}

/* Computes: mean p[b][0][j] and centred sum of squares p[b][1][j] of column j over block b, in STATS_UNIT and its
 * square.
 * Shapes: x n x d, p blocks x 2 x d_pad (WS_TWO_ROWS).
 * Launch: as sum_blocks.
 * Memory: local: 2 ROW_ITEMS float4.
 * Order: rows of a part as column_stats; parts ascending: their mean, then the squares about it. */
__kernel void stats_blocks(__global float *p, __global const float *x, __local float4 *parts, stats_blocks_args a) {
    uint item = (uint)get_local_id(0), size = (uint)get_local_size(0), across = a.rows.across, d = a.rows.d;
    span s;
    find_span(&s, &a.rows);
    for (uint u = item; u < ROW_ITEMS; u += size) {
        float4 mean = (float4)(0.0f), m2 = mean;
        if (s.j + VEC * (u % across) < d)
            column_stats(&mean, &m2, x, &a.x, s.begin + u / across, s.end, s.parts, s.j + VEC * (u % across), d);
        parts[u] = mean;
        parts[ROW_ITEMS + u] = m2;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint c = item; c < across && s.j + VEC * c < d; c += size) {
        uint rows = s.end - s.begin, filled = min(rows, s.parts); /* part i has every row i, i + parts, ... */
        float4 base = parts[c], shift = (float4)(0.0f), m2 = shift;
        for (uint i = 1; i < filled; i++)
            shift += (float)CEIL_DIV(rows - i, s.parts) * (parts[i * across + c] - base);
        float4 mean = base + shift / (float)rows;
        for (uint i = 0; i < filled; i++) {
            float4 diff = parts[i * across + c] - mean;
            m2 += parts[ROW_ITEMS + i * across + c] + (float)CEIL_DIV(rows - i, s.parts) * diff * diff;
        }
        __global float *to = p + 2 * s.block * PADDED(d, VEC);
        store_row4(mean, to, s.j + VEC * c, PADDED(d, VEC), 1);
        store_row4(m2, to + PADDED(d, VEC), s.j + VEC * c, PADDED(d, VEC), 1);
    }
}

/* Computes: out_i = sum_b p[b][i], out2_i = sum_b p[b][second + i], added to their old values with `add`.
 * Shapes: out and out2 1 x len, p blocks x stride.
 * Launch: one work-group per COMBINE_VECS times VEC entries of out, then as many of out2, if present.
 * Memory: local: a float4 per COMBINE_VECS and COMBINE_RUNS.
 * Order: blocks ascending in COMBINE_RUNS runs, then runs ascending. */
__kernel void sum_combine(__global float *out, __global float *out2, __global const float *p, __local float4 *runs,
                          sum_combine_args a) {
    uint groups = CEIL_DIV(a.len, COMBINE_VECS * VEC), second = (uint)get_group_id(0) / groups;
    uint first = COMBINE_VECS * VEC * ((uint)get_group_id(0) - second * groups);
    __global float *to = second ? out2 + a.out2.off : out + a.out.off;
    sum_runs(runs, p + a.p.at + second * a.p.second, first, a.p.readable, a.p.stride, a.p.aligned, a.p.count);
    for (uint c = (uint)get_local_id(0); c < COMBINE_VECS && first + VEC * c < a.len; c += (uint)get_local_size(0)) {
        float4 sum = add_runs(runs, c);
        if (a.add)
            sum += load4(to, first + VEC * c, a.len);
        store4(sum, to, first + VEC * c, a.len);
    }
}

/* Computes: mean_i = sum_b n_b m_b / n and var_i = (sum_b M_b + n_b (m_b - mean_i)^2) / n from the mean m_b and the
 * centred sum of squares M_b of each block, in STATS_UNIT and its square; running estimates r = (1 - momentum) r +
 * momentum x, with the variance over n - 1.
 * Shapes: mean, var, rmean, rvar 1 x width, p blocks x stride, M_b `second` after m_b.
 * Launch: one work-group per COMBINE_VECS times VEC entries.
 * Memory: local: two float4 per COMBINE_VECS and COMBINE_RUNS.
 * Order: as sum_combine, of the means about m_0, then of the squares. */
__kernel void stats_combine(__global float *mean, __global float *var, __global float *rmean, __global float *rvar,
                            __global const float *p, __local float4 *runs, stats_combine_args a) {
    uint item = (uint)get_local_id(0), size = (uint)get_local_size(0),
         first = COMBINE_VECS * VEC * (uint)get_group_id(0);
    uint per_run = CEIL_DIV(a.p.count, COMBINE_RUNS), width = a.p.readable;
    __local float4 *squares = runs + COMBINE_VECS * COMBINE_RUNS;
    __global const float *m = p + a.p.at;
    for (uint pass = 0; pass < 2; pass++) {
        for (uint u = item; u < COMBINE_VECS * COMBINE_RUNS; u += size) {
            uint c = u % COMBINE_VECS, j = first + VEC * c, b = u / COMBINE_VECS * per_run;
            uint end = j < width ? min(a.p.count, b + per_run) : 0;
            float4 sum = (float4)(0.0f), centre = sum;
            if (j < width)
                centre = load_row4(m, j, width, a.p.aligned) + (pass ? add_runs(runs, c) / (float)a.n : sum);
            for (; b < end; b++) {
                float4 diff = load_row4(m + b * a.p.stride, j, width, a.p.aligned) - centre;
                float rows = (float)min(a.block_rows, a.n - b * a.block_rows);
                sum += pass ? load_row4(m + b * a.p.stride + a.p.second, j, width, a.p.aligned) + rows * diff * diff
                            : rows * diff;
            }
            (pass ? squares : runs)[u] = sum;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (uint c = item; c < COMBINE_VECS && first + VEC * c < a.width; c += size) {
        float4 total = load_row4(m, first + VEC * c, width, a.p.aligned) + add_runs(runs, c) / (float)a.n;
        store_stats(total, add_runs(squares, c), a.n, mean + a.mean.off, var + a.var.off, rmean + a.rmean.off,
                    rvar + a.rvar.off, a.running, a.momentum, first + VEC * c, a.width);
    }
}
