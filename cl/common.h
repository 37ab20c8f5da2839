/* common.h - what the kernels share; stands in front of every .cl file.
 *
 * Words of a kernel's head: Computes, Shapes, Launch (what one work-item does),
 * Memory (beyond its arguments), Order (of summation). A buffer argument is
 * followed by its offset in elements and, for a matrix, its leading dimension.
 * Any work-group size that is a power of two is right, 1 included. */
#ifndef COMMON_H
#define COMMON_H

#include "args.h"

/* i / cols; 64-bit division only where it must be. */
static inline ulong row_of(ulong i, uint cols) { return i >> 32 ? i / cols : (uint)i / cols; }

/* The random bits of elements 4*block .. 4*block + 3 of a mask. Two scalars: a vector whose component is chosen at run
 * time lands in memory with some compilers. */
typedef struct bits4 {
    ulong low, high;
} bits4;

static inline bits4 drop_bits(act_args a, ulong block) {
    philox_block b = philox4x32_10((uint)block, a.layer, a.epoch, a.stream, a.key0, a.key1);
    return (bits4){(ulong)b.v[1] << 32 | b.v[0], (ulong)b.v[3] << 32 | b.v[2]};
}

static inline uint pick(bits4 b, uint w) { return (uint)((w & 2 ? b.high : b.low) >> (w & 1) * 32); }

/* act(x) of the elements i .. i + 3: relu, then dropout; NaN stays NaN. The four lie in one block of the mask when i is
 * a multiple of 4, as it is for every matrix whose columns are. */
static inline float4 act_of(float4 x, ulong i, act_args a) {
    if (a.relu)
        x = select(x, (float4)(0.0f), x < 0.0f);
    if (!a.drop)
        return x;
    uint s = (uint)i & 3;
    bits4 here = drop_bits(a, i >> 2), then = here;
    if (s)
        then = drop_bits(a, (i >> 2) + 1);
    uint4 bits = (uint4)(pick(here, s), s < 3 ? pick(here, s + 1) : pick(then, 0),
                         s < 2 ? pick(here, s + 2) : pick(then, s - 2), s < 1 ? pick(here, 3) : pick(then, s - 1));
    return select(x * a.scale, (float4)(0.0f), bits < a.threshold);
}

static inline float leaky(float x, float slope) { return x > 0.0f ? x : slope * x; }

/* The sum of v over the work-group, in the order of a tree; every item gets it. */
static inline float group_sum(__local float *tmp, float v) {
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

/* Four columns j.. of a row of d, of which those past the end repeat the last; and back, without them. */
static inline float4 load4(__global const float *row, uint j, uint d) {
    if (j + 4 <= d)
        return vload4(0, row + j);
    return (float4)(row[j], row[min(j + 1, d - 1)], row[min(j + 2, d - 1)], row[min(j + 3, d - 1)]);
}

/* The same, but those past the end repeat the first: more branches and one address instead of four in registers, for
 * kernels that read several rows in a loop. */
static inline float4 load4_lean(__global const float *row, uint j, uint d) {
    if (j + 4 <= d)
        return vload4(0, row + j);
    float4 v = (float4)(row[j]);
    if (j + 1 < d)
        v.y = row[j + 1];
    if (j + 2 < d)
        v.z = row[j + 2];
    return v;
}

static inline void store4(float4 v, __global float *row, uint j, uint d) {
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

#endif
