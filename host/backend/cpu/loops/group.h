/* group.h - what the forward and backward loops of group normalisation share. */
#ifndef CPU_GROUP_H
#define CPU_GROUP_H

#include "backend/cpu/loops/loops.h"
#include "backend/cpu/loops/stats.h"

/* A thread's own piece of scratch, behind `shared` bytes that all of them use. */
INLINE char *own_piece(const cpu_team *team, size_t shared, size_t each) {
    return team->scratch + shared + (size_t)team->id * each;
}

/* Groups are taken five at a time, the rest one by one. */
#define GROUPS 5
INLINE int group_tile(int64_t groups, int64_t g) { return groups - g >= GROUPS ? GROUPS : 1; }

/* Calls sweep(.., d, groups) with constants for the usual shape, so that its loops have a known length and its arrays
 * stay in registers, else as they are. */
#define WITH_SHAPE(d, groups, sweep, ...)      \
    do {                                       \
        if ((d) == 16 && (groups) == 10)       \
            sweep(__VA_ARGS__, 16, 10);        \
        else                                   \
            sweep(__VA_ARGS__, (d), (groups)); \
    } while (0)

#endif
