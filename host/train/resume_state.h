/* resume_state.h - state.safetensors, from which a run resumes bit for bit: weights with running estimates, both
 * moments and the best weights as blocks; progress and fingerprint in the metadata. */
#ifndef TRAIN_RESUME_STATE_H
#define TRAIN_RESUME_STATE_H

#include "core/text.h"
#include "train/train.h"

typedef struct train_progress {
    int64_t epoch; /* last finished */
    double loss;
    int64_t best_epoch;
    double best[NN_SETS];           /* accuracies of that epoch */
    double lambda;                  /* as used */
    int64_t reductions, reduced_at; /* of the learning rate, --lr-schedule plateau; the epoch of the last */
} train_progress;

/* nn_get_block. `strict`, for OpenCL devices: FATHOM_NUMERIC if a value is NaN, so that a good state on disk is not
 * overwritten by a wrong one. */
fathom_status state_get(float *values, const nn_model *model, nn_block block, bool strict);

/* Of several ranks, all call it; path NULL, of all but the first: nothing is written. */
fathom_status state_save(const char *path, const nn_model *model, const train_progress *progress,
                         const train_config *config, const data_set *set, bool strict);

/* Every setting that changes the numbers of a run, as "key=value " pairs. Epochs and patience are not among them: a run
 * may be made longer. A searched lambda is "auto", whatever was found. */
fathom_status state_fingerprint(text_buf *text, const train_config *config, const data_set *set);

/* Refuses the state of another run and names what differs. Of several ranks, all call it and the first reads the
 * file. */
fathom_status state_load(nn_model *model, train_progress *progress, const char *path, const train_config *config,
                         const data_set *set);

#endif
