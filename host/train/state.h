/* state.h - what is needed to go on with a run to the same bits: state.safetensors holds the weights with running
 * estimates, both moments and the best weights as whole blocks, and in its metadata where the run was. */
#ifndef TRAIN_STATE_H
#define TRAIN_STATE_H

#include "train/train.h"

typedef struct train_progress {
    int64_t epoch; /* done */
    double loss;
    int64_t best_epoch;
    double best[NN_SETS]; /* accuracies of that epoch */
    double lambda;        /* in use */
} train_progress;

/* nn_get. `strict`, for devices that may compute wrongly: FATHOM_NUMERIC for what is not a number, which must not take
 * the place of a state that was good. */
fathom_status state_get(float *values, const nn_model *model, nn_block block, bool strict);

fathom_status state_save(const char *path, const nn_model *model, const train_progress *progress,
                         const train_config *config, const data_set *set, bool strict);

/* Refuses the state of another run and names what differs. */
fathom_status state_load(nn_model *model, train_progress *progress, const char *path, const train_config *config,
                         const data_set *set);

#endif
