/* loops.h - what the operation files of this folder share. They are compiled once
 * per instruction set with CPU_ISA set to its name; only the table at the end
 * (cpu_table.c) is visible outside, so the copies never meet.
 *
 * Rows are cut in blocks of CPU_BLOCK; the sums of a block do not depend on the
 * thread that makes them, and blocks are added in order, in double. */
#ifndef CPU_LOOPS_H
#define CPU_LOOPS_H

#include "backend/cpu/cpu.h"
#include "backend/cpu/loops/simd.h"
#include "philox.h"

#define CPU_PASTE2(a, b) a##_##b
#define CPU_PASTE(a, b) CPU_PASTE2(a, b)
#define CPU_NAME(name) CPU_PASTE(name, CPU_ISA)

/* OP(gemm) { ... }: defines the function of an operation; inside, `team` and `a`
 * are its arguments. SCRATCH(gemm) returns the bytes it needs. */
#define OP(op)                                                                                     \
    static void op##_body(const cpu_team *team, const be_##op##_args *a);                          \
    void CPU_NAME(cpu_run_##op)(const cpu_team *team, const void *args);                           \
    void CPU_NAME(cpu_run_##op)(const cpu_team *team, const void *args) { op##_body(team, args); } \
    static void op##_body(const cpu_team *team, const be_##op##_args *a)
#define SCRATCH(op)                                                                                        \
    static size_t op##_bytes(const be_##op##_args *a, int threads);                                        \
    size_t CPU_NAME(cpu_scratch_##op)(const void *args, int threads);                                      \
    size_t CPU_NAME(cpu_scratch_##op)(const void *args, int threads) { return op##_bytes(args, threads); } \
    static size_t op##_bytes(const be_##op##_args *a, int threads)
#define NO_SCRATCH(op) \
    SCRATCH(op) {      \
        (void)a;       \
        (void)threads; \
        return 0;      \
    }

/* ---- memory behind views ---- */

INLINE float *data(be_mat m) { return m.buf ? (float *)m.buf->handle + m.off : NULL; }
INLINE float *row(be_mat m, int64_t r) { return (float *)m.buf->handle + m.off + r * m.ld; }
INLINE int32_t *int_data(be_ints v) { return v.buf ? (int32_t *)v.buf->handle + v.off : NULL; }
INLINE const int64_t *csr_ptr(const be_csr *a) { return (const int64_t *)a->ptr.buf->handle + a->ptr.off; }
INLINE const int32_t *csr_idx(const be_csr *a) { return int_data(a->idx); }

/* A matrix that is too large for a cache: what one operation has met of it the next finds in memory. */
#define FAR (4 << 20) /* bytes */
INLINE bool is_far(be_mat m) { return m.rows * m.cols * (int64_t)sizeof(float) > FAR; }

/* ---- asking for memory ahead ----
 * In a deep network what one layer has left is in memory, no longer in a cache, when its turn comes again. Operations
 * that compute much and read little ask meanwhile for the rows that the next operations will meet there first, to be
 * read or written. It changes no result. */

typedef struct rows_ahead {
    const float *first; /* NULL: nothing to ask for */
    int64_t ld;
} rows_ahead;

INLINE rows_ahead ahead_of(be_mat m) { return (rows_ahead){is_far(m) ? NULL : data(m), m.ld}; }

/* Element j of row r, counted on into the rows behind it. */
INLINE void ask_for(rows_ahead m, int64_t r, int64_t j) {
    if (m.first)
        __builtin_prefetch(m.first + r * m.ld + j, 0, 2);
}

/* The next operation of a kind, or one without matrices if none comes within a layer or so. */
#define SOON 12
INLINE const cpu_task *soon(const cpu_team *team, be_op op) {
    static const cpu_task none;
    for (int i = 0; i < team->ahead && i < SOON; i++)
        if (team->next[i].op == op)
            return &team->next[i];
    return &none;
}

/* ---- shares of the work ---- */

typedef struct span {
    int64_t begin, end;
} span;

/* The part of 0..count-1 that a thread takes. */
INLINE span share(const cpu_team *team, int64_t count) {
    return (span){count * team->id / team->size, count * (team->id + 1) / team->size};
}

/* Blocks: at least CPU_BLOCK rows, and at most CPU_BLOCKS of them, so that partial
 * sums stay small on large graphs. Depends on n alone. */
#define CPU_BLOCK 64
#define CPU_BLOCKS 512

INLINE int64_t block_rows(int64_t n) {
    int64_t least = (n + CPU_BLOCKS - 1) / CPU_BLOCKS;
    return (least + CPU_BLOCK - 1) / CPU_BLOCK * CPU_BLOCK;
}
INLINE int64_t block_count(int64_t n) { return (n + block_rows(n) - 1) / block_rows(n); }
INLINE span block_span(int64_t n, int64_t b) {
    int64_t size = block_rows(n), end = (b + 1) * size;
    return (span){b * size, end < n ? end : n};
}
/* The rows of a thread's share of blocks, for sweeps that keep nothing per block. */
INLINE span row_share(const cpu_team *team, int64_t n) {
    span blocks = share(team, (n + CPU_BLOCK - 1) / CPU_BLOCK);
    int64_t end = blocks.end * CPU_BLOCK;
    return (span){blocks.begin * CPU_BLOCK, end < n ? end : n};
}

/* An element-wise operation's share: some rows, or some columns of all rows when there are few (a parameter
 * block is one long row). */
typedef struct tile {
    span rows, cols;
} tile;
INLINE tile tile_share(const cpu_team *team, int64_t rows, int64_t cols) {
    if (rows >= 2 * CPU_BLOCK)
        return (tile){row_share(team, rows), {0, cols}};
    return (tile){{0, rows}, row_share(team, cols)};
}

/* Sparse rows cut so that every thread gets as many rows + entries. Which thread
 * makes a row does not change the row. */
INLINE int64_t csr_cut(const int64_t *ptr, int64_t rows, int64_t target) {
    int64_t low = 0, high = rows;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (ptr[middle] + middle < target)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
INLINE span csr_share(const cpu_team *team, const be_csr *a) {
    const int64_t *ptr = csr_ptr(a);
    int64_t work = a->rows + a->nnz;
    return (span){csr_cut(ptr, a->rows, work * team->id / team->size),
                  csr_cut(ptr, a->rows, work * (team->id + 1) / team->size)};
}

/* The same in whole windows of the order in which rows are walked (see be_csr). */
INLINE span csr_windows(const cpu_team *team, const be_csr *a) {
    span rows = csr_share(team, a);
    int64_t half = BE_ORDER / 2, all = (a->rows + BE_ORDER - 1) / BE_ORDER;
    return (span){team->id == 0 ? 0 : (rows.begin + half) / BE_ORDER,
                  team->id == team->size - 1 ? all : (rows.end + half) / BE_ORDER};
}

/* Scratch in pieces that each start on a cache line. */
INLINE size_t padded(size_t bytes) { return (bytes + 63) / 64 * 64; }
INLINE size_t floats_bytes(int64_t count) { return padded((size_t)count * sizeof(float)); }
INLINE float *take(char **scratch, int64_t count) {
    float *piece = (float *)(void *)*scratch;
    *scratch += floats_bytes(count);
    return piece;
}

/* CHUNK elements at a time go side by side where blocks are added up: in double, in the order of the blocks. */
#define CHUNK 16
typedef float chunk_floats __attribute__((vector_size(CHUNK * 4)));
typedef double chunk_doubles __attribute__((vector_size(CHUNK * 8)));

/* The `count` elements at `from`, 0 behind them. Through a pointer: a vector as wide as this has no agreed way to be
 * returned where the instruction set lacks it. */
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

/* out[i] += the sum of the blocks, for the thread's share of 0 .. count-1. */
INLINE void add_sums(const cpu_team *team, float *out, const float *partial, int64_t blocks, int64_t stride,
                     int64_t count) {
    span mine = share(team, (count + CHUNK - 1) / CHUNK);
    for (int64_t c = mine.begin; c < mine.end; c++) {
        double sum[CHUNK];
        int64_t first = c * CHUNK, some = count - first < CHUNK ? count - first : CHUNK;
        sum_blocks(sum, partial + first, blocks, stride, some);
        for (int64_t i = 0; i < some; i++)
            out[first + i] += (float)sum[i];
    }
}

/* ---- dropout and activation ---- */

#define DROP_RUN (4 * VW) /* elements that one run of the generator decides */

/* philox4x32_10 of philox.h for VW blocks from number `block`: the factors of DROP_RUN elements. A word lies in the
 * lower half of a 64-bit lane, VW / 2 blocks a vector; what is in the upper halves never counts. */
INLINE void drop_run(float keep[DROP_RUN], const be_drop *drop, uint32_t block) {
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
            vl p0 = vl_product(c[0], 0xD2511F53u), p1 = vl_product(c[2], 0xCD9E8D57u);
            c[0] = (p1 >> 32) ^ c[1] ^ k0;
            c[2] = (p0 >> 32) ^ c[3] ^ k1;
            c[1] = p1;
            c[3] = p0;
        }
        vl_weave(pair, (c[0] & 0xffffffffu) | (c[1] << 32), (c[2] & 0xffffffffu) | (c[3] << 32));
        for (int i = 0; i < 2; i++)
            vf_store(keep + (2 * half + (uint32_t)i) * VW,
                     vf_pick((vi)((vu)pair[i] >= drop->threshold), vf_set(drop->scale), vf_set(0.0f)));
    }
}

/* keep[i] = scale or 0 for the elements first .. first + count - 1 (see be_drop). */
INLINE void drop_factors(float *keep, const be_drop *drop, int64_t first, int64_t count) {
    for (int64_t i = 0; i < count;) {
        int64_t skip = (first + i) % 4, some = count - i < DROP_RUN - skip ? count - i : DROP_RUN - skip;
        float run[DROP_RUN];
        drop_run(run, drop, (uint32_t)((first + i) / 4));
        memcpy(keep + i, run + skip, (size_t)some * sizeof(float));
        i += some;
    }
}

/* max(v, 0); NaN is kept: it must be seen. */
INLINE vf vf_relu(vf v) { return vf_max(vf_set(0.0f), v); }

/* y = x keep, and 0 where keep is 0, whatever x is; y may be x. */
INLINE void drop_some(float *y, const float *x, const float *keep, int64_t count) {
    for (int64_t i = 0; i < vf_count(count); i++) {
        vf factor = vf_row(keep, count, i);
        vf_row_set(y, count, i, vf_pick(factor != 0.0f, vf_row(x, count, i) * factor, vf_set(0.0f)));
    }
}

/* y = x with elements dropped, rows r .. end-1; y may be x. Elements are numbered row after row, so that rows share
 * runs. */
INLINE void drop_rows(be_mat y, be_mat x, int64_t r, int64_t end, const be_drop *drop) {
    float keep[DROP_RUN];
    int64_t element = r * y.cols, last = end * y.cols, j = 0;
    while (element < last) {
        int64_t some = last - element < DROP_RUN ? last - element : DROP_RUN;
        drop_factors(keep, drop, element, some);
        for (int64_t i = 0; i < some;) { /* up to the end of the run or of the row */
            int64_t part = y.cols - j < some - i ? y.cols - j : some - i;
            drop_some(row(y, r) + j, row(x, r) + j, keep + i, part);
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
