/* norm_group.cl - differentiable group normalisation, forward: assignment, statistics, output. t_vgj = S_vg H_vj is
 * never stored. The backward pass is norm_group_backward.cl. Parameters and statistics are G x d, rows contiguous. t
 * minus a mean is one fma: rounding the product first would lose the difference when t is near its mean.
 *
 * A work-group computes a tile of rows by columns of h in local memory, for GROUP_CHUNK groups at a time. Where a tile
 * has all columns and one chunk has all groups (`assign`), the assignment is computed in the same launch as what
 * follows, and h is read once. */
#include "common.h"

/* A tile: h, `rows` x tile_cols; terms per group and column (u, or the slope of the output), GROUP_CHUNK x tile_cols;
 * s transposed, GROUP_CHUNK x rows. Rows of h and of the terms are `ld` float4 apart, the last of them is padding:
 * neighbouring rows begin in different banks. */
typedef struct group_tile {
    __local float4 *h, *terms;
    __local float *s;
    uint first, rows, ld, s_ld;
} group_tile;

HELPER void place_tile(group_tile *t, __local float4 *h, __local float4 *terms, __local float *s, uint tile,
                       const group_assign_args *a) {
    t->h = h;
    t->terms = terms;
    t->s = s;
    t->first = tile * a->tile_rows;
    t->rows = min(a->tile_rows, a->n - t->first);
    t->ld = a->tile_cols / VEC + 1;
    t->s_ld = a->tile_rows + 1;
}

/* float4 of a tile's columns from j. */
HELPER uint tile_vecs(const group_assign_args *a, uint j) { return CEIL_DIV(min(a->tile_cols, a->d - j), VEC); }

/* Columns from j of the rows of a tile; 0 past the last column. */
HELPER void load_h(const group_tile *t, const group_assign_args *a, __global const float *h, uint j) {
    uint size = (uint)get_local_size(0), vecs = tile_vecs(a, j);
    for (uint i = (uint)get_local_id(0); i < t->rows * vecs; i += size) {
        uint r = i / vecs, v = i - r * vecs;
        t->h[r * t->ld + v] = load_at(h, &a->h, t->first + r, j + VEC * v, a->d);
    }
}

/* The assignment of a tile's rows to `count` groups from g0. */
HELPER void load_s(const group_tile *t, const group_assign_args *a, __global const float *s, uint g0, uint count) {
    uint size = (uint)get_local_size(0);
    for (uint i = (uint)get_local_id(0); i < t->rows * count; i += size) {
        uint r = i / count, g = i - r * count;
        t->s[g * t->s_ld + r] = s[a->s.off + (t->first + r) * a->s.ld + g0 + g];
    }
}

/* Columns from j of the rows of u of `count` groups from g0, and c of each in its padding. */
HELPER void load_u(const group_tile *t, const group_assign_args *a, __global const float *u, __global const float *c,
                   uint g0, uint count, uint j) {
    uint item = (uint)get_local_id(0), size = (uint)get_local_size(0), vecs = tile_vecs(a, j);
    for (uint i = item; i < count * vecs; i += size) {
        uint g = i / vecs, v = i - g * vecs;
        t->terms[g * t->ld + v] = load_at(u, &a->u, g0 + g, j + VEC * v, a->d);
    }
    for (uint g = item; g < count; g += size)
        t->terms[(g + 1) * t->ld - 1] = (float4)(a->has_c ? c[a->c.off + g0 + g] : 0.0f);
}

/* z + x . u, columns ascending. */
HELPER float dot_onto(float z, float4 x, float4 u) {
    return fma(x.w, u.w, fma(x.z, u.z, fma(x.y, u.y, fma(x.x, u.x, z))));
}

/* Adds the columns of a tile to the logits of `count` groups; the first columns begin with c. An item has two groups of
 * a row; past the last group it repeats that. */
HELPER void add_logits(const group_tile *t, uint count, uint vecs, bool begin) {
    uint size = (uint)get_local_size(0), rows = t->rows, tasks = CEIL_DIV(count, 2) * rows;
    for (uint i = (uint)get_local_id(0); i < tasks; i += size) {
        uint pair = i / rows, r = i - pair * rows, g = 2 * pair, other = min(g + 1, count - 1);
        __local const float4 *x = t->h + r * t->ld, *u0 = t->terms + g * t->ld, *u1 = t->terms + other * t->ld;
        __local float *s0 = t->s + g * t->s_ld + r, *s1 = t->s + other * t->s_ld + r;
        float z0 = begin ? u0[t->ld - 1].x : *s0, z1 = begin ? u1[t->ld - 1].x : *s1;
#pragma nounroll
        for (uint v = 0; v < vecs; v++) {
            float4 here = x[v];
            z0 = dot_onto(z0, here, u0[v]);
            z1 = dot_onto(z1, here, u1[v]);
        }
        *s0 = z0;
        *s1 = z1;
    }
}

/* Softmax over the groups of each row of a tile. */
HELPER void softmax_tile(const group_tile *t, uint groups) {
    uint size = (uint)get_local_size(0);
    for (uint r = (uint)get_local_id(0); r < t->rows; r += size) {
        __local float *s = t->s + r;
        float max_z = -INFINITY, sum = 0.0f;
        for (uint g = 0; g < groups; g++)
            max_z = fmax(max_z, s[g * t->s_ld]);
        for (uint g = 0; g < groups; g++)
            sum += s[g * t->s_ld] = exp(s[g * t->s_ld] - max_z);
        for (uint g = 0; g < groups && sum != 1.0f; g++) /* x / 1 may differ from x */
            s[g * t->s_ld] /= sum;
    }
}

/* The same in global memory, for more groups than a chunk. */
HELPER void softmax_rows(const group_tile *t, const group_assign_args *a, __global float *s) {
    uint size = (uint)get_local_size(0);
    for (uint r = (uint)get_local_id(0); r < t->rows; r += size) {
        __global float *row = s + a->s.off + (t->first + r) * a->s.ld;
        float max_z = -INFINITY, sum = 0.0f;
        for (uint g = 0; g < a->groups; g++)
            max_z = fmax(max_z, row[g]);
        for (uint g = 0; g < a->groups; g++)
            sum += row[g] = exp(row[g] - max_z);
        for (uint g = 0; g < a->groups; g++)
            row[g] /= sum;
    }
}

/* The assignment of a tile's rows to `count` groups from g0, to global memory. */
HELPER void store_s(const group_tile *t, const group_assign_args *a, __global float *s, uint g0, uint count) {
    uint size = (uint)get_local_size(0);
    for (uint i = (uint)get_local_id(0); i < t->rows * count; i += size) {
        uint r = i / count, g = i - r * count;
        s[a->s.off + (t->first + r) * a->s.ld + g0 + g] = t->s[g * t->s_ld + r];
    }
}

/* With `assign`, s of a tile that has all columns and all groups, also to global memory; h and s stay in the tile. No
 * barrier is in a branch, after which PoCL would compile everything twice. */
HELPER void assign_tile(const group_tile *t, const group_assign_args *a, bool assign, __global float *s,
                        __global const float *h, __global const float *u, __global const float *c) {
    if (assign) {
        load_h(t, a, h, 0);
        load_u(t, a, u, c, 0, a->groups, 0);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (assign)
        add_logits(t, a->groups, tile_vecs(a, 0), true);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (assign)
        softmax_tile(t, a->groups);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (assign)
        store_s(t, a, s, 0, a->groups);
}

/* Computes: s_v = softmax over g of (h_v . u_g + c_g).
 * Shapes: s n x G, h n x d, u G x d, c 1 x G.
 * Launch: one work-group per tile_rows rows.
 * Memory: a tile (GROUP_TILE_H, GROUP_TILE_TERMS, GROUP_TILE_S); s holds the logits when G > GROUP_CHUNK.
 * Order: columns ascending, groups ascending. */
__kernel void group_assign(__global float *s, __global const float *h, __global const float *u, __global const float *c,
                           group_assign_args a, __local float4 *tile_h, __local float4 *terms, __local float *tile_s) {
    group_tile t;
    place_tile(&t, tile_h, terms, tile_s, (uint)get_group_id(0), &a);
    for (uint g0 = 0; g0 < a.groups; g0 += GROUP_CHUNK) {
        uint count = min((uint)GROUP_CHUNK, a.groups - g0);
        for (uint j = 0; j < a.d; j += a.tile_cols) {
            barrier(CLK_LOCAL_MEM_FENCE); /* the tile was in use */
            load_h(&t, &a, h, j);
            load_u(&t, &a, u, c, g0, count, j);
            barrier(CLK_LOCAL_MEM_FENCE);
            add_logits(&t, count, tile_vecs(&a, j), j == 0);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (a.groups <= GROUP_CHUNK)
            softmax_tile(&t, a.groups);
        barrier(CLK_LOCAL_MEM_FENCE);
        store_s(&t, &a, s, g0, count);
    }
    barrier(CLK_GLOBAL_MEM_FENCE);
    if (a.groups > GROUP_CHUNK)
        softmax_rows(&t, &a, s);
}

/* Moments over the rows of a tile of t_gj, for row `s` of the tile's assignment and the columns `h`: in one pass,
 * shifted by t of the first row, f. That row is one of the m, so (mean - f)^2 <= M2, and the difference M2 = sum e^2 -
 * (sum e)^2 / m, e = t - f, loses at most the factor m + 1 of its digits, whatever the mean. */
HELPER void tile_moments(moments *out, const group_tile *t, __local const float *s, __local const float4 *h) {
    float4 f = STATS_UNIT * s[0] * h[0], sum = (float4)(0.0f), squares = sum;
    for (uint r = 0; r < t->rows; r++) {
        float4 e = fma((float4)(STATS_UNIT * s[r]), h[r * t->ld], -f);
        sum += e;
        squares = fma(e, e, squares);
    }
    float rows = (float)t->rows;
    out->rows = rows;
    float4 shift = sum / rows, m2 = fma(-shift, sum, squares);
    out->mean = f + shift;
    out->m2 = select(m2, (float4)(0.0f), m2 < 0.0f);
}

/* Computes: mean p[b][0][g][j] and centred sum of squares p[b][1][g][j] of t_gj over block b, which is block_tiles
 * tiles; with `assign` first s, as group_assign.
 * Shapes: s n x G, h n x d, u G x d, c 1 x G, p blocks x 2 x G x d_pad (WS_ROWS).
 * Launch: one work-group per block, tile_cols columns and GROUP_CHUNK groups.
 * Memory: a tile.
 * Order: rows ascending in tiles, which are merged by Chan's formula. */
__kernel void group_stats_blocks(__global float4 *p, __global float *s, __global const float *h,
                                 __global const float *u, __global const float *c, group_stats_args a,
                                 __local float4 *tile_h, __local float4 *terms, __local float *tile_s) {
    group_assign_args in = a.in;
    uint item = (uint)get_local_id(0), size = (uint)get_local_size(0), part = (uint)get_group_id(0);
    uint col_tiles = CEIL_DIV(in.d, in.tile_cols), parts = col_tiles * CEIL_DIV(in.groups, GROUP_CHUNK),
         b = part / parts;
    part -= b * parts;
    uint g0 = part / col_tiles, j = (part - g0 * col_tiles) * in.tile_cols, vecs = tile_vecs(&in, j);
    g0 *= GROUP_CHUNK;
    uint count = min((uint)GROUP_CHUNK, in.groups - g0), row_vecs = CEIL_DIV(in.d, VEC);
    uint begin = b * a.block_tiles, end = min(begin + a.block_tiles, CEIL_DIV(in.n, in.tile_rows));
    __global float4 *means = p + (WS_ROWS(b, 2, in.groups) + g0) * row_vecs + j / VEC;
    __global float4 *squares = means + in.groups * row_vecs;
    for (uint tile = begin; tile < end; tile++) {
        group_tile t;
        place_tile(&t, tile_h, terms, tile_s, tile, &in);
        barrier(CLK_LOCAL_MEM_FENCE); /* the tile was in use */
        if (!a.assign) {
            load_h(&t, &in, h, j);
            load_s(&t, &in, s, g0, count);
        }
        assign_tile(&t, &in, a.assign, s, h, u, c);
        for (uint i = item; i < count * vecs; i += size) {
            uint g = i / vecs, v = i - g * vecs, at = g * row_vecs + v;
            moments sum, here;
            tile_moments(&here, &t, t.s + g * t.s_ld, t.h + v);
            if (tile > begin) {
                sum.mean = means[at];
                sum.m2 = squares[at];
                sum.rows = (float)((tile - begin) * in.tile_rows);
                merge_moments(&sum, &here);
                here = sum;
            }
            means[at] = here.mean;
            squares[at] = here.m2;
        }
    }
}

/* Computes: y = act(h (1 + lambda sum_g s_vg A_gj) + lambda b_j), A = gamma r, r = (var + eps)^-1/2, b_j = sum_g
 * (beta_gj - A_gj mean_gj); with `assign` first s, as group_assign.
 * Shapes: y and h n x d, s n x G, u G x d, c 1 x G, the others G x d; y may be h.
 * Launch: one work-group per tile of tile_rows x tile_cols.
 * Memory: a tile, the terms of b (GROUP_TILE_TERMS without padding) and b. Without `assign` the tile's h holds the sums
 * between chunks of groups.
 * Order: groups ascending. */
__kernel void group_apply(__global float *y, __global float *s, __global const float *h, __global const float *mean,
                          __global const float *var, __global const float *gamma, __global const float *beta,
                          __global const float *u, __global const float *c, group_apply_args a, __local float4 *tile_h,
                          __local float4 *terms, __local float *tile_s, __local float4 *b_terms,
                          __local float4 *b_sum) {
    group_assign_args in = a.in;
    uint item = (uint)get_local_id(0), size = (uint)get_local_size(0), col_tiles = CEIL_DIV(in.d, in.tile_cols);
    uint tile = (uint)get_group_id(0) / col_tiles, j0 = ((uint)get_group_id(0) - tile * col_tiles) * in.tile_cols;
    uint vecs = tile_vecs(&in, j0);
    group_tile t;
    place_tile(&t, tile_h, terms, tile_s, tile, &in);
    assign_tile(&t, &in, a.assign, s, h, u, c);
    for (uint g0 = 0; g0 < in.groups; g0 += GROUP_CHUNK) {
        uint count = min((uint)GROUP_CHUNK, in.groups - g0);
        bool last = g0 + count == in.groups;
        barrier(CLK_LOCAL_MEM_FENCE); /* the tile was in use */
        if (!a.assign)
            load_s(&t, &in, s, g0, count);
        for (uint i = item; i < count * vecs; i += size) {
            uint g = i / vecs, v = i - g * vecs, j = j0 + VEC * v;
            float4 slope =
                load_at(gamma, &a.gamma, g0 + g, j, in.d) * inv_std(load_at(var, &a.var, g0 + g, j, in.d), a.eps);
            t.terms[g * t.ld + v] = slope;
            b_terms[i] = load_at(beta, &a.beta, g0 + g, j, in.d) - slope * load_at(mean, &a.mean, g0 + g, j, in.d);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint v = item; v < vecs; v += size) {
            float4 sum = g0 ? b_sum[v] : (float4)(0.0f);
            for (uint g = 0; g < count; g++)
                sum += b_terms[g * vecs + v];
            b_sum[v] = last ? a.lambda * sum : sum;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint i = item; i < t.rows * vecs; i += size) {
            uint r = i / vecs, v = i - r * vecs, j = j0 + VEC * v, row = t.first + r;
            __local float4 *own = t.h + r * t.ld + v;
            float4 sum = g0 ? *own : (float4)(0.0f);
            for (uint g = 0; g < count; g++)
                sum = fma((float4)(t.s[g * t.s_ld + r]), t.terms[g * t.ld + v], sum);
            if (!last) {
                *own = sum;
                continue;
            }
            float4 x = a.assign ? *own : load_at(h, &in.h, row, j, in.d);
            store_at(act4(x + fma(a.lambda * x, sum, b_sum[v]), (ulong)row * in.d + j, a.act), y, &a.y, row, j, in.d);
        }
    }
}
