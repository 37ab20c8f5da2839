/* cpu_dense.c - dense products. Narrow ones, the usual case of a deep GNN, run in the
 * loops of this folder; wide ones are split into fixed blocks, one single-threaded
 * OpenBLAS call each, so that results do not depend on the number of threads. */
#include <cblas.h>

#include "backend/cpu/loops/loops.h"
#include "backend/cpu/loops/small_gemm.h"

typedef struct gemm_shape {
    int64_t m, n, k;
} gemm_shape;

INLINE gemm_shape gemm_shape_of(const be_gemm_args *a) {
    return (gemm_shape){a->c.rows, a->c.cols, a->ta ? a->a.rows : a->a.cols};
}

/* How a product is computed; depends on its shape alone. Split-K: partial sums over blocks of k. */
typedef enum gemm_path { SMALL_B, SMALL_SPLIT_K, BLAS_BY_ROWS, BLAS_SPLIT_K } gemm_path;

#define SMALL_MAX_COLS BE_FUSED_MAX_COLS /* columns of C up to which OpenBLAS is not called */
#define PACKED_MAX_FLOATS 4096           /* of B, packed per thread */
#define SPLIT_K_MAX_FLOATS (1 << 22)     /* of the partial sums of BLAS_SPLIT_K */
#define BLAS_BLOCK_ROWS 128              /* rows of C per OpenBLAS call */

/* Blocks of k of BLAS_SPLIT_K: as many as SPLIT_K_MAX_FLOATS allows. */
INLINE int64_t split_k_blocks(gemm_shape s) {
    int64_t most = SPLIT_K_MAX_FLOATS / (s.m * s.n > 0 ? s.m * s.n : 1), all = block_count(s.k);
    return most < 1 ? 1 : (most < all ? most : all);
}

INLINE gemm_path gemm_path_of(const be_gemm_args *a) {
    gemm_shape s = gemm_shape_of(a);
    if (!a->ta && s.n <= SMALL_MAX_COLS && s.k * s.n <= PACKED_MAX_FLOATS)
        return SMALL_B;
    if (a->ta && !a->tb && s.n <= SMALL_MAX_COLS && s.m <= SMALL_MAX_COLS)
        return SMALL_SPLIT_K;
    return a->ta && s.k >= 4 * s.m && split_k_blocks(s) > 1 ? BLAS_SPLIT_K : BLAS_BY_ROWS;
}

/* ---- C = A op(B) with a small B: small_gemm.h ---- */

static void gemm_small_b(const thread_ctx *ctx, const be_gemm_args *a, gemm_shape s) {
    float *b = (float *)(void *)ctx->scratch + (size_t)ctx->id * (floats_bytes(s.k * padded_cols(s.n)) / sizeof(float));
    small_gemm_pack(b, a->b, a->tb, s.k, s.n);
    range rows = row_partition(ctx, s.m);
    small_gemm_rows(&(small_gemm){.a = row(a->a, rows.begin),
                                  .b = b,
                                  .c = row(a->c, rows.begin),
                                  .lda = a->a.ld,
                                  .ldc = a->c.ld,
                                  .n = s.n,
                                  .k = s.k,
                                  .alpha = a->alpha,
                                  .beta = a->beta},
                    rows.end - rows.begin, false);
}

/* ---- C = A' B with a small C: split-K ---- */

/* `count` rows of C from row m, vector i of each, summed over the rows of a block. */
INLINE void split_k_tile(float *partial, const be_gemm_args *a, gemm_shape s, range k, int64_t m, int64_t i,
                         const int count) {
    vf sum[8] = {{0}};
    int part = vf_part(s.n, i);
    const float *left = row(a->a, k.begin) + m, *right = row(a->b, k.begin) + i * VW;
    for (int64_t v = k.begin; v < k.end; v++, left += a->a.ld, right += a->b.ld) {
        vf x = vf_load_n(right, part);
        for (int c = 0; c < count; c++)
            sum[c] += left[c] * x;
    }
    for (int c = 0; c < count; c++)
        vf_row_set(partial + (m + c) * s.n, s.n, i, sum[c]);
}

/* Dispatches on 1 to 8 rows of C: with a compile-time count the sums stay in registers. */
INLINE void split_k_rows(float *partial, const be_gemm_args *a, gemm_shape s, range k, int64_t i, range m) {
    switch (m.end - m.begin) {
#define ROWS(count)                                        \
    case count:                                            \
        split_k_tile(partial, a, s, k, m.begin, i, count); \
        break;
        ROWS(1) ROWS(2) ROWS(3) ROWS(4) ROWS(5) ROWS(6) ROWS(7) ROWS(8)
#undef ROWS
    }
}

/* Tiles of nearly equal height: a tile of one row would be bound by the latency of its additions. */
static void gemm_small_split_k(const thread_ctx *ctx, const be_gemm_args *a, gemm_shape s) {
    int64_t blocks = block_count(s.k), tiles = (s.m + 7) / 8;
    float *partial = (float *)(void *)ctx->scratch;
    range mine = partition(ctx, blocks);
    for (int64_t b = mine.begin; b < mine.end; b++) {
        float *p = partial + b * s.m * s.n;
        range k = block_range(s.k, b);
        for (int64_t i = 0; i < vf_count(s.n); i++)
            for (int64_t t = 0; t < tiles; t++)
                split_k_rows(p, a, s, k, i, (range){s.m * t / tiles, s.m * (t + 1) / tiles});
    }
}

static void add_blocks(const thread_ctx *ctx, const be_gemm_args *a, gemm_shape s, int64_t blocks) {
    const float *partial = (const float *)(const void *)ctx->scratch;
    int64_t size = s.m * s.n;
    range mine = partition(ctx, (size + CHUNK - 1) / CHUNK);
    for (int64_t first = mine.begin * CHUNK; first < size && first < mine.end * CHUNK; first += CHUNK) {
        double sum[CHUNK];
        int64_t some = size - first < CHUNK ? size - first : CHUNK;
        sum_blocks(sum, partial + first, blocks, size, some);
        for (int64_t i = first; i < first + some; i++) {
            float *c = row(a->c, i / s.n) + i % s.n, product = a->alpha * (float)sum[i - first];
            *c = a->beta != 0.0f ? product + a->beta * *c : product;
        }
    }
}

/* ---- OpenBLAS ---- */

static void blas(const be_gemm_args *a, gemm_shape s, const float *left, const float *right, float *c, int64_t ldc,
                 float alpha, float beta) {
    cblas_sgemm(CblasRowMajor, a->ta ? CblasTrans : CblasNoTrans, a->tb ? CblasTrans : CblasNoTrans, (int)s.m, (int)s.n,
                (int)s.k, alpha, left, (int)a->a.ld, right, (int)a->b.ld, beta, c, (int)ldc);
}

static void gemm_blas_by_rows(const thread_ctx *ctx, const be_gemm_args *a, gemm_shape s) {
    range mine = partition(ctx, (s.m + BLAS_BLOCK_ROWS - 1) / BLAS_BLOCK_ROWS);
    for (int64_t b = mine.begin; b < mine.end; b++) {
        int64_t first = b * BLAS_BLOCK_ROWS, rows = s.m - first < BLAS_BLOCK_ROWS ? s.m - first : BLAS_BLOCK_ROWS;
        const float *left = a->ta ? data(a->a) + first : row(a->a, first);
        blas(a, (gemm_shape){rows, s.n, s.k}, left, data(a->b), row(a->c, first), a->c.ld, a->alpha, a->beta);
    }
}

static void gemm_blas_split_k(const thread_ctx *ctx, const be_gemm_args *a, gemm_shape s) {
    int64_t blocks = split_k_blocks(s), size = (s.k + blocks - 1) / blocks;
    range mine = partition(ctx, blocks);
    for (int64_t b = mine.begin; b < mine.end; b++) {
        int64_t first = b * size < s.k ? b * size : s.k, rows = s.k - first < size ? s.k - first : size;
        float *partial = (float *)(void *)ctx->scratch + b * s.m * s.n;
        if (rows > 0)
            blas(a, (gemm_shape){s.m, s.n, rows}, row(a->a, first), a->tb ? data(a->b) + first : row(a->b, first),
                 partial, s.n, 1.0f, 0.0f);
        else
            memset(partial, 0, (size_t)(s.m * s.n) * sizeof(float));
    }
}

CPU_SCRATCH(gemm) {
    gemm_shape s = gemm_shape_of(a);
    switch (gemm_path_of(a)) {
    case SMALL_B:
        return (size_t)threads * floats_bytes(s.k * padded_cols(s.n));
    case SMALL_SPLIT_K:
        return floats_bytes(block_count(s.k) * s.m * s.n);
    case BLAS_SPLIT_K:
        return floats_bytes(split_k_blocks(s) * s.m * s.n);
    case BLAS_BY_ROWS:
        break;
    }
    return 0;
}
CPU_OP(gemm) {
    gemm_shape s = gemm_shape_of(a);
    switch (gemm_path_of(a)) {
    case SMALL_B:
        gemm_small_b(ctx, a, s);
        break;
    case SMALL_SPLIT_K:
        gemm_small_split_k(ctx, a, s);
        cpu_barrier(ctx);
        add_blocks(ctx, a, s, block_count(s.k));
        break;
    case BLAS_SPLIT_K:
        gemm_blas_split_k(ctx, a, s);
        cpu_barrier(ctx);
        add_blocks(ctx, a, s, split_k_blocks(s));
        break;
    case BLAS_BY_ROWS:
        gemm_blas_by_rows(ctx, a, s);
    }
}
