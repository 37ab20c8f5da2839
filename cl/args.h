/* args.h - what the kernels and their launches must agree on: the one struct handed over by value, activation with
 * dropout, how many groups an item sums at once, and the range of statistics. Valid in C and in OpenCL C; 32-bit fields
 * only, so that both lay it out alike. */
#ifndef ARGS_H
#define ARGS_H

#include "philox.h"

typedef struct act_args {
    philox_u32 relu, drop; /* 0 or 1 */
    philox_u32 threshold;  /* an element is kept when its bits are not below */
    philox_u32 key0, key1, stream, epoch, layer;
    float scale; /* what a kept element is multiplied by */
} act_args;

#define GROUPS_TOGETHER(columns) ((columns) == 16 ? 5 : 1)

/* Statistics of normalisations are summed in units of 2^16, which is exact: squares of values up to 1e18 fit in a
 * float when summed over any number of rows. */
#define STATS_UNIT 1.52587890625e-05f /* 2^-16 */
#define STATS_UNIT_INVERSE 65536.0f
/* A variance from here on, whose reciprocal is no normal number, counts as overflow: its deviation is NaN, so that the
 * loss is, too. 2^126. */
#define VARIANCE_LIMIT 8.507059173023462e+37f

#endif
