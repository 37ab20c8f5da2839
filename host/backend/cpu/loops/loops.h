/* loops.h - helpers of the operation files of this folder. They are compiled once
 * per instruction set with CPU_ISA set to its name; only the table (cpu_table.c)
 * is visible outside, so the copies do not clash.
 *
 * Reductions work on blocks of rows (block_rows): the sum of a block does not depend
 * on the thread that computes it, and blocks are added in order, in double. */
#ifndef CPU_LOOPS_H
#define CPU_LOOPS_H

#include "backend/cpu/cpu.h"
#include "backend/cpu/loops/simd.h"
#include "core/mem.h"
#include "philox.h"

#define CPU_PASTE2(a, b) a##_##b
#define CPU_PASTE(a, b) CPU_PASTE2(a, b)
#define CPU_NAME(name) CPU_PASTE(name, CPU_ISA)

/* CPU_OP(gemm) { ... } defines the function of an operation; its arguments are `ctx` and
 * `a`. CPU_SCRATCH(gemm) { ... } returns the bytes of scratch it needs. */
#define CPU_OP(op)                                                                                 \
    static void op##_body(const thread_ctx *ctx, const be_##op##_args *a);                         \
    void CPU_NAME(cpu_run_##op)(const thread_ctx *ctx, const void *args);                          \
    void CPU_NAME(cpu_run_##op)(const thread_ctx *ctx, const void *args) { op##_body(ctx, args); } \
    static void op##_body(const thread_ctx *ctx, const be_##op##_args *a)
#define CPU_SCRATCH(op)                                                                                    \
    static size_t op##_bytes(const be_##op##_args *a, int threads);                                        \
    size_t CPU_NAME(cpu_scratch_##op)(const void *args, int threads);                                      \
    size_t CPU_NAME(cpu_scratch_##op)(const void *args, int threads) { return op##_bytes(args, threads); } \
    static size_t op##_bytes(const be_##op##_args *a, int threads)
#define CPU_NO_SCRATCH(op) \
    CPU_SCRATCH(op) {      \
        (void)a;           \
        (void)threads;     \
        return 0;          \
    }

/* ---- memory of views ---- */

INLINE float *data(be_mat m) { return m.buf ? (float *)m.buf->handle + m.off : NULL; }
INLINE float *row(be_mat m, int64_t r) { return (float *)m.buf->handle + m.off + r * m.ld; }
/* Whether m can be written by vf_stream: rows are whole, aligned vectors. */
INLINE bool on_vectors(be_mat m) { return m.cols % VW == 0 && m.ld % VW == 0 && (uintptr_t)data(m) % sizeof(vf) == 0; }
INLINE int32_t *int_data(be_ints v) { return v.buf ? (int32_t *)v.buf->handle + v.off : NULL; }
INLINE const int64_t *csr_indptr(const be_csr *a) { return (const int64_t *)a->indptr.buf->handle + a->indptr.off; }
INLINE const int32_t *csr_indices(const be_csr *a) { return int_data(a->indices); }

/* csr_order: the order in which rows are visited (see cpu_csr_plan); NULL: ascending. */
INLINE const cpu_csr_plan *csr_plan(const be_csr *a) { return a->plan ? a->plan->handle : NULL; }
INLINE const int32_t *csr_order(const be_csr *a) { return a->plan ? csr_plan(a)->order : NULL; }

/* Prefetches element j of row r; j may exceed the row and then addresses the next ones. */
INLINE void prefetch_row(prefetch_hint m, int64_t r, int64_t j) {
    if (m.first)
        __builtin_prefetch(m.first + r * m.ld + j, 0, 2);
}

/* A hint for m itself, so many rows ahead, where it exceeds the cache and its columns are swept one after the other:
 * processors recognise no stream in rows of several lines. Else no hint. */
INLINE prefetch_hint rows_ahead(be_mat m, int64_t rows) {
    return (prefetch_hint){m.buf && exceeds_cache(m) ? row(m, rows) : NULL, m.ld};
}
INLINE prefetch_hint hint_or(prefetch_hint hint, prefetch_hint other) { return hint.first ? hint : other; }

/* ---- partitions of the work ---- */

typedef struct range {
    int64_t begin, end;
} range;

/* The part of 0 .. count-1 of this thread. */
INLINE range partition(const thread_ctx *ctx, int64_t count) {
    return (range){count * ctx->id / ctx->size, count * (ctx->id + 1) / ctx->size};
}

/* Blocks of at least CPU_BLOCK rows, at most CPU_BLOCKS of them, which bounds the partial
 * sums of large graphs. Depends on n alone. */
#define CPU_BLOCK 64
#define CPU_BLOCKS 512

INLINE int64_t block_rows(int64_t n) {
    int64_t least = (n + CPU_BLOCKS - 1) / CPU_BLOCKS;
    return (least + CPU_BLOCK - 1) / CPU_BLOCK * CPU_BLOCK;
}
INLINE int64_t block_count(int64_t n) { return (n + block_rows(n) - 1) / block_rows(n); }
INLINE range block_range(int64_t n, int64_t b) {
    int64_t size = block_rows(n), end = (b + 1) * size;
    return (range){b * size, end < n ? end : n};
}
/* The rows of this thread, in whole blocks, for loops without sums per block. */
INLINE range row_partition(const thread_ctx *ctx, int64_t n) {
    range blocks = partition(ctx, (n + CPU_BLOCK - 1) / CPU_BLOCK);
    int64_t end = blocks.end * CPU_BLOCK;
    return (range){blocks.begin * CPU_BLOCK, end < n ? end : n};
}

/* The part of an element-wise operation: some rows, or some columns of all rows where rows are few (a parameter block
 * is one long row). */
typedef struct tile {
    range rows, cols;
} tile;
INLINE tile tile_partition(const thread_ctx *ctx, int64_t rows, int64_t cols) {
    if (rows >= 2 * CPU_BLOCK)
        return (tile){row_partition(ctx, rows), {0, cols}};
    return (tile){{0, rows}, row_partition(ctx, cols)};
}

/* Sparse rows, partitioned so that every thread has the same number of rows + entries.
 * A row does not depend on the thread that computes it. */
INLINE int64_t csr_cut(const int64_t *indptr, int64_t rows, int64_t target) {
    int64_t low = 0, high = rows;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (indptr[middle] + middle < target)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
INLINE range csr_partition(const thread_ctx *ctx, const be_csr *a) {
    const int64_t *indptr = csr_indptr(a);
    int64_t work = a->rows + a->nnz;
    return (range){csr_cut(indptr, a->rows, work * ctx->id / ctx->size),
                   csr_cut(indptr, a->rows, work * (ctx->id + 1) / ctx->size)};
}

/* The same in whole windows of CPU_WINDOW rows. */
INLINE range window_partition(const thread_ctx *ctx, const be_csr *a) {
    range rows = csr_partition(ctx, a);
    int64_t half = CPU_WINDOW / 2, all = (a->rows + CPU_WINDOW - 1) / CPU_WINDOW;
    return (range){ctx->id == 0 ? 0 : (rows.begin + half) / CPU_WINDOW,
                   ctx->id == ctx->size - 1 ? all : (rows.end + half) / CPU_WINDOW};
}

/* Scratch is handed out in pieces aligned to a cache line. */
INLINE size_t padded(size_t bytes) { return (bytes + MEM_ALIGN - 1) / MEM_ALIGN * MEM_ALIGN; }
INLINE size_t floats_bytes(int64_t count) { return padded((size_t)count * sizeof(float)); }
INLINE float *take_floats(char **scratch, int64_t count) {
    float *floats = (float *)(void *)*scratch;
    *scratch += floats_bytes(count);
    return floats;
}

/* Sums over blocks run in double, in block order, for CHUNK elements side by side. */
#define CHUNK 16
typedef float chunk_floats __attribute__((vector_size(CHUNK * 4)));
typedef double chunk_doubles __attribute__((vector_size(CHUNK * 8)));

/* *out = the `count` elements at `from`, padded with zeros. Returned by pointer: the ABI does not define how a vector
 * wider than the registers is returned. */
INLINE void chunk_load(chunk_doubles *out, const float *from, int64_t count) {
    chunk_floats here = {0};
    if (count == CHUNK)
        memcpy(&here, from, sizeof here);
    else
        memcpy(&here, from, (size_t)count * sizeof(float));
    *out = __builtin_convertvector(here, chunk_doubles);
}

/* sum[i] = sum over blocks of partial[b * stride + i] for i < count. */
INLINE void sum_blocks(double sum[CHUNK], const float *partial, int64_t blocks, int64_t stride, int64_t count) {
    chunk_doubles all = {0}, here;
    for (int64_t b = 0; b < blocks; b++, partial += stride) {
        chunk_load(&here, partial, count);
        all += here;
    }
    memcpy(sum, &all, sizeof all);
}

/* out[i] += sum over blocks of partial[b * stride + i], for the elements of this thread. */
INLINE void add_sums(const thread_ctx *ctx, float *out, const float *partial, int64_t blocks, int64_t stride,
                     int64_t count) {
    range mine = partition(ctx, (count + CHUNK - 1) / CHUNK);
    for (int64_t c = mine.begin; c < mine.end; c++) {
        double sum[CHUNK];
        int64_t first = c * CHUNK, some = count - first < CHUNK ? count - first : CHUNK;
        sum_blocks(sum, partial + first, blocks, stride, some);
        for (int64_t i = 0; i < some; i++)
            out[first + i] += (float)sum[i];
    }
}

/* ---- dropout and activation ---- */

#define DROPOUT_RUN (4 * VW) /* elements per run of the generator */

/* philox4x32_10 of philox.h for VW blocks from number `block`: the factors of DROPOUT_RUN elements. A 32-bit
 * word is the lower half of a 64-bit lane, VW / 2 blocks per vector; the upper halves are ignored. */
INLINE void dropout_run(float factors[DROPOUT_RUN], const be_drop *drop, uint32_t block) {
    for (uint32_t half = 0; half < 2; half++) {
        static const uint64_t ramp[] = {0, 1, 2, 3, 4, 5, 6, 7};
        vl c[4], pair[2];
        memcpy(&c[0], ramp, sizeof c[0]);
        c[0] += block + half * (VW / 2);
        c[1] = (vl){0} + drop->layer;
        c[2] = (vl){0} + drop->epoch;
        c[3] = (vl){0} + drop->stream;
        uint32_t k0 = drop->key[0], k1 = drop->key[1];
        for (int round = 0; round < 10; round++, k0 += 0x9E3779B9u, k1 += 0xBB67AE85u) {
            vl p0 = vl_mul_lo32(c[0], 0xD2511F53u), p1 = vl_mul_lo32(c[2], 0xCD9E8D57u);
            c[0] = (p1 >> 32) ^ c[1] ^ k0;
            c[2] = (p0 >> 32) ^ c[3] ^ k1;
            c[1] = p1;
            c[3] = p0;
        }
        vl_interleave(pair, (c[0] & 0xffffffffu) | (c[1] << 32), (c[2] & 0xffffffffu) | (c[3] << 32));
        for (int i = 0; i < 2; i++)
            vf_store(factors + (2 * half + (uint32_t)i) * VW,
                     vf_select((vi)((vu)pair[i] >= drop->threshold), vf_set(drop->scale), vf_set(0.0f)));
    }
}

/* factors[i] = scale or 0 for the elements first .. first + count - 1 (see be_drop). */
INLINE void dropout_factors(float *factors, const be_drop *drop, int64_t first, int64_t count) {
    first += drop->first;
    for (int64_t i = 0; i < count;) {
        int64_t skip = (first + i) % 4, some = count - i < DROPOUT_RUN - skip ? count - i : DROPOUT_RUN - skip;
        float run[DROPOUT_RUN];
        dropout_run(run, drop, (uint32_t)((first + i) / 4));
        memcpy(factors + i, run + skip, (size_t)some * sizeof(float));
        i += some;
    }
}

/* max(v, 0); NaN stays NaN, so that it reaches the loss. */
INLINE vf vf_relu(vf v) { return vf_max(vf_set(0.0f), v); }

/* y = x * factors, and 0 where the factor is 0, for NaN and infinite x too; y may be x. */
INLINE void apply_factors(float *y, const float *x, const float *factors, int64_t count) {
    for (int64_t i = 0; i < vf_count(count); i++) {
        vf factor = vf_row(factors, count, i);
        vf_row_set(y, count, i, vf_select(factor != 0.0f, vf_row(x, count, i) * factor, vf_set(0.0f)));
    }
}

/* y = dropout(x) for rows r .. end-1; y may be x. Elements are numbered row-major, so a run may span rows. Runs end at
 * multiples of 4, so that all but the first cost one of the generator. */
INLINE void dropout_rows(be_mat y, be_mat x, int64_t r, int64_t end, const be_drop *drop) {
    float factors[DROPOUT_RUN];
    int64_t element = r * y.cols, last = end * y.cols, j = 0;
    while (element < last) {
        int64_t whole = DROPOUT_RUN - (drop->first + element) % 4;
        int64_t some = last - element < whole ? last - element : whole;
        dropout_factors(factors, drop, element, some);
        for (int64_t i = 0; i < some;) { /* up to the end of the run or of the row */
            int64_t part = y.cols - j < some - i ? y.cols - j : some - i;
            apply_factors(row(y, r) + j, row(x, r) + j, factors + i, part);
            i += part;
            j += part;
            if (j == y.cols) {
                j = 0;
                r++;
            }
        }
        element += some;
    }
}

#endif
