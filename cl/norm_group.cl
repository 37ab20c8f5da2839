/* norm_group.cl - differentiable group normalisation with t_vgj = S_vg H_vj never stored: assignment, statistics,
 * output; the backward pass is norm_group_backward.cl. Parameters and statistics are G x d, rows side by side.
 * t minus a mean is one fma: the product alone, rounded, would lose what is left when t is near its mean.
 *
 * What depends on (g, j) alone is computed once by each work-group into a room of its own in scratch, so that it costs
 * no launch and any G and d fit; its rows are padded with 0 to whole vectors: pad = COLUMNS ceil(d / COLUMNS). */
#include "common.h"

/* Computes: s_v = softmax over g of (h_v . u_g + c_g).   Shapes: s n x G, h n x d, u G x d, c 1 x G.
 * Launch: a work-group per block of `per` rows, an item per four rows.   Memory: room (d + 1) x COLUMNS for a
 * work-group: u of COLUMNS groups, transposed, then c, lanes past G repeat the last; s holds the logits when G is more
 * than that.   Order: columns rising; groups in lanes. */
__kernel void group_assign(__global float *s, long so, long sld, __global const float *h, long ho, long hld,
                           __global const float *u, long uo, __global const float *c, long co, uint has_c,
                           __global float *room, long ro, uint n, uint d, uint groups, uint per) {
    uint me = (uint)get_local_id(0), size = (uint)get_local_size(0), last = groups - 1;
    ulong b = get_group_id(0), begin = b * per, end = min((ulong)n, begin + per);
    __global float *ut = room + ro + (long)(b * (d + 1) * COLUMNS), *shift = ut + (long)d * COLUMNS;
    for (uint first = 0; first < groups; first += COLUMNS) {
        barrier(CLK_GLOBAL_MEM_FENCE);
        for (uint i = me; i < (d + 1) * COLUMNS; i += size) {
            uint g = min(first + i % COLUMNS, last), j = i / COLUMNS;
            ut[i] = j < d ? u[uo + (long)g * d + j] : has_c ? c[co + g] : 0.0f;
        }
        barrier(CLK_GLOBAL_MEM_FENCE);
        for (ulong v = begin + 4 * me; v < end; v += 4 * size) {
            uint rows = (uint)min((ulong)4, end - v);
            __global const float *a0 = h + ho + (long)v * hld, *a1 = a0 + (rows > 1 ? hld : 0),
                                 *a2 = a0 + (rows > 2 ? 2 * hld : 0), *a3 = a0 + (rows > 3 ? 3 * hld : 0), *row = ut;
            wide c0 = (wide)(0.0f), c1 = c0, c2 = c0, c3 = c0;
#pragma unroll 1
            TILE_STEPS(d, 1, COLUMNS, LOAD(row))
            __global float *out = s + so + (long)v * sld;
#pragma unroll 1
            for (uint r = 0; r < rows; r++, out += sld) {
                wide z = TILE_ROW(r) + LOAD(shift);
                if (groups <= COLUMNS) {
                    wide p = exp_wide(z - most_wide(z));
                    p = select(p, (wide)(0.0f), LANES >= (int)groups);
                    float sum = sum_wide(p);
                    z = sum == 1.0f ? p : p / sum; /* one group: x / 1 need not be x */
                }
                store_wide(z, out, first, groups);
            }
        }
    }
    barrier(CLK_GLOBAL_MEM_FENCE); /* the logits of these rows may be another item's */
    for (ulong v = begin + me; v < end && groups > COLUMNS; v += size) {
        __global float *out = s + so + (long)v * sld;
        float most = -INFINITY, sum = 0.0f;
        for (uint g = 0; g < groups; g++)
            most = fmax(most, out[g]);
        for (uint g = 0; g < groups; g += COLUMNS) {
            wide p = exp_wide(load_wide(out, g, groups) - most);
            store_wide(p, out, g, groups);
            sum += sum_wide(select(p, (wide)(0.0f), LANES + (int)g >= (int)groups));
        }
        for (uint g = 0; g < groups; g += COLUMNS)
            store_wide(load_wide(out, g, groups) / sum, out, g, groups);
    }
}

/* Mean and centred sum of t_gj over the rows begin .. end - 1 for TOGETHER groups, COLUMNS columns from j on, in
 * STATS_UNIT and its square; sg is the
 * column of s of the first, `last` how far the last is from it.   Order: rows rising in runs of 64, each centred about
 * its own mean; runs are combined after Chan. */
typedef struct spread_of {
    wide mean[TOGETHER], centred[TOGETHER];
} spread_of;

HELPER void spread_rows(spread_of *out, __global const float *sg, long sld, uint last, __global const float *rows,
                        long hld, uint j, uint d, uint begin, uint end, uint n) {
    __global const float *stop = rows + (long)(n - 1) * hld + d;
    float count = 0.0f;
    EACH_GROUP out->mean[c] = out->centred[c] = (wide)(0.0f);
    for (uint v = begin, here; v < end; v += here) {
        here = min(64u, end - v);
        __global const float *sw = sg + (long)v * sld, *hw = rows + (long)v * hld;
        wide first = STATS_UNIT * load_inside(hw, j, d, stop), base[TOGETHER], run[TOGETHER], squares[TOGETHER];
        EACH_GROUP {
            base[c] = sw[min(c, last)] * first;
            run[c] = squares[c] = (wide)(0.0f);
        }
#pragma unroll 1
        for (uint w = 0; w < here; w++, sw += sld, hw += hld) {
            wide x = STATS_UNIT * load_inside(hw, j, d, stop);
            EACH_GROUP run[c] += fma((wide)(sw[min(c, last)]), x, -base[c]);
        }
        EACH_GROUP run[c] = base[c] + run[c] / (float)here;
        sw = sg + (long)v * sld;
        hw = rows + (long)v * hld;
#pragma unroll 1
        for (uint w = 0; w < here; w++, sw += sld, hw += hld) {
            wide x = STATS_UNIT * load_inside(hw, j, d, stop);
            EACH_GROUP {
                wide one = fma((wide)(sw[min(c, last)]), x, -run[c]);
                squares[c] = fma(one, one, squares[c]);
            }
        }
        float both = count + (float)here;
        EACH_GROUP {
            wide delta = run[c] - out->mean[c];
            out->mean[c] += delta * (count > 0.0f ? (float)here / both : 1.0f); /* x / x need not be 1 */
            out->centred[c] += squares[c] + delta * delta * (count * (float)here / both);
        }
        count = both;
    }
}

/* Computes: mean and centred sum of t_gj over each block, p[b][0][g][j] and p[b][1][g][j].
 * Shapes: s n x G, h n x d, p blocks x 2 x G x d.   Launch: one item per block, TOGETHER groups and COLUMNS columns. */
__kernel void group_stats_blocks(__global float *p, long po, __global const float *s, long so, long sld,
                                 __global const float *h, long ho, long hld, uint n, uint d, uint groups, uint blocks,
                                 uint per) {
    uint across = (d + COLUMNS - 1) / COLUMNS, width = (groups + TOGETHER - 1) / TOGETHER * across;
    ulong i = get_global_id(0), b = row_of(i, width);
    if (b >= blocks)
        return;
    uint at = (uint)(i - b * width), g = at / across * TOGETHER, j = COLUMNS * (at % across), last = groups - 1 - g;
    spread_of out;
    spread_rows(&out, s + so + g, sld, last, h + ho, hld, j, d, (uint)b * per, (uint)min((ulong)n, (b + 1) * per), n);
    __global float *to = p + po + (long)((2 * b * groups + g) * d);
    EACH_GROUP {
        if (c <= last) {
            store_wide(out.mean[c], to + (long)c * d, j, d);
            store_wide(out.centred[c], to + (long)(groups + c) * d, j, d);
        }
    }
}

/* Computes: mean and variance of t_gj, and running estimates as stats_combine (norm_blocks.cl), in one launch for few
 * rows.   Shapes: s n x G, h n x d, the others G x d.   Launch: a work-group per TOGETHER groups and COLUMNS columns;
 * an item takes `per` rows, then one adds up each group.   Memory: room 2 x TOGETHER x COLUMNS for an item: its means
 * and centred sums.   Order: as above, then items rising. */
__kernel void group_stats_once(__global float *mean, long mo, __global float *var, long vo, __global float *rmean,
                               long rmo, __global float *rvar, long rvo, uint running, __global const float *s, long so,
                               long sld, __global const float *h, long ho, long hld, __global float *room, long ro,
                               uint n, uint d, uint groups, uint per, float momentum) {
    uint me = (uint)get_local_id(0), size = (uint)get_local_size(0), across = (d + COLUMNS - 1) / COLUMNS;
    uint at = (uint)get_group_id(0), g = at / across * TOGETHER, j = COLUMNS * (at % across), last = groups - 1 - g;
    long step = 2 * TOGETHER * COLUMNS;
    __global float *parts = room + ro + (long)at * size * step, *mine = parts + (long)me * step;
    uint begin = (uint)min((ulong)n, (ulong)me * per), end = (uint)min((ulong)n, (ulong)begin + per);
    spread_of part;
    spread_rows(&part, s + so + g, sld, last, h + ho, hld, j, d, begin, end, n);
    EACH_GROUP {
        STORE(part.mean[c], mine + 2 * c * COLUMNS);
        STORE(part.centred[c], mine + (2 * c + 1) * COLUMNS);
    }
    barrier(CLK_GLOBAL_MEM_FENCE);
    uint used = (n + per - 1) / per;
    for (uint c = me; c < TOGETHER && c <= last; c += TOGETHER == 1 ? 1 : size) {
        __global const float *from = parts + (long)2 * c * COLUMNS;
        wide base = LOAD(from), shift = (wide)(0.0f), centred = shift;
#pragma unroll 1
        for (uint i = 0; i < used; i++)
            shift += (float)min(per, n - i * per) * (LOAD(from + (long)i * step) - base);
        wide all = base + shift / (float)n;
#pragma unroll 1
        for (uint i = 0; i < used; i++) {
            wide away = LOAD(from + (long)i * step) - all;
            centred += LOAD(from + (long)i * step + COLUMNS) + (float)min(per, n - i * per) * away * away;
        }
        long to = (long)(g + c) * d;
        store_stats(all, centred, n, mean + mo + to, var + vo + to, rmean + rmo + to, rvar + rvo + to, running,
                    momentum, j, d);
    }
}

/* Computes: y = act(h (1 + lambda sum_g s_vg A_gj) + lambda b_j), A = gamma r, r = (var + eps)^-1/2,
 * b_j = sum_g (beta_gj - A_gj mean_gj).   Shapes: y and h n x d, s n x G, the others G x d; y may be h.
 * Launch: a work-group per block of `per` rows, an item per four rows and COLUMNS columns.   Memory: room (G + 1) x
 * pad for a work-group: A, then b.   Order: groups rising. */
__kernel void group_apply(__global float *y, long yo, long yld, __global const float *h, long ho, long hld,
                          __global const float *s, long so, long sld, __global const float *mean, long mo,
                          __global const float *var, long vo, __global const float *gamma, long go,
                          __global const float *beta, long bo, __global float *room, long ro, uint n, uint d,
                          uint groups, uint per, float eps, float lambda, act_args act) {
    uint me = (uint)get_local_id(0), size = (uint)get_local_size(0);
    uint across = (d + COLUMNS - 1) / COLUMNS, pad = across * COLUMNS;
    ulong b = get_group_id(0), begin = b * per;
    __global float *k = room + ro + (long)(b * (groups + 1) * pad), *shift = k + (long)groups * pad;
    for (uint i = me; i < groups * across; i += size) {
        uint g = i / across, j = COLUMNS * (i - g * across);
        long at = (long)g * d;
        STORE(load_wide(gamma + go + at, j, d) * inverse_root(load_wide(var + vo + at, j, d), eps), k + (long)g * pad + j);
    }
    barrier(CLK_GLOBAL_MEM_FENCE);
    for (uint i = me; i < across; i += size) {
        uint j = COLUMNS * i;
        wide sum = (wide)(0.0f);
        for (uint g = 0; g < groups; g++)
            sum += load_wide(beta + bo + (long)g * d, j, d) -
                   LOAD(k + (long)g * pad + j) * load_wide(mean + mo + (long)g * d, j, d);
        STORE(lambda * sum, shift + j);
    }
    barrier(CLK_GLOBAL_MEM_FENCE);
    ulong end = min((ulong)n, begin + per), tiles = (end - begin + 3) / 4 * across;
    for (ulong i = me; i < tiles; i += size) {
        ulong down = row_of(i, across), v = begin + 4 * down;
        uint j = COLUMNS * (uint)(i - down * across), rows = (uint)min((ulong)4, end - v);
        __global const float *a0 = s + so + (long)v * sld, *a1 = a0 + (rows > 1 ? sld : 0),
                             *a2 = a0 + (rows > 2 ? 2 * sld : 0), *a3 = a0 + (rows > 3 ? 3 * sld : 0), *row = k + j;
        wide c0 = (wide)(0.0f), c1 = c0, c2 = c0, c3 = c0;
        TILE_STEPS(groups, 1, pad, LOAD(row))
        if (WHOLE_TILE(rows) && !act.drop) {
            __global const float *from = h + ho + (long)v * hld;
            wide x0 = load_wide(from, j, d), x1 = load_wide(from + hld, j, d), x2 = load_wide(from + 2 * hld, j, d),
                 x3 = load_wide(from + 3 * hld, j, d), more = LOAD(shift + j);
            c0 = act_wide(x0 + fma(lambda * x0, c0, more), 0, act);
            c1 = act_wide(x1 + fma(lambda * x1, c1, more), 0, act);
            c2 = act_wide(x2 + fma(lambda * x2, c2, more), 0, act);
            c3 = act_wide(x3 + fma(lambda * x3, c3, more), 0, act);
            store_tile(c0, c1, c2, c3, y + yo + (long)v * yld, yld, rows, j, d);
            continue;
        }
        for (uint r = 0; r < rows; r++, v++) {
            wide x = load_wide(h + ho + (long)v * hld, j, d);
            store_wide(act_wide(x + fma(lambda * x, TILE_ROW(r), LOAD(shift + j)), v * d + j, act),
                       y + yo + (long)v * yld, j, d);
        }
    }
}
