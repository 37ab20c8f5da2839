/* norm_group_backward.cl - the two sweeps of the backward pass of group normalisation: sums over rows, then the rows.
 * Shapes, t and the rooms of work-groups are those of norm_group.cl. */
#include "common.h"

/* The gradient g of COLUMNS columns from j on, through the activation behind the norm: y is its output, a matrix that
 * ends at `stop`; a relu and perhaps dropout, whose factor is `scale`. Where there is none, `has_y` is 0, y any matrix
 * of the shape, and the scale 1. */
HELPER wide through(wide g, __global const float *y, uint j, uint d, __global const float *stop, uint has_y,
                    float scale) {
    return select((wide)(0.0f), g * scale, load_inside(y, j, d, stop) > 0.0f || !has_y);
}

/* The sums over the rows begin .. end - 1 of go_vj (t_vgj - mean_gj) for TOGETHER groups, and of go_vj, COLUMNS columns
 * from j on; sg is the column of s of the first group, `mean` its row, `last` how far the last is from it.
 * Order: rows rising, in runs of 64. */
typedef struct sums_of {
    wide q[TOGETHER], db;
} sums_of;

HELPER void sum_rows(sums_of *out, __global const float *go, long gold, __global const float *y, long yld, uint has_y,
                     float scale, __global const float *h, long hld, __global const float *sg, long sld, uint last,
                     __global const float *mean, uint j, uint d, uint begin, uint end, uint n) {
    __global const float *g_stop = go + (long)(n - 1) * gold + d, *h_stop = h + (long)(n - 1) * hld + d;
    __global const float *y_stop = y + (long)(n - 1) * yld + d;
    wide m[TOGETHER];
    out->db = (wide)(0.0f);
    EACH_GROUP {
        m[c] = load_wide(mean + (long)min(c, last) * d, j, d);
        out->q[c] = (wide)(0.0f);
    }
    go += (long)begin * gold;
    y += (long)begin * yld;
    h += (long)begin * hld;
    sg += (long)begin * sld;
    for (uint v = begin, here; v < end; v += here) {
        here = min(64u, end - v);
        wide q[TOGETHER], db = (wide)(0.0f);
        EACH_GROUP q[c] = (wide)(0.0f);
#pragma unroll 1
        for (uint w = 0; w < here; w++, go += gold, y += yld, h += hld, sg += sld) {
            wide one = through(load_inside(go, j, d, g_stop), y, j, d, y_stop, has_y, scale);
            wide x = load_inside(h, j, d, h_stop);
            EACH_GROUP q[c] = fma(one, fma((wide)(sg[min(c, last)]), x, -m[c]), q[c]);
            db += one;
        }
        EACH_GROUP out->q[c] += q[c];
        out->db += db;
    }
}

/* Computes: per block p[b][g][j] = sum_v go_vj (t_vgj - mean_gj), and p[b][G][j] = sum_v go_vj.
 * Shapes: go, y and h n x d, s n x G, mean G x d, p blocks x (G + 1) x d; go is taken through y.
 * Launch: one item per block, TOGETHER groups and COLUMNS columns; those of the first groups write the last sum. */
__kernel void group_sums_blocks(__global float *p, long po, __global const float *go, long goo, long gold,
                                __global const float *y, long yo, long yld, uint has_y, float scale,
                                __global const float *h, long ho, long hld, __global const float *s, long so, long sld,
                                __global const float *mean, long mo, uint n, uint d, uint groups, uint blocks,
                                uint per) {
    uint across = (d + COLUMNS - 1) / COLUMNS, width = (groups + TOGETHER - 1) / TOGETHER * across;
    ulong i = get_global_id(0), b = row_of(i, width);
    if (b >= blocks)
        return;
    uint at = (uint)(i - b * width), g = at / across * TOGETHER, j = COLUMNS * (at % across), last = groups - 1 - g;
    sums_of out;
    sum_rows(&out, go + goo, gold, y + yo, yld, has_y, scale, h + ho, hld, s + so + g, sld, last,
             mean + mo + (long)g * d, j, d, (uint)b * per, (uint)min((ulong)n, (b + 1) * per), n);
    __global float *to = p + po + (long)(b * (groups + 1) * d);
    EACH_GROUP if (c <= last) store_wide(out.q[c], to + (long)(g + c) * d, j, d);
    if (g == 0)
        store_wide(out.db, to + (long)groups * d, j, d);
}

/* What is done with the sums of a group, q and b, in COLUMNS columns from j on: ggamma += r q, gbeta += b; the first
 * group also tells db. */
HELPER void store_sums(wide sum_q, wide sum_b, __global float *q, __global float *ggamma, __global float *gbeta,
                       bool first, __global float *db, __global const float *var, float eps, uint j, uint d) {
    store_wide(sum_q, q, j, d);
    store_wide(load_wide(ggamma, j, d) + inverse_root(load_wide(var, j, d), eps) * sum_q, ggamma, j, d);
    store_wide(load_wide(gbeta, j, d) + sum_b, gbeta, j, d);
    if (first)
        store_wide(sum_b, db, j, d);
}

/* Computes: q = lambda sum_v go_vj (t_vgj - mean_gj), db = lambda sum_v go_vj; ggamma += r q, gbeta_g += db, in one
 * launch for few rows.   Shapes: db 1 x d, go, y and h n x d, s n x G, the others G x d; go is taken through y.
 * Launch: a work-group per TOGETHER groups and COLUMNS columns; an item takes `per` rows, then one adds up each group.
 * Memory: room (TOGETHER + 1) x COLUMNS for an item: its sums.   Order: as above, then items rising. */
__kernel void group_sums_once(__global float *db, long dbo, __global float *q, long qo, __global float *ggamma,
                              long ggo, __global float *gbeta, long gbo, __global const float *go, long goo, long gold,
                              __global const float *y, long yo, long yld, uint has_y, float scale,
                              __global const float *h, long ho, long hld, __global const float *s, long so, long sld,
                              __global const float *mean, long mo, __global const float *var, long vo,
                              __global float *room, long ro, uint n, uint d, uint groups, uint per, float eps,
                              float lambda) {
    uint me = (uint)get_local_id(0), size = (uint)get_local_size(0), across = (d + COLUMNS - 1) / COLUMNS;
    uint at = (uint)get_group_id(0), g = at / across * TOGETHER, j = COLUMNS * (at % across), last = groups - 1 - g;
    long step = (TOGETHER + 1) * COLUMNS;
    __global float *parts = room + ro + (long)at * size * step, *mine = parts + (long)me * step;
    uint begin = (uint)min((ulong)n, (ulong)me * per), end = (uint)min((ulong)n, (ulong)begin + per);
    sums_of part;
    sum_rows(&part, go + goo, gold, y + yo, yld, has_y, scale, h + ho, hld, s + so + g, sld, last,
             mean + mo + (long)g * d, j, d, begin, end, n);
    EACH_GROUP STORE(part.q[c], mine + c * COLUMNS);
    STORE(part.db, mine + TOGETHER * COLUMNS);
    barrier(CLK_GLOBAL_MEM_FENCE);
    for (uint c = me; c < TOGETHER && c <= last; c += TOGETHER == 1 ? 1 : size) {
        wide sum_q = (wide)(0.0f), sum_b = sum_q;
#pragma unroll 1
        for (uint i = 0; i < size; i++) {
            sum_q += LOAD(parts + (long)i * step + c * COLUMNS);
            sum_b += LOAD(parts + (long)i * step + TOGETHER * COLUMNS);
        }
        long to = (long)(g + c) * d;
        store_sums(lambda * sum_q, lambda * sum_b, q + qo + to, ggamma + ggo + to, gbeta + gbo + to, g + c == 0,
                   db + dbo, var + vo + to, eps, j, d);
    }
}

/* Computes: q = lambda sum_b p[b][g], db = lambda sum_b p[b][G]; ggamma += r q, gbeta_g += db.
 * Shapes: db 1 x d, q, ggamma, gbeta, var G x d, p as above.   Launch: one item per group and COLUMNS columns.
 * Order: blocks rising. */
__kernel void group_sums_combine(__global float *db, long dbo, __global float *q, long qo, __global float *ggamma,
                                 long ggo, __global float *gbeta, long gbo, __global const float *var, long vo,
                                 __global const float *p, long po, uint d, uint groups, uint blocks, float eps,
                                 float lambda) {
    uint across = (d + COLUMNS - 1) / COLUMNS;
    ulong i = get_global_id(0), g = row_of(i, across);
    if (g >= groups)
        return;
    uint j = COLUMNS * (uint)(i - g * across);
    long at = (long)(g * d), width = ((long)groups + 1) * d, last = (long)groups * d;
    wide sum_q = (wide)(0.0f), sum_b = sum_q;
    for (uint b = 0; b < blocks; b++) {
        sum_q += load_wide(p + po + b * width + at, j, d);
        sum_b += load_wide(p + po + b * width + last, j, d);
    }
    store_sums(lambda * sum_q, lambda * sum_b, q + qo + at, ggamma + ggo + at, gbeta + gbo + at, g == 0, db + dbo,
               var + vo + at, eps, j, d);
}

/* What depends on (g, j) alone in the backward pass: A, E, mean and u of group g, COLUMNS columns from c on, rows of k
 * `pad` apart. r^2 is divided by, not multiplied with: fewer roundings; r^3 would be far below what a float holds where
 * h is large. */
HELPER void store_factors(__global float *k, uint pad, uint g, uint c, uint d, __global const float *mean,
                          __global const float *var, __global const float *gamma, __global const float *u,
                          __global const float *q, uint n, float eps) {
    long at = (long)g * d;
    wide variance = load_wide(var + at, c, d), spread = variance + eps;
    wide root = select((wide)(NAN), sqrt(spread), variance < (wide)(VARIANCE_LIMIT));
    __global float *to = k + 4 * (long)g * pad + c;
    STORE(load_wide(gamma + at, c, d) / root, to);
    STORE(-load_wide(q + at, c, d) / (float)n / spread, to + pad);
    STORE(load_wide(mean + at, c, d), to + 2 * pad);
    STORE(load_wide(u + at, c, d), to + 3 * pad);
}

#if COLUMNS == 16
/* Two rows at once, so that a processor works on one while it waits for the other, and what both need is read once. */
typedef struct wide_pair {
    wide a, b;
} wide_pair;

/* ds of COLUMNS groups of two rows, one in each lane, so that nothing is summed over lanes; at each column j the row of
 * `at` has A, E and mean of these groups, `wg` apart.   Order: columns rising. */
HELPER void ds_of(wide_pair *ds, __global const float *at, uint wg, __global const float *ha, __global const float *hb,
                  __global const float *ga, __global const float *gb, __global const float *each, uint d, float lambda,
                  wide share_a, wide share_b) {
    wide sum_a = (wide)(0.0f), sum_b = sum_a;
    for (uint j = 0; j < d; j++, at += 3 * wg) {
        wide slope = LOAD(at), pull = LOAD(at + wg), mean = LOAD(at + 2 * wg);
        wide xa = (wide)(ha[j]), ca = (wide)(lambda * ga[j] - each[j]);
        wide xb = (wide)(hb[j]), cb = (wide)(lambda * gb[j] - each[j]);
        sum_a = fma(xa, slope * fma(pull, fma(share_a, xa, -mean), ca), sum_a);
        sum_b = fma(xb, slope * fma(pull, fma(share_b, xb, -mean), cb), sum_b);
    }
    ds->a = sum_a;
    ds->b = sum_b;
}

/* gz of COLUMNS groups of a row from g on, added to the sums of the item. */
HELPER void finish_groups(wide z, __global float *zv, uint g, uint groups, __global float *mine, bool counts) {
    store_wide(z, zv, g, groups);
    if (counts)
        STORE(LOAD(mine + g) + z, mine + g);
}
#endif

/* Computes, with A = gamma r and E = -r^2 q / n:
 *   dt_vgj = A_gj (lambda go_vj - db_j / n + E_gj (t_vgj - mean_gj)), ds_vg = sum_j H_vj dt_vgj,
 *   gz_vg = S_vg (ds_vg - sum_k ds_vk S_vk), gh_vj = go_vj + sum_g S_vg dt_vgj + sum_g gz_vg u_gj,
 *   and per block p[b][g] = sum_v gz_vg.
 * The first difference is taken before it is multiplied, since its parts can be nearly equal.   Shapes: gh, go, y, h n
 * x d, gz, s n x G, var, gamma, q, mean, u G x d, db 1 x d, p blocks x G; gh may be go, which is taken through y.
 * Launch: a work-group per block of `per` rows. On GPUs `team` items, a power of two, share a row, COLUMNS columns each
 * at a time, so size / team rows go at once; on CPUs an item has pairs of rows, and ds has groups in lanes. Memory: for
 * a work-group A, E, mean, u of each group and db / n: room (4 G + 1) x pad. Then, wg = COLUMNS ceil(G / COLUMNS), on
 * GPUs (2 size + 1) x wg: for each item, groups side by side, its part of ds (later gz) and S; the sum of gz. On CPUs
 * (3 d + size) x wg: A, E, mean of all groups for each column; for each item its sum of gz. Order: GPUs: columns by
 * item, items of a team rising, groups rising, rows of a block rising in steps of size / team; CPUs: columns rising,
 * groups rising, rows of an item rising, items rising. */
__kernel void group_backward_rows(__global float *gh, long gho, long ghld, __global float *gz, long gzo, long gzld,
                                  __global float *p, long po, __global const float *go, long goo, long gold,
                                  __global const float *y, long yo, long yld, uint has_y, float scale,
                                  __global const float *h, long ho, long hld, __global const float *s, long so,
                                  long sld, __global const float *mean, long mo, __global const float *var, long vo,
                                  __global const float *gamma, long gao, __global const float *u, long uo,
                                  __global const float *db, long dbo, __global const float *q, long qo,
                                  __global float *room, long ro, uint n, uint d, uint groups, uint per, uint team,
                                  float eps, float lambda) {
#if COLUMNS == 16
    uint me = (uint)get_local_id(0), size = (uint)get_local_size(0);
    uint across = (d + COLUMNS - 1) / COLUMNS, pad = across * COLUMNS;
    uint wg = (groups + COLUMNS - 1) / COLUMNS * COLUMNS;
    ulong b = get_group_id(0), begin = b * per, end = min((ulong)n, begin + per);
    __global float *k = room + ro + (long)(b * ((4 * (ulong)groups + 1) * pad + (3 * (ulong)d + size) * wg));
    __global float *each = k + 4 * (long)groups * pad, *across_groups = each + pad;
    __global float *sums = across_groups + 3 * (long)d * wg, *mine = sums + (long)me * wg;
    for (uint i = me; i < groups * across; i += size) {
        uint g = i / across, c = COLUMNS * (i - g * across);
        store_factors(k, pad, g, c, d, mean + mo, var + vo, gamma + gao, u + uo, q + qo, n, eps);
    }
    for (uint i = me; i < across; i += size)
        STORE(load_wide(db + dbo, COLUMNS * i, d) * inverse_of(n), each + COLUMNS * i);
    for (uint g = 0; g < wg; g += COLUMNS)
        STORE((wide)(0.0f), mine + g);
    barrier(CLK_GLOBAL_MEM_FENCE);
    for (uint i = me; i < 3 * d; i += size)
        for (uint g = 0; g < wg; g++)
            across_groups[(long)i * wg + g] = g < groups ? k[(4 * (long)g + i % 3) * pad + i / 3] : 0.0f;
    barrier(CLK_GLOBAL_MEM_FENCE);
    for (ulong v = begin + 2 * me; v < end; v += 2 * size) {
        bool two = v + 1 < end; /* else the row is done twice, and counts once */
        __global const float *ha = h + ho + (long)v * hld, *hb = two ? ha + hld : ha;
        __global const float *ga = go + goo + (long)v * gold, *gb = two ? ga + gold : ga;
        __global const float *sa = s + so + (long)v * sld, *sb = two ? sa + sld : sa;
        __global float *za = gz + gzo + (long)v * gzld, *zb = two ? za + gzld : za;
        __global float *to_a = gh + gho + (long)v * ghld, *to_b = two ? to_a + ghld : to_a;
        if (has_y) { /* gh holds the gradient behind the activation until it is finished */
            __global const float *ya = y + yo + (long)v * yld, *stop = y + yo + (long)(n - 1) * yld + d;
            for (uint j = 0; j < d; j += COLUMNS) {
                store_wide(through(load_wide(ga, j, d), ya, j, d, stop, 1, scale), to_a, j, d);
                if (two)
                    store_wide(through(load_wide(gb, j, d), ya + yld, j, d, stop, 1, scale), to_b, j, d);
            }
            ga = to_a;
            gb = to_b;
        }
        wide_pair share = {load_wide(sa, 0, groups), load_wide(sb, 0, groups)}, ds;
        ds_of(&ds, across_groups, wg, ha, hb, ga, gb, each, d, lambda, share.a, share.b);
        float dot_a = sum_wide(ds.a * share.a), dot_b = sum_wide(ds.b * share.b);
        for (uint g = COLUMNS; g < groups; g += COLUMNS) {
            wide_pair more = {load_wide(sa, g, groups), load_wide(sb, g, groups)}, z;
            ds_of(&z, across_groups + g, wg, ha, hb, ga, gb, each, d, lambda, more.a, more.b);
            dot_a += sum_wide(z.a * more.a);
            dot_b += sum_wide(z.b * more.b);
            store_wide(z.a, za, g, groups);
            store_wide(z.b, zb, g, groups);
        }
        finish_groups(share.a * (ds.a - dot_a), za, 0, groups, mine, true);
        finish_groups(share.b * (ds.b - dot_b), zb, 0, groups, mine, two);
        for (uint g = COLUMNS; g < groups; g += COLUMNS) {
            wide z = load_wide(sa, g, groups) * (load_wide(za, g, groups) - dot_a);
            wide then = load_wide(sb, g, groups) * (load_wide(zb, g, groups) - dot_b);
            finish_groups(z, za, g, groups, mine, true);
            finish_groups(then, zb, g, groups, mine, two);
        }
        for (uint j = 0; j < d; j += COLUMNS) {
            wide xa = load_wide(ha, j, d), sum_a = load_wide(ga, j, d), ca = lambda * sum_a - LOAD(each + j);
            wide xb = load_wide(hb, j, d), sum_b = load_wide(gb, j, d), cb = lambda * sum_b - LOAD(each + j);
            wide through_a = (wide)(0.0f), through_b = through_a;
            __global const float *at = k + j;
            for (uint g = 0; g < groups; g++, at += 4 * pad) {
                wide slope = LOAD(at), pull = LOAD(at + pad), mean = LOAD(at + 2 * pad), ug = LOAD(at + 3 * pad);
                wide wa = (wide)(sa[g]), wb = (wide)(sb[g]);
                sum_a = fma(wa, slope * fma(pull, fma(wa, xa, -mean), ca), sum_a);
                sum_b = fma(wb, slope * fma(pull, fma(wb, xb, -mean), cb), sum_b);
                through_a = fma((wide)(za[g]), ug, through_a);
                through_b = fma((wide)(zb[g]), ug, through_b);
            }
            store_wide(sum_a + through_a, to_a, j, d);
            store_wide(sum_b + through_b, to_b, j, d);
        }
    }
    barrier(CLK_GLOBAL_MEM_FENCE);
    for (uint g = COLUMNS * me; g < wg; g += COLUMNS * size) {
        wide sum = (wide)(0.0f);
        for (uint i = 0; i < size; i++)
            sum += LOAD(sums + (long)i * wg + g);
        store_wide(sum, p + po + (long)(b * groups), g, groups);
    }
#else
    uint me = (uint)get_local_id(0), size = (uint)get_local_size(0), at_once = size / team, t = me % team;
    uint across = (d + COLUMNS - 1) / COLUMNS, pad = across * COLUMNS;
    uint wg = (groups + COLUMNS - 1) / COLUMNS * COLUMNS, members = min(team, across), j = COLUMNS * t;
    ulong b = get_group_id(0), begin = b * per, end = min((ulong)n, begin + per);
    __global const float *h_stop = h + ho + (long)(n - 1) * hld + d, *y_stop = y + yo + (long)(n - 1) * yld + d;
    __global float *k = room + ro + (long)(b * ((4 * (ulong)groups + 1) * pad + (2 * (ulong)size + 1) * wg));
    __global float *each = k + 4 * (long)groups * pad, *parts = each + pad, *shares = parts + (long)size * wg;
    __global float *sums = shares + (long)size * wg;
    uint mine = me * wg, ours = mine - t * wg; /* where the parts of an item and of its row's first item begin */
    for (uint i = me; i < groups * across; i += size) {
        uint g = i / across, c = COLUMNS * (i - g * across);
        store_factors(k, pad, g, c, d, mean + mo, var + vo, gamma + gao, u + uo, q + qo, n, eps);
    }
    for (uint i = me; i < across; i += size)
        STORE(load_wide(db + dbo, COLUMNS * i, d) * inverse_of(n), each + COLUMNS * i);
    for (uint g = 0; g < wg; g += COLUMNS) {
        STORE((wide)(0.0f), parts + mine + g);
        STORE((wide)(0.0f), shares + mine + g);
        if (me == 0)
            STORE((wide)(0.0f), sums + g);
    }
    barrier(CLK_GLOBAL_MEM_FENCE);
    for (ulong first = begin; first < end; first += at_once) {
        ulong v = first + me / team;
        __global const float *hv = h + ho + (long)v * hld, *gv = go + goo + (long)v * gold,
                             *yv = y + yo + (long)v * yld;
        bool works = v < end && t < across;
        if (works) {
            __global const float *sv = s + so + (long)v * sld;
#pragma unroll 1
            for (uint a = j; a < d; a += team * COLUMNS) {
                wide x = load_inside(hv, a, d, h_stop);
                wide c = lambda * through(load_wide(gv, a, d), yv, a, d, y_stop, has_y, scale) - LOAD(each + a);
                uint kg = a;
#pragma unroll 1
                for (uint g = 0; g < groups; g++, kg += 4 * pad) {
                    float share = sv[g];
                    wide away = fma((wide)(share), x, -LOAD(k + kg + 2 * pad));
                    float sum = sum_wide(x * (LOAD(k + kg) * fma(LOAD(k + kg + pad), away, c)));
                    parts[mine + g] = a == j ? sum : parts[mine + g] + sum;
                    if (t == 0)
                        shares[mine + g] = share;
                }
            }
        }
        barrier(CLK_GLOBAL_MEM_FENCE);
        if (works && t == 0) {
            float dot_s = 0.0f;
            for (uint g = 0; g < wg; g += COLUMNS) {
                wide sum = LOAD(parts + mine + g);
#pragma unroll 1
                for (uint m = 1; m < members; m++)
                    sum += LOAD(parts + mine + m * wg + g);
                STORE(sum, parts + mine + g);
                dot_s += sum_wide(sum * LOAD(shares + mine + g));
            }
            for (uint g = 0; g < wg; g += COLUMNS) {
                wide z = LOAD(shares + mine + g) * (LOAD(parts + mine + g) - dot_s);
                STORE(z, parts + mine + g);
                store_wide(z, gz + gzo + (long)v * gzld, g, groups);
            }
        }
        barrier(CLK_GLOBAL_MEM_FENCE);
        if (works) {
#pragma unroll 1
            for (uint a = j; a < d; a += team * COLUMNS) {
                wide x = load_inside(hv, a, d, h_stop);
                wide sum = through(load_wide(gv, a, d), yv, a, d, y_stop, has_y, scale);
                wide c = lambda * sum - LOAD(each + a);
                uint kg = a;
#pragma unroll 1
                for (uint g = 0; g < groups; g++, kg += 4 * pad) {
                    float share = shares[ours + g];
                    wide away = fma((wide)(share), x, -LOAD(k + kg + 2 * pad));
                    wide dt = LOAD(k + kg) * fma(LOAD(k + kg + pad), away, c);
                    sum = fma((wide)(share), dt, fma((wide)(parts[ours + g]), LOAD(k + kg + 3 * pad), sum));
                }
                store_wide(sum, gh + gho + (long)v * ghld, a, d);
            }
        }
        uint rows = (uint)min((ulong)at_once, end - first);
        for (uint g = COLUMNS * me; g < wg; g += COLUMNS * size) {
            wide sum = LOAD(sums + g);
#pragma unroll 1
            for (uint r = 0; r < rows; r++)
                sum += LOAD(parts + (long)(r * team) * wg + g);
            STORE(sum, sums + g);
        }
        barrier(CLK_GLOBAL_MEM_FENCE); /* the parts are written anew */
    }
    for (uint g = COLUMNS * me; g < wg; g += COLUMNS * size)
        store_wide(LOAD(sums + g), p + po + (long)(b * groups), g, groups);
#endif
}
