/* norm_group_backward.cl - the backward of group normalisation: sums over rows, then the rows. Shapes and t as in
 * norm_group.cl; go is the gradient after act_backward. A work-group covers a block of rows in tiles of tile_rows,
 * which pass through local memory: all groups of a tile are computed from one read of its rows. More than `chunk`
 * groups are taken `chunk` at a time. Partial sums of the blocks are in scratch, rows padded to float4; the combine
 * kernels add them. */
#include "common.h"

/* Backward of the activation that follows the norm: y is its output, `scale` the factor of dropout after the ReLU.
 * Without an activation y->has is 0. */
HELPER float4 act_backward(__global const float *go, const mat_args *gom, __global const float *y, const act_output *ym,
                           uint v, uint j, uint d) {
    float4 g = load_at(go, gom, v, j, d);
    return ym->has ? select((float4)(0.0f), ym->scale * g, load_at(y, &ym->mat, v, j, d) > 0.0f) : g;
}

/* p = sum for the first tile of a block, else p += sum. */
HELPER void add_partial(__global float *p, float4 sum, bool first) {
    __global float4 *to = (__global float4 *)p;
    *to = first ? sum : *to + sum;
}

/* Computes: p[b][g][j] = sum_v go_vj (t_vgj - mean_gj) and p[b][G][j] = sum_v go_vj over block b.
 * Shapes: go, y and h n x d, s n x G, mean G x d, p as WS_GROUP_SUMS.
 * Launch: one work-group per block and GROUP_COLS columns.
 * Memory: LOCAL_GROUP_SUMS: h and go of a tile, s of a tile and `chunk` groups.
 * Order: rows of a tile ascending, tiles ascending. */
__kernel void group_sums(__global float *p, __global const float *go, __global const float *y, __global const float *h,
                         __global const float *s, __global const float *mean, __local float4 *hs, group_sums_args a) {
    uint me = (uint)get_local_id(0), size = (uint)get_local_size(0), across = CEIL_DIV(a.d, GROUP_COLS);
    uint b = (uint)get_group_id(0) / across, col = GROUP_COLS * ((uint)get_group_id(0) - b * across);
    uint vecs = CEIL_DIV(min((uint)GROUP_COLS, a.d - col), VEC), begin = b * a.block_rows,
         end = min(a.n, begin + a.block_rows), d_pad = PADDED(a.d, VEC);
    __local float4 *gs = hs + a.tile_rows * (GROUP_COLS / VEC);
    __local float *ss = (__local float *)(gs + a.tile_rows * (GROUP_COLS / VEC));
    p += WS_GROUP_SUMS(b, a.groups, d_pad) + col;
    for (uint first = begin; first < end; first += a.tile_rows) {
        uint rows = min(a.tile_rows, end - first);
        for (uint i = me; i < rows * vecs; i += size) {
            uint r = i / vecs, j = col + VEC * (i - r * vecs);
            hs[i] = load_at(h, &a.h, first + r, j, a.d);
            gs[i] = act_backward(go, &a.go, y, &a.y, first + r, j, a.d);
        }
        for (uint g0 = 0; g0 < a.groups; g0 += a.chunk) {
            uint count = min(a.chunk, a.groups - g0), with_db = g0 + count == a.groups;
            for (uint i = me; i < rows * count; i += size) {
                uint r = i / count;
                ss[i] = s[a.s.off + (first + r) * a.s.ld + g0 + i - r * count];
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            for (uint i = me; i < (count + with_db) * vecs; i += size) {
                uint k = i / vecs, c = i - k * vecs, share = min(k, count - 1);
                float4 sum = (float4)(0.0f), m = k < count ? load_at(mean, &a.mean, g0 + k, col + VEC * c, a.d) : sum;
                for (uint r = 0; r < rows; r++) {
                    float4 diff = fma((float4)(ss[r * count + share]), hs[r * vecs + c], -m);
                    sum = fma(gs[r * vecs + c], k < count ? diff : (float4)(1.0f), sum);
                }
                add_partial(p + (g0 + k) * d_pad + VEC * c, sum, first == begin);
            }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
    }
}

/* Computes: q = lambda sum_b p[b][g], db = lambda sum_b p[b][G]; ggamma += r q, gbeta_g += db.
 * Shapes: db 1 x d, q, ggamma, gbeta, var G x d, p as WS_GROUP_SUMS.
 * Launch: one work-group per row of p[b] and COMBINE_VECS vectors; that of db also adds it to every row of gbeta.
 * Memory: a float4 per COMBINE_VECS and COMBINE_RUNS.
 * Order: blocks of a run ascending, runs ascending. */
__kernel void group_sums_combine(__global float *db, __global float *q, __global float *ggamma, __global float *gbeta,
                                 __global const float *var, __global const float *p, __local float4 *runs,
                                 group_sums_combine_args a) {
    uint vecs = CEIL_DIV(a.d, VEC), pairs = CEIL_DIV(vecs, COMBINE_VECS);
    uint g = (uint)get_group_id(0) / pairs, i = COMBINE_VECS * ((uint)get_group_id(0) - g * pairs);
    uint here = min((uint)COMBINE_VECS, vecs - i);
    sum_runs(runs, p + g * vecs * VEC, WS_GROUP_SUMS(1, a.groups, vecs * VEC), a.blocks, i, vecs);
    for (uint t = (uint)get_local_id(0); t < (g < a.groups ? 1 : a.groups) * here; t += (uint)get_local_size(0)) {
        uint k = t / here, j = VEC * (i + t - k * here);
        float4 sum = a.lambda * add_runs(runs, t - k * here);
        if (g < a.groups) {
            float4 r = inv_std(load_at(var, &a.var, g, j, a.d), a.eps);
            store_at(sum, q, &a.q, g, j, a.d);
            store_at(load_at(ggamma, &a.ggamma, g, j, a.d) + r * sum, ggamma, &a.ggamma, g, j, a.d);
            continue;
        }
        store_at(load_at(gbeta, &a.gbeta, k, j, a.d) + sum, gbeta, &a.gbeta, k, j, a.d);
        if (k == 0)
            store_at(sum, db, &a.db, 0, j, a.d);
    }
}

/* What the helpers of group_backward_rows share: rows first .. first + rows - 1, groups g0 .. g0 + count - 1. s, and z
 * (ds, then gz), are tile_rows x chunk, dot_s_v = sum_g ds_vg s_vg; work is used by one helper at a time. */
typedef struct group_tile {
    uint first, rows, g0, count;
    __local float *s, *z, *dot_s;
    __local float4 *work;
} group_tile;

/* Stages A, E and mean of the tile's groups and `vecs` vectors of columns from col, three rows of GROUP_COLS per group
 * after a row of db / n. A = gamma / std; E = -q / n / (var + eps) divides instead of multiplying by r^2, which rounds
 * less; r^3 would underflow for large h. */
HELPER void stage_coefs(const group_tile *t, __global const float *mean, __global const float *var,
                        __global const float *gamma, __global const float *db, __global const float *q,
                        const group_rows_args *a, uint col, uint vecs) {
    for (uint c = (uint)get_local_id(0); c < vecs; c += (uint)get_local_size(0))
        t->work[c] = load_at(db, &a->db, 0, col + VEC * c, a->d) * reciprocal(a->over);
    for (uint i = (uint)get_local_id(0); i < t->count << a->coef_shift; i += (uint)get_local_size(0)) {
        uint k = i >> a->coef_shift, c = i & ((1 << a->coef_shift) - 1), g = t->g0 + k, j = col + VEC * c;
        if (j >= a->d)
            continue;
        float4 variance = load_at(var, &a->var, g, j, a->d), spread = variance + a->eps;
        float n = (float)a->over;
        float4 std = select((float4)(NAN), sqrt(spread), variance < (float4)(VARIANCE_LIMIT));
        __local float4 *to = t->work + (3 * k + 1) * (GROUP_COLS / VEC) + c;
        to[0] = load_at(gamma, &a->gamma, g, j, a->d) / std;
        to[GROUP_COLS / VEC] = -load_at(q, &a->q, g, j, a->d) / n / spread;
        to[2 * (GROUP_COLS / VEC)] = load_at(mean, &a->mean, g, j, a->d);
    }
}

/* Adds to ds, in parts of the items that share a row, and stores go + sum_g s dt in `part`, for `vecs` vectors of
 * columns from col. */
HELPER void backward_columns(const group_tile *t, __local float *parts, __global float *part, __global const float *go,
                             __global const float *y, __global const float *h, const group_rows_args *a, uint col,
                             uint vecs) {
    uint lanes = min((uint)GROUP_LANES, CEIL_DIV(a->d, VEC));
    for (uint i = (uint)get_local_id(0); i < t->rows * lanes; i += (uint)get_local_size(0)) {
        uint r = i / lanes, lane = i - r * lanes, v = t->first + r;
#pragma nounroll
        for (uint c = lane; c < vecs; c += lanes) {
            uint j = col + VEC * c;
            float4 x = load_at(h, &a->h, v, j, a->d), g = act_backward(go, &a->go, y, &a->y, v, j, a->d);
            float4 w = a->lambda * g - t->work[c];
            float4 sum = t->g0 == 0 ? g : (float4)(0.0f);
            __local float *own = parts + r * GROUP_LANES + lane;
#pragma nounroll
            for (uint k = 0; k < t->count; k++, own += a->tile_rows * GROUP_LANES) {
                __local const float4 *coef = t->work + (3 * k + 1) * (GROUP_COLS / VEC) + c;
                float4 s = (float4)(t->s[r * a->chunk + k]), diff = fma(s, x, -coef[2 * (GROUP_COLS / VEC)]);
                float4 dt = coef[0] * fma(coef[GROUP_COLS / VEC], diff, w);
                sum = fma(s, dt, sum);
                *own += sum4(x * dt);
            }
            if (t->g0 > 0)
                sum += load_at(part, &a->part, v, j, a->d);
            store_at(sum, part, &a->part, v, j, a->d);
        }
    }
}

/* First pass: ds of the tile's groups and rows, and dot_s. */
HELPER void backward_ds(const group_tile *t, __global float *gz, __global float *part, __global const float *go,
                        __global const float *y, __global const float *h, __global const float *s,
                        __global const float *mean, __global const float *var, __global const float *gamma,
                        __global const float *db, __global const float *q, const group_rows_args *a) {
    uint me = (uint)get_local_id(0), size = (uint)get_local_size(0), count = t->count;
    __local float4 *parts = t->work + (3 * a->chunk + 1) * (GROUP_COLS / VEC);
    for (uint i = me; i < t->rows * count; i += size) {
        uint r = i / count, k = i - r * count;
        t->s[r * a->chunk + k] = s[a->s.off + (t->first + r) * a->s.ld + t->g0 + k];
        parts[k * a->tile_rows + r] = (float4)(0.0f);
    }
    for (uint col = 0; col < a->d; col += GROUP_COLS) {
        uint vecs = CEIL_DIV(min((uint)GROUP_COLS, a->d - col), VEC);
        stage_coefs(t, mean, var, gamma, db, q, a, col, vecs);
        barrier(CLK_LOCAL_MEM_FENCE);
        backward_columns(t, (__local float *)parts, part, go, y, h, a, col, vecs);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (uint r = me; r < t->rows; r += size) {
        float dot_s = t->g0 == 0 ? 0.0f : t->dot_s[r];
        for (uint k = 0; k < t->count; k++) {
            float ds = sum4(parts[k * a->tile_rows + r]);
            t->z[r * a->chunk + k] = ds;
            dot_s += ds * t->s[r * a->chunk + k];
            if (a->groups > a->chunk)
                gz[a->gz.off + (t->first + r) * a->gz.ld + t->g0 + k] = ds;
        }
        t->dot_s[r] = dot_s;
    }
}

/* gz = s (ds - dot_s) of the tile's groups and rows. With several chunks s and ds are no longer in local memory. */
HELPER void softmax_backward(const group_tile *t, __global float *gz, __global const float *s,
                             const group_rows_args *a) {
    bool reload = a->groups > a->chunk;
    uint count = t->count;
    for (uint i = (uint)get_local_id(0); i < t->rows * count; i += (uint)get_local_size(0)) {
        uint r = i / count, k = i - r * count, v = t->first + r, at = r * a->chunk + k;
        __global float *to = gz + a->gz.off + v * a->gz.ld + t->g0 + k;
        float share = reload ? s[a->s.off + v * a->s.ld + t->g0 + k] : t->s[at], ds = reload ? *to : t->z[at];
        *to = t->z[at] = share * (ds - t->dot_s[r]);
    }
}

/* Second pass, for the tile's groups: gh = part + gz u (gh += gz u after the first chunk), and the sums of gz' h and gz
 * over the tile, which are added to p[b] unless it is the block's first. */
HELPER void backward_gz(const group_tile *t, __global float *gh, __global float *p, __global const float *part,
                        __global const float *h, __global const float *u, const group_rows_args *a, bool first) {
    uint me = (uint)get_local_id(0), size = (uint)get_local_size(0), d_pad = PADDED(a->d, VEC);
    for (uint k = me; k < t->count; k += size) {
        __global float *gc = p + a->groups * d_pad + t->g0 + k;
        float sum = first ? 0.0f : *gc;
        for (uint r = 0; r < t->rows; r++)
            sum += t->z[r * a->chunk + k];
        *gc = sum;
    }
    for (uint col = 0; col < a->d; col += GROUP_U_COLS) {
        uint vecs = CEIL_DIV(min((uint)GROUP_U_COLS, a->d - col), VEC);
        __local float4 *us = t->work, *hs = us + a->chunk * (GROUP_U_COLS / VEC);
        for (uint i = me; i < t->count * vecs; i += size)
            us[i] = load_at(u, &a->u, t->g0 + i / vecs, col + VEC * (i % vecs), a->d);
        for (uint i = me; a->has_gu && i < t->rows * vecs; i += size)
            hs[i] = load_at(h, &a->h, t->first + i / vecs, col + VEC * (i % vecs), a->d);
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint i = me; i < t->rows * vecs; i += size) {
            uint r = i / vecs, c = i - r * vecs, v = t->first + r, j = col + VEC * c;
            float4 sum = t->g0 == 0 ? load_at(part, &a->part, v, j, a->d) : load_at(gh, &a->gh, v, j, a->d);
#pragma nounroll
            for (uint k = 0; k < t->count; k++)
                sum = fma((float4)(t->z[r * a->chunk + k]), us[k * vecs + c], sum);
            store_at(sum, gh, &a->gh, v, j, a->d);
        }
        for (uint i = me; a->has_gu && i < t->count * vecs; i += size) {
            uint k = i / vecs, c = i - k * vecs;
            float4 sum = (float4)(0.0f);
#pragma unroll 2
            for (uint r = 0; r < t->rows; r++)
                sum = fma((float4)(t->z[r * a->chunk + k]), hs[r * vecs + c], sum);
            add_partial(p + (t->g0 + k) * d_pad + col + VEC * c, sum, first);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

/* Computes, with A = gamma r and E = -r^2 q / n:
 *   dt_vgj = A_gj (lambda go_vj - db_j / n + E_gj (t_vgj - mean_gj)), ds_vg = sum_j H_vj dt_vgj,
 *   gz_vg = S_vg (ds_vg - sum_k ds_vk S_vk), gh_vj = go_vj + sum_g S_vg dt_vgj + sum_g gz_vg u_gj,
 *   p[b] = sum_v gz_vg H_vj (with has_gu), then sum_v gz_vg, over block b.
 *   lambda go - db / n is computed before the product, since the two can be nearly equal.
 * Shapes: gh, part, go, y, h n x d, gz, s n x G, var, gamma, q, mean, u G x d, db 1 x d, p as WS_GROUP_ROWS; gh may be
 * go. part holds go + sum_g S_vg dt_vgj between the passes: it may be gh, but not go with more than one chunk.
 * Launch: one work-group per block.
 * Memory: LOCAL_GROUP_ROWS: s, z and dot_s of a tile; work: coefficients and parts of ds, or u and h.
 * Order: GROUP_LANES items share a row, columns ascending; their parts; groups ascending; rows of a tile and tiles
 * ascending. */
__kernel void group_backward_rows(__global float *gh, __global float *gz, __global float *p, __global float *part,
                                  __global const float *go, __global const float *y, __global const float *h,
                                  __global const float *s, __global const float *mean, __global const float *var,
                                  __global const float *gamma, __global const float *u, __global const float *db,
                                  __global const float *q, __local float4 *local_memory, group_rows_args a) {
    uint b = (uint)get_group_id(0), begin = b * a.block_rows, end = min(a.n, begin + a.block_rows);
    group_tile t;
    t.s = (__local float *)local_memory;
    t.z = t.s + a.tile_rows * a.chunk;
    t.dot_s = t.z + a.tile_rows * a.chunk;
    t.work = (__local float4 *)(t.dot_s + a.tile_rows);
    p += a.p + WS_GROUP_ROWS(b, a.groups, PADDED(a.d, VEC));
    for (t.first = begin; t.first < end; t.first += a.tile_rows) {
        t.rows = min(a.tile_rows, end - t.first);
        for (t.g0 = 0; t.g0 < a.groups; t.g0 += a.chunk) {
            t.count = min(a.chunk, a.groups - t.g0);
            backward_ds(&t, gz, part, go, y, h, s, mean, var, gamma, db, q, &a);
            barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); /* part, and ds in gz, are read by other items */
        }
        for (t.g0 = 0; t.g0 < a.groups; t.g0 += a.chunk) {
            t.count = min(a.chunk, a.groups - t.g0);
            softmax_backward(&t, gz, s, &a);
            barrier(CLK_LOCAL_MEM_FENCE);
            backward_gz(&t, gh, p, part, h, u, &a, t.first == begin);
        }
    }
}
