/* norm_group_backward.cl - the two passes of the backward of group normalisation: sums over rows, then the rows.
 * Shapes, t and workspaces as in norm_group.cl. */
#include "common.h"

/* Backward of the activation that follows the norm, for the gradient g of VEC columns from j: y is its output, a
 * matrix that ends at `stop`; `scale` is the factor of dropout after the ReLU. Without an activation has_y is 0, y any
 * matrix of the shape and scale 1. */
HELPER vecf act_backward(vecf g, __global const float *y, uint j, uint d, __global const float *stop, uint has_y,
                         float scale) {
    return select((vecf)(0.0f), g * scale, load_vec_masked(y, j, d, stop) > 0.0f || !has_y);
}

/* Sums over the rows begin .. end - 1 of go_vj (t_vgj - mean_gj) for GROUPS_PER_ITEM groups, and of go_vj, VEC columns
 * from j. sg is the column of s of the first group, `mean` its row, `last` the last group relative to it; groups past
 * it repeat it.
 * Order: rows ascending in runs of RUN_ROWS. */
typedef struct backward_sums {
    vecf q[GROUPS_PER_ITEM], db;
} backward_sums;

HELPER void sum_backward(backward_sums *out, __global const float *go, long gold, __global const float *y, long yld,
                         uint has_y, float scale, __global const float *h, long hld, __global const float *sg, long sld,
                         uint last, __global const float *mean, uint j, uint d, uint begin, uint end, uint n) {
    __global const float *g_stop = go + (long)(n - 1) * gold + d, *h_stop = h + (long)(n - 1) * hld + d;
    __global const float *y_stop = y + (long)(n - 1) * yld + d;
    vecf m[GROUPS_PER_ITEM];
    out->db = (vecf)(0.0f);
    FOR_EACH_GROUP {
        m[c] = load_vec(mean + (long)min(c, last) * d, j, d);
        out->q[c] = (vecf)(0.0f);
    }
    go += (long)begin * gold;
    y += (long)begin * yld;
    h += (long)begin * hld;
    sg += (long)begin * sld;
    for (uint v = begin, run_rows; v < end; v += run_rows) {
        run_rows = min((uint)RUN_ROWS, end - v);
        vecf q[GROUPS_PER_ITEM], db = (vecf)(0.0f);
        FOR_EACH_GROUP q[c] = (vecf)(0.0f);
#pragma unroll 1
        for (uint w = 0; w < run_rows; w++, go += gold, y += yld, h += hld, sg += sld) {
            vecf g = act_backward(load_vec_masked(go, j, d, g_stop), y, j, d, y_stop, has_y, scale);
            vecf x = load_vec_masked(h, j, d, h_stop);
            FOR_EACH_GROUP q[c] = fma(g, fma((vecf)(sg[min(c, last)]), x, -m[c]), q[c]);
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
    FOR_EACH_GROUP if (c <= last) store_vec(out.q[c], to + (long)(g + c) * d, j, d);
    if (g == 0)
        store_vec(out.db, to + (long)groups * d, j, d);
}

/* Stores the sums q and db of one group, VEC columns from j: ggamma += r q, gbeta += db; the first group also stores
 * db. */
HELPER void store_sums(vecf sum_q, vecf sum_b, __global float *q, __global float *ggamma, __global float *gbeta,
                       bool first, __global float *db, __global const float *var, float eps, uint j, uint d) {
    store_vec(sum_q, q, j, d);
    store_vec(load_vec(ggamma, j, d) + inv_std(load_vec(var, j, d), eps) * sum_q, ggamma, j, d);
    store_vec(load_vec(gbeta, j, d) + sum_b, gbeta, j, d);
    if (first)
        store_vec(sum_b, db, j, d);
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
    long step = WS_GROUP_SUMS(1, VEC);
    __global float *parts = ws + wso + (long)place * size * step, *own = parts + (long)item * step;
    uint begin = (uint)min((ulong)n, (ulong)item * item_rows), end = (uint)min((ulong)n, (ulong)begin + item_rows);
    backward_sums part;
    sum_backward(&part, go + goo, gold, y + yo, yld, has_y, scale, h + ho, hld, s + so + g, sld, last,
                 mean + mo + (long)g * d, j, d, begin, end, n);
    FOR_EACH_GROUP STORE(part.q[c], own + c * VEC);
    STORE(part.db, own + GROUPS_PER_ITEM * VEC);
    barrier(CLK_GLOBAL_MEM_FENCE);
    for (uint c = item; c < GROUPS_PER_ITEM && c <= last; c += GROUPS_PER_ITEM == 1 ? 1 : size) {
        vecf sum_q = (vecf)(0.0f), sum_b = sum_q;
#pragma unroll 1
        for (uint i = 0; i < size; i++) {
            sum_q += LOAD(parts + (long)i * step + c * VEC);
            sum_b += LOAD(parts + (long)i * step + GROUPS_PER_ITEM * VEC);
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
    vecf sum_q = (vecf)(0.0f), sum_b = sum_q;
    for (uint b = 0; b < blocks; b++) {
        sum_q += load_vec(p + po + b * width + at, j, d);
        sum_b += load_vec(p + po + b * width + last, j, d);
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
    vecf variance = load_vec(var + at, j, d), spread = variance + eps;
    vecf std = select((vecf)(NAN), sqrt(spread), variance < (vecf)(VARIANCE_LIMIT));
    __global float *to = coef + 4 * (long)g * d_pad + j;
    STORE(load_vec(gamma + at, j, d) / std, to);
    STORE(-load_vec(q + at, j, d) / (float)n / spread, to + d_pad);
    STORE(load_vec(mean + at, j, d), to + 2 * d_pad);
    STORE(load_vec(u + at, j, d), to + 3 * d_pad);
}

#if VEC == VEC_CPU
/* Two rows per iteration: their dependency chains overlap, and what both need is loaded once. */
typedef struct vecf_pair {
    vecf a, b;
} vecf_pair;

/* ds of VEC groups of two rows, one group per lane, so that no sum over lanes is needed. Row j of coef_t has A, E and
 * mean of these groups, groups_pad apart.
 * Order: columns ascending. */
HELPER void sum_ds(vecf_pair *ds, __global const float *coef_t, uint groups_pad, __global const float *ha,
                   __global const float *hb, __global const float *ga, __global const float *gb,
                   __global const float *db_mean, uint d, float lambda, vecf s_a, vecf s_b) {
    vecf sum_a = (vecf)(0.0f), sum_b = sum_a;
    for (uint j = 0; j < d; j++, coef_t += 3 * groups_pad) {
        vecf A = LOAD(coef_t), E = LOAD(coef_t + groups_pad), mean = LOAD(coef_t + 2 * groups_pad);
        vecf xa = (vecf)(ha[j]), ca = (vecf)(lambda * ga[j] - db_mean[j]);
        vecf xb = (vecf)(hb[j]), cb = (vecf)(lambda * gb[j] - db_mean[j]);
        sum_a = fma(xa, A * fma(E, fma(s_a, xa, -mean), ca), sum_a);
        sum_b = fma(xb, A * fma(E, fma(s_b, xb, -mean), cb), sum_b);
    }
    ds->a = sum_a;
    ds->b = sum_b;
}

/* Stores gz of VEC groups of a row from g, and adds it to the sum of the work-item if `counts`. */
HELPER void store_gz(vecf z, __global float *zv, uint g, uint groups, __global float *own_sum, bool counts) {
    store_vec(z, zv, g, groups);
    if (counts)
        STORE(LOAD(own_sum + g) + z, own_sum + g);
}
#endif

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
#if VEC == VEC_CPU
    uint item = (uint)get_local_id(0), size = (uint)get_local_size(0);
    uint vecs = CEIL_DIV(d, VEC), d_pad = vecs * VEC;
    uint groups_pad = PADDED(groups, VEC);
    ulong b = get_group_id(0), begin = b * block_rows, end = min((ulong)n, begin + block_rows);
    __global float *coef =
        ws + wso + (long)WS_GROUP_BACKWARD_ROWS(b, (ulong)groups, (ulong)d, d_pad, groups_pad, (ulong)size, VEC);
    __global float *db_mean = coef + 4 * (long)groups * d_pad, *coef_t = db_mean + d_pad;
    __global float *sums = coef_t + 3 * (long)d * groups_pad, *own = sums + (long)item * groups_pad;
    for (uint i = item; i < groups * vecs; i += size) {
        uint g = i / vecs, c = VEC * (i - g * vecs);
        store_coefs(coef, d_pad, g, c, d, mean + mo, var + vo, gamma + gao, u + uo, q + qo, n, eps);
    }
    for (uint i = item; i < vecs; i += size)
        STORE(load_vec(db + dbo, VEC * i, d) * reciprocal(n), db_mean + VEC * i);
    for (uint g = 0; g < groups_pad; g += VEC)
        STORE((vecf)(0.0f), own + g);
    barrier(CLK_GLOBAL_MEM_FENCE);
    for (uint i = item; i < 3 * d; i += size)
        for (uint g = 0; g < groups_pad; g++)
            coef_t[(long)i * groups_pad + g] = g < groups ? coef[(4 * (long)g + i % 3) * d_pad + i / 3] : 0.0f;
    barrier(CLK_GLOBAL_MEM_FENCE);
    for (ulong v = begin + 2 * item; v < end; v += 2 * size) {
        bool two = v + 1 < end; /* else the row is computed twice and counted once */
        __global const float *ha = h + ho + (long)v * hld, *hb = two ? ha + hld : ha;
        __global const float *ga = go + goo + (long)v * gold, *gb = two ? ga + gold : ga;
        __global const float *sa = s + so + (long)v * sld, *sb = two ? sa + sld : sa;
        __global float *za = gz + gzo + (long)v * gzld, *zb = two ? za + gzld : za;
        __global float *to_a = gh + gho + (long)v * ghld, *to_b = two ? to_a + ghld : to_a;
        if (has_y) { /* gh holds go after act_backward until it is overwritten */
            __global const float *ya = y + yo + (long)v * yld, *stop = y + yo + (long)(n - 1) * yld + d;
            for (uint j = 0; j < d; j += VEC) {
                store_vec(act_backward(load_vec(ga, j, d), ya, j, d, stop, 1, scale), to_a, j, d);
                if (two)
                    store_vec(act_backward(load_vec(gb, j, d), ya + yld, j, d, stop, 1, scale), to_b, j, d);
            }
            ga = to_a;
            gb = to_b;
        }
        vecf_pair s_vg = {load_vec(sa, 0, groups), load_vec(sb, 0, groups)}, ds;
        sum_ds(&ds, coef_t, groups_pad, ha, hb, ga, gb, db_mean, d, lambda, s_vg.a, s_vg.b);
        float dot_a = sum_vec(ds.a * s_vg.a), dot_b = sum_vec(ds.b * s_vg.b);
        for (uint g = VEC; g < groups; g += VEC) {
            vecf_pair more = {load_vec(sa, g, groups), load_vec(sb, g, groups)}, z;
            sum_ds(&z, coef_t + g, groups_pad, ha, hb, ga, gb, db_mean, d, lambda, more.a, more.b);
            dot_a += sum_vec(z.a * more.a);
            dot_b += sum_vec(z.b * more.b);
            store_vec(z.a, za, g, groups);
            store_vec(z.b, zb, g, groups);
        }
        store_gz(s_vg.a * (ds.a - dot_a), za, 0, groups, own, true);
        store_gz(s_vg.b * (ds.b - dot_b), zb, 0, groups, own, two);
        for (uint g = VEC; g < groups; g += VEC) {
            vecf z = load_vec(sa, g, groups) * (load_vec(za, g, groups) - dot_a);
            vecf then = load_vec(sb, g, groups) * (load_vec(zb, g, groups) - dot_b);
            store_gz(z, za, g, groups, own, true);
            store_gz(then, zb, g, groups, own, two);
        }
        for (uint j = 0; j < d; j += VEC) {
            vecf xa = load_vec(ha, j, d), sum_a = load_vec(ga, j, d), ca = lambda * sum_a - LOAD(db_mean + j);
            vecf xb = load_vec(hb, j, d), sum_b = load_vec(gb, j, d), cb = lambda * sum_b - LOAD(db_mean + j);
            vecf through_a = (vecf)(0.0f), through_b = through_a;
            __global const float *at = coef + j;
            for (uint g = 0; g < groups; g++, at += 4 * d_pad) {
                vecf A = LOAD(at), E = LOAD(at + d_pad), mean = LOAD(at + 2 * d_pad), ug = LOAD(at + 3 * d_pad);
                vecf wa = (vecf)(sa[g]), wb = (vecf)(sb[g]);
                sum_a = fma(wa, A * fma(E, fma(wa, xa, -mean), ca), sum_a);
                sum_b = fma(wb, A * fma(E, fma(wb, xb, -mean), cb), sum_b);
                through_a = fma((vecf)(za[g]), ug, through_a);
                through_b = fma((vecf)(zb[g]), ug, through_b);
            }
            store_vec(sum_a + through_a, to_a, j, d);
            store_vec(sum_b + through_b, to_b, j, d);
        }
    }
    barrier(CLK_GLOBAL_MEM_FENCE);
    for (uint g = VEC * item; g < groups_pad; g += VEC * size) {
        vecf sum = (vecf)(0.0f);
        for (uint i = 0; i < size; i++)
            sum += LOAD(sums + (long)i * groups_pad + g);
        store_vec(sum, p + po + (long)(b * groups), g, groups);
    }
#else
    uint item = (uint)get_local_id(0), size = (uint)get_local_size(0), rows_per_step = size / items_per_row,
         t = item % items_per_row;
    uint vecs = CEIL_DIV(d, VEC), d_pad = vecs * VEC;
    uint groups_pad = PADDED(groups, VEC), row_items = min(items_per_row, vecs), j = VEC * t;
    ulong b = get_group_id(0), begin = b * block_rows, end = min((ulong)n, begin + block_rows);
    __global const float *h_stop = h + ho + (long)(n - 1) * hld + d, *y_stop = y + yo + (long)(n - 1) * yld + d;
    __global float *coef =
        ws + wso + (long)WS_GROUP_BACKWARD_ROWS(b, (ulong)groups, (ulong)d, d_pad, groups_pad, (ulong)size, VEC);
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
        STORE(load_vec(db + dbo, VEC * i, d) * reciprocal(n), db_mean + VEC * i);
    for (uint g = 0; g < groups_pad; g += VEC) {
        STORE((vecf)(0.0f), parts + own + g);
        STORE((vecf)(0.0f), s_items + own + g);
        if (item == 0)
            STORE((vecf)(0.0f), sums + g);
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
                vecf x = load_vec_masked(hv, a, d, h_stop);
                vecf c = lambda * act_backward(load_vec(gv, a, d), yv, a, d, y_stop, has_y, scale) - LOAD(db_mean + a);
                uint kg = a;
#pragma unroll 1
                for (uint g = 0; g < groups; g++, kg += 4 * d_pad) {
                    float s_vg = sv[g];
                    vecf diff = fma((vecf)(s_vg), x, -LOAD(coef + kg + 2 * d_pad));
                    float sum = sum_vec(x * (LOAD(coef + kg) * fma(LOAD(coef + kg + d_pad), diff, c)));
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
                vecf sum = LOAD(parts + own + g);
#pragma unroll 1
                for (uint m = 1; m < row_items; m++)
                    sum += LOAD(parts + own + m * groups_pad + g);
                STORE(sum, parts + own + g);
                dot_s += sum_vec(sum * LOAD(s_items + own + g));
            }
            for (uint g = 0; g < groups_pad; g += VEC) {
                vecf z = LOAD(s_items + own + g) * (LOAD(parts + own + g) - dot_s);
                STORE(z, parts + own + g);
                store_vec(z, gz + gzo + (long)v * gzld, g, groups);
            }
        }
        barrier(CLK_GLOBAL_MEM_FENCE);
        if (active) {
#pragma unroll 1
            for (uint a = j; a < d; a += items_per_row * VEC) {
                vecf x = load_vec_masked(hv, a, d, h_stop);
                vecf sum = act_backward(load_vec(gv, a, d), yv, a, d, y_stop, has_y, scale);
                vecf c = lambda * sum - LOAD(db_mean + a);
                uint kg = a;
#pragma unroll 1
                for (uint g = 0; g < groups; g++, kg += 4 * d_pad) {
                    float s_vg = s_items[row_base + g];
                    vecf diff = fma((vecf)(s_vg), x, -LOAD(coef + kg + 2 * d_pad));
                    vecf dt = LOAD(coef + kg) * fma(LOAD(coef + kg + d_pad), diff, c);
                    sum = fma((vecf)(s_vg), dt, fma((vecf)(parts[row_base + g]), LOAD(coef + kg + 3 * d_pad), sum));
                }
                store_vec(sum, gh + gho + (long)v * ghld, a, d);
            }
        }
        uint rows = (uint)min((ulong)rows_per_step, end - first);
        for (uint g = VEC * item; g < groups_pad; g += VEC * size) {
            vecf sum = LOAD(sums + g);
#pragma unroll 1
            for (uint r = 0; r < rows; r++)
                sum += LOAD(parts + (long)(r * items_per_row) * groups_pad + g);
            STORE(sum, sums + g);
        }
        barrier(CLK_GLOBAL_MEM_FENCE); /* before parts is overwritten */
    }
    for (uint g = VEC * item; g < groups_pad; g += VEC * size)
        store_vec(LOAD(sums + g), p + po + (long)(b * groups), g, groups);
#endif
}
