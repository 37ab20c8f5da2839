/* common.h - helpers of all kernels; precedes every .cl file.
 *
 * Fields of a kernel's head: Computes, Shapes, Launch (what one work-item or work-group covers), Memory (beyond its
 * arguments), Order (of summation). Kernels are correct for any work-group size that is a power of two, 1 included. */
#ifndef COMMON_H
#define COMMON_H

#include "args.h"

/* 1 / n with one Newton step: a division may be off by 2.5 ulp, but a single row minus its mean must be 0. */
HELPER float reciprocal(uint n) {
    float r = 1.0f / (float)n;
    return fma(r, fma(-r, (float)n, 1.0f), r);
}

/* Random bits of elements 4 * block .. 4 * block + 3 of a mask. Two scalars: some compilers spill a vector whose
 * component is selected at run time. */
typedef struct bits4 {
    ulong low, high;
} bits4;

HELPER void drop_bits(bits4 *out, act_args a, ulong block) {
    philox_block b;
    philox_into(&b, (uint)block, a.layer, a.epoch, a.stream, a.key0, a.key1);
    out->low = (ulong)b.v[1] << 32 | b.v[0];
    out->high = (ulong)b.v[3] << 32 | b.v[2];
}

HELPER uint bits_at(bits4 b, uint w) { return (uint)((w & 2 ? b.high : b.low) >> (w & 1) * 32); }

/* act(x) of elements i .. i + 3: relu, then dropout; NaN stays NaN. They span one block of the mask when i + first is a
 * multiple of 4, which holds for every matrix whose number of columns is. */
HELPER float4 act4(float4 x, ulong i, act_args a) {
    if (a.relu)
        x = select(x, (float4)(0.0f), x < 0.0f);
    if (!a.drop)
        return x;
    i += (ulong)a.first_high << 32 | a.first_low;
    uint s = (uint)i & 3;
    bits4 here, then;
    drop_bits(&here, a, i >> 2);
    then = here;
    if (s)
        drop_bits(&then, a, (i >> 2) + 1);
    uint4 bits =
        (uint4)(bits_at(here, s), s < 3 ? bits_at(here, s + 1) : bits_at(then, 0),
                s < 2 ? bits_at(here, s + 2) : bits_at(then, s - 2), s < 1 ? bits_at(here, 3) : bits_at(then, s - 1));
    return select(x * a.scale, (float4)(0.0f), bits < a.threshold);
}

HELPER float leaky_relu(float x, float slope) { return x > 0.0f ? x : slope * x; }

/* Sum and maximum of v[0] .. v[count - 1] in order: values that the lanes of a row stored. */
HELPER float lanes_sum(__local const float *v, uint count) {
    float sum = v[0];
    for (uint i = 1; i < count; i++)
        sum += v[i];
    return sum;
}

HELPER float lanes_max(__local const float *v, uint count) {
    float largest = v[0];
    for (uint i = 1; i < count; i++)
        largest = fmax(largest, v[i]);
    return largest;
}

/* Loads four columns from j of a row of d columns, 0 past its end; one address register serves all. store4 skips
 * columns past the end. */
HELPER float4 load4(__global const float *row, uint j, uint d) {
    if (j + 4 <= d)
        return vload4(0, row + j);
    float4 v = (float4)(row[j], 0.0f, 0.0f, 0.0f);
    if (j + 1 < d)
        v.y = row[j + 1];
    if (j + 2 < d)
        v.z = row[j + 2];
    return v;
}

HELPER void store4(float4 v, __global float *row, uint j, uint d) {
    if (j + 4 <= d) {
        vstore4(v, 0, row + j);
        return;
    }
    row[j] = v.x;
    if (j + 1 < d)
        row[j + 1] = v.y;
    if (j + 2 < d)
        row[j + 2] = v.z;
}

/* The same for a row of a matrix: one 16-byte access where rows are aligned (mat_args). A compiler splits vload4 of a
 * pointer that is only known to be aligned to 4 bytes. */
HELPER float4 load_row4(__global const float *row, uint j, uint d, uint aligned) {
    return aligned && j + 4 <= d ? *(__global const float4 *)(row + j) : load4(row, j, d);
}

HELPER void store_row4(float4 v, __global float *row, uint j, uint d, uint aligned) {
    if (aligned && j + 4 <= d)
        *(__global float4 *)(row + j) = v;
    else
        store4(v, row, j, d);
}

/* Columns j .. j + 3 of row v of a matrix. */
HELPER float4 load_at(__global const float *x, const mat_args *m, uint v, uint j, uint d) {
    return load_row4(x + m->off + v * m->ld, j, d, m->aligned);
}

HELPER void store_at(float4 value, __global float *x, const mat_args *m, uint v, uint j, uint d) {
    store_row4(value, x + m->off + v * m->ld, j, d, m->aligned);
}

HELPER float sum4(float4 v) { return v.x + v.y + (v.z + v.w); }
HELPER float max4(float4 v) { return max(max(v.x, v.y), max(v.z, v.w)); }

/* (var + eps)^-1/2, or NaN for a variance that overflows, so that the loss becomes NaN. */
HELPER float4 inv_std(float4 var, float eps) {
    return select((float4)(NAN), rsqrt(var + eps), var < (float4)(VARIANCE_LIMIT));
}

/* Mean and centred sum of squares over some rows, in STATS_UNIT and its square. */
typedef struct moments {
    float4 mean, m2;
    float rows;
} moments;

/* Merges b, of rows after those of `to`, by Chan's formula. */
HELPER void merge_moments(moments *to, const moments *b) {
    float total = to->rows + b->rows;
    float4 delta = b->mean - to->mean;
    to->mean += delta * (to->rows > 0.0f ? b->rows / total : 1.0f); /* x / x may differ from 1 */
    to->m2 += b->m2 + delta * delta * (to->rows * b->rows / total);
    to->rows = total;
}

/* ---- adding blocks (COMBINE_* in args.h) ---- */

/* runs[i][c] = sum over the blocks b of run i of float4 number first + c < vecs of p[b], blocks ascending; they are
 * `stride` floats apart. Ends with a barrier. */
HELPER void sum_runs(__local float4 *runs, __global const float *p, uint stride, uint blocks, uint first, uint vecs) {
    uint per_run = CEIL_DIV(blocks, COMBINE_RUNS);
    for (uint u = (uint)get_local_id(0); u < COMBINE_VECS * COMBINE_RUNS; u += (uint)get_local_size(0)) {
        uint at = first + u % COMBINE_VECS, b = u / COMBINE_VECS * per_run, end = min(blocks, b + per_run);
        float4 sum = (float4)(0.0f);
        for (; b < end && at < vecs; b++)
            sum += *(__global const float4 *)(p + b * stride + VEC * at);
        runs[u] = sum;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

/* Sum of the runs of float4 number c, ascending. */
HELPER float4 add_runs(__local const float4 *runs, uint c) {
    float4 sum = runs[c];
#pragma unroll 4 /* unrolled whole, the loads take too many registers */
    for (uint i = 1; i < COMBINE_RUNS; i++)
        sum += runs[i * COMBINE_VECS + c];
    return sum;
}

#endif
