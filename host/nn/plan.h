/* plan.h - memory before the first epoch: every matrix of a model is put on a list; the list is summed, checked and
 * only then allocated, in few large buffers, since devices limit the size of one. Matrices that are never needed at the
 * same time may share memory (nn_plan_share). */
#ifndef NN_PLAN_H
#define NN_PLAN_H

#include "backend/backend.h"
#include "nn/nn.h"

typedef struct nn_piece {
    be_mat *mat; /* receives the view; or */
    be_ints *ints;
    int64_t rows, cols;
    nn_memory part;
    int64_t owner;  /* the piece whose memory it is a view of; its own index mostly */
    int64_t floats; /* of an owner: as many as the largest of its views needs */
    bool alone;     /* is never an owner of others */
} nn_piece;

typedef struct nn_plan {
    nn_piece *pieces;
    int64_t count, capacity;
    int64_t next, end;    /* the pieces whose memory the next matrices share */
    bool alone;           /* the next pieces have memory of their own */
    fathom_status status; /* the first failure of adding */
    be_buf **buffers;
    int64_t buffer_count;
} nn_plan;

/* After allocation *mat (or *ints) is a view of its own memory, 64-byte aligned inside its buffer. */
void nn_plan_mat(nn_plan *plan, nn_memory part, be_mat *mat, int64_t rows, int64_t cols);
void nn_plan_ints(nn_plan *plan, nn_memory part, be_ints *ints, int64_t len);

/* Matrices added from now on use the memory of the matrices begin .. end - 1 of the list, one after the other, past
 * those that were added while plan->alone. Equal ends: no more. */
void nn_plan_share(nn_plan *plan, int64_t begin, int64_t end);

/* Adds the sizes to `bytes`; fails when a piece could not be added. */
fathom_status nn_plan_sum(nn_bytes *bytes, const nn_plan *plan);
fathom_status nn_plan_alloc(nn_plan *plan, be_device *dev);
void nn_plan_free(nn_plan *plan, be_device *dev);

#endif
