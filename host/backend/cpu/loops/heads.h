/* heads.h - values of several heads in the lanes of a row of H d columns, d for each head. */
#ifndef CPU_HEADS_H
#define CPU_HEADS_H

#include "backend/cpu/loops/simd.h"

/* Of one vector of columns: the heads first .. first + count - 1 have columns there, lane i is one of head
 * first + at[i]. */
typedef struct head_lanes {
    vi at;
    int first, count;
} head_lanes;

/* `part` columns from column j; d columns per head. */
INLINE head_lanes head_lanes_of(int64_t j, int part, int64_t d) {
    head_lanes lanes = {.first = (int)(j / d), .count = 1};
    for (int i = 0; i < VW; i++)
        lanes.at[i] = i < part ? (int)((j + i) / d) - lanes.first : 0;
    lanes.count = lanes.at[part - 1] + 1;
    return lanes;
}

/* The values of one node or entry, one for each head. */
INLINE vf head_values(const float *values, const head_lanes *lanes) {
    return vf_pick(vf_load_n(values + lanes->first, lanes->count), lanes->at);
}

#endif
