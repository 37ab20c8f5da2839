/* norm_blocks.cl - sums and statistics over rows in two stages: work-groups leave partial results of blocks of rows in
 * scratch, and stats_combine or sum_combine (dense.cl) merges them. Used by every normalisation and by column sums. */
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

/* Computes: p[b][0][j] = sum go_vj and, with has_x, p[b][1][j] = sum go_vj (x_vj - mean_j) over block b.
 * Shapes: go and x n x d, mean 1 x d, p blocks x 1 or 2 x d_pad (WS_ROWS).
 * Launch: one work-group per block and `across` times VEC columns (rows_args).
 * Memory: local: ROW_ITEMS float4 per row of p[b].
 * Order: rows of a part ascending in runs of RUN_ROWS, then parts ascending. */
__kernel void sum_blocks(__global float *p, __global const float *go, __global const float *x,
                         __global const float *mean, __local float4 *parts, sum_blocks_args a) {
    uint item = (uint)get_local_id(0), size = (uint)get_local_size(0), across = a.rows.across, d = a.rows.d;
    uint sums = 1 + a.has_x;
    span s;
    find_span(&s, &a.rows);
    for (uint u = item; u < ROW_ITEMS; u += size) {
        uint v = s.begin + u / across, j = s.j + VEC * (u % across);
        float4 db = (float4)(0.0f), q = db, m = a.has_x && j < d ? load_at(mean, &a.mean, 0, j, d) : db;
        while (v < s.end && j < d) {
            float4 run_db = (float4)(0.0f), run_q = run_db;
            for (uint i = 0; i < RUN_ROWS && v < s.end; i++, v += s.parts) {
                float4 g = load_at(go, &a.go, v, j, d);
                run_db += g;
                if (a.has_x)
                    run_q += g * (load_at(x, &a.x, v, j, d) - m);
            }
            db += run_db;
            q += run_q;
        }
        parts[u] = db;
        if (a.has_x)
            parts[ROW_ITEMS + u] = q;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = item; i < sums * across; i += size) {
        uint row = i / across, c = i - row * across;
        if (s.j + VEC * c < d)
            store_row4(add_parts(parts + row * ROW_ITEMS, c, across),
                       p + WS_ROWS(s.block, sums, PADDED(d, VEC)) + row * PADDED(d, VEC), s.j + VEC * c, PADDED(d, VEC),
                       1);
    }
}

/* Moments of column j over the rows v, v + step, ... < end: runs of RUN_ROWS rows, each centred about its own mean. */
HELPER void column_moments(moments *out, __global const float *x, const mat_args *m, uint v, uint end, uint step,
                           uint j, uint d) {
    out->mean = out->m2 = (float4)(0.0f);
    out->rows = 0.0f;
    while (v < end) {
        uint rows = min((uint)RUN_ROWS, CEIL_DIV(end - v, step));
        float4 base = STATS_UNIT * load_at(x, m, v, j, d), shift = (float4)(0.0f);
        moments run = {base, shift, (float)rows};
        for (uint i = 1; i < rows; i++)
            shift += STATS_UNIT * load_at(x, m, v + i * step, j, d) - base;
        run.mean += shift / run.rows;
        for (uint i = 0; i < rows; i++) {
            float4 diff = STATS_UNIT * load_at(x, m, v + i * step, j, d) - run.mean;
            run.m2 += diff * diff;
        }
        merge_moments(out, &run);
        v += rows * step;
    }
}

/* Computes: mean p[b][0][j] and centred sum of squares p[b][1][j] of column j over block b.
 * Shapes: x n x d, p blocks x 2 x d_pad (WS_ROWS).
 * Launch: as sum_blocks.
 * Memory: local: 2 ROW_ITEMS float4.
 * Order: rows of a part as column_moments; parts ascending: their mean, then the squares about it. */
__kernel void stats_blocks(__global float *p, __global const float *x, __local float4 *parts, stats_blocks_args a) {
    uint item = (uint)get_local_id(0), size = (uint)get_local_size(0), across = a.rows.across, d = a.rows.d;
    span s;
    find_span(&s, &a.rows);
    for (uint u = item; u < ROW_ITEMS; u += size) {
        moments part = {(float4)(0.0f), (float4)(0.0f), 0.0f};
        if (s.j + VEC * (u % across) < d)
            column_moments(&part, x, &a.x, s.begin + u / across, s.end, s.parts, s.j + VEC * (u % across), d);
        parts[u] = part.mean;
        parts[ROW_ITEMS + u] = part.m2;
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
        __global float *to = p + WS_ROWS(s.block, 2, PADDED(d, VEC));
        store_row4(mean, to, s.j + VEC * c, PADDED(d, VEC), 1);
        store_row4(m2, to + PADDED(d, VEC), s.j + VEC * c, PADDED(d, VEC), 1);
    }
}

/* Stores mean, variance and running estimates r = (1 - momentum) r + momentum x of VEC columns from j of row g, from
 * the moments `mean` and m2 of all rows; the running variance is the one over n - 1. */
HELPER void store_stats(__global float *mean, __global float *var, __global float *rmean, __global float *rvar,
                        float4 total, float4 m2, const stats_combine_args *a, uint g, uint j) {
    const float squared = STATS_UNIT_INVERSE * STATS_UNIT_INVERSE;
    uint n = a->n, d = a->d;
    total *= STATS_UNIT_INVERSE;
    store_at(total, mean, &a->mean, g, j, d);
    store_at(squared * (m2 / (float)n), var, &a->var, g, j, d);
    if (a->running) {
        float4 unbiased = n > 1 ? squared * (m2 / (float)(n - 1)) : (float4)(0.0f), keep = (float4)(1.0f - a->momentum);
        store_at(keep * load_at(rmean, &a->rmean, g, j, d) + a->momentum * total, rmean, &a->rmean, g, j, d);
        store_at(keep * load_at(rvar, &a->rvar, g, j, d) + a->momentum * unbiased, rvar, &a->rvar, g, j, d);
    }
}

/* Computes: mean and variance of G rows of d columns from the moments of blocks of block_rows of n rows, and running
 * estimates.
 * Shapes: mean, var, rmean, rvar G x d, p blocks x 2 x G x d_pad (WS_ROWS).
 * Launch: one work-group per COMBINE_VECS float4 of a row of p; its items share COMBINE_RUNS runs of blocks.
 * Memory: local: mean and centred sum of squares per run and float4.
 * Order: blocks ascending in each run, then runs ascending; runs do not depend on the work-group. */
__kernel void stats_combine(__global float *mean, __global float *var, __global float *rmean, __global float *rvar,
                            __global const float4 *p, __local float4 *run_mean, stats_combine_args a) {
    uint item = (uint)get_local_id(0), size = (uint)get_local_size(0), row_vecs = CEIL_DIV(a.d, VEC);
    uint width = a.groups * row_vecs, first = (uint)get_group_id(0) * COMBINE_VECS;
    uint run_blocks = CEIL_DIV(a.blocks, COMBINE_RUNS), runs = CEIL_DIV(a.blocks, run_blocks);
    __local float4 *run_m2 = run_mean + COMBINE_VECS * COMBINE_RUNS;
    for (uint i = item; i < COMBINE_VECS * runs; i += size) {
        uint run = i / COMBINE_VECS, at = min(first + i % COMBINE_VECS, width - 1), b = run * run_blocks;
        uint end = min(b + run_blocks, a.blocks);
        __global const float4 *m = p + WS_ROWS(b, 2, width) + at;
        moments sum = {m[0], m[width], (float)min(a.block_rows, a.n - b * a.block_rows)};
        float4 base = sum.mean; /* a difference to it is rounded less */
        sum.mean = (float4)(0.0f);
#pragma nounroll
        while (++b < end) {
            m += 2 * width;
            moments here = {m[0] - base, m[width], (float)min(a.block_rows, a.n - b * a.block_rows)};
            merge_moments(&sum, &here);
        }
        run_mean[i] = base + sum.mean;
        run_m2[i] = sum.m2;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint v = item; v < COMBINE_VECS && first + v < width; v += size) {
        float4 base = run_mean[v], shift = (float4)(0.0f), m2 = shift;
        uint run_rows = run_blocks * a.block_rows;
#pragma nounroll
        for (uint run = 1; run < runs; run++)
            shift += (float)min(run_rows, a.n - run * run_rows) * (run_mean[run * COMBINE_VECS + v] - base);
        float4 total = base + shift / (float)a.n;
#pragma nounroll
        for (uint run = 0; run < runs; run++) {
            float4 diff = run_mean[run * COMBINE_VECS + v] - total;
            m2 += run_m2[run * COMBINE_VECS + v] + (float)min(run_rows, a.n - run * run_rows) * diff * diff;
        }
        uint g = (first + v) / row_vecs;
        store_stats(mean, var, rmean, rvar, total, m2, &a, g, VEC * (first + v - g * row_vecs));
    }
}
