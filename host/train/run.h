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
    be_counters spent; /* sums over the epochs after the first one */

    be_device *own;         /* the CPU, when the device was lost */
    float *kept[NN_BLOCKS]; /* host copies to go on from, and where they were taken */
    train_progress kept_now;
} run;

void run_note(const run *r, const char *text);

/* Copies what is needed to go on to the host, when the configuration asks for it (fallback.c). */
fathom_status fallback_keep(run *r);
/* After the failure `why` in mid-run: moves the run to the CPU, back to what was kept, and says so; `why` again when
 * that is not wanted. */
fathom_status fallback_to_cpu(run *r, fathom_status why);
void fallback_free(run *r);

#endif
