/* simd.h - vectors of VW floats for every instruction set. Arithmetic is C on vector
 * types (GCC vector extensions); intrinsics are used where these have no equal:
 * masked loads and stores, non-temporal stores, max, sqrt, 32-bit products.
 *
 * A row of d floats is full vectors and a tail: vf_load_n reads n <= VW floats
 * and pads with zeros, vf_store_n writes n. */
#ifndef CPU_SIMD_H
#define CPU_SIMD_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#if defined(__AVX512F__)
#include <immintrin.h>
#define VW 16
#elif defined(__AVX2__)
#include <immintrin.h>
#define VW 8
#else
#if defined(__SSE2__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif
#define VW 4
#endif

#define INLINE static inline __attribute__((always_inline))

typedef float vf __attribute__((vector_size(VW * 4)));
typedef int32_t vi __attribute__((vector_size(VW * 4)));
typedef uint32_t vu __attribute__((vector_size(VW * 4)));
typedef uint64_t vl __attribute__((vector_size(VW * 4)));

INLINE vf vf_load(const float *p) {
    vf v;
    memcpy(&v, p, sizeof v);
    return v;
}

INLINE void vf_store(float *p, vf v) { memcpy(p, &v, sizeof v); }

/* Non-temporal store (p aligned to a vector); call vf_sfence() before other threads read. */
#if defined(__AVX512F__)
INLINE void vf_stream(float *p, vf v) { _mm512_stream_ps(p, (__m512)v); }
INLINE void vf_sfence(void) { _mm_sfence(); }
#elif defined(__AVX2__)
INLINE void vf_stream(float *p, vf v) { _mm256_stream_ps(p, (__m256)v); }
INLINE void vf_sfence(void) { _mm_sfence(); }
#else
INLINE void vf_stream(float *p, vf v) { vf_store(p, v); }
INLINE void vf_sfence(void) {}
#endif

INLINE vf vf_set(float x) { return (vf){0} + x; }

#if defined(__AVX512F__)
INLINE vf vf_load_n(const float *p, int n) { return (vf)_mm512_maskz_loadu_ps((__mmask16)((1u << n) - 1u), p); }
INLINE void vf_store_n(float *p, vf v, int n) { _mm512_mask_storeu_ps(p, (__mmask16)((1u << n) - 1u), (__m512)v); }
#elif defined(__AVX2__)
INLINE __m256i vf_mask_n(int n) {
    static const int32_t ramp[16] = {-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0};
    return _mm256_loadu_si256((const __m256i *)(const void *)(ramp + 8 - n));
}
INLINE vf vf_load_n(const float *p, int n) { return (vf)_mm256_maskload_ps(p, vf_mask_n(n)); }
INLINE void vf_store_n(float *p, vf v, int n) { _mm256_maskstore_ps(p, vf_mask_n(n), (__m256)v); }
#else
/* Unrolled: compilers turn a loop into a call of memcpy. */
INLINE vf vf_load_n(const float *p, int n) {
    if (n == VW)
        return vf_load(p);
    vf v = {0};
    if (n > 0)
        v[0] = p[0];
    if (n > 1)
        v[1] = p[1];
    if (n > 2)
        v[2] = p[2];
    return v;
}
INLINE void vf_store_n(float *p, vf v, int n) {
    if (n > 0)
        p[0] = v[0];
    if (n > 1)
        p[1] = v[1];
    if (n > 2)
        p[2] = v[2];
    if (n > 3)
        p[3] = v[3];
}
#endif

/* 64-bit products of the lower halves of 64-bit lanes with `factor`: full 64-bit multiplication is slower or missing.
 */
#if defined(__AVX512F__)
INLINE vl vl_mul_lo32(vl x, uint32_t factor) { return (vl)_mm512_mul_epu32((__m512i)x, _mm512_set1_epi64(factor)); }
#elif defined(__AVX2__)
INLINE vl vl_mul_lo32(vl x, uint32_t factor) { return (vl)_mm256_mul_epu32((__m256i)x, _mm256_set1_epi64x(factor)); }
#elif defined(__SSE2__)
INLINE vl vl_mul_lo32(vl x, uint32_t factor) { return (vl)_mm_mul_epu32((__m128i)x, _mm_set1_epi64x(factor)); }
#elif defined(__aarch64__)
INLINE vl vl_mul_lo32(vl x, uint32_t factor) { return (vl)vmull_n_u32(vmovn_u64((uint64x2_t)x), factor); }
#else
INLINE vl vl_mul_lo32(vl x, uint32_t factor) { return (x & 0xffffffffu) * factor; }
#endif

/* a0 b0 a1 b1 .. of 64-bit lanes, in two vectors. */
INLINE void vl_interleave(vl out[2], vl a, vl b) {
#if VW == 16
    out[0] = __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
    out[1] = __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
#elif VW == 8
    out[0] = __builtin_shufflevector(a, b, 0, 4, 1, 5);
    out[1] = __builtin_shufflevector(a, b, 2, 6, 3, 7);
#else
    out[0] = __builtin_shufflevector(a, b, 0, 2);
    out[1] = __builtin_shufflevector(a, b, 1, 3);
#endif
}

/* Per lane: a where `mask` is all ones, else b. */
INLINE vf vf_select(vi mask, vf a, vf b) { return (vf)((mask & (vi)a) | (~mask & (vi)b)); }
/* a > b ? a : b: b when one of them is NaN. */
#if defined(__AVX512F__)
INLINE vf vf_max(vf a, vf b) { return (vf)_mm512_max_ps((__m512)a, (__m512)b); }
#elif defined(__AVX2__)
INLINE vf vf_max(vf a, vf b) { return (vf)_mm256_max_ps((__m256)a, (__m256)b); }
#else
INLINE vf vf_max(vf a, vf b) { return vf_select(a > b, a, b); }
#endif

/* a b + c, rounded once where the processor has such an instruction, whatever a compiler contracts around it. */
#if defined(__AVX512F__)
INLINE vf vf_fma(vf a, vf b, vf c) { return (vf)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c); }
#elif defined(__AVX2__)
INLINE vf vf_fma(vf a, vf b, vf c) { return (vf)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c); }
#elif defined(__aarch64__)
INLINE vf vf_fma(vf a, vf b, vf c) { return (vf)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b); }
#else
INLINE vf vf_fma(vf a, vf b, vf c) { return a * b + c; }
#endif

/* Correctly rounded, as sqrtf. */
#if defined(__AVX512F__)
INLINE vf vf_sqrt(vf v) { return (vf)_mm512_sqrt_ps((__m512)v); }
#elif defined(__AVX2__)
INLINE vf vf_sqrt(vf v) { return (vf)_mm256_sqrt_ps((__m256)v); }
#elif defined(__SSE2__)
INLINE vf vf_sqrt(vf v) { return (vf)_mm_sqrt_ps((__m128)v); }
#elif defined(__aarch64__)
INLINE vf vf_sqrt(vf v) { return (vf)vsqrtq_f32((float32x4_t)v); }
#else
INLINE vf vf_sqrt(vf v) {
    for (int i = 0; i < VW; i++)
        v[i] = sqrtf(v[i]);
    return v;
}
#endif

/* Lane i of the result is lane at[i] of v, 0 <= at[i] < VW. */
#if defined(__AVX512F__)
INLINE vf vf_pick(vf v, vi at) { return (vf)_mm512_permutexvar_ps((__m512i)at, (__m512)v); }
#elif defined(__AVX2__)
INLINE vf vf_pick(vf v, vi at) { return (vf)_mm256_permutevar8x32_ps((__m256)v, (__m256i)at); }
#else
INLINE vf vf_pick(vf v, vi at) { return (vf){v[at[0]], v[at[1]], v[at[2]], v[at[3]]}; }
#endif

/* v where y > 0, else 0. */
#if defined(__AVX512F__)
INLINE vf vf_where_positive(vf y, vf v) {
    return (vf)_mm512_maskz_mov_ps(_mm512_cmp_ps_mask((__m512)y, _mm512_setzero_ps(), _CMP_GT_OQ), (__m512)v);
}
#else
INLINE vf vf_where_positive(vf y, vf v) { return (vf)((y > 0.0f) & (vi)v); }
#endif

/* Pairwise: lanes i and i + VW/2, then halves of halves. The order determines the bits. */
typedef float vf8 __attribute__((vector_size(32)));
typedef float vf4 __attribute__((vector_size(16)));
INLINE float vf4_sum(vf4 v) { return (v[0] + v[2]) + (v[1] + v[3]); }
#if VW == 4
INLINE float vf_sum(vf v) { return vf4_sum(v); }
#else
INLINE float vf8_sum(vf8 v) {
    return vf4_sum(__builtin_shufflevector(v, v, 0, 1, 2, 3) + __builtin_shufflevector(v, v, 4, 5, 6, 7));
}
#if VW == 8
INLINE float vf_sum(vf v) { return vf8_sum(v); }
#else
INLINE float vf_sum(vf v) {
    return vf8_sum(__builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7) +
                   __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15));
}
#endif
#endif

#define LOG2E 1.44269504f

/* 2^x for x <= 126, the range of a softmax and of a Gauss kernel: x = k + r with |r| <= 1/2; 2^r by the polynomial of
 * degree 6 through its Chebyshev points (relative error 2.5e-9), times 2^k with k as exponent bits. Adding
 * 1.5 * 2^23 + 127 rounds to an integer and leaves it, with the bias 127, in the lowest bits. Below -126.5 the exponent
 * is 0 and so is the result; NaN stays NaN. */
INLINE vf vf_exp2(vf x) {
    const float whole = 12582912.0f + 127.0f;
    x = vf_max(vf_set(-127.0f), x);
    vf k = x + whole, scale = (vf)((vu)k << 23), r = x - (k - whole);
    vf p = r * 0.000154614447f + 0.00134004282f;
    p = p * r + 0.00961805668f;
    p = p * r + 0.0555032723f;
    p = p * r + 0.240226509f;
    p = p * r + 0.693147207f;
    p = p * r + 1.0f;
    return p * scale;
}
INLINE vf vf_exp(vf x) { return vf_exp2(x * LOG2E); }

/* ---- transposing VW x VW floats in registers ----
 * Step h exchanges, in each pair of vectors h apart, the lanes whose bit h differs:
 *   first'[l]  = bit h of l ? second[l - h] : first[l]
 *   second'[l] = bit h of l ? second[l] : first[l + h]
 * After the steps 1, 2, 4 .. VW/2 lane l of vector i has become lane i of vector l. */
#define VF_STEP(v, h, first, second)         \
    for (int i = 0; i < VW; i++)             \
        if (!(i & (h))) {                    \
            vf a = (v)[i], b = (v)[i + (h)]; \
            (v)[i] = first;                  \
            (v)[i + (h)] = second;           \
        }

INLINE void vf_transpose(vf v[VW]) {
#if VW == 16
    VF_STEP(v, 1, __builtin_shufflevector(a, b, 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30),
            __builtin_shufflevector(a, b, 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31))
    VF_STEP(v, 2, __builtin_shufflevector(a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29),
            __builtin_shufflevector(a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31))
    VF_STEP(v, 4, __builtin_shufflevector(a, b, 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27),
            __builtin_shufflevector(a, b, 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31))
    VF_STEP(v, 8, __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23),
            __builtin_shufflevector(a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31))
#elif VW == 8
    VF_STEP(v, 1, __builtin_shufflevector(a, b, 0, 8, 2, 10, 4, 12, 6, 14),
            __builtin_shufflevector(a, b, 1, 9, 3, 11, 5, 13, 7, 15))
    VF_STEP(v, 2, __builtin_shufflevector(a, b, 0, 1, 8, 9, 4, 5, 12, 13),
            __builtin_shufflevector(a, b, 2, 3, 10, 11, 6, 7, 14, 15))
    VF_STEP(v, 4, __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11),
            __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15))
#else
    VF_STEP(v, 1, __builtin_shufflevector(a, b, 0, 4, 2, 6), __builtin_shufflevector(a, b, 1, 5, 3, 7))
    VF_STEP(v, 2, __builtin_shufflevector(a, b, 0, 1, 4, 5), __builtin_shufflevector(a, b, 2, 3, 6, 7))
#endif
}

/* ---- rows of any width ---- */

/* Floats of vector i of a row of d floats; number of vectors of the row. */
INLINE int vf_part(int64_t d, int64_t i) { return d - i * VW >= VW ? VW : (int)(d - i * VW); }
INLINE int64_t vf_count(int64_t d) { return (d + VW - 1) / VW; }
INLINE vf vf_row(const float *row, int64_t d, int64_t i) {
    int part = vf_part(d, i);
    return part == VW ? vf_load(row + i * VW) : vf_load_n(row + i * VW, part);
}
/* Masked stores are slow on some processors (masked loads are not), so full vectors are stored unmasked. */
INLINE void vf_store_part(float *p, vf v, int part) {
    if (part == VW)
        vf_store(p, v);
    else
        vf_store_n(p, v, part);
}
INLINE void vf_row_set(float *row, int64_t d, int64_t i, vf v) { vf_store_part(row + i * VW, v, vf_part(d, i)); }

/* Columns i VW .. of VW rows of width d as vectors over the rows: out[j] holds column i VW + j. Rows from `rows` on
 * are read as zeros. */
INLINE void vf_load_square(vf out[VW], const float *first, int64_t ld, const int rows, int64_t d, int64_t i) {
    if (rows == VW)
        for (int r = 0; r < VW; r++)
            out[r] = vf_row(first + r * ld, d, i);
    else
        for (int r = 0; r < VW; r++)
            out[r] = r < rows ? vf_row(first + r * ld, d, i) : (vf){0};
    vf_transpose(out);
}

/* Columns 0 .. d-1 of VW rows: out[j] holds column j. */
INLINE void vf_load_columns(vf *out, const float *first, int64_t ld, const int rows, int64_t d) {
    for (int64_t i = 0; i < vf_count(d); i++) {
        vf v[VW];
        vf_load_square(v, first, ld, rows, d, i);
        for (int j = 0; j < vf_part(d, i); j++)
            out[i * VW + j] = v[j];
    }
}

/* The inverse: writes columns 0 .. d-1 of `rows` rows. */
INLINE void vf_store_columns(const vf *in, float *first, int64_t ld, int rows, int64_t d) {
    for (int64_t i = 0; i < vf_count(d); i++) {
        vf v[VW];
        for (int j = 0; j < VW; j++)
            v[j] = j < vf_part(d, i) ? in[i * VW + j] : (vf){0};
        vf_transpose(v);
        for (int r = 0; r < rows; r++)
            vf_row_set(first + r * ld, d, i, v[r]);
    }
}

#endif
