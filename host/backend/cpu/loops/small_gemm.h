/* small_gemm.h - c = alpha a b + beta c with b packed once and small enough for L1. Lanes are columns of c; a tile is
 * SMALL_ROWS rows by two vectors, whose sums stay in registers. */
#ifndef BACKEND_CPU_LOOPS_SMALL_GEMM_H
#define BACKEND_CPU_LOOPS_SMALL_GEMM_H

#include "backend/cpu/loops/loops.h"

#define SMALL_ROWS (VW == 16 ? 8 : VW == 8 ? 6 : 4)

typedef struct small_gemm {
    const float *a, *b; /* b packed */
    float *c;
    int64_t lda, ldc, n, k; /* c is rows x n, a rows x k */
    float alpha, beta;
} small_gemm;

INLINE int64_t padded_cols(int64_t n) { return vf_count(n) * VW; }

/* b[k][width] = op(from), columns padded with zeros to whole vectors. */
INLINE void small_gemm_pack(float *b, be_mat from, bool transposed, int64_t k, int64_t n) {
    int64_t width = padded_cols(n);
    for (int64_t i = 0; i < k; i++)
        for (int64_t j = 0; j < width; j++)
            b[i * width + j] = j >= n ? 0.0f : transposed ? row(from, j)[i] : row(from, i)[j];
}

/* `rows` x `vectors` of c at row r, vector i0; `stream`: non-temporal stores; rows of c are then whole, aligned
 * vectors. All three are compile-time constants. */
INLINE void small_gemm_tile(const small_gemm *s, int64_t r, int64_t i0, const int rows, const int vectors,
                            const bool stream) {
    vf sum[SMALL_ROWS][2] = {{{0}}};
    int64_t width = padded_cols(s->n);
    const float *left[SMALL_ROWS], *b = s->b + i0 * VW;
    for (int v = 0; v < rows; v++)
        left[v] = s->a + (r + v) * s->lda;
    for (int64_t k = 0; k < s->k; k++, b += width) {
        vf right[2];
        for (int i = 0; i < vectors; i++)
            right[i] = vf_load(b + i * VW);
        for (int v = 0; v < rows; v++)
            for (int i = 0; i < vectors; i++)
                sum[v][i] += left[v][k] * right[i];
    }
    for (int v = 0; v < rows; v++) {
        float *c = s->c + (r + v) * s->ldc;
        for (int i = 0; i < vectors; i++) {
            vf out = s->alpha * sum[v][i];
            if (s->beta != 0.0f)
                out = vf_fma(vf_set(s->alpha), sum[v][i], s->beta * vf_row(c, s->n, i0 + i));
            if (stream)
                vf_stream(c + (i0 + i) * VW, out);
            else
                vf_row_set(c, s->n, i0 + i, out);
        }
    }
}

INLINE void small_gemm_rows(const small_gemm *s, int64_t rows, const bool stream) {
    int64_t vectors = vf_count(s->n), r = 0;
    for (; r + SMALL_ROWS <= rows; r += SMALL_ROWS)
        for (int64_t i = 0; i < vectors; i += 2)
            if (vectors - i >= 2)
                small_gemm_tile(s, r, i, SMALL_ROWS, 2, stream);
            else
                small_gemm_tile(s, r, i, SMALL_ROWS, 1, stream);
    for (; r < rows; r++)
        for (int64_t i = 0; i < vectors; i++)
            small_gemm_tile(s, r, i, 1, 1, stream);
}

#endif
