/* norm_group.cl - differentiable group normalisation, forward: assignment, statistics, output. t_vgj = S_vg H_vj is
 * never stored. The backward pass is norm_group_backward.cl. Parameters and statistics are G x d, rows contiguous. t
 * minus a mean is one fma: rounding the product first would lose the difference when t is near its mean.
 *
 * Terms that depend on (g, j) alone are computed once per work-group into its own workspace (WS_* of args.h): no extra
 * launch, no limit on G and d. Rows of a workspace are padded with 0 to whole vectors. */
#include "common.h"

/* Computes: s_v = softmax over g of (h_v . u_g + c_g).
 * Shapes: s n x G, h n x d, u G x d, c 1 x G.
 * Launch: one work-group per block of block_rows rows, one work-item per TILE_ROWS rows.
 * Memory: WS_GROUP_ASSIGN per work-group, lanes past G repeat the last group; s holds the logits when G > VEC.
 * Order: columns ascending; groups in lanes. */
__kernel void group_assign(__global float *s, long so, long sld, __global const float *h, long ho, long hld,
                           __global const float *u, long uo, __global const float *c, long co, uint has_c,
                           __global float *ws, long wso, uint n, uint d, uint groups, uint block_rows) {
    uint item = (uint)get_local_id(0), size = (uint)get_local_size(0), last = groups - 1;
    ulong b = get_group_id(0), begin = b * block_rows, end = min((ulong)n, begin + block_rows);
    __global float *ut = ws + wso + (long)WS_GROUP_ASSIGN(b, d), *ct = ut + (long)d * VEC;
    for (uint first = 0; first < groups; first += VEC) {
        barrier(CLK_GLOBAL_MEM_FENCE);
        for (uint i = item; i < WS_GROUP_ASSIGN(1, d); i += size) {
            uint g = min(first + i % VEC, last), j = i / VEC;
            ut[i] = j < d ? u[uo + (long)g * d + j] : has_c ? c[co + g] : 0.0f;
        }
        barrier(CLK_GLOBAL_MEM_FENCE);
        for (ulong v = begin + TILE_ROWS * item; v < end; v += TILE_ROWS * size) {
            uint rows = (uint)min((ulong)TILE_ROWS, end - v);
            __global const float *a0 = h + ho + (long)v * hld, *a1 = a0 + (rows > 1 ? hld : 0),
                                 *a2 = a0 + (rows > 2 ? 2 * hld : 0), *a3 = a0 + (rows > 3 ? 3 * hld : 0), *row = ut;
            float4 c0 = (float4)(0.0f), c1 = c0, c2 = c0, c3 = c0;
#pragma unroll 1
            ACCUMULATE_TILE(d, 1, VEC, vload4(0, row))
            __global float *out = s + so + (long)v * sld;
#pragma unroll 1
            for (uint r = 0; r < rows; r++, out += sld) {
                float4 z = TILE_ROW(r) + vload4(0, ct);
                if (groups <= VEC) {
                    float4 p = exp(z - max4(z));
                    p = select(p, (float4)(0.0f), (int4)(0, 1, 2, 3) >= (int)groups);
                    float sum = sum4(p);
                    z = sum == 1.0f ? p : p / sum; /* x / 1 may differ from x */
                }
                store4(z, out, first, groups);
            }
        }
    }
    barrier(CLK_GLOBAL_MEM_FENCE); /* other work-items wrote logits of these rows */
    for (ulong v = begin + item; v < end && groups > VEC; v += size) {
        __global float *out = s + so + (long)v * sld;
        float max_z = -INFINITY, sum = 0.0f;
        for (uint g = 0; g < groups; g++)
            max_z = fmax(max_z, out[g]);
        for (uint g = 0; g < groups; g += VEC) {
            float4 p = exp(load4(out, g, groups) - max_z);
            store4(p, out, g, groups);
            sum += sum4(select(p, (float4)(0.0f), (int4)(0, 1, 2, 3) + (int)g >= (int)groups));
        }
        for (uint g = 0; g < groups; g += VEC)
            store4(load4(out, g, groups) / sum, out, g, groups);
    }
}

/* Mean and centred sum of squares of t_gj over the rows begin .. end - 1 for GROUPS_PER_ITEM groups and VEC columns
 * from j, in STATS_UNIT and its square. sg is the column of s of the first group, `last` the last group relative to
 * it; groups past it repeat it.
 * Order: rows ascending in runs of RUN_ROWS, each centred about its own mean; runs are merged by Chan's formula. */
typedef struct group_moments {
    float4 mean[GROUPS_PER_ITEM], m2[GROUPS_PER_ITEM];
} group_moments;

HELPER void sum_moments(group_moments *out, __global const float *sg, long sld, uint last, __global const float *rows,
                        long hld, uint j, uint d, uint begin, uint end, uint n) {
    float count = 0.0f;
    FOR_EACH_GROUP out->mean[c] = out->m2[c] = (float4)(0.0f);
    for (uint v = begin, run_rows; v < end; v += run_rows) {
        run_rows = min((uint)RUN_ROWS, end - v);
        __global const float *sw = sg + (long)v * sld, *hw = rows + (long)v * hld;
        float4 first_row = STATS_UNIT * load4(hw, j, d), base[GROUPS_PER_ITEM], mean_run[GROUPS_PER_ITEM],
               m2_run[GROUPS_PER_ITEM];
        FOR_EACH_GROUP {
            base[c] = sw[min(c, last)] * first_row;
            mean_run[c] = m2_run[c] = (float4)(0.0f);
        }
#pragma unroll 1
        for (uint w = 0; w < run_rows; w++, sw += sld, hw += hld) {
            float4 x = STATS_UNIT * load4(hw, j, d);
            FOR_EACH_GROUP mean_run[c] += fma((float4)(sw[min(c, last)]), x, -base[c]);
        }
        FOR_EACH_GROUP mean_run[c] = base[c] + mean_run[c] / (float)run_rows;
        sw = sg + (long)v * sld;
        hw = rows + (long)v * hld;
#pragma unroll 1
        for (uint w = 0; w < run_rows; w++, sw += sld, hw += hld) {
            float4 x = STATS_UNIT * load4(hw, j, d);
            FOR_EACH_GROUP {
                float4 diff = fma((float4)(sw[min(c, last)]), x, -mean_run[c]);
                m2_run[c] = fma(diff, diff, m2_run[c]);
            }
        }
        float total = count + (float)run_rows;
        FOR_EACH_GROUP {
            float4 delta = mean_run[c] - out->mean[c];
            out->mean[c] += delta * (count > 0.0f ? (float)run_rows / total : 1.0f); /* x / x may differ from 1 */
            out->m2[c] += m2_run[c] + delta * delta * (count * (float)run_rows / total);
        }
        count = total;
    }
}

/* Computes: mean p[b][0][g][j] and centred sum of squares p[b][1][g][j] of t_gj over block b.
 * Shapes: s n x G, h n x d, p blocks x 2 x G x d (WS_TWO_ROWS).
 * Launch: one work-item per block, GROUPS_PER_ITEM groups and VEC columns.
 * Order: as sum_moments. */
__kernel void group_stats_blocks(__global float *p, long po, __global const float *s, long so, long sld,
                                 __global const float *h, long ho, long hld, uint n, uint d, uint groups, uint blocks,
                                 uint block_rows) {
    uint vecs = CEIL_DIV(d, VEC), width = CEIL_DIV(groups, GROUPS_PER_ITEM) * vecs;
    ulong i = get_global_id(0), b = row_of(i, width);
    if (b >= blocks)
        return;
    uint place = (uint)(i - b * width), g = place / vecs * GROUPS_PER_ITEM, j = VEC * (place % vecs),
         last = groups - 1 - g;
    group_moments out;
    sum_moments(&out, s + so + g, sld, last, h + ho, hld, j, d, (uint)b * block_rows,
                (uint)min((ulong)n, (b + 1) * block_rows), n);
    __global float *to = p + po + (long)((WS_TWO_ROWS(b, groups) + g) * d);
    FOR_EACH_GROUP {
        if (c <= last) {
            store4(out.mean[c], to + (long)c * d, j, d);
            store4(out.m2[c], to + (long)(groups + c) * d, j, d);
        }
    }
}

/* Computes: mean and variance of t_gj, and running estimates as stats_combine (norm_blocks.cl), in one launch for few
 * rows.
 * Shapes: s n x G, h n x d, the others G x d.
 * Launch: one work-group per GROUPS_PER_ITEM groups and VEC columns; a work-item covers item_rows rows, then one
 * work-item per group merges the parts.
 * Memory: WS_GROUP_STATS per work-item.
 * Order: as sum_moments, then work-items ascending. */
__kernel void group_stats_once(__global float *mean, long mo, __global float *var, long vo, __global float *rmean,
                               long rmo, __global float *rvar, long rvo, uint running, __global const float *s, long so,
                               long sld, __global const float *h, long ho, long hld, __global float *ws, long wso,
                               uint n, uint d, uint groups, uint item_rows, float momentum) {
    uint item = (uint)get_local_id(0), size = (uint)get_local_size(0), vecs = CEIL_DIV(d, VEC);
    uint place = (uint)get_group_id(0), g = place / vecs * GROUPS_PER_ITEM, j = VEC * (place % vecs),
         last = groups - 1 - g;
    long step = WS_GROUP_STATS(1);
    __global float *parts = ws + wso + (long)place * size * step, *own = parts + (long)item * step;
    uint begin = (uint)min((ulong)n, (ulong)item * item_rows), end = (uint)min((ulong)n, (ulong)begin + item_rows);
    group_moments part;
    sum_moments(&part, s + so + g, sld, last, h + ho, hld, j, d, begin, end, n);
    FOR_EACH_GROUP {
        vstore4(part.mean[c], 0, own + 2 * c * VEC);
        vstore4(part.m2[c], 0, own + (2 * c + 1) * VEC);
    }
    barrier(CLK_GLOBAL_MEM_FENCE);
    uint used = (n + item_rows - 1) / item_rows;
    for (uint c = item; c < GROUPS_PER_ITEM && c <= last; c += GROUPS_PER_ITEM == 1 ? 1 : size) {
        __global const float *from = parts + (long)2 * c * VEC;
        float4 base = vload4(0, from), shift = (float4)(0.0f), m2 = shift;
#pragma unroll 1
        for (uint i = 0; i < used; i++)
            shift += (float)min(item_rows, n - i * item_rows) * (vload4(0, from + (long)i * step) - base);
        float4 total_mean = base + shift / (float)n;
#pragma unroll 1
        for (uint i = 0; i < used; i++) {
            float4 diff = vload4(0, from + (long)i * step) - total_mean;
            m2 += vload4(0, from + (long)i * step + VEC) + (float)min(item_rows, n - i * item_rows) * diff * diff;
        }
        long to = (long)(g + c) * d;
        store_stats(total_mean, m2, n, mean + mo + to, var + vo + to, rmean + rmo + to, rvar + rvo + to, running,
                    momentum, j, d);
    }
}

/* Computes: y = act(h (1 + lambda sum_g s_vg A_gj) + lambda b_j), A = gamma r, r = (var + eps)^-1/2, b_j = sum_g
 * (beta_gj - A_gj mean_gj).
 * Shapes: y and h n x d, s n x G, the others G x d; y may be h.
 * Launch: one work-group per block of block_rows rows, one work-item per TILE_ROWS rows and VEC columns.
 * Memory: WS_GROUP_APPLY per work-group.
 * Order: groups ascending. */
__kernel void group_apply(__global float *y, long yo, long yld, __global const float *h, long ho, long hld,
                          __global const float *s, long so, long sld, __global const float *mean, long mo,
                          __global const float *var, long vo, __global const float *gamma, long go,
                          __global const float *beta, long bo, __global float *ws, long wso, uint n, uint d,
                          uint groups, uint block_rows, float eps, float lambda, act_args act) {
    uint item = (uint)get_local_id(0), size = (uint)get_local_size(0);
    uint vecs = CEIL_DIV(d, VEC), d_pad = vecs * VEC;
    ulong block = get_group_id(0), begin = block * block_rows;
    __global float *coef = ws + wso + (long)WS_GROUP_APPLY(block, groups, d_pad), *bias = coef + (long)groups * d_pad;
    for (uint i = item; i < groups * vecs; i += size) {
        uint g = i / vecs, j = VEC * (i - g * vecs);
        long at = (long)g * d;
        vstore4(load4(gamma + go + at, j, d) * inv_std(load4(var + vo + at, j, d), eps), 0, coef + (long)g * d_pad + j);
    }
    barrier(CLK_GLOBAL_MEM_FENCE);
    for (uint i = item; i < vecs; i += size) {
        uint j = VEC * i;
        float4 sum = (float4)(0.0f);
        for (uint g = 0; g < groups; g++)
            sum += load4(beta + bo + (long)g * d, j, d) -
                   vload4(0, coef + (long)g * d_pad + j) * load4(mean + mo + (long)g * d, j, d);
        vstore4(lambda * sum, 0, bias + j);
    }
    barrier(CLK_GLOBAL_MEM_FENCE);
    ulong end = min((ulong)n, begin + block_rows), tiles = CEIL_DIV(end - begin, TILE_ROWS) * vecs;
    for (ulong i = item; i < tiles; i += size) {
        ulong down = row_of(i, vecs), v = begin + TILE_ROWS * down;
        uint j = VEC * (uint)(i - down * vecs), rows = (uint)min((ulong)TILE_ROWS, end - v);
        __global const float *a0 = s + so + (long)v * sld, *a1 = a0 + (rows > 1 ? sld : 0),
                             *a2 = a0 + (rows > 2 ? 2 * sld : 0), *a3 = a0 + (rows > 3 ? 3 * sld : 0), *row = coef + j;
        float4 c0 = (float4)(0.0f), c1 = c0, c2 = c0, c3 = c0;
        ACCUMULATE_TILE(groups, 1, d_pad, vload4(0, row))
        for (uint r = 0; r < rows; r++, v++) {
            float4 x = load4(h + ho + (long)v * hld, j, d);
            store4(act4(x + fma(lambda * x, TILE_ROW(r), vload4(0, bias + j)), v * d + j, act), y + yo + (long)v * yld,
                   j, d);
        }
    }
}
