/* philox.h - Philox4x32-10 (Salmon and others, 2011), the one random generator of fathom.
 * Valid in C and in OpenCL C: every back end and the host draw the same bits.
 *
 * Counter based: no state, so element e of any stream can be had by anyone, in any order:
 *
 *     philox_block r;
 *     philox_into(&r, e / 4, layer, epoch, stream, seed_lo, seed_hi);
 *     uint32_t bits = r.v[e % 4];
 *
 * Stream numbers are in host/core/random.h, where C has it as a value (philox4x32_10). Proven by tests/test_philox.c.
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

/* In front of every function that is not a kernel. Some drivers (Mesa 25 and 26, llvmpipe) compute wrongly where a
 * helper is left as a call, so none is. It fills a struct through a pointer and returns none, and has no `restrict`:
 * either makes LLVM mark what it inlines with scopes of aliasing, an intrinsic that Oclgrind does not know. */
#define HELPER static inline __attribute__((always_inline))

typedef struct philox_block {
    philox_u32 v[4];
} philox_block;

/* The counter's words are c0..c3 = element/4, layer, epoch, stream; the key's k0, k1 = low and high half of the seed.
 */
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
