/* cpu_dense.c - dense products. Narrow ones, which is what a deep GNN has, run in
 * loops of our own; wide ones are cut in fixed blocks, one OpenBLAS call each on
 * one thread, so that no result depends on the number of threads. */
#include <cblas.h>

#include "backend/cpu/loops/loops.h"
#include "backend/cpu/loops/narrow.h"

typedef struct shape {
    int64_t m, n, k;
} shape;

INLINE shape shape_of(const be_gemm_args *a) { return (shape){a->c.rows, a->c.cols, a->ta ? a->a.rows : a->a.cols}; }

/* Which of the four ways a product goes; depends on its shape alone. */
typedef enum way { ROWS_NARROW, SUM_NARROW, ROWS_BLAS, SUM_BLAS } way;

#define NARROW BE_NARROW     /* columns of C up to which our own loops are used */
#define PACKED 4096          /* floats of B that are kept packed per thread */
#define SUM_FLOATS (1 << 22) /* floats of partial sums that SUM_BLAS may take */
#define BLAS_ROWS 128        /* rows of C per OpenBLAS call */

/* Blocks of k for SUM_BLAS: few enough for SUM_FLOATS. */
INLINE int64_t sum_blocks_blas(shape s) {
    int64_t most = SUM_FLOATS / (s.m * s.n > 0 ? s.m * s.n : 1), all = block_count(s.k);
    return most < 1 ? 1 : (most < all ? most : all);
}

INLINE way way_of(const be_gemm_args *a) {
    shape s = shape_of(a);
    if (!a->ta && s.n <= NARROW && s.k * s.n <= PACKED)
        return ROWS_NARROW;
    if (a->ta && !a->tb && s.n <= NARROW && s.m <= NARROW)
        return SUM_NARROW;
    return a->ta && s.k >= 4 * s.m && sum_blocks_blas(s) > 1 ? SUM_BLAS : ROWS_BLAS;
}

/* ---- C = A B with a small B: narrow.h ---- */

static void rows_narrow(const cpu_team *team, const be_gemm_args *a, shape s) {
    float *b =
        (float *)(void *)team->scratch + (size_t)team->id * (floats_bytes(s.k * narrow_width(s.n)) / sizeof(float));
    narrow_pack(b, a->b, a->tb, s.k, s.n);
    span rows = row_share(team, s.m);
    narrow_rows(&(narrow_view){.a = row(a->a, rows.begin),
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

/* ---- C = A' B, k long: sums by blocks of k ---- */

/* `count` rows of C from row m, vector i of each, summed over the rows of a block. */
INLINE void sum_tile(float *partial, const be_gemm_args *a, shape s, span k, int64_t m, int64_t i, const int count) {
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

/* The same for 1 to 8 rows of C: a count the compiler knows keeps the sums in registers. */
INLINE void sum_rows(float *partial, const be_gemm_args *a, shape s, span k, int64_t i, span m) {
    switch (m.end - m.begin) {
#define ROWS(count)                                    \
    case count:                                        \
        sum_tile(partial, a, s, k, m.begin, i, count); \
        break;
        ROWS(1) ROWS(2) ROWS(3) ROWS(4) ROWS(5) ROWS(6) ROWS(7) ROWS(8)
#undef ROWS
    }
}

/* Tiles of rows as alike as can be: a tile of one row would wait for each of its additions. */
static void sum_narrow(const cpu_team *team, const be_gemm_args *a, shape s) {
    int64_t blocks = block_count(s.k), tiles = (s.m + 7) / 8;
    float *partial = (float *)(void *)team->scratch;
    span mine = share(team, blocks);
    for (int64_t b = mine.begin; b < mine.end; b++) {
        float *p = partial + b * s.m * s.n;
        span k = block_span(s.k, b);
        for (int64_t i = 0; i < vf_count(s.n); i++)
            for (int64_t t = 0; t < tiles; t++)
                sum_rows(p, a, s, k, i, (span){s.m * t / tiles, s.m * (t + 1) / tiles});
    }
}

static void add_blocks(const cpu_team *team, const be_gemm_args *a, shape s, int64_t blocks) {
    const float *partial = (const float *)(const void *)team->scratch;
    int64_t size = s.m * s.n;
    span mine = share(team, (size + CHUNK - 1) / CHUNK);
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

static void blas(const be_gemm_args *a, shape s, const float *left, const float *right, float *c, int64_t ldc,
                 float alpha, float beta) {
    cblas_sgemm(CblasRowMajor, a->ta ? CblasTrans : CblasNoTrans, a->tb ? CblasTrans : CblasNoTrans, (int)s.m, (int)s.n,
                (int)s.k, alpha, left, (int)a->a.ld, right, (int)a->b.ld, beta, c, (int)ldc);
}

static void rows_blas(const cpu_team *team, const be_gemm_args *a, shape s) {
    span mine = share(team, (s.m + BLAS_ROWS - 1) / BLAS_ROWS);
    for (int64_t b = mine.begin; b < mine.end; b++) {
        int64_t first = b * BLAS_ROWS, rows = s.m - first < BLAS_ROWS ? s.m - first : BLAS_ROWS;
        const float *left = a->ta ? data(a->a) + first : row(a->a, first);
        blas(a, (shape){rows, s.n, s.k}, left, data(a->b), row(a->c, first), a->c.ld, a->alpha, a->beta);
    }
}

static void sum_blas(const cpu_team *team, const be_gemm_args *a, shape s) {
    int64_t blocks = sum_blocks_blas(s), size = (s.k + blocks - 1) / blocks;
    span mine = share(team, blocks);
    for (int64_t b = mine.begin; b < mine.end; b++) {
        int64_t first = b * size < s.k ? b * size : s.k, rows = s.k - first < size ? s.k - first : size;
        float *partial = (float *)(void *)team->scratch + b * s.m * s.n;
        if (rows > 0)
            blas(a, (shape){s.m, s.n, rows}, row(a->a, first), a->tb ? data(a->b) + first : row(a->b, first), partial,
                 s.n, 1.0f, 0.0f);
        else
            memset(partial, 0, (size_t)(s.m * s.n) * sizeof(float));
    }
}

SCRATCH(gemm) {
    shape s = shape_of(a);
    switch (way_of(a)) {
    case ROWS_NARROW:
        return (size_t)threads * floats_bytes(s.k * narrow_width(s.n));
    case SUM_NARROW:
        return floats_bytes(block_count(s.k) * s.m * s.n);
    case SUM_BLAS:
        return floats_bytes(sum_blocks_blas(s) * s.m * s.n);
    case ROWS_BLAS:
        break;
    }
    return 0;
}
OP(gemm) {
    shape s = shape_of(a);
    switch (way_of(a)) {
    case ROWS_NARROW:
        rows_narrow(team, a, s);
        break;
    case SUM_NARROW:
        sum_narrow(team, a, s);
        cpu_barrier(team);
        add_blocks(team, a, s, block_count(s.k));
        break;
    case SUM_BLAS:
        sum_blas(team, a, s);
        cpu_barrier(team);
        add_blocks(team, a, s, sum_blocks_blas(s));
        break;
    case ROWS_BLAS:
        rows_blas(team, a, s);
    }
}
