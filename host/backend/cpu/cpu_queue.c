/* cpu_queue.c - operations are kept until somebody waits, then run one after the
 * other in a single parallel region: an epoch is one region with barriers. */
#include <omp.h>
#include <string.h>
#include <time.h>

#include "backend/cpu/cpu.h"
#include "core/mem.h"

void cpu_barrier(const cpu_team *team) {
    if (team->size > 1) {
#pragma omp barrier
    }
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void run_all(cpu_state *state, int id, int size) {
    const cpu_team team = {id, size, state->scratch};
    double start = state->profile && id == 0 ? now() : 0.0;
    for (int i = 0; i < state->queued; i++) {
        const cpu_task *task = &state->queue[i];
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
    if (state->threads == 1) {
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
