/* cpu_prefetch.c - prefetch hints of queued operations. In a deep network activations have been evicted by the time a
 * layer is revisited, so compute-bound operations prefetch rows that queued operations read or write first. Hints
 * change no result. */
#include "backend/cpu/cpu.h"

/* The operation `op` prefetches a matrix of the next `later` in the queue: the member at `offset` of its arguments. */
static const struct {
    be_op op, later;
    cpu_hint_slot slot;
    size_t offset;
} rules[] = {
    {BE_OP_group_assign, BE_OP_group_apply, CPU_HINT_H, offsetof(be_group_apply_args, y)},
    {BE_OP_group_assign, BE_OP_group_assign, CPU_HINT_S, offsetof(be_group_assign_args, s)},
    {BE_OP_group_stats, BE_OP_group_assign, CPU_HINT_H, offsetof(be_group_assign_args, h)},
    {BE_OP_group_backward_sums, BE_OP_gat_backward_edges, CPU_HINT_H, offsetof(be_gat_backward_edges_args, z)},
    {BE_OP_group_backward_rows, BE_OP_group_backward_sums, CPU_HINT_H, offsetof(be_group_backward_sums_args, h)},
    {BE_OP_group_backward_rows, BE_OP_group_backward_sums, CPU_HINT_Y, offsetof(be_group_backward_sums_args, y)},
    {BE_OP_group_backward_rows, BE_OP_group_backward_sums, CPU_HINT_S, offsetof(be_group_backward_sums_args, s)},
};

#define PREFETCH_WINDOW 12 /* operations: about one layer; rows of a later one would be evicted again */

/* The next operation of a kind among the `count` after `task`, or NULL. */
static const cpu_task *next_task(const cpu_task *task, int count, be_op op) {
    for (int i = 1; i <= count && i <= PREFETCH_WINDOW; i++)
        if (task[i].op == op)
            return &task[i];
    return NULL;
}

/* A matrix that exceeds the cache is not worth prefetching: its rows would evict each other. */
static prefetch_hint hint_for(const be_mat *m) {
    return (prefetch_hint){m->buf && !exceeds_cache(*m) ? (const float *)m->buf->handle + m->off : NULL, m->ld};
}

void cpu_attach_hints(cpu_task *queue, int count) {
    for (int i = 0; i < count; i++) {
        for (int slot = 0; slot < CPU_HINTS; slot++)
            queue[i].hint[slot] = (prefetch_hint){0};
        for (size_t k = 0; k < sizeof rules / sizeof *rules; k++) {
            if (queue[i].op != rules[k].op)
                continue;
            const cpu_task *later = next_task(&queue[i], count - i - 1, rules[k].later);
            if (later)
                queue[i].hint[rules[k].slot] =
                    hint_for((const be_mat *)(const void *)((const char *)&later->args + rules[k].offset));
        }
    }
}
