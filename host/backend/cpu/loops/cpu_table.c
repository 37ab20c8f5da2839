/* cpu_table.c - the operations of one instruction set in the order of be_op. An
 * operation without a function here does not build. */
#include "backend/cpu/loops/loops.h"

#define X(op)                                                             \
    void CPU_NAME(cpu_run_##op)(const thread_ctx *ctx, const void *args); \
    size_t CPU_NAME(cpu_scratch_##op)(const void *args, int threads);
BE_OPERATIONS(X)
#undef X

const cpu_op CPU_NAME(cpu_ops)[BE_OP_COUNT] = {
#define X(op) [BE_OP_##op] = {CPU_NAME(cpu_run_##op), CPU_NAME(cpu_scratch_##op)},
    BE_OPERATIONS(X)
#undef X
};
