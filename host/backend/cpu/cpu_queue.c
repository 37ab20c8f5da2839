/* cpu_queue.c - operations are kept until somebody waits, then run one after the
 * other in a single parallel region: an epoch is one region with barriers. */
#include <omp.h>
#include <sched.h>
#include <string.h>
#include <time.h>

#include "backend/cpu/cpu.h"
#include "core/forked.h"
#include "core/mem.h"

/* An epoch meets here hundreds of times, so a thread first waits awake; on a busy machine the one it waits for may
 * not be running, and then it gives its core away instead of burning it. (OpenMP's own barrier
 * stays awake for much longer before it sleeps.) */
#define AWAKE 2000

static inline void relax(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

void cpu_barrier(const cpu_team *team) {
    cpu_gate *gate = team->gate;
    if (team->size == 1)
        return;
    unsigned phase = atomic_load_explicit(&gate->phase, memory_order_acquire);
    if (atomic_fetch_add_explicit(&gate->waiting, 1, memory_order_acq_rel) == team->size - 1) {
        atomic_store_explicit(&gate->waiting, 0, memory_order_relaxed);
        atomic_store_explicit(&gate->phase, phase + 1, memory_order_release);
        return;
    }
    for (int turns = 0; atomic_load_explicit(&gate->phase, memory_order_acquire) == phase; turns++)
        if (turns < AWAKE)
            relax();
        else
            sched_yield();
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void run_all(cpu_state *state, int id, int size) {
    cpu_team team = {.id = id, .size = size, .gate = &state->gate, .scratch = state->scratch};
    double start = state->profile && id == 0 ? now() : 0.0;
    for (int i = 0; i < state->queued; i++) {
        const cpu_task *task = &state->queue[i];
        team.next = task + 1;
        team.ahead = state->queued - i - 1;
        state->ops[task->op].run(&team, &task->args);
        cpu_barrier(&team);
        if (state->profile && id == 0) {
            double end = now();
            state->seconds[task->op] += end - start;
            state->calls[task->op]++;
            start = end;
        }
    }
}

void cpu_run_queue(cpu_state *state) {
    if (state->queued == 0)
        return;
    if (state->threads == 1 || forked_from_threads()) {
        run_all(state, 0, 1);
    } else {
        int size = state->threads;
#pragma omp parallel num_threads(size)
        {
            /* The runtime may give fewer threads than asked for; the bits do not depend on it. */
            run_all(state, omp_get_thread_num(), omp_get_num_threads());
        }
    }
    state->queued = 0;
}

fathom_status cpu_enqueue(cpu_state *state, be_op op, const void *args, size_t bytes) {
    size_t need = state->ops[op].scratch(args, state->threads);
    if (need > state->scratch_bytes) { /* grows at the first step only; nothing is running now */
        char *larger = NULL;
        TRY(mem_new_raw(&larger, need, 1, 1, "scratch memory"));
        mem_free(state->scratch);
        state->scratch = larger;
        state->scratch_bytes = need;
        state->counters.allocations++;
    }
    if (state->queued == CPU_QUEUE)
        cpu_run_queue(state);
    cpu_task *task = &state->queue[state->queued++];
    task->op = op;
    memcpy(&task->args, args, bytes);
    state->counters.launches++;
    return FATHOM_OK;
}
