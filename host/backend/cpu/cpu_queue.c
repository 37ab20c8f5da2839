/* cpu_queue.c - operations are queued until a caller waits for a result, then run in
 * order in one round of the team: an epoch is one round with barriers. */
#include <string.h>

#include "backend/cpu/cpu.h"
#include "core/clock.h"
#include "core/mem.h"

/* What the caller's thread changes after the round is read before the last barrier. */
static void run_all(void *user, thread_ctx *ctx) {
    cpu_state *state = user;
    const int queued = state->queued;
    const bool profile = state->profile && ctx->id == 0;
    double start = profile ? clock_seconds() : 0.0;
    ctx->scratch = state->scratch;
    for (int i = 0; i < queued; i++) {
        const cpu_task *task = &state->queue[i];
        ctx->hint = task->hint;
        state->ops[task->op].run(ctx, &task->args);
        if (!cpu_end_op(ctx))
            return;
        if (profile) {
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
    cpu_team_run(state->team, run_all, state);
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
