/* common.h - what the kernels share; stands in front of every .cl file.
 *
 * Words of a kernel's head: Computes, Shapes, Launch (what one work-item does),
 * Memory (beyond its arguments), Order (of summation). A buffer argument is
 * followed by its offset in elements and, for a matrix, its leading dimension.
 * Any work-group size that is a power of two is right, 1 included. */
#ifndef COMMON_H
#define COMMON_H

#include "args.h"

/* i / cols; 64-bit division only where it must be, and none where a row is one vector, as a narrow layer's on a CPU. */
HELPER uint part_of(uint i, uint cols) { return cols == 1 ? i : i / cols; }
HELPER ulong row_of(ulong i, uint cols) { return i >> 32 ? i / cols : part_of((uint)i, cols); }

/* 1 / n, corrected once: a division may be off by 2.5 ulp, but one row minus its mean must be 0. */
HELPER float inverse_of(uint n) {
    float r = 1.0f / (float)n;
    return fma(r, fma(-r, (float)n, 1.0f), r);
}

/* The random bits of elements 4*block .. 4*block + 3 of a mask. Two scalars: a vector whose component is chosen at run
 * time lands in memory with some compilers. */
typedef struct bits4 {
    ulong low, high;
} bits4;

HELPER void drop_bits(bits4 *out, act_args a, ulong block) {
    philox_block b;
    philox_into(&b, (uint)block, a.layer, a.epoch, a.stream, a.key0, a.key1);
    out->low = (ulong)b.v[1] << 32 | b.v[0];
    out->high = (ulong)b.v[3] << 32 | b.v[2];
}

HELPER uint pick(bits4 b, uint w) { return (uint)((w & 2 ? b.high : b.low) >> (w & 1) * 32); }

/* act(x) of the elements i .. i + 3: relu, then dropout; NaN stays NaN. The four lie in one block of the mask when i is
 * a multiple of 4, as it is for every matrix whose columns are. */
HELPER float4 act_of(float4 x, ulong i, act_args a) {
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
    uint4 bits = (uint4)(pick(here, s), s < 3 ? pick(here, s + 1) : pick(then, 0),
                         s < 2 ? pick(here, s + 2) : pick(then, s - 2), s < 1 ? pick(here, 3) : pick(then, s - 1));
    return select(x * a.scale, (float4)(0.0f), bits < a.threshold);
}

HELPER float leaky(float x, float slope) { return x > 0.0f ? x : slope * x; }

/* The sum of v over the work-group, in the order of a tree; every item gets it. */
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

/* Four columns j.. of a row of d, 0 past its end, one address in registers for all of them; and back, without those
 * past the end. */
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
HELPER float most4(float4 v) { return max(max(v.x, v.y), max(v.z, v.w)); }

/* COLUMNS: how many columns of a row a work-item takes at once. 4 on GPUs, where neighbouring items read neighbouring
 * columns; 16 on CPUs, where an item's vector is a register. `wide` is that vector, with the calls above for it:
 * load_wide, load_inside, store_wide, act_wide, sum_wide, most_wide (the largest), exp_wide; LOAD and STORE for whole
 * ones, LANES 0, 1, 2 ..
 */
#ifndef COLUMNS
#define COLUMNS 4
#endif

#if COLUMNS == 4
typedef float4 wide;
typedef int4 wide_int;
#define LANES (int4)(0, 1, 2, 3)
#define LOAD(p) vload4(0, p)
#define STORE(v, p) vstore4(v, 0, p)
#define load_wide load4
#define load_inside(row, j, d, stop) load4(row, j, d)
#define store_wide store4
#define act_wide act_of
#define sum_wide sum4
#define most_wide most4
#define exp_wide(x) exp(x)
#define exp_one(x) exp(x)
#elif COLUMNS == 16
typedef float16 wide;
typedef int16 wide_int;
#define LANES (int16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
#define LOAD(p) vload16(0, p)
#define STORE(v, p) vstore16(v, 0, p)

HELPER float8 load8(__global const float *row, uint j, uint d) {
    if (j + 8 <= d)
        return vload8(0, row + j);
    return (float8)(load4(row, j, d), j + 4 < d ? load4(row, j + 4, d) : (float4)(0.0f));
}

HELPER wide load_rest(__global const float *row, uint j, uint d) {
    return (wide)(load8(row, j, d), j + 8 < d ? load8(row, j + 8, d) : (float8)(0.0f));
}

HELPER wide load_wide(__global const float *row, uint j, uint d) {
    if (j + 16 <= d)
        return vload16(0, row + j);
    return load_rest(row, j, d);
}

/* The same from a matrix that no one writes meanwhile and that ends at `stop`: columns past the row's end are read from
 * the next row and put to 0, which is cheaper than reading the rest one by one. */
HELPER wide load_inside(__global const float *row, uint j, uint d, __global const float *stop) {
    if (j + 16 <= d)
        return vload16(0, row + j);
    if (j + 8 >= d && row + j + 8 <= stop) /* sixteen would lie in two lines of the cache */
        return (wide)(select(vload8(0, row + j), (float8)(0.0f), LANES.lo >= (int)(d - j)), (float8)(0.0f));
    if (row + j + 16 <= stop)
        return select(vload16(0, row + j), (wide)(0.0f), LANES >= (int)(d - j));
    return load_rest(row, j, d);
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

HELPER void store_rest(wide v, __global float *row, uint j, uint d) {
    store8(v.lo, row, j, d);
    if (j + 8 < d)
        store8(v.hi, row, j + 8, d);
}

HELPER void store_wide(wide v, __global float *row, uint j, uint d) {
    if (j + 16 <= d)
        vstore16(v, 0, row + j);
    else
        store_rest(v, row, j, d);
}

/* The bits of four blocks of a mask at once. */
HELPER uint16 drop_bits_wide(act_args a, ulong block) {
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

HELPER wide act_wide(wide x, ulong i, act_args a) {
    if (a.relu)
        x = select(x, (wide)(0.0f), x < 0.0f);
    if (!a.drop)
        return x;
    if ((i & 3) == 0)
        return select(x * a.scale, (wide)(0.0f), drop_bits_wide(a, i >> 2) < a.threshold);
    a.relu = 0;
    return (wide)(act_of(x.lo.lo, i, a), act_of(x.lo.hi, i + 4, a), act_of(x.hi.lo, i + 8, a),
                  act_of(x.hi.hi, i + 12, a));
}

HELPER float sum_wide(wide v) {
    float8 half_sum = v.lo + v.hi;
    return sum4(half_sum.lo + half_sum.hi);
}

HELPER float most_wide(wide v) {
    float8 half_most = max(v.lo, v.hi);
    return most4(max(half_most.lo, half_most.hi));
}

/* e^x for x <= 0, as the loops of the CPU back end do it (vf_exp2 in simd.h tells why it holds): a driver's own for 16
 * columns takes twice as long. */
HELPER wide exp_wide(wide x) {
    const float whole = 12582912.0f + 127.0f;
    x = max((wide)(-127.0f), x * 1.44269504f);
    wide k = x + whole, r = x - (k - whole), p = fma(r, (wide)(0.000154614447f), (wide)(0.00134004282f));
    p = fma(p, r, (wide)(0.00961805668f));
    p = fma(p, r, (wide)(0.0555032723f));
    p = fma(p, r, (wide)(0.240226509f));
    p = fma(p, r, (wide)(0.693147207f));
    return fma(p, r, (wide)(1.0f)) * as_float16(as_uint16(k) << 23);
}

#define exp_one(x) exp_wide((wide)(x)).s0
#else
#error "COLUMNS is 4 or 16"
#endif

/* Groups of group normalisation whose sums over rows an item makes at once: a CPU then reads a row once for all of
 * them, and adds to one while it waits for another. A GPU has other items to work on, and fewer registers; nor are its
 * loops unrolled here. Of the last ones fewer may be left; the last group then takes the places behind it too. */
#define TOGETHER GROUPS_TOGETHER(COLUMNS)
#define EACH_GROUP _Pragma("unroll") for (uint c = 0; c < TOGETHER; c++)

/* (var + eps)^-1/2, or NaN for a variance that overflows: it reaches the loss. */
HELPER wide inverse_root(wide var, float eps) {
    return select((wide)(NAN), rsqrt(var + eps), var < (wide)(VARIANCE_LIMIT));
}

/* Mean and variance of COLUMNS columns from j on, and running estimates, from the mean and the centred sum over n rows
 * in STATS_UNIT and its square. */
HELPER void store_stats(wide middle, wide centred, uint n, __global float *mean, __global float *var,
                        __global float *rmean, __global float *rvar, uint running, float momentum, uint j, uint d) {
    const float squared = STATS_UNIT_INVERSE * STATS_UNIT_INVERSE;
    middle *= STATS_UNIT_INVERSE;
    store_wide(middle, mean, j, d);
    store_wide(squared * (centred / (float)n), var, j, d);
    if (running) {
        wide unbiased = n > 1 ? squared * (centred / (float)(n - 1)) : (wide)(0.0f);
        store_wide((1.0f - momentum) * load_wide(rmean, j, d) + momentum * middle, rmean, j, d);
        store_wide((1.0f - momentum) * load_wide(rvar, j, d) + momentum * unbiased, rvar, j, d);
    }
}

/* A tile of four rows and COLUMNS columns of a product, c0 .. c3: rows a0 .. a3 of the left factor, entries `ak` apart,
 * times `count` rows of the right one, the first at `row`, `ld` apart, each read as LOAD_B says. */
#define TILE_STEPS(count, ak, ld, LOAD_B) \
    for (uint t = 0; t < (count); t++) {  \
        wide v = LOAD_B;                  \
        c0 = fma((wide)(*a0), v, c0);     \
        c1 = fma((wide)(*a1), v, c1);     \
        c2 = fma((wide)(*a2), v, c2);     \
        c3 = fma((wide)(*a3), v, c3);     \
        a0 += ak;                         \
        a1 += ak;                         \
        a2 += ak;                         \
        a3 += ak;                         \
        row += ld;                        \
    }

/* Row r of a tile. */
#define TILE_ROW(r) ((r) < 2 ? ((r) == 0 ? c0 : c1) : ((r) == 2 ? c2 : c3))

/* Most tiles have all their rows; a CPU then asks nothing row by row. A GPU lacks the registers for it. */
#define WHOLE_TILE(rows) (COLUMNS == 16 && (rows) == 4)

/* The first `rows` rows of a tile to columns j .. of a matrix d wide, the first row at `to`, `ld` apart. */
HELPER void store_tile(wide c0, wide c1, wide c2, wide c3, __global float *to, long ld, uint rows, uint j, uint d) {
    if (WHOLE_TILE(rows)) {
        store_wide(c0, to, j, d);
        store_wide(c1, to + ld, j, d);
        store_wide(c2, to + 2 * ld, j, d);
        store_wide(c3, to + 3 * ld, j, d);
        return;
    }
    for (uint r = 0; r < rows; r++, to += ld)
        store_wide(TILE_ROW(r), to, j, d);
}

#endif
