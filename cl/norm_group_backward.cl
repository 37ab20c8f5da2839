/* norm_group_backward.cl - the two passes of the backward of group normalisation: sums over rows, then the rows.
 * Shapes, t and workspaces as in norm_group.cl. */
#include "common.h"

/* Backward of the activation that follows the norm, for the gradient g of VEC columns from j: y is its output, a
 * matrix of the shape of g; `scale` is the factor of dropout after the ReLU. Without an activation has_y is 0, y any
 * matrix of the shape and scale 1. */
HELPER float4 act_backward(float4 g, __global const float *y, uint j, uint d, uint has_y, float scale) {
    return select((float4)(0.0f), g * scale, load4(y, j, d) > 0.0f || !has_y);
}

/* Sums over the rows begin .. end - 1 of go_vj (t_vgj - mean_gj) for GROUPS_PER_ITEM groups, and of go_vj, VEC columns
 * from j. sg is the column of s of the first group, `mean` its row, `last` the last group relative to it; groups past
 * it repeat it.
 * Order: rows ascending in runs of RUN_ROWS. */
typedef struct backward_sums {
    float4 q[GROUPS_PER_ITEM], db;
} backward_sums;

HELPER void sum_backward(backward_sums *out, __global const float *go, long gold, __global const float *y, long yld,
                         uint has_y, float scale, __global const float *h, long hld, __global const float *sg, long sld,
                         uint last, __global const float *mean, uint j, uint d, uint begin, uint end, uint n) {
    float4 m[GROUPS_PER_ITEM];
    out->db = (float4)(0.0f);
    FOR_EACH_GROUP {
        m[c] = load4(mean + (long)min(c, last) * d, j, d);
        out->q[c] = (float4)(0.0f);
    }
    go += (long)begin * gold;
    y += (long)begin * yld;
    h += (long)begin * hld;
    sg += (long)begin * sld;
    for (uint v = begin, run_rows; v < end; v += run_rows) {
        run_rows = min((uint)RUN_ROWS, end - v);
        float4 q[GROUPS_PER_ITEM], db = (float4)(0.0f);
        FOR_EACH_GROUP q[c] = (float4)(0.0f);
#pragma unroll 1
        for (uint w = 0; w < run_rows; w++, go += gold, y += yld, h += hld, sg += sld) {
            float4 g = act_backward(load4(go, j, d), y, j, d, has_y, scale);
            float4 x = load4(h, j, d);
            FOR_EACH_GROUP q[c] = fma(g, fma((float4)(sg[min(c, last)]), x, -m[c]), q[c]);
            db += g;
        }
        FOR_EACH_GROUP out->q[c] += q[c];
        out->db += db;
    }
}

/* Computes: p[b][g][j] = sum_v go_vj (t_vgj - mean_gj) and p[b][G][j] = sum_v go_vj over block b, go after
 * act_backward.
 * Shapes: go, y and h n x d, s n x G, mean G x d, p blocks x (G + 1) x d (WS_GROUP_SUMS_BLOCKS).
 * Launch: one work-item per block, GROUPS_PER_ITEM groups and VEC columns; those of the first groups store p[b][G].
 * Order: as sum_backward. */
__kernel void group_sums_blocks(__global float *p, long po, __global const float *go, long goo, long gold,
                                __global const float *y, long yo, long yld, uint has_y, float scale,
                                __global const float *h, long ho, long hld, __global const float *s, long so, long sld,
                                __global const float *mean, long mo, uint n, uint d, uint groups, uint blocks,
                                uint block_rows) {
    uint vecs = CEIL_DIV(d, VEC), width = CEIL_DIV(groups, GROUPS_PER_ITEM) * vecs;
    ulong i = get_global_id(0), b = row_of(i, width);
    if (b >= blocks)
        return;
    uint place = (uint)(i - b * width), g = place / vecs * GROUPS_PER_ITEM, j = VEC * (place % vecs),
         last = groups - 1 - g;
    backward_sums out;
    sum_backward(&out, go + goo, gold, y + yo, yld, has_y, scale, h + ho, hld, s + so + g, sld, last,
                 mean + mo + (long)g * d, j, d, (uint)b * block_rows, (uint)min((ulong)n, (b + 1) * block_rows), n);
    __global float *to = p + po + (long)WS_GROUP_SUMS_BLOCKS(b, groups, d);
    FOR_EACH_GROUP if (c <= last) store4(out.q[c], to + (long)(g + c) * d, j, d);
    if (g == 0)
        store4(out.db, to + (long)groups * d, j, d);
}

/* Stores the sums q and db of one group, VEC columns from j: ggamma += r q, gbeta += db; the first group also stores
 * db. */
HELPER void store_sums(float4 sum_q, float4 sum_b, __global float *q, __global float *ggamma, __global float *gbeta,
                       bool first, __global float *db, __global const float *var, float eps, uint j, uint d) {
    store4(sum_q, q, j, d);
    store4(load4(ggamma, j, d) + inv_std(load4(var, j, d), eps) * sum_q, ggamma, j, d);
    store4(load4(gbeta, j, d) + sum_b, gbeta, j, d);
    if (first)
        store4(sum_b, db, j, d);
}

/* Computes: q = lambda sum_v go_vj (t_vgj - mean_gj), db = lambda sum_v go_vj; ggamma += r q, gbeta_g += db, in one
 * launch for few rows; go after act_backward.
 * Shapes: db 1 x d, go, y and h n x d, s n x G, the others G x d.
 * Launch: one work-group per GROUPS_PER_ITEM groups and VEC columns; a work-item covers item_rows rows, then one
 * work-item per group adds the parts.
 * Memory: WS_GROUP_SUMS per work-item.
 * Order: as sum_backward, then work-items ascending. */
__kernel void group_sums_once(__global float *db, long dbo, __global float *q, long qo, __global float *ggamma,
                              long ggo, __global float *gbeta, long gbo, __global const float *go, long goo, long gold,
                              __global const float *y, long yo, long yld, uint has_y, float scale,
                              __global const float *h, long ho, long hld, __global const float *s, long so, long sld,
                              __global const float *mean, long mo, __global const float *var, long vo,
                              __global float *ws, long wso, uint n, uint d, uint groups, uint item_rows, float eps,
                              float lambda) {
    uint item = (uint)get_local_id(0), size = (uint)get_local_size(0), vecs = CEIL_DIV(d, VEC);
    uint place = (uint)get_group_id(0), g = place / vecs * GROUPS_PER_ITEM, j = VEC * (place % vecs),
         last = groups - 1 - g;
    long step = WS_GROUP_SUMS(1);
    __global float *parts = ws + wso + (long)place * size * step, *own = parts + (long)item * step;
    uint begin = (uint)min((ulong)n, (ulong)item * item_rows), end = (uint)min((ulong)n, (ulong)begin + item_rows);
    backward_sums part;
    sum_backward(&part, go + goo, gold, y + yo, yld, has_y, scale, h + ho, hld, s + so + g, sld, last,
                 mean + mo + (long)g * d, j, d, begin, end, n);
    FOR_EACH_GROUP vstore4(part.q[c], 0, own + c * VEC);
    vstore4(part.db, 0, own + GROUPS_PER_ITEM * VEC);
    barrier(CLK_GLOBAL_MEM_FENCE);
    for (uint c = item; c < GROUPS_PER_ITEM && c <= last; c += GROUPS_PER_ITEM == 1 ? 1 : size) {
        float4 sum_q = (float4)(0.0f), sum_b = sum_q;
#pragma unroll 1
        for (uint i = 0; i < size; i++) {
            sum_q += vload4(0, parts + (long)i * step + c * VEC);
            sum_b += vload4(0, parts + (long)i * step + GROUPS_PER_ITEM * VEC);
        }
        long to = (long)(g + c) * d;
        store_sums(lambda * sum_q, lambda * sum_b, q + qo + to, ggamma + ggo + to, gbeta + gbo + to, g + c == 0,
                   db + dbo, var + vo + to, eps, j, d);
    }
}

/* Computes: q = lambda sum_b p[b][g], db = lambda sum_b p[b][G]; ggamma += r q, gbeta_g += db.
 * Shapes: db 1 x d, q, ggamma, gbeta, var G x d, p as in group_sums_blocks.
 * Launch: one work-item per group and VEC columns.
 * Order: blocks ascending. */
__kernel void group_sums_combine(__global float *db, long dbo, __global float *q, long qo, __global float *ggamma,
                                 long ggo, __global float *gbeta, long gbo, __global const float *var, long vo,
                                 __global const float *p, long po, uint d, uint groups, uint blocks, float eps,
                                 float lambda) {
    uint vecs = CEIL_DIV(d, VEC);
    ulong i = get_global_id(0), g = row_of(i, vecs);
    if (g >= groups)
        return;
    uint j = VEC * (uint)(i - g * vecs);
    long at = (long)(g * d), width = WS_GROUP_SUMS_BLOCKS(1, (long)groups, d), last = (long)groups * d;
    float4 sum_q = (float4)(0.0f), sum_b = sum_q;
    for (uint b = 0; b < blocks; b++) {
        sum_q += load4(p + po + b * width + at, j, d);
        sum_b += load4(p + po + b * width + last, j, d);
    }
    store_sums(lambda * sum_q, lambda * sum_b, q + qo + at, ggamma + ggo + at, gbeta + gbo + at, g == 0, db + dbo,
               var + vo + at, eps, j, d);
}

/* Terms of the backward that depend on (g, j) alone: A, E, mean and u of group g, VEC columns from j; rows of coef are
 * d_pad apart. E divides by var + eps instead of multiplying by r^2, which rounds less; r^3 would underflow for large
 * h. */
HELPER void store_coefs(__global float *coef, uint d_pad, uint g, uint j, uint d, __global const float *mean,
                        __global const float *var, __global const float *gamma, __global const float *u,
                        __global const float *q, uint n, float eps) {
    long at = (long)g * d;
    float4 variance = load4(var + at, j, d), spread = variance + eps;
    float4 std = select((float4)(NAN), sqrt(spread), variance < (float4)(VARIANCE_LIMIT));
    __global float *to = coef + 4 * (long)g * d_pad + j;
    vstore4(load4(gamma + at, j, d) / std, 0, to);
    vstore4(-load4(q + at, j, d) / (float)n / spread, 0, to + d_pad);
    vstore4(load4(mean + at, j, d), 0, to + 2 * d_pad);
    vstore4(load4(u + at, j, d), 0, to + 3 * d_pad);
}

/* Computes, with A = gamma r and E = -r^2 q / n:
 *   dt_vgj = A_gj (lambda go_vj - db_j / n + E_gj (t_vgj - mean_gj)), ds_vg = sum_j H_vj dt_vgj,
 *   gz_vg = S_vg (ds_vg - sum_k ds_vk S_vk), gh_vj = go_vj + sum_g S_vg dt_vgj + sum_g gz_vg u_gj,
 *   p[b][g] = sum_v gz_vg over block b; go after act_backward.
 *   lambda go - db / n is computed before the product, since the two can be nearly equal.
 * Shapes: gh, go, y, h n x d, gz, s n x G, var, gamma, q, mean, u G x d, db 1 x d, p blocks x G; gh may be go.
 * Launch: one work-group per block of block_rows rows. GPUs: items_per_row work-items, a power of two, share a row,
 * VEC columns each, so that a work-group processes size / items_per_row rows per iteration. CPUs: a work-item
 * processes pairs of rows, with groups in lanes for ds.
 * Memory: WS_GROUP_BACKWARD_ROWS per work-group.
 * Order: GPUs: columns by work-item, work-items of a row ascending, groups ascending, rows of a block ascending in
 * steps of size / items_per_row. CPUs: columns ascending, groups ascending, rows of a work-item ascending, work-items
 * ascending. */
__kernel void group_backward_rows(__global float *gh, long gho, long ghld, __global float *gz, long gzo, long gzld,
                                  __global float *p, long po, __global const float *go, long goo, long gold,
                                  __global const float *y, long yo, long yld, uint has_y, float scale,
                                  __global const float *h, long ho, long hld, __global const float *s, long so,
                                  long sld, __global const float *mean, long mo, __global const float *var, long vo,
                                  __global const float *gamma, long gao, __global const float *u, long uo,
                                  __global const float *db, long dbo, __global const float *q, long qo,
                                  __global float *ws, long wso, uint n, uint d, uint groups, uint block_rows,
                                  uint items_per_row, float eps, float lambda) {
    uint item = (uint)get_local_id(0), size = (uint)get_local_size(0), rows_per_step = size / items_per_row,
         t = item % items_per_row;
    uint vecs = CEIL_DIV(d, VEC), d_pad = vecs * VEC;
    uint groups_pad = PADDED(groups, VEC), row_items = min(items_per_row, vecs), j = VEC * t;
    ulong b = get_group_id(0), begin = b * block_rows, end = min((ulong)n, begin + block_rows);
    __global float *coef =
        ws + wso + (long)WS_GROUP_BACKWARD_ROWS(b, (ulong)groups, (ulong)d, d_pad, groups_pad, (ulong)size);
    __global float *db_mean = coef + 4 * (long)groups * d_pad, *parts = db_mean + d_pad,
                   *s_items = parts + (long)size * groups_pad;
    __global float *sums = s_items + (long)size * groups_pad;
    uint own = item * groups_pad,
         row_base = own - t * groups_pad; /* offsets of this work-item and of the first of its row */
    for (uint i = item; i < groups * vecs; i += size) {
        uint g = i / vecs, c = VEC * (i - g * vecs);
        store_coefs(coef, d_pad, g, c, d, mean + mo, var + vo, gamma + gao, u + uo, q + qo, n, eps);
    }
    for (uint i = item; i < vecs; i += size)
        vstore4(load4(db + dbo, VEC * i, d) * reciprocal(n), 0, db_mean + VEC * i);
    for (uint g = 0; g < groups_pad; g += VEC) {
        vstore4((float4)(0.0f), 0, parts + own + g);
        vstore4((float4)(0.0f), 0, s_items + own + g);
        if (item == 0)
            vstore4((float4)(0.0f), 0, sums + g);
    }
    barrier(CLK_GLOBAL_MEM_FENCE);
    for (ulong first = begin; first < end; first += rows_per_step) {
        ulong v = first + item / items_per_row;
        __global const float *hv = h + ho + (long)v * hld, *gv = go + goo + (long)v * gold,
                             *yv = y + yo + (long)v * yld;
        bool active = v < end && t < vecs;
        if (active) {
            __global const float *sv = s + so + (long)v * sld;
#pragma unroll 1
            for (uint a = j; a < d; a += items_per_row * VEC) {
                float4 x = load4(hv, a, d);
                float4 c = lambda * act_backward(load4(gv, a, d), yv, a, d, has_y, scale) - vload4(0, db_mean + a);
                uint kg = a;
#pragma unroll 1
                for (uint g = 0; g < groups; g++, kg += 4 * d_pad) {
                    float s_vg = sv[g];
                    float4 diff = fma((float4)(s_vg), x, -vload4(0, coef + kg + 2 * d_pad));
                    float sum = sum4(x * (vload4(0, coef + kg) * fma(vload4(0, coef + kg + d_pad), diff, c)));
                    parts[own + g] = a == j ? sum : parts[own + g] + sum;
                    if (t == 0)
                        s_items[own + g] = s_vg;
                }
            }
        }
        barrier(CLK_GLOBAL_MEM_FENCE);
        if (active && t == 0) {
            float dot_s = 0.0f;
            for (uint g = 0; g < groups_pad; g += VEC) {
                float4 sum = vload4(0, parts + own + g);
#pragma unroll 1
                for (uint m = 1; m < row_items; m++)
                    sum += vload4(0, parts + own + m * groups_pad + g);
                vstore4(sum, 0, parts + own + g);
                dot_s += sum4(sum * vload4(0, s_items + own + g));
            }
            for (uint g = 0; g < groups_pad; g += VEC) {
                float4 z = vload4(0, s_items + own + g) * (vload4(0, parts + own + g) - dot_s);
                vstore4(z, 0, parts + own + g);
                store4(z, gz + gzo + (long)v * gzld, g, groups);
            }
        }
        barrier(CLK_GLOBAL_MEM_FENCE);
        if (active) {
#pragma unroll 1
            for (uint a = j; a < d; a += items_per_row * VEC) {
                float4 x = load4(hv, a, d);
                float4 sum = act_backward(load4(gv, a, d), yv, a, d, has_y, scale);
                float4 c = lambda * sum - vload4(0, db_mean + a);
                uint kg = a;
#pragma unroll 1
                for (uint g = 0; g < groups; g++, kg += 4 * d_pad) {
                    float s_vg = s_items[row_base + g];
                    float4 diff = fma((float4)(s_vg), x, -vload4(0, coef + kg + 2 * d_pad));
                    float4 dt = vload4(0, coef + kg) * fma(vload4(0, coef + kg + d_pad), diff, c);
                    sum = fma((float4)(s_vg), dt,
                              fma((float4)(parts[row_base + g]), vload4(0, coef + kg + 3 * d_pad), sum));
                }
                store4(sum, gh + gho + (long)v * ghld, a, d);
            }
        }
        uint rows = (uint)min((ulong)rows_per_step, end - first);
        for (uint g = VEC * item; g < groups_pad; g += VEC * size) {
            float4 sum = vload4(0, sums + g);
#pragma unroll 1
            for (uint r = 0; r < rows; r++)
                sum += vload4(0, parts + (long)(r * items_per_row) * groups_pad + g);
            vstore4(sum, 0, sums + g);
        }
        barrier(CLK_GLOBAL_MEM_FENCE); /* before parts is overwritten */
    }
    for (uint g = VEC * item; g < groups_pad; g += VEC * size)
        store4(vload4(0, sums + g), p + po + (long)(b * groups), g, groups);
}
