/* run.h - one training run in progress. Private to run.c (open, resume, fall back, finish), trainer.c (epochs),
 * lambda_search.c, layer_metrics.c and fallback.c. */
#ifndef TRAIN_RUN_H
#define TRAIN_RUN_H

#include "metrics/layers.h"
#include "train/resume_state.h"
#include "train/run_dir.h"

typedef struct run {
    const train_config *config; /* the copy in `result` */
    const data_set *set;
    be_device *dev; /* the caller's, or fallback_dev */
    const train_hooks *hooks;
    nn_input *input;
    nn_model *model;
    run_dir dir;
    train_result *result;
    train_progress progress;
    metrics_layers *layers; /* NULL until they are measured on this device */

    double *epoch_ms;                    /* of the epochs of this process; capacity config->epochs */
    int64_t epochs_timed;                /* length of epoch_ms */
    be_op_time first_epoch[BE_OP_COUNT]; /* profile after the first epoch, which builds and allocates */

    be_device *fallback_dev;    /* the CPU, once the caller's device was lost or refused; else NULL */
    float *snapshot[NN_BLOCKS]; /* host copies of the blocks, to continue from on the CPU */
    float *next_snapshot[NN_BLOCKS];
    train_progress snapshot_progress;
    bool has_snapshot;
    bool device_refused; /* by the sanity check */
    bool stops;          /* with several ranks: one was asked to stop, and all know it */
} run;

/* ---- run.c ---- */

void run_note(const run *r, const char *text);
/* With several ranks: what all know. Of this rank alone: run_stop_here. */
bool run_stop_requested(const run *r);
bool run_stop_here(const run *r);
/* Writes state.safetensors and model.safetensors; without a directory does nothing. */
fathom_status run_save(run *r);

/* ---- ranks.c ---- */

/* FATHOM_USAGE for what several ranks cannot do. */
fathom_status ranks_check(const run *r);
/* run_stop_requested from now on, if any rank was asked to stop. */
fathom_status ranks_agree_to_stop(run *r);
/* A note with the device and the rows of each rank. */
fathom_status ranks_note(const run *r);

/* ---- trainer.c ---- */

/* Weights by the seed or from --init, moments 0, no epoch done. */
fathom_status trainer_init(run *r);
/* Trains epoch progress.epoch + 1 of at most `last`; updates `progress` and the best weights, fills *e. */
fathom_status trainer_epoch(run *r, train_epoch *e, int64_t last);
/* Trains until the last epoch, a stop request, or `patience` epochs without improvement; saves on the way. */
fathom_status trainer_loop(run *r);
/* Profile of all operations since the device was opened. */
fathom_status trainer_profile(const run *r, be_op_time profile[BE_OP_COUNT]);
/* Fills `result` from `progress` and the times of the epochs. */
void trainer_summarize(run *r);

/* ---- lambda_search.c ---- */

/* Sets lambda of model and result to the candidate with the best validation accuracy. The weights are those of the last
 * candidate afterwards. FATHOM_INTERRUPTED: stopped before all were tried. */
fathom_status lambda_search(run *r);

/* ---- layer_metrics.c ---- */

/* *measured = the metrics of every layer after this epoch, NULL unless --layer-metrics asks for them. */
fathom_status layer_metrics(const metrics_layers **measured, run *r, int64_t epoch);

/* ---- fallback.c ---- */

bool fallback_possible(const run *r); /* --fallback cpu, and still on an OpenCL device */
/* Copies weights, moments, best weights and progress to the host, if fallback is possible. */
fathom_status fallback_snapshot(run *r);
/* After a failure: frees model and input on the device, opens the CPU, and notes the reason. */
fathom_status fallback_to_cpu(run *r);
/* Loads the snapshot into the new model. */
fathom_status fallback_restore(run *r);
/* Appends the command that resumes the run to the message of a lost device. */
fathom_status fallback_fail_resumable(const run *r, fathom_status status);
void fallback_free(run *r);

#endif
