/* philox.h - Philox4x32-10 (Salmon and others, 2011), the random generator of fathom.
 * Valid in C and in OpenCL C: every back end and the host draw the same bits.
 *
 * Counter based, without state: any element e of a stream can be computed in any order:
 *
 *     philox_block r;
 *     philox_into(&r, e / 4, layer, epoch, stream, seed_lo, seed_hi);
 *     uint32_t bits = r.v[e % 4];
 *
 * host/core/random.h lists the streams and wraps it for C (philox4x32_10). Tested by tests/unit_philox.c.
 */
#ifndef PHILOX_H
#define PHILOX_H

#if defined(__OPENCL_VERSION__) || defined(__OPENCL_C_VERSION__)
typedef uint philox_u32;
typedef ulong philox_u64;
#else
#include <stdint.h>
typedef uint32_t philox_u32;
typedef uint64_t philox_u64;
#endif

/* Qualifies every function that is not a kernel. Always inlined: some drivers (Mesa 25 and 26, llvmpipe) compute wrong
 * results when a helper remains a call. Helpers return structs through a pointer and have no `restrict`: either makes
 * LLVM emit alias-scope intrinsics when it inlines, which Oclgrind does not support. */
#define HELPER static inline __attribute__((always_inline))

typedef struct philox_block {
    philox_u32 v[4];
} philox_block;

/* Counter c0..c3 = element / 4, layer, epoch, stream; key k0, k1 = low and high half of the seed. */
HELPER void philox_into(philox_block *out, philox_u32 c0, philox_u32 c1, philox_u32 c2, philox_u32 c3, philox_u32 k0,
                        philox_u32 k1) {
    for (int round = 0; round < 10; round++) {
        philox_u64 p0 = (philox_u64)0xD2511F53u * c0, p1 = (philox_u64)0xCD9E8D57u * c2;
        c0 = (philox_u32)(p1 >> 32) ^ c1 ^ k0;
        c2 = (philox_u32)(p0 >> 32) ^ c3 ^ k1;
        c1 = (philox_u32)p1;
        c3 = (philox_u32)p0;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    out->v[0] = c0;
    out->v[1] = c1;
    out->v[2] = c2;
    out->v[3] = c3;
}

#endif
