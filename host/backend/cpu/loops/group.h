/* group.h - helpers of the forward and backward loops of group normalisation. */
#ifndef CPU_GROUP_H
#define CPU_GROUP_H

#include "backend/cpu/loops/loops.h"
#include "backend/cpu/loops/stats.h"

/* The scratch of this thread, `each` bytes, after `shared` bytes used by all threads. */
INLINE char *thread_scratch(const thread_ctx *ctx, size_t shared, size_t each) {
    return ctx->scratch + shared + (size_t)ctx->id * each;
}

#define ROWS_AHEAD 32 /* that sums over rows prefetch where a matrix exceeds the cache */

/* Groups are processed in tiles of five, the remainder one by one. */
#define GROUPS_PER_TILE 5
INLINE int group_tile(int64_t groups, int64_t g) { return groups - g >= GROUPS_PER_TILE ? GROUPS_PER_TILE : 1; }

/* Calls sweep(.., d, groups) with compile-time constants for the usual shape, so that its loops are unrolled and its
 * arrays stay in registers; else with run-time values. */
#define WITH_SHAPE(d, groups, sweep, ...)      \
    do {                                       \
        if ((d) == 16 && (groups) == 10)       \
            sweep(__VA_ARGS__, 16, 10);        \
        else                                   \
            sweep(__VA_ARGS__, (d), (groups)); \
    } while (0)

#endif
