/* run_dir.h - the directory of a run: run.json, epochs.jsonl, model.safetensors, state.safetensors. */
#ifndef TRAIN_RUN_DIR_H
#define TRAIN_RUN_DIR_H

#include <stdio.h>

#include "metrics/layers.h"
#include "train/train.h"

typedef struct run_dir {
    const char *path; /* NULL: no directory, and every function below does nothing */
    FILE *epochs;     /* epochs.jsonl, locked while the run is open: one process at a time */
    bool has_state;   /* state.safetensors exists */
    bool has_record;  /* run.json exists */
} run_dir;

/* Creates the directory and locks it. Refuses one that is not empty, unless it holds a run and `resume` is set, and one
 * that another process writes to. */
fathom_status run_dir_open(run_dir *dir, const char *path, bool resume);
/* FATHOM_USAGE unless `path` is given and holds a run: what --resume needs. */
fathom_status run_dir_need_run(const char *path);

/* `path` = DIR/name. */
#define RUN_DIR_PATH_MAX 4096
const char *run_dir_path(char path[RUN_DIR_PATH_MAX], const run_dir *dir, const char *name);

/* Truncates epochs.jsonl after the lines of epochs 1 .. keep, which must be present in order. */
fathom_status run_dir_truncate_epochs(run_dir *dir, int64_t keep);
/* layers: those of this epoch, or NULL. */
fathom_status run_dir_add_epoch(run_dir *dir, const train_epoch *epoch, const metrics_layers *layers);
fathom_status run_dir_sync(run_dir *dir); /* epochs.jsonl is on disk */

/* Writes run.json; `result` NULL: the run has only begun. */
fathom_status run_dir_write_record(run_dir *dir, const train_config *config, const data_set *set, const be_info *info,
                                   const train_result *result);
void run_dir_close(run_dir *dir); /* removes an empty epochs.jsonl if there is no record */

#endif
