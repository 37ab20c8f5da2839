/* cpu_dense.c - dense products. Narrow ones, the usual case of a deep GNN, run in the
 * loops of this folder; wide ones in fixed blocks, so that results do not depend on the number of threads. */
#include <cblas.h>

#include "backend/cpu/loops/loops.h"
#include "backend/cpu/loops/small_gemm.h"
#if VW >= 8
#include "backend/cpu/loops/wide_gemm.h"
#endif

typedef struct gemm_shape {
    int64_t m, n, k;
} gemm_shape;

INLINE gemm_shape gemm_shape_of(const be_gemm_args *a) {
    return (gemm_shape){a->c.rows, a->c.cols, a->ta ? a->a.rows : a->a.cols};
}

/* How a product is computed; depends on its shape alone. Split-K: partial sums over blocks of k. */
typedef enum gemm_path { SMALL_B, SMALL_SPLIT_K, WIDE_BY_ROWS, WIDE_SPLIT_K } gemm_path;

#define SMALL_MAX_COLS BE_FUSED_MAX_COLS /* columns of C of the small forms */
#define PACKED_MAX_FLOATS 4096           /* of B, packed per thread */
#define SPLIT_K_MAX_FLOATS (1 << 22)     /* of the partial sums of WIDE_SPLIT_K */

/* Blocks of k of WIDE_SPLIT_K: as many as SPLIT_K_MAX_FLOATS allows. */
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
    return a->ta && s.k >= 4 * s.m && split_k_blocks(s) > 1 ? WIDE_SPLIT_K : WIDE_BY_ROWS;
}

/* ---- C = A op(B) with a small B: small_gemm.h ---- */

static void gemm_small_b(const thread_ctx *ctx, const be_gemm_args *a, gemm_shape s) {
    float *b = (float *)(void *)ctx->scratch + (size_t)ctx->id * (floats_bytes(s.k * padded_cols(s.n)) / sizeof(float));
    small_gemm_pack(b, a->b, a->tb, s.k, s.n);
    range tiles = partition(ctx, (s.m + SMALL_ROWS - 1) / SMALL_ROWS);
    range rows = {tiles.begin * SMALL_ROWS, tiles.end * SMALL_ROWS < s.m ? tiles.end * SMALL_ROWS : s.m};
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

#define SPLIT_K_ROWS (VW == 8 ? 6 : 8) /* of C per tile of two vectors */

/* `count` rows of C from row m, `vectors` from vector i of each, summed over the rows of a block; `last` floats of the
 * last vector. */
INLINE void split_k_tile(float *partial, const be_gemm_args *a, gemm_shape s, range k, int64_t m, int64_t i, int last,
                         const int count, const int vectors) {
    vf sum[8][2] = {{{0}}};
    const float *left = row(a->a, k.begin) + m, *right = row(a->b, k.begin) + i * VW;
    for (int64_t v = k.begin; v < k.end; v++, left += a->a.ld, right += a->b.ld) {
        vf x[2];
        x[vectors - 1] = vf_load_n(right + (vectors - 1) * VW, last);
        if (vectors == 2)
            x[0] = vf_load(right);
        for (int c = 0; c < count; c++)
            for (int w = 0; w < vectors; w++)
                sum[c][w] += left[c] * x[w];
    }
    for (int c = 0; c < count; c++)
        for (int w = 0; w < vectors; w++)
            vf_row_set(partial + (m + c) * s.n, s.n, i + w, sum[c][w]);
}

/* Dispatches on 1 to 8 rows of C: with a compile-time count the sums stay in registers. */
INLINE void split_k_rows(float *partial, const be_gemm_args *a, gemm_shape s, range k, int64_t i, const int vectors,
                         range m) {
    int last = vf_part(s.n, i + vectors - 1);
    switch (m.end - m.begin) {
#define ROWS(count)                                                       \
    case count:                                                           \
        split_k_tile(partial, a, s, k, m.begin, i, last, count, vectors); \
        break;
        ROWS(1) ROWS(2) ROWS(3) ROWS(4) ROWS(5) ROWS(6) ROWS(7) ROWS(8)
#undef ROWS
    }
}

/* Tiles of nearly equal height: a tile of one row would be bound by the latency of its additions. */
static void gemm_small_split_k(const thread_ctx *ctx, const be_gemm_args *a, gemm_shape s) {
    int64_t blocks = block_count(s.k), tiles = (s.m + SPLIT_K_ROWS - 1) / SPLIT_K_ROWS;
    float *partial = (float *)(void *)ctx->scratch;
    range mine = partition(ctx, blocks);
    for (int64_t b = mine.begin; b < mine.end; b++) {
        float *p = partial + b * s.m * s.n;
        range k = block_range(s.k, b);
        for (int64_t i = 0; i < vf_count(s.n); i += 2)
            for (int64_t t = 0; t < tiles; t++) {
                range m = {s.m * t / tiles, s.m * (t + 1) / tiles};
                if (i + 1 < vf_count(s.n))
                    split_k_rows(p, a, s, k, i, 2, m);
                else
                    split_k_rows(p, a, s, k, i, 1, m);
            }
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

/* ---- wide products ----
 * AVX2 and AVX-512 multiply in wide_gemm.h: OpenBLAS takes kernels of the oldest processors on those that are newer
 * than it is. */

#if VW >= 8
#define WIDE_UNIT WIDE_ROWS /* rows of C that stay with one thread */
INLINE size_t wide_bytes(int threads) { return (size_t)threads * WIDE_SCRATCH * sizeof(float); }

/* `rows` of c = op(A) op(B) over s.k of k from `first`; `shared` bytes of scratch belong to all threads. */
static void wide_rows(const thread_ctx *ctx, const be_gemm_args *a, gemm_shape s, int64_t first, range rows, float *c,
                      int64_t ldc, float alpha, float beta, size_t shared) {
    const wide_gemm product = {.a = a->ta ? row(a->a, first) : data(a->a) + first,
                               .b = a->tb ? data(a->b) + first : row(a->b, first),
                               .c = c,
                               .lda = a->a.ld,
                               .ldb = a->b.ld,
                               .ldc = ldc,
                               .n = s.n,
                               .k = s.k,
                               .ta = a->ta,
                               .tb = a->tb,
                               .alpha = alpha,
                               .beta = beta};
    wide_gemm_rows(&product, rows, (float *)(void *)(ctx->scratch + shared + (size_t)ctx->id * wide_bytes(1)));
}
#else
#define WIDE_UNIT 128 /* rows of C per OpenBLAS call */
INLINE size_t wide_bytes(int threads) {
    (void)threads;
    return 0;
}

static void wide_rows(const thread_ctx *ctx, const be_gemm_args *a, gemm_shape s, int64_t first, range rows, float *c,
                      int64_t ldc, float alpha, float beta, size_t shared) {
    (void)ctx;
    (void)shared;
    const float *right = a->tb ? data(a->b) + first : row(a->b, first);
    for (int64_t i = rows.begin; i < rows.end; i += WIDE_UNIT)
        cblas_sgemm(CblasRowMajor, a->ta ? CblasTrans : CblasNoTrans, a->tb ? CblasTrans : CblasNoTrans,
                    (int)(rows.end - i < WIDE_UNIT ? rows.end - i : WIDE_UNIT), (int)s.n, (int)s.k, alpha,
                    a->ta ? row(a->a, first) + i : row(a->a, i) + first, (int)a->a.ld, right, (int)a->b.ld, beta,
                    c + i * ldc, (int)ldc);
}
#endif

static void gemm_wide_by_rows(const thread_ctx *ctx, const be_gemm_args *a, gemm_shape s) {
    range mine = partition(ctx, (s.m + WIDE_UNIT - 1) / WIDE_UNIT);
    range rows = {mine.begin * WIDE_UNIT, mine.end * WIDE_UNIT < s.m ? mine.end * WIDE_UNIT : s.m};
    wide_rows(ctx, a, s, 0, rows, data(a->c), a->c.ld, a->alpha, a->beta, 0);
}

static void gemm_wide_split_k(const thread_ctx *ctx, const be_gemm_args *a, gemm_shape s) {
    int64_t blocks = split_k_blocks(s), size = (s.k + blocks - 1) / blocks;
    range mine = partition(ctx, blocks);
    for (int64_t b = mine.begin; b < mine.end; b++) {
        int64_t first = b * size < s.k ? b * size : s.k, some = s.k - first < size ? s.k - first : size;
        float *partial = (float *)(void *)ctx->scratch + b * s.m * s.n;
        if (some > 0)
            wide_rows(ctx, a, (gemm_shape){s.m, s.n, some}, first, (range){0, s.m}, partial, s.n, 1.0f, 0.0f,
                      floats_bytes(blocks * s.m * s.n));
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
    case WIDE_SPLIT_K:
        return floats_bytes(split_k_blocks(s) * s.m * s.n) + wide_bytes(threads);
    case WIDE_BY_ROWS:
        return wide_bytes(threads);
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
    case WIDE_SPLIT_K:
        gemm_wide_split_k(ctx, a, s);
        cpu_barrier(ctx);
        add_blocks(ctx, a, s, split_k_blocks(s));
        break;
    case WIDE_BY_ROWS:
        gemm_wide_by_rows(ctx, a, s);
    }
}
