/* dense.cl - matrix products with a short side (CLBlast computes the others). gemm_tiles computes any product in tiles;
 * for a small result with a long inner dimension it leaves a partial product per block of that dimension, and
 * sum_combine adds them. gemm_inner computes such a result in one launch. */
#include "common.h"

/* c += a b' for a tile of 4 x 4. */
HELPER void multiply_tile(float4 *c, float4 a, float4 b) {
    c[0] = fma((float4)(a.x), b, c[0]);
    c[1] = fma((float4)(a.y), b, c[1]);
    c[2] = fma((float4)(a.z), b, c[2]);
    c[3] = fma((float4)(a.w), b, c[3]);
}

/* Columns j .. of one row of the result: alpha sum + beta c. */
HELPER void store_product(__global float *c, float4 sum, uint j, uint n, uint aligned, float alpha, float beta) {
    sum *= alpha;
    if (beta != 0.0f)
        sum += beta * load_row4(c, j, n, aligned);
    store_row4(sum, c, j, n, aligned);
}

/* to[t][x] = element t0 + t of row or column x0 + x of a factor, 0 outside and from inner index `end` on; t < depth,
 * x < lines. Neighbouring work-items read neighbouring float4. */
HELPER void load_panel(__local float *to, __global const float *from, const factor_args *f, uint lines, uint depth,
                       uint x0, uint t0, uint end) {
    uint pitch = GEMM_PITCH(lines), vecs = (f->by_k ? depth : lines) / VEC, rows = f->by_k ? lines : depth;
    uint first_row = f->by_k ? x0 : t0, first_col = f->by_k ? t0 : x0;
    uint end_row = f->by_k ? f->count : end, end_col = f->by_k ? end : f->count;
    for (uint i = (uint)get_local_id(0); i < rows * vecs; i += (uint)get_local_size(0)) {
        uint row = i / vecs, col = VEC * (i - row * vecs);
        float4 v = (float4)(0.0f);
        if (first_row + row < end_row && first_col + col < end_col)
            v = load_at(from, &f->at, first_row + row, first_col + col, end_col);
        if (f->by_k) {
            __local float *line = to + col * pitch + row;
            line[0] = v.x;
            line[pitch] = v.y;
            line[2 * pitch] = v.z;
            line[3 * pitch] = v.w;
        } else {
            *(__local float4 *)(to + row * pitch + col) = v;
        }
    }
}

/* Computes: c = alpha op(a) op(b) + beta c, or, with blocks of the inner dimension, p[block] = op(a) op(b) over each.
 * Shapes: c m x n, inner dimension k; p blocks x m x n_pad (WS_ROWS).
 * Launch: one work-group per block and tile of 4 down x 4 across (args.h); the host passes c = p, alpha 1, beta 0 for
 * blocks.
 * Memory: local: a panel of each factor, `depth` of the inner dimension; with parts the sums, 4 float4 per 4 x 4.
 * Order: k ascending within a part, which takes every parts-th k of a panel, then parts ascending. */
__kernel void gemm_tiles(__global float *c, __global const float *a, __global const float *b, __local float4 *workspace,
                         gemm_tiles_args g) {
    uint item = (uint)get_local_id(0), size = (uint)get_local_size(0), places = g.across * g.down;
    uint lines_a = VEC * g.down, lines_b = VEC * g.across;
    uint tiles_down = CEIL_DIV(g.a.count, lines_a), tiles_across = CEIL_DIV(g.b.count, lines_b);
    uint tile = (uint)get_group_id(0), block = tile / (tiles_down * tiles_across), r0, j0;
    tile -= block * tiles_down * tiles_across;
    r0 = tile / tiles_across * lines_a;
    j0 = tile % tiles_across * lines_b;
    uint begin = block * g.k_block, end = min(g.k, begin + g.k_block);
    __local float *left = (__local float *)workspace, *right = left + GEMM_PANEL(g.depth, lines_a);
    __local float4 *sums = (__local float4 *)(right + GEMM_PANEL(g.depth, lines_b));
    c += g.c.off + block * g.a.count * g.c.ld;
    for (uint done = 0; done < places * g.parts; done += size) {
        uint place = (done + item) % places, part = (done + item) / places;
        uint down = place / g.across, r = r0 + VEC * down, j = VEC * (place - down * g.across);
        float4 tile4[4] = {(float4)(0.0f), (float4)(0.0f), (float4)(0.0f), (float4)(0.0f)};
        for (uint t0 = begin; t0 < end; t0 += g.depth) {
            load_panel(left, a, &g.a, lines_a, g.depth, r0, t0, end);
            load_panel(right, b, &g.b, lines_b, g.depth, j0, t0, end);
            barrier(CLK_LOCAL_MEM_FENCE);
            for (uint t = part; t < g.depth && part < g.parts; t += g.parts)
                multiply_tile(tile4, *(__local float4 *)(left + t * GEMM_PITCH(lines_a) + VEC * down),
                              *(__local float4 *)(right + t * GEMM_PITCH(lines_b) + j));
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        for (uint p = done / places; g.parts > 1 && p < g.parts && p * places < done + size; p++) {
            if (part == p)
#pragma unroll
                for (uint q = 0; q < 4; q++)
                    sums[q * places + place] = p == 0 ? tile4[q] : sums[q * places + place] + tile4[q];
            barrier(CLK_LOCAL_MEM_FENCE);
        }
#pragma unroll
        for (uint q = 0; q < 4; q++)
            if (part + 1 == g.parts && j0 + j < g.cols && r + q < g.a.count)
                store_product(c + (r + q) * g.c.ld, g.parts > 1 ? sums[q * places + place] : tile4[q], j0 + j, g.cols,
                              g.c.aligned, g.alpha, g.beta);
    }
}

/* Computes: c = alpha a' b + beta c, for a long inner dimension and a small result.
 * Shapes: c m x n, a k x m, b k x n.
 * Launch: one work-group per 4 x 4 of c; its work-items take rows of a and b in turn.
 * Memory: local: 4 float4 per work-item.
 * Order: rows ascending within a work-item; work-items i, i + INNER_RUNS, ... ascending; then i ascending. */
__kernel void gemm_inner(__global float *c, __global const float *a, __global const float *b, __local float4 *sums,
                         gemm_inner_args g) {
    uint item = (uint)get_local_id(0), size = (uint)get_local_size(0), runs = min(size, (uint)INNER_RUNS);
    uint vecs = CEIL_DIV(g.n, VEC), down = (uint)get_group_id(0) / vecs;
    uint r = VEC * down, j = VEC * ((uint)get_group_id(0) - down * vecs);
    float4 tile4[4] = {(float4)(0.0f), (float4)(0.0f), (float4)(0.0f), (float4)(0.0f)};
    for (uint t = item; t < g.k; t += size)
        multiply_tile(tile4, load_at(a, &g.a, t, r, g.m), load_at(b, &g.b, t, j, g.n));
#pragma unroll
    for (uint q = 0; q < 4; q++)
        sums[q * size + item] = tile4[q];
    barrier(CLK_LOCAL_MEM_FENCE);
    /* each run into the slot of its first work-item, which no other run reads */
    for (uint u = item; u < 4 * runs; u += size) {
        __local float4 *run = sums + u / runs * size + u % runs;
        float4 sum = run[0];
        for (uint i = runs; i < size; i += runs)
            sum += run[i];
        run[0] = sum;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint q = item; q < 4 && r + q < g.m; q += size) {
        float4 sum = sums[q * size];
        for (uint i = 1; i < runs; i++)
            sum += sums[q * size + i];
        store_product(c + g.c.off + (r + q) * g.c.ld, sum, j, g.n, g.c.aligned, g.alpha, g.beta);
    }
}

/* Computes, for each of some sums: out_rj = alpha sum_b p[b][r][j], with `add` + beta out_rj.
 * Shapes: out rows x cols, p blocks x rows x cols_pad, `stride` apart.
 * Launch: dimension 0 one work-group per COMBINE_VECS float4 of the largest p[b], dimension 1 one per sum.
 * Memory: local: a float4 per COMBINE_VECS and COMBINE_RUNS.
 * Order: blocks ascending in COMBINE_RUNS runs, then runs ascending. */
__kernel void sum_combine(__global float *out, __global float *out2, __global const float *p,
                          __global const block_sum *sums, __local float4 *runs, sum_combine_args a) {
    __global const block_sum *s = sums + a.first_sum + (uint)get_group_id(1);
    uint vecs = CEIL_DIV(s->cols, VEC), count = s->rows * vecs, aligned = ((s->off | s->ld) & 3) == 0;
    uint first = COMBINE_VECS * (uint)get_group_id(0);
    __global float *to = (s->second ? out2 : out) + s->off;
    sum_runs(runs, p + s->at, s->stride, s->blocks, first, count);
    for (uint c = (uint)get_local_id(0); c < COMBINE_VECS && first + c < count; c += (uint)get_local_size(0)) {
        uint r = (first + c) / vecs, j = VEC * (first + c - r * vecs);
        float4 sum = a.alpha * add_runs(runs, c);
        if (s->add)
            sum += a.beta * load_row4(to + r * s->ld, j, s->cols, aligned);
        store_row4(sum, to + r * s->ld, j, s->cols, aligned);
    }
}
