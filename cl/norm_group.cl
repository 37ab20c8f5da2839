/* norm_group.cl - differentiable group normalisation with t_vgj = S_vg H_vj never stored: assignment, statistics,
 * output, and the two sweeps of the backward pass. Parameters and statistics are G x d, rows side by side.
 * t minus a mean is one fma: the product alone, rounded, would lose what is left when t is near its mean.
 * Small coefficients per (g, j) are computed once into scratch and read from there: any G and d. */
#include "common.h"

/* Computes: s_v = softmax over g of (h_v . u_g + c_g).   Shapes: s n x G, h n x d, u G x d, c 1 x G.
 * Launch: one item per node.   Memory: s holds the logits between passes.
 * Order: four sums over every fourth column, then the rest; groups in fours. */
__kernel void group_assign(__global float *s, long so, long sld, __global const float *h, long ho, long hld,
                           __global const float *u, long uo, __global const float *c, long co, uint has_c, uint n,
                           uint d, uint groups) {
    ulong v = get_global_id(0);
    if (v >= n)
        return;
    __global const float *row = h + ho + (long)v * hld;
    __global float *out = s + so + (long)v * sld;
    float most = -INFINITY, sum = 0.0f;
    for (uint g = 0; g < groups; g++) {
        __global const float *ug = u + uo + (long)g * d;
        float4 sums = (float4)(0.0f);
        uint j = 0;
        for (; j + 4 <= d; j += 4)
            sums += vload4(0, row + j) * vload4(0, ug + j);
        float z = sums.x + sums.y + (sums.z + sums.w);
        for (; j < d; j++)
            z += row[j] * ug[j];
        z += has_c ? c[co + g] : 0.0f;
        out[g] = z;
        most = fmax(most, z);
    }
    for (uint g = 0; g < groups; g += 4) {
        float4 p = exp(load4(out, g, groups) - most);
        store4(p, out, g, groups);
        sum += p.x + (g + 1 < groups ? p.y : 0.0f) + ((g + 2 < groups ? p.z : 0.0f) + (g + 3 < groups ? p.w : 0.0f));
    }
    for (uint g = 0; g < groups; g += 4)
        store4(load4(out, g, groups) / sum, out, g, groups);
}

/* Computes: mean and centred sum of t_gj over each block, p[b][0][g][j] and p[b][1][g][j].
 * Shapes: s n x G, h n x d, p blocks x 2 x G x d.   Launch: one item per block, group and four columns.
 * Order: rows rising in runs of 64, each centred about its own mean; runs are combined after Chan. */
__kernel void group_stats_blocks(__global float *p, long po, __global const float *s, long so, long sld,
                                 __global const float *h, long ho, long hld, uint n, uint d, uint groups, uint blocks,
                                 uint per) {
    uint across = (d + 3) / 4, width = groups * across;
    ulong i = get_global_id(0), b = row_of(i, width);
    if (b >= blocks)
        return;
    uint at = (uint)(i - b * width), g = at / across, j = 4 * (at - g * across);
    ulong end = min((ulong)n, (b + 1) * per);
    __global const float *sg = s + so + g, *rows = h + ho;
    float count = 0.0f;
    float4 mean = (float4)(0.0f), centred = (float4)(0.0f);
    for (ulong v = b * per; v < end; v += 64) {
        ulong stop = min(end, v + 64);
        float here = (float)(stop - v), both = count + here;
        float4 base = sg[(long)v * sld] * load4_lean(rows + (long)v * hld, j, d), run = (float4)(0.0f), squares = run;
        for (ulong w = v; w < stop; w++)
            run += fma((float4)(sg[(long)w * sld]), load4_lean(rows + (long)w * hld, j, d), -base);
        run = base + run / here;
        for (ulong w = v; w < stop; w++) {
            float4 away = fma((float4)(sg[(long)w * sld]), load4_lean(rows + (long)w * hld, j, d), -run);
            squares += away * away;
        }
        float4 delta = run - mean;
        mean += delta * (here / both);
        centred += squares + delta * delta * (count * here / both);
        count = both;
    }
    __global float *to = p + po + (long)((2 * b * groups + g) * d);
    store4(mean, to, j, d);
    store4(centred, to + (long)groups * d, j, d);
}

/* Computes: k[g][j] = lambda gamma r with r = (var + eps)^-1/2, and behind them k[G][j] = lambda b_j =
 * lambda sum_g (beta - gamma r mean).   Shapes: mean, var, gamma, beta G x d, k (G + 1) x d.
 * Launch: one item per column.   Order: groups rising. */
__kernel void group_coefficients(__global float *k, long ko, __global const float *mean, long mo,
                                 __global const float *var, long vo, __global const float *gamma, long go,
                                 __global const float *beta, long bo, uint d, uint groups, float eps, float lambda) {
    ulong j = get_global_id(0);
    if (j >= d)
        return;
    float b = 0.0f;
    for (uint g = 0; g < groups; g++) {
        long at = (long)g * d + (long)j;
        float a = gamma[go + at] * rsqrt(var[vo + at] + eps);
        b += beta[bo + at] - a * mean[mo + at];
        k[ko + at] = lambda * a;
    }
    k[ko + (long)groups * d + (long)j] = lambda * b;
}

/* Computes: y = act(h (1 + sum_g s_vg k[g][j]) + k[G][j]).   Shapes: y and h n x d, s n x G, k as above; y may be h.
 * Launch: one item per node and four columns.   Order: groups rising. */
__kernel void group_apply(__global float *y, long yo, long yld, __global const float *h, long ho, long hld,
                          __global const float *s, long so, long sld, __global const float *k, long ko, uint n, uint d,
                          uint groups, act_args act) {
    uint across = (d + 3) / 4;
    ulong i = get_global_id(0), v = row_of(i, across);
    if (v >= n)
        return;
    uint j = 4 * (uint)(i - v * across);
    __global const float *sv = s + so + (long)v * sld, *kg = k + ko;
    float4 sum = (float4)(1.0f);
    for (uint g = 0; g < groups; g++, kg += d)
        sum += sv[g] * load4(kg, j, d);
    sum = load4(h + ho + (long)v * hld, j, d) * sum + load4(kg, j, d);
    store4(act_of(sum, v * d + j, act), y + yo + (long)v * yld, j, d);
}

/* Computes: per block p[b][g][j] = sum_v go_vj (t_vgj - mean_gj) for g < G, and p[b][G][j] = sum_v go_vj.
 * Shapes: go and h n x d, s n x G, mean G x d, p blocks x (G + 1) x d.
 * Launch: one item per block, g <= G and four columns.   Order: rows rising, in runs of 64. */
__kernel void group_sums_blocks(__global float *p, long po, __global const float *go, long goo, long gold,
                                __global const float *h, long ho, long hld, __global const float *s, long so, long sld,
                                __global const float *mean, long mo, uint n, uint d, uint groups, uint blocks,
                                uint per) {
    uint across = (d + 3) / 4, width = (groups + 1) * across;
    ulong i = get_global_id(0), b = row_of(i, width);
    if (b >= blocks)
        return;
    uint at = (uint)(i - b * width), g = at / across, j = 4 * (at - g * across);
    ulong end = min((ulong)n, (b + 1) * per);
    __global const float *gr = go + goo, *hr = h + ho, *sg = s + so + g;
    float4 sum = (float4)(0.0f), m = g < groups ? load4(mean + mo + (long)g * d, j, d) : sum;
    for (ulong v = b * per; v < end; v += 64) {
        ulong stop = min(end, v + 64);
        float4 run = (float4)(0.0f);
        if (g < groups)
            for (ulong w = v; w < stop; w++)
                run += load4(gr + (long)w * gold, j, d) *
                       fma((float4)(sg[(long)w * sld]), load4(hr + (long)w * hld, j, d), -m);
        else
            for (ulong w = v; w < stop; w++)
                run += load4(gr + (long)w * gold, j, d);
        sum += run;
    }
    store4(sum, p + po + (long)((b * (groups + 1) + g) * d), j, d);
}

/* Computes: q = lambda sum_b p[b][g], db = lambda sum_b p[b][G]; ggamma += r q, gbeta_g += db.
 * Shapes: db 1 x d, q, ggamma, gbeta, var G x d, p as above.   Launch: one item per group and column.
 * Order: blocks rising. */
__kernel void group_sums_combine(__global float *db, long dbo, __global float *q, long qo, __global float *ggamma,
                                 long ggo, __global float *gbeta, long gbo, __global const float *var, long vo,
                                 __global const float *p, long po, uint d, uint groups, uint blocks, float eps,
                                 float lambda) {
    ulong i = get_global_id(0);
    if (i >= (ulong)groups * d)
        return;
    long at = (long)i, width = ((long)groups + 1) * d, last = (long)groups * d + at % d;
    float sum_q = 0.0f, sum_b = 0.0f;
    for (uint b = 0; b < blocks; b++) {
        sum_q += p[po + b * width + at];
        sum_b += p[po + b * width + last];
    }
    sum_q *= lambda;
    sum_b *= lambda;
    q[qo + at] = sum_q;
    ggamma[ggo + at] += rsqrt(var[vo + at] + eps) * sum_q;
    gbeta[gbo + at] += sum_b;
    if (i < d)
        db[dbo + at] = sum_b;
}

/* Computes: k[0] = A = gamma r and k[1] = (2/n) D with D = -1/2 r^3 gamma q.   Shapes: var, gamma, q G x d,
 * k 2 x G x d.   Launch: one item per group and column. r^3 is divided by, not multiplied with: fewer roundings. */
__kernel void group_backward_coefficients(__global float *k, long ko, __global const float *var, long vo,
                                          __global const float *gamma, long go, __global const float *q, long qo,
                                          uint n, uint width, float eps) {
    ulong i = get_global_id(0);
    if (i >= width)
        return;
    long at = (long)i;
    float spread = var[vo + at] + eps, root = sqrt(spread);
    k[ko + at] = gamma[go + at] / root;
    k[ko + width + at] = -gamma[go + at] * q[qo + at] / (spread * root * (float)n);
}

/* Computes: ds_vg = sum_j H_vj dt_vgj, dt = k0 (lambda go - db/n) + k1 (t - mean); the first difference is taken before
 * it is multiplied, since its parts can be nearly equal.   Shapes: ds n x G packed, go and h n x d, s n x G,
 * mean G x d, db 1 x d, k 2 x G x d.   Launch: one item per node and group.   Order: columns rising, four sums. */
__kernel void group_backward_scores(__global float *ds, long dso, __global const float *go, long goo, long gold,
                                    __global const float *h, long ho, long hld, __global const float *s, long so,
                                    long sld, __global const float *mean, long mo, __global const float *db, long dbo,
                                    __global const float *k, long ko, uint n, uint d, uint groups, float lambda) {
    ulong i = get_global_id(0), v = row_of(i, groups);
    if (v >= n)
        return;
    uint g = (uint)(i - v * groups);
    __global const float *gv = go + goo + (long)v * gold, *hv = h + ho + (long)v * hld, *b = db + dbo;
    __global const float *k0 = k + ko + (long)g * d, *k1 = k0 + (long)groups * d, *m = mean + mo + (long)g * d;
    float share = s[so + (long)v * sld + g], each = 1.0f / (float)n;
    float4 sums = (float4)(0.0f);
    uint j = 0;
    for (; j + 4 <= d; j += 4) {
        float4 x = vload4(0, hv + j), c = lambda * vload4(0, gv + j) - each * vload4(0, b + j);
        sums += x * (vload4(0, k0 + j) * c + vload4(0, k1 + j) * fma((float4)(share), x, -vload4(0, m + j)));
    }
    float sum = sums.x + sums.y + (sums.z + sums.w);
    for (; j < d; j++)
        sum += hv[j] * (k0[j] * (lambda * gv[j] - each * b[j]) + k1[j] * fma(share, hv[j], -m[j]));
    ds[dso + (long)i] = sum;
}

/* Computes: gz_vg = S_vg (ds_vg - sum_k ds_vk S_vk) and gh_vj = go_vj + sum_g S_vg dt_vgj + sum_g gz_vg u_gj.
 * Shapes: gh, go, h n x d, gz, s n x G, ds n x G packed, mean, u G x d, db 1 x d, k 2 x G x d; gh may be go.
 * Launch: one item per node and four columns; the first of a node writes gz.   Order: groups rising. */
__kernel void group_backward_rows(__global float *gh, long gho, long ghld, __global float *gz, long gzo, long gzld,
                                  __global const float *go, long goo, long gold, __global const float *h, long ho,
                                  long hld, __global const float *s, long so, long sld, __global const float *mean,
                                  long mo, __global const float *u, long uo, __global const float *db, long dbo,
                                  __global const float *k, long ko, __global const float *ds, long dso, uint n, uint d,
                                  uint groups, float lambda) {
    uint across = (d + 3) / 4;
    ulong i = get_global_id(0), v = row_of(i, across);
    if (v >= n)
        return;
    uint j = 4 * (uint)(i - v * across);
    long width = (long)groups * d;
    __global const float *sv = s + so + (long)v * sld, *dv = ds + dso + (long)(v * groups);
    float dot_s = 0.0f;
    for (uint g = 0; g < groups; g++)
        dot_s += dv[g] * sv[g];
    float4 x = load4_lean(h + ho + (long)v * hld, j, d), sum = load4_lean(go + goo + (long)v * gold, j, d);
    float4 c = lambda * sum - load4_lean(db + dbo, j, d) * (1.0f / (float)n);
    for (uint g = 0; g < groups; g++) {
        float share = sv[g], z = share * (dv[g] - dot_s);
        long at = (long)g * d;
        float4 dt = load4_lean(k + ko + at, j, d) * c +
                    load4_lean(k + ko + width + at, j, d) * fma((float4)(share), x, -load4_lean(mean + mo + at, j, d));
        sum += share * dt + z * load4_lean(u + uo + at, j, d);
        if (j == 0)
            gz[gzo + (long)v * gzld + g] = z;
    }
    store4(sum, gh + gho + (long)v * ghld, j, d);
}
