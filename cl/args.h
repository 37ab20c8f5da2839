/* args.h - what the kernels and their launches must agree on: the one struct handed over by value, activation with
 * dropout, and how many groups an item sums at once. Valid in C and in OpenCL C; 32-bit fields only, so that both lay
 * it out alike. */
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

#endif
