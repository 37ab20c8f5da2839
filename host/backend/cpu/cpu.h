/* cpu.h - the native back end: a queue of operations that a team of threads runs
 * in one parallel region, with a barrier after each.
 *
 * An operation is one function that every thread of the team calls. It cuts its
 * rows by team->id, meets the others at cpu_barrier between its phases, and must
 * give the same bits for any number of threads: partial sums belong to fixed
 * blocks of rows, never to threads.
 *
 * The functions live in loops/ and are compiled once per instruction set; here is
 * what those files and the device share. */
#ifndef BACKEND_CPU_H
#define BACKEND_CPU_H

#include <stdatomic.h>

#include "backend/driver.h"

/* Where the threads of a team meet; see cpu_queue.c. */
typedef struct cpu_gate {
    atomic_int waiting;
    atomic_uint phase;
} cpu_gate;

typedef struct cpu_task {
    be_op op;
    union {
#define X(op) be_##op##_args op;
        BE_OPERATIONS(X)
#undef X
    } args;
} cpu_task;

typedef struct cpu_team {
    int id, size;
    cpu_gate *gate;
    char *scratch;        /* shared by the team, aligned to a cache line; free to use within one operation */
    const cpu_task *next; /* the operations that are queued behind this one, `ahead` of them */
    int ahead;
} cpu_team;

void cpu_barrier(const cpu_team *team);

/* One operation: what every thread runs, and how many bytes of scratch it needs. */
typedef struct cpu_op {
    void (*run)(const cpu_team *team, const void *args);
    size_t (*scratch)(const void *args, int threads);
} cpu_op;

/* One table per instruction set, in the order of be_op. */
extern const cpu_op cpu_ops_base[BE_OP_COUNT];
#ifdef FATHOM_ISA_X86
extern const cpu_op cpu_ops_avx2[BE_OP_COUNT];
extern const cpu_op cpu_ops_avx512[BE_OP_COUNT];
#endif

/* The table this processor can run; FATHOM_ISA=base|avx2|avx512 forces one. */
fathom_status cpu_choose_isa(const cpu_op **ops, const char **name);

/* ---- the queue ---- */

typedef struct cpu_state cpu_state;

fathom_status cpu_enqueue(cpu_state *state, be_op op, const void *args, size_t bytes);
void cpu_run_queue(cpu_state *state);

#define CPU_QUEUE 512

struct cpu_state {
    const cpu_op *ops;
    int threads;
    bool profile;
    cpu_task *queue; /* CPU_QUEUE of them */
    int queued;
    char *scratch;
    size_t scratch_bytes;
    cpu_gate gate;
    be_counters counters;
    double seconds[BE_OP_COUNT];
    int64_t calls[BE_OP_COUNT];
};

#endif
