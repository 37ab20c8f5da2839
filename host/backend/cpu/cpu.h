/* cpu.h - the native back end: a queue of operations that all threads of a team
 * run in order, with a barrier after each.
 *
 * An operation is one function that every thread calls. It partitions its rows by
 * ctx->id, synchronises with cpu_barrier between its phases, and gives the same
 * bits for any number of threads: partial sums belong to fixed blocks of rows,
 * never to threads.
 *
 * The functions are in loops/ and are compiled once per instruction set; this header
 * declares what they and the device share. */
#ifndef BACKEND_CPU_H
#define BACKEND_CPU_H

#include "backend/cpu/cpu_team.h"
#include "backend/driver.h"

/* A matrix larger than this has been evicted before the next operation reads it. */
#define L2_BYTES (4 << 20)
static inline bool exceeds_cache(be_mat m) { return m.rows * m.cols * (int64_t)sizeof(float) > L2_BYTES; }

/* Rows that an operation prefetches for a later one while it computes; see cpu_prefetch.c. */
typedef struct prefetch_hint {
    const float *first; /* row 0; NULL: nothing to prefetch */
    int64_t ld;
} prefetch_hint;

/* A slot for each shape: n x d in the first two, n x G in the last. */
typedef enum cpu_hint_slot { CPU_HINT_H, CPU_HINT_Y, CPU_HINT_S, CPU_HINTS } cpu_hint_slot;

typedef struct cpu_task {
    be_op op;
    prefetch_hint hint[CPU_HINTS];
    union {
#define X(op) be_##op##_args op;
        BE_OPERATIONS(X)
#undef X
    } args;
} cpu_task;

struct thread_ctx {
    int id, size;
    cpu_barrier_state *barrier;
    atomic_int *order;         /* see cpu_end_op */
    char *scratch;             /* shared by all threads, aligned to a cache line; undefined between operations */
    const prefetch_hint *hint; /* CPU_HINTS of them */
};

void cpu_barrier(const thread_ctx *ctx); /* within an operation */

/* One operation: the function of every thread, and the bytes of scratch it needs. */
typedef struct cpu_op {
    void (*run)(const thread_ctx *ctx, const void *args);
    size_t (*scratch)(const void *args, int threads);
} cpu_op;

/* One table per instruction set, in the order of be_op. */
extern const cpu_op cpu_ops_base[BE_OP_COUNT];
#ifdef FATHOM_ISA_X86
extern const cpu_op cpu_ops_avx2[BE_OP_COUNT];
extern const cpu_op cpu_ops_avx512[BE_OP_COUNT];
#endif

/* The best table that this processor runs; FATHOM_ISA=base|avx2|avx512 forces one. */
fathom_status cpu_choose_isa(const cpu_op **ops, const char **name);

/* What that choice depends on. */
struct cpu_features {
    bool avx2, avx512;
    bool slow_512; /* the cores lower their clock for 512-bit vectors, and for a while after them */
};
/* "avx512", "avx2" or "base". By processor, not by timing: a repeated run has the same bits. */
const char *cpu_isa_for(const struct cpu_features *features);

/* ---- sparse matrices ---- */

/* Stored in be_csr.plan. In each window of CPU_WINDOW rows the order is by ascending degree: the loop over the entries
 * of a row then seldom changes its trip count, which a branch predictor would miss. */
#define CPU_WINDOW 128
typedef struct cpu_csr_plan {
    be_csr transpose; /* rows 0: not known */
    int32_t order[];  /* all rows */
} cpu_csr_plan;

size_t cpu_csr_plan_bytes(be_csr *csr, const int64_t *indptr);
void cpu_csr_make_plan(void *memory, be_csr *csr, const int64_t *indptr, const be_csr *transpose);

/* ---- the queue ---- */

typedef struct cpu_state cpu_state;

/* Sets the hints of `count` queued operations from the operations after each. */
void cpu_attach_hints(cpu_task *queue, int count);
fathom_status cpu_enqueue(cpu_state *state, be_op op, const void *args, size_t bytes);
void cpu_run_queue(cpu_state *state);

/* Around every run of a queue that may call OpenBLAS; calls from several threads may overlap. */
void cpu_blas_begin(void);
void cpu_blas_end(void);

#define CPU_QUEUE 512

struct cpu_state {
    const cpu_op *ops;
    cpu_team *team;
    int threads; /* at most */
    bool profile;
    cpu_task *queue; /* CPU_QUEUE of them */
    int queued;
    bool multiplies; /* a gemm is queued, which may call OpenBLAS */
    char *scratch;
    size_t scratch_bytes;
    be_counters counters;
    double seconds[BE_OP_COUNT];
    int64_t calls[BE_OP_COUNT];
};

#endif
