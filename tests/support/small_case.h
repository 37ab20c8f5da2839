/* small_case.h - small shapes at which every operation has all its views, optional ones too. */
#ifndef SUPPORT_SMALL_CASE_H
#define SUPPORT_SMALL_CASE_H

#include "selftest/cases.h"

static inline op_case small_case(be_op op, int rows) {
    return (op_case){.op = op,
                     .name = "small",
                     .n = rows,
                     .d = 5,
                     .k = 3,
                     .kind = 1,
                     .a = 1.0f,
                     .b = 1.0f,
                     .rate = 0.5f,
                     .graph = GRAPH_LOOPS,
                     .relu = true,
                     .flags = op == BE_OP_softmax_xent ? CASE_CONSTANT : 0, /* class weights */
                     .bound = 1e-7};
}

#endif
