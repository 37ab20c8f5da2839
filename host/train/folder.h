/* folder.h - the folder of a run: run.json, epochs.jsonl, model.safetensors, state.safetensors. */
#ifndef TRAIN_FOLDER_H
#define TRAIN_FOLDER_H

#include <stdio.h>

#include "train/train.h"

typedef struct train_folder {
    const char *path; /* NULL: no folder, and every call below does nothing */
    FILE *epochs;     /* locked while the run is on: one process at a time */
    bool has_state;   /* there is something to go on from */
    bool begun;       /* there is a record: what lies here is a run */
} train_folder;

/* Makes the folder when it is not there, and locks it. One that holds anything is refused, unless it is a run to
 * resume, and so is one that another process is writing to. */
fathom_status folder_open(train_folder *folder, const char *path, bool resume);
/* `name` inside the folder; `room` must hold FOLDER_PATH bytes. */
#define FOLDER_PATH 4096
const char *folder_file(char *room, const train_folder *folder, const char *name);

/* epochs.jsonl: cut behind the lines of epochs 1 .. keep, which must be there in order, and ready for more. */
fathom_status folder_epochs(train_folder *folder, int64_t keep);
fathom_status folder_add(train_folder *folder, const train_epoch *epoch);
fathom_status folder_sync(train_folder *folder); /* what was added is on the disk */

fathom_status folder_record(train_folder *folder, const train_config *config, const data_set *set, const be_info *info,
                            const train_result *result);
void folder_close(train_folder *folder); /* a run that never began leaves nothing */

#endif
