/* cpu_queue.c - operations are queued until a caller waits for a result, then run in
 * order in a single parallel region: an epoch is one region with barriers. */
#include <omp.h>
#include <sched.h>
#include <string.h>

#include "backend/cpu/cpu.h"
#include "core/clock.h"
#include "core/forked.h"
#include "core/mem.h"

/* An epoch has hundreds of barriers, so a thread spins first; on a loaded machine the thread it waits for may not be
 * scheduled, and then it yields its core. (OpenMP's own barrier spins for much longer.) */
#define SPIN_LIMIT 2000

static inline void pause_cpu(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

void cpu_barrier(const thread_ctx *ctx) {
    barrier *shared = ctx->barrier;
    if (ctx->size == 1)
        return;
    unsigned phase = atomic_load_explicit(&shared->phase, memory_order_acquire);
    if (atomic_fetch_add_explicit(&shared->waiting, 1, memory_order_acq_rel) == ctx->size - 1) {
        atomic_store_explicit(&shared->waiting, 0, memory_order_relaxed);
        atomic_store_explicit(&shared->phase, phase + 1, memory_order_release);
        return;
    }
    for (int spins = 0; atomic_load_explicit(&shared->phase, memory_order_acquire) == phase; spins++)
        if (spins < SPIN_LIMIT)
            pause_cpu();
        else
            sched_yield();
}

static void run_all(cpu_state *state, int id, int size) {
    thread_ctx ctx = {.id = id, .size = size, .barrier = &state->barrier, .scratch = state->scratch};
    double start = state->profile && id == 0 ? clock_seconds() : 0.0;
    for (int i = 0; i < state->queued; i++) {
        const cpu_task *task = &state->queue[i];
        ctx.hint = task->hint;
        state->ops[task->op].run(&ctx, &task->args);
        cpu_barrier(&ctx);
        if (state->profile && id == 0) {
            double end = clock_seconds();
            state->seconds[task->op] += end - start;
            state->calls[task->op]++;
            start = end;
        }
    }
}

void cpu_run_queue(cpu_state *state) {
    if (state->queued == 0)
        return;
    cpu_attach_hints(state->queue, state->queued);
    if (state->multiplies)
        cpu_blas_begin();
    if (state->threads == 1 || forked_from_threads()) {
        run_all(state, 0, 1);
    } else {
        int size = state->threads;
#pragma omp parallel num_threads(size)
        {
            /* The runtime may give fewer threads than requested; the bits do not depend on it. */
            run_all(state, omp_get_thread_num(), omp_get_num_threads());
        }
    }
    if (state->multiplies)
        cpu_blas_end();
    state->queued = 0;
    state->multiplies = false;
}

fathom_status cpu_enqueue(cpu_state *state, be_op op, const void *args, size_t bytes) {
    size_t need = state->ops[op].scratch(args, state->threads);
    if (need > state->scratch_bytes) { /* grows in the first epoch only; nothing runs now */
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
    state->multiplies |= op == BE_OP_gemm;
    memcpy(&task->args, args, bytes);
    state->counters.launches++;
    return FATHOM_OK;
}
