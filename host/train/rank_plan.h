/* rank_plan.h - a run on several ranks before it begins: rows, memory and traffic of each. */
#ifndef TRAIN_RANK_PLAN_H
#define TRAIN_RANK_PLAN_H

#include "train/train.h"

typedef struct train_rank_plan {
    nn_shape shape;
    nn_bytes bytes;
    nn_traffic traffic; /* of an epoch */
} train_rank_plan;

typedef struct train_ranks_plan {
    int ranks;
    train_rank_plan *rank; /* mem_free */
    nn_bytes alone;        /* of one device */
    data_order order;
    double compute;         /* estimated seconds of an epoch on one such device */
    double compute_slowest; /* of the rank with most work */
} train_ranks_plan;

/* `config` is filled; AUTO of recompute is chosen for `info`. */
fathom_status train_plan_ranks(train_ranks_plan *plan, const train_config *config, const data_set *set,
                               const be_info *info, int ranks);
/* The largest of sent and received bytes of a rank. */
int64_t train_plan_busiest(const train_ranks_plan *plan);

#endif
