/* run.h - one run while it is on, shared by loop.c and fallback.c. */
#ifndef TRAIN_RUN_H
#define TRAIN_RUN_H

#include "train/folder.h"
#include "train/state.h"

typedef struct run {
    const train_config *config; /* the result's copy */
    const data_set *set;
    be_device *dev;
    const train_hooks *hooks;
    nn_input *input;
    nn_model *model;
    train_folder folder;
    train_result *result;
    train_progress now;
    double *ms; /* of each epoch of this process, at most config->epochs of them */
    int64_t timed;
    be_op_time first[BE_OP_COUNT]; /* what operations took until the end of the first epoch */

    be_device *own;         /* the CPU, when the device was lost */
    float *kept[NN_BLOCKS]; /* host copies to go on from, and where they were taken */
    float *spare[NN_BLOCKS];
    train_progress kept_now;
    bool has_kept;
    bool refused; /* the device failed its check */
} run;

void run_note(const run *r, const char *text);

bool fallback_possible(const run *r); /* wanted, and not on the CPU yet */
/* Copies what is needed to go on to the host, when the configuration asks for it (fallback.c). */
fathom_status fallback_keep(run *r);
/* After a failure: lets the model on the device go, opens the CPU and says so. */
fathom_status fallback_to_cpu(run *r);
/* Puts what was kept into a new model. */
fathom_status fallback_restore(run *r);
/* Without fallback the run ends there: the command that resumes it is appended to the message. */
fathom_status fallback_tell(const run *r, fathom_status status);
void fallback_free(run *r);

#endif
