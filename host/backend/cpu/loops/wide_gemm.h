/* wide_gemm.h - blocks of c = alpha op(a) op(b) + beta c of any size, for vectors of eight floats or more.
 *
 * b is packed in panels of two vectors of columns, [panel][k][2 VW], so that a panel stays in L1 and all panels of a
 * block in L2. A tile of c (WIDE_ROWS x 2 vectors) is summed in registers over WIDE_K of k, in ascending order,
 * whatever the tile: the bits of an element depend on its row of op(a) and its column of op(b) alone. */
#ifndef BACKEND_CPU_LOOPS_WIDE_GEMM_H
#define BACKEND_CPU_LOOPS_WIDE_GEMM_H

#include "backend/cpu/loops/loops.h"

#define WIDE_ROWS (VW == 16 ? 12 : 6) /* 24 or 12 sums: of 32 registers of AVX-512, 16 of AVX2 */
#define WIDE_K 256
#define WIDE_COLS 256 /* columns of b that are packed together */
#define WIDE_BLOCK_ROWS (8 * WIDE_ROWS)

typedef struct wide_gemm {
    const float *a, *b; /* a is read at a[i lda + k], or a[k lda + i] where ta; b at b[k ldb + j], or b[j ldb + k] */
    float *c;
    int64_t lda, ldb, ldc, n, k;
    bool ta, tb;
    float alpha, beta;
} wide_gemm;

/* Floats that one thread packs: a block of b, then one of a. */
#define WIDE_SCRATCH (WIDE_K * (WIDE_COLS + WIDE_BLOCK_ROWS))

/* Panels of k.begin .. k.end-1, columns j .. j + cols - 1; the last panel is padded with zeros. Rows of an untransposed
 * b are read as they are in memory. */
INLINE void wide_pack_b(float *panels, const wide_gemm *s, range k, int64_t j, int64_t cols) {
    int64_t depth = k.end - k.begin;
    for (int64_t at = k.begin; at < k.end; at++, panels += 2 * VW) {
        float *out = panels;
        for (int64_t first = 0; first < cols; first += 2 * VW, out += depth * 2 * VW) {
            int64_t some = cols - first < 2 * VW ? cols - first : 2 * VW;
            const float *right = s->b + (s->tb ? (j + first) * s->ldb + at : at * s->ldb + j + first);
            if (!s->tb && some == 2 * VW)
                memcpy(out, right, 2 * VW * sizeof(float));
            else
                for (int64_t c = 0; c < 2 * VW; c++)
                    out[c] = c >= some ? 0.0f : right[s->tb ? c * s->ldb : c];
        }
    }
}

/* Rows i .. i + rows - 1 of op(a), [tile][k][WIDE_ROWS], the last tile padded with zeros. */
INLINE void wide_pack_a(float *tiles, const wide_gemm *s, range k, int64_t i, int64_t rows) {
    int64_t depth = k.end - k.begin;
    for (int64_t at = k.begin; at < k.end; at++, tiles += WIDE_ROWS) {
        float *out = tiles;
        for (int64_t first = 0; first < rows; first += WIDE_ROWS, out += depth * WIDE_ROWS) {
            int64_t some = rows - first < WIDE_ROWS ? rows - first : WIDE_ROWS;
            const float *left = s->a + (s->ta ? at * s->lda + i + first : (i + first) * s->lda + at);
            if (s->ta && some == WIDE_ROWS)
                memcpy(out, left, WIDE_ROWS * sizeof(float));
            else
                for (int64_t r = 0; r < WIDE_ROWS; r++)
                    out[r] = r >= some ? 0.0f : left[s->ta ? r : r * s->lda];
        }
    }
}

/* `rows` x `vectors` of c, the last vector of `part` floats. The left side of the product at row r is left[r by_row +
 * k by_k]; three rows share a pointer, since processors scale an index by 1 or 2. `vectors` and, for packed rows, both
 * strides are compile-time constants. */
INLINE void wide_tile(const wide_gemm *s, float *c, const float *left, int64_t by_row, int64_t by_k, const float *b,
                      int64_t k, int64_t rows, const int vectors, int part, float beta) {
    vf sum[WIDE_ROWS][2] = {{{0}}};
    const float *three[WIDE_ROWS / 3];
    for (int q = 0; q < WIDE_ROWS / 3; q++)
        three[q] = left + 3 * q * by_row;
    for (int64_t at = 0; at < k; at++, b += 2 * VW) {
        vf right[2];
        for (int i = 0; i < vectors; i++)
            right[i] = vf_load(b + i * VW);
        for (int q = 0; q < WIDE_ROWS / 3; q++) {
            for (int r = 0; r < 3; r++)
                for (int i = 0; i < vectors; i++)
                    sum[3 * q + r][i] += three[q][r * by_row] * right[i];
            three[q] += by_k;
        }
    }
    for (int r = 0; r < WIDE_ROWS; r++)
        for (int i = 0; r < rows && i < vectors; i++) {
            float *out = c + r * s->ldc + i * VW;
            int some = i == vectors - 1 ? part : VW;
            vf v = s->alpha * sum[r][i];
            if (beta != 0.0f)
                v = vf_fma(vf_set(s->alpha), sum[r][i], beta * vf_load_n(out, some));
            vf_store_part(out, v, some);
        }
}

/* Rows i .. i + rows - 1 (at most WIDE_BLOCK_ROWS) of c, columns j .. j + cols - 1, over one block of k. Whole tiles of
 * untransposed rows are read where they are, others from `packed`. */
static void wide_block(const wide_gemm *s, const float *panels, float *packed, range k, int64_t i, int64_t rows,
                       int64_t j, int64_t cols) {
    int64_t depth = k.end - k.begin, whole = s->ta ? 0 : rows / WIDE_ROWS * WIDE_ROWS;
    float beta = k.begin > 0 ? 1.0f : s->beta;
    wide_pack_a(packed, s, k, i + whole, rows - whole);
    for (int64_t first = 0; first < cols; first += 2 * VW, panels += depth * 2 * VW) {
        bool two = cols - first > VW;
        int part = two ? vf_part(cols - first, 1) : vf_part(cols - first, 0);
        float *c = s->c + i * s->ldc + j + first;
        for (int64_t r = 0; r < rows; r += WIDE_ROWS, c += WIDE_ROWS * s->ldc) {
            int64_t some = rows - r < WIDE_ROWS ? rows - r : WIDE_ROWS;
            const float *left = r < whole ? s->a + (i + r) * s->lda + k.begin : packed + (r - whole) * depth;
            if (r < whole && two)
                wide_tile(s, c, left, s->lda, 1, panels, depth, some, 2, part, beta);
            else if (r < whole)
                wide_tile(s, c, left, s->lda, 1, panels, depth, some, 1, part, beta);
            else if (two)
                wide_tile(s, c, left, 1, WIDE_ROWS, panels, depth, some, 2, part, beta);
            else
                wide_tile(s, c, left, 1, WIDE_ROWS, panels, depth, some, 1, part, beta);
        }
    }
}

/* Rows of c; `scratch`: WIDE_SCRATCH floats of this thread. With k = 0 it is beta c. */
static void wide_gemm_rows(const wide_gemm *s, range rows, float *scratch) {
    float *packed = scratch + WIDE_K * WIDE_COLS;
    for (int64_t j = 0; j < s->n; j += WIDE_COLS) {
        int64_t cols = s->n - j < WIDE_COLS ? s->n - j : WIDE_COLS;
        range k = {0, 0};
        do {
            k = (range){k.end, s->k - k.end < WIDE_K ? s->k : k.end + WIDE_K};
            wide_pack_b(scratch, s, k, j, cols);
            for (int64_t i = rows.begin; i < rows.end; i += WIDE_BLOCK_ROWS) {
                int64_t some = rows.end - i < WIDE_BLOCK_ROWS ? rows.end - i : WIDE_BLOCK_ROWS;
                wide_block(s, scratch, packed, k, i, some, j, cols);
            }
        } while (k.end < s->k);
    }
}

#endif
