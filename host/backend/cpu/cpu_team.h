/* cpu_team.h - the threads that run a queue of operations, as many of them as have a core right now.
 *
 * A preempted thread holds up all others at the next barrier for a tick of the scheduler, thousands of times the length
 * of an operation. Results have the same bits for any number of threads, so the team adapts: a thread that has no core
 * when a round (one run of the queue) begins is not waited for, the team shrinks at the end of an operation when its
 * threads wait too much of their time, and grows again after a pause that doubles while it fails. */
#ifndef BACKEND_CPU_TEAM_H
#define BACKEND_CPU_TEAM_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/status.h"

/* The threads of a round meet here. Fields on one cache line are written by the same threads. */
typedef struct cpu_barrier_state {
    _Alignas(64) atomic_int waiting;
    _Alignas(64) atomic_uint phase;
    atomic_int late; /* the thread that came last, which the others waited for */
    atomic_int size; /* of the team from the next operation on; read once more after the last one, when a new round may
                        begin */
    _Alignas(64) atomic_long lost; /* ns that threads of this round waited beyond SPIN_LIMIT */
    atomic_int held_up_by;         /* the thread they waited for */
    atomic_uint round;             /* its number */
    double start, cost;            /* of the round; seconds that were lost before the team shrank */
    atomic_int **order;            /* by thread id: what it does next */
} cpu_barrier_state;

/* An order to a thread when the team has shrunk: leave, stay as it is, or its new id. */
enum { CPU_STAY = -2, CPU_LEAVE = -1 };

typedef struct cpu_team cpu_team;

typedef struct thread_ctx thread_ctx;
typedef void cpu_round_fn(void *user, thread_ctx *ctx);

/* At most `most` threads, the caller's included. They are started by the first round that wants them. */
fathom_status cpu_team_make(cpu_team **team, int most);
void cpu_team_free(cpu_team *team);

/* Calls run(user, ctx) on the threads of a team and returns when all of them have; ctx has id, size and barrier. */
void cpu_team_run(cpu_team *team, cpu_round_fn *run, void *user);

/* After an operation: a barrier at which the team may shrink. ctx gets its new id and size; false: leave the round. */
bool cpu_end_op(thread_ctx *ctx);

/* Rounds so far, and those for which not all threads had a core. */
void cpu_team_count(const cpu_team *team, int64_t *rounds, int64_t *short_rounds);

/* For tests: every thread is waited for when a round begins; none leaves. */
extern bool cpu_team_awaits_all, cpu_team_keeps_all;

#endif
