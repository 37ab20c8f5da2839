/* simd.h - vectors of VW floats, written once for every instruction set. The
 * arithmetic is plain C on vector types; only loads and stores of a part of a
 * vector need each set's own instruction.
 *
 * A row of d floats is handled as full vectors and one part: vf_load_n reads
 * n <= VW floats and gives zeros behind them, vf_store_n writes just n. */
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
#define VW 4
#endif

#define INLINE static inline __attribute__((always_inline))

typedef float vf __attribute__((vector_size(VW * 4)));
typedef int32_t vi __attribute__((vector_size(VW * 4)));
typedef uint32_t vu __attribute__((vector_size(VW * 4)));

INLINE vf vf_load(const float *p) {
    vf v;
    memcpy(&v, p, sizeof v);
    return v;
}

INLINE void vf_store(float *p, vf v) { memcpy(p, &v, sizeof v); }

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
INLINE vf vf_load_n(const float *p, int n) {
    vf v = {0};
    for (int i = 0; i < n; i++)
        v[i] = p[i];
    return v;
}
INLINE void vf_store_n(float *p, vf v, int n) {
    for (int i = 0; i < n; i++)
        p[i] = v[i];
}
#endif

/* A vector chosen lane by lane: where `mask` is all ones a, else b. */
INLINE vf vf_pick(vi mask, vf a, vf b) { return (vf)((mask & (vi)a) | (~mask & (vi)b)); }
INLINE vf vf_max(vf a, vf b) { return vf_pick(a > b, a, b); }

/* The sum of all lanes, always halves first: the order is part of the result. */
INLINE float vf_sum(vf v) {
    float lane[VW];
    memcpy(lane, &v, sizeof lane);
    for (int half = VW / 2; half > 0; half /= 2)
        for (int i = 0; i < half; i++)
            lane[i] += lane[i + half];
    return lane[0];
}

INLINE float vf_largest(vf v) {
    float lane[VW];
    memcpy(lane, &v, sizeof lane);
    for (int half = VW / 2; half > 0; half /= 2)
        for (int i = 0; i < half; i++)
            lane[i] = lane[i + half] > lane[i] ? lane[i + half] : lane[i];
    return lane[0];
}

/* exp(x): x = k ln 2 + r with |r| <= ln 2 / 2, exp(r) by its Taylor polynomial of
 * degree 7 (error below 1e-8 relative), times 2^k put into the exponent. Below
 * -87 the result is 0, above 88 it is held at exp(88); NaN stays NaN. */
INLINE vf vf_exp(vf x) {
    vf bounded = vf_pick(x > 88.0f, vf_set(88.0f), x);
    vf k = bounded * 1.44269504f + 12582912.0f; /* adding 1.5 * 2^23 rounds to a whole number */
    vi exponent = (vi)k - 0x4b400000;
    k -= 12582912.0f;
    vf r = (bounded - k * 0.693359375f) + k * 2.12194440e-4f; /* ln 2 in two parts */
    vf p = r * (1.0f / 5040.0f) + 1.0f / 720.0f;
    p = p * r + 1.0f / 120.0f;
    p = p * r + 1.0f / 24.0f;
    p = p * r + 1.0f / 6.0f;
    p = p * r + 0.5f;
    p = p * r + 1.0f;
    p = p * r + 1.0f;
    vf scaled = (vf)((vi)p + (exponent << 23));
    vf result = vf_pick(x < -87.0f, vf_set(0.0f), scaled);
    return vf_pick(x == x, result, x);
}

/* ---- rows of any width ---- */

/* Whether vector i of a row of d floats is whole, and how many floats it has. */
INLINE int vf_part(int64_t d, int64_t i) { return d - i * VW >= VW ? VW : (int)(d - i * VW); }
INLINE int64_t vf_count(int64_t d) { return (d + VW - 1) / VW; }
INLINE vf vf_row(const float *row, int64_t d, int64_t i) {
    int part = vf_part(d, i);
    return part == VW ? vf_load(row + i * VW) : vf_load_n(row + i * VW, part);
}
INLINE void vf_row_set(float *row, int64_t d, int64_t i, vf v) {
    int part = vf_part(d, i);
    if (part == VW)
        vf_store(row + i * VW, v);
    else
        vf_store_n(row + i * VW, v, part);
}

#endif
