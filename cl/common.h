/* common.h - helpers of all kernels; precedes every .cl file.
 *
 * Fields of a kernel's head: Computes, Shapes, Launch (what one work-item or work-group covers), Memory (beyond its
 * arguments), Order (of summation). A buffer argument is followed by its offset in elements and, for a matrix, by its
 * leading dimension. Kernels are correct for any work-group size that is a power of two, 1 included. */
#ifndef COMMON_H
#define COMMON_H

#include "args.h"

/* i / cols: a 32-bit division where i fits, none where a row is one vector, as in a narrow layer on a CPU. */
HELPER uint div_uint(uint i, uint cols) { return cols == 1 ? i : i / cols; }
HELPER ulong row_of(ulong i, uint cols) { return i >> 32 ? i / cols : div_uint((uint)i, cols); }

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

/* act(x) of elements i .. i + 3: relu, then dropout; NaN stays NaN. They span one block of the mask when i is a
 * multiple of 4, which holds for every matrix whose number of columns is. */
HELPER float4 act4(float4 x, ulong i, act_args a) {
    if (a.relu)
        x = select(x, (float4)(0.0f), x < 0.0f);
    if (!a.drop)
        return x;
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

/* Sum of v over the work-group as a tree; every work-item gets it. */
HELPER float group_sum(__local float *tmp, float v) {
    uint me = (uint)get_local_id(0);
    tmp[me] = v;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint half_size = (uint)get_local_size(0) / 2; half_size > 0; half_size /= 2) {
        if (me < half_size)
            tmp[me] += tmp[me + half_size];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    v = tmp[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    return v;
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

HELPER float sum4(float4 v) { return v.x + v.y + (v.z + v.w); }
HELPER float max4(float4 v) { return max(max(v.x, v.y), max(v.z, v.w)); }

/* VEC: columns of a row per work-item (VEC_GPU or VEC_CPU of args.h, set by the host). `vecf` is the vector type,
 * LANES is 0, 1, 2 .. VEC - 1. For a vector of columns from j of a row of d columns:
 *   load_vec, store_vec   columns past the end are 0, or are not stored
 *   load_vec_masked       as load_vec, but may read past the end of the row up to `stop`
 *   LOAD, STORE           a full vector
 *   act_vec, exp_vec      elementwise; exp_scalar is exp_vec of one number
 *   sum_vec, max_vec      over the lanes */
#if VEC == VEC_GPU
typedef float4 vecf;
#define LANES (int4)(0, 1, 2, 3)
#define LOAD(p) vload4(0, p)
#define STORE(v, p) vstore4(v, 0, p)
#define load_vec load4
#define load_vec_masked(row, j, d, stop) load4(row, j, d)
#define store_vec store4
#define act_vec act4
#define sum_vec sum4
#define max_vec max4
#define exp_vec(x) exp(x)
#define exp_scalar(x) exp(x)
#elif VEC == VEC_CPU
typedef float16 vecf;
#define LANES (int16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
#define LOAD(p) vload16(0, p)
#define STORE(v, p) vstore16(v, 0, p)

HELPER float8 load8(__global const float *row, uint j, uint d) {
    if (j + 8 <= d)
        return vload8(0, row + j);
    return (float8)(load4(row, j, d), j + 4 < d ? load4(row, j + 4, d) : (float4)(0.0f));
}

HELPER vecf load_tail(__global const float *row, uint j, uint d) {
    return (vecf)(load8(row, j, d), j + 8 < d ? load8(row, j + 8, d) : (float8)(0.0f));
}

HELPER vecf load_vec(__global const float *row, uint j, uint d) {
    if (j + 16 <= d)
        return vload16(0, row + j);
    return load_tail(row, j, d);
}

/* As load_vec, for a matrix that is not written concurrently and ends at `stop`: a full load that overlaps the next
 * row, then a mask, which is cheaper than loading the tail by parts. */
HELPER vecf load_vec_masked(__global const float *row, uint j, uint d, __global const float *stop) {
    if (j + 16 <= d)
        return vload16(0, row + j);
    if (j + 8 >= d && row + j + 8 <= stop) /* 16 floats would span two cache lines */
        return (vecf)(select(vload8(0, row + j), (float8)(0.0f), LANES.lo >= (int)(d - j)), (float8)(0.0f));
    if (row + j + 16 <= stop)
        return select(vload16(0, row + j), (vecf)(0.0f), LANES >= (int)(d - j));
    return load_tail(row, j, d);
}

HELPER void store8(float8 v, __global float *row, uint j, uint d) {
    if (j + 8 <= d) {
        vstore8(v, 0, row + j);
        return;
    }
    store4(v.lo, row, j, d);
    if (j + 4 < d)
        store4(v.hi, row, j + 4, d);
}

HELPER void store_tail(vecf v, __global float *row, uint j, uint d) {
    store8(v.lo, row, j, d);
    if (j + 8 < d)
        store8(v.hi, row, j + 8, d);
}

HELPER void store_vec(vecf v, __global float *row, uint j, uint d) {
    if (j + 16 <= d)
        vstore16(v, 0, row + j);
    else
        store_tail(v, row, j, d);
}

/* Random bits of four consecutive blocks of a mask. */
HELPER uint16 drop_bits_vec(act_args a, ulong block) {
    uint4 c0 = (uint)block + (uint4)(0, 1, 2, 3), c1 = a.layer, c2 = a.epoch, c3 = a.stream;
    uint k0 = a.key0, k1 = a.key1;
    for (int round = 0; round < 10; round++) {
        ulong4 p0 = convert_ulong4(c0) * 0xD2511F53u, p1 = convert_ulong4(c2) * 0xCD9E8D57u;
        c0 = convert_uint4(p1 >> 32) ^ c1 ^ k0;
        c2 = convert_uint4(p0 >> 32) ^ c3 ^ k1;
        c1 = convert_uint4(p1);
        c3 = convert_uint4(p0);
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    return (uint16)(c0.x, c1.x, c2.x, c3.x, c0.y, c1.y, c2.y, c3.y, c0.z, c1.z, c2.z, c3.z, c0.w, c1.w, c2.w, c3.w);
}

HELPER vecf act_vec(vecf x, ulong i, act_args a) {
    if (a.relu)
        x = select(x, (vecf)(0.0f), x < 0.0f);
    if (!a.drop)
        return x;
    if ((i & 3) == 0)
        return select(x * a.scale, (vecf)(0.0f), drop_bits_vec(a, i >> 2) < a.threshold);
    a.relu = 0;
    return (vecf)(act4(x.lo.lo, i, a), act4(x.lo.hi, i + 4, a), act4(x.hi.lo, i + 8, a), act4(x.hi.hi, i + 12, a));
}

HELPER float sum_vec(vecf v) {
    float8 half_sum = v.lo + v.hi;
    return sum4(half_sum.lo + half_sum.hi);
}

HELPER float max_vec(vecf v) {
    float8 half_most = max(v.lo, v.hi);
    return max4(max(half_most.lo, half_most.hi));
}

/* e^x for x <= 0, as in the CPU back end (vf_exp2 of simd.h derives it); exp of a driver for 16 lanes takes twice as
 * long. */
HELPER vecf exp_vec(vecf x) {
    const float whole = 12582912.0f + 127.0f;
    x = max((vecf)(-127.0f), x * 1.44269504f);
    vecf k = x + whole, r = x - (k - whole), p = fma(r, (vecf)(0.000154614447f), (vecf)(0.00134004282f));
    p = fma(p, r, (vecf)(0.00961805668f));
    p = fma(p, r, (vecf)(0.0555032723f));
    p = fma(p, r, (vecf)(0.240226509f));
    p = fma(p, r, (vecf)(0.693147207f));
    return fma(p, r, (vecf)(1.0f)) * as_float16(as_uint16(k) << 23);
}

#define exp_scalar(x) exp_vec((vecf)(x)).s0
#else
#error "VEC must be VEC_GPU or VEC_CPU"
#endif

/* Groups of one work-item (args.h). Past the last group it repeats the last one. The loop is unrolled where there are
 * several. */
#define GROUPS_PER_ITEM GROUPS_PER_ITEM_FOR(VEC)
#define FOR_EACH_GROUP _Pragma("unroll") for (uint c = 0; c < GROUPS_PER_ITEM; c++)

/* (var + eps)^-1/2, or NaN for a variance that overflows, so that the loss becomes NaN. */
HELPER vecf inv_std(vecf var, float eps) { return select((vecf)(NAN), rsqrt(var + eps), var < (vecf)(VARIANCE_LIMIT)); }

/* Stores mean, variance and running estimates of VEC columns from j, from the mean and the centred sum of squares m2
 * over n rows in STATS_UNIT and its square. */
HELPER void store_stats(vecf mean_unit, vecf m2, uint n, __global float *mean, __global float *var,
                        __global float *rmean, __global float *rvar, uint running, float momentum, uint j, uint d) {
    const float squared = STATS_UNIT_INVERSE * STATS_UNIT_INVERSE;
    mean_unit *= STATS_UNIT_INVERSE;
    store_vec(mean_unit, mean, j, d);
    store_vec(squared * (m2 / (float)n), var, j, d);
    if (running) {
        vecf unbiased = n > 1 ? squared * (m2 / (float)(n - 1)) : (vecf)(0.0f);
        store_vec((1.0f - momentum) * load_vec(rmean, j, d) + momentum * mean_unit, rmean, j, d);
        store_vec((1.0f - momentum) * load_vec(rvar, j, d) + momentum * unbiased, rvar, j, d);
    }
}

/* c0 .. c3 += a b for a tile of TILE_ROWS (4) rows and VEC columns: rows a0 .. a3 of the left factor, entries `ak`
 * apart; `count` rows of the right factor from `row`, `ld` apart, each loaded by LOAD_B. */
#define ACCUMULATE_TILE(count, ak, ld, LOAD_B) \
    for (uint t = 0; t < (count); t++) {       \
        vecf v = LOAD_B;                       \
        c0 = fma((vecf)(*a0), v, c0);          \
        c1 = fma((vecf)(*a1), v, c1);          \
        c2 = fma((vecf)(*a2), v, c2);          \
        c3 = fma((vecf)(*a3), v, c3);          \
        a0 += ak;                              \
        a1 += ak;                              \
        a2 += ak;                              \
        a3 += ak;                              \
        row += ld;                             \
    }

/* Row r of a tile. */
#define TILE_ROW(r) ((r) < 2 ? ((r) == 0 ? c0 : c1) : ((r) == 2 ? c2 : c3))

/* True for a tile with all rows, on CPUs only: no test per row. A GPU lacks the registers for both versions. */
#define FULL_TILE(rows) (VEC == VEC_CPU && (rows) == TILE_ROWS)

/* Stores the first `rows` rows of a tile in columns j .. of a matrix of d columns, the first row at `to`, `ld` apart.
 */
HELPER void store_tile(vecf c0, vecf c1, vecf c2, vecf c3, __global float *to, long ld, uint rows, uint j, uint d) {
    if (FULL_TILE(rows)) {
        store_vec(c0, to, j, d);
        store_vec(c1, to + ld, j, d);
        store_vec(c2, to + 2 * ld, j, d);
        store_vec(c3, to + 3 * ld, j, d);
        return;
    }
    for (uint r = 0; r < rows; r++, to += ld)
        store_vec(TILE_ROW(r), to, j, d);
}

#endif
