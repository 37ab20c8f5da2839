/* plan.h - memory before the first epoch: every matrix of a model is put on a list; the list is summed, checked and
 * only then allocated, in few large buffers, since devices limit the size of one. */
#ifndef NN_PLAN_H
#define NN_PLAN_H

#include "backend/backend.h"
#include "nn/nn.h"

typedef struct nn_piece {
    be_mat *mat; /* receives the view; or */
    be_ints *ints;
    int64_t rows, cols;
    nn_memory part;
} nn_piece;

typedef struct nn_plan {
    nn_piece *pieces;
    int64_t count, capacity;
    fathom_status status; /* the first failure of adding */
    be_buf **buffers;
    int64_t buffer_count;
} nn_plan;

/* After allocation *mat (or *ints) is a view of its own memory, 64-byte aligned inside its buffer. */
void nn_plan_mat(nn_plan *plan, nn_memory part, be_mat *mat, int64_t rows, int64_t cols);
void nn_plan_ints(nn_plan *plan, nn_memory part, be_ints *ints, int64_t len);

/* Adds the sizes to `bytes`; fails when a piece could not be added. */
fathom_status nn_plan_sum(nn_bytes *bytes, const nn_plan *plan);
fathom_status nn_plan_alloc(nn_plan *plan, be_device *dev);
void nn_plan_free(nn_plan *plan, be_device *dev);

#endif
