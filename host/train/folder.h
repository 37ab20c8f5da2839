/* folder.h - the folder of a run: run.json, epochs.jsonl, model.safetensors, state.safetensors. */
#ifndef TRAIN_FOLDER_H
#define TRAIN_FOLDER_H

#include <stdio.h>

#include "train/train.h"

typedef struct train_folder {
    const char *path; /* NULL: no folder, and every call below does nothing */
    FILE *epochs;
    bool has_state;
} train_folder;

/* Makes the folder when it is not there. One that holds anything is refused, unless it is a run to resume. */
fathom_status folder_open(train_folder *folder, const char *path, bool resume);
/* `name` inside the folder; `room` must hold FOLDER_PATH bytes. */
#define FOLDER_PATH 4096
const char *folder_file(char *room, const train_folder *folder, const char *name);

/* epochs.jsonl: opened for adding behind the lines of epochs 1 .. keep; later ones are cut away. */
fathom_status folder_epochs(train_folder *folder, int64_t keep);
fathom_status folder_add(train_folder *folder, const train_epoch *epoch);
fathom_status folder_sync(train_folder *folder); /* what was added is on the disk */

fathom_status folder_record(const train_folder *folder, const train_config *config, const data_set *set,
                            const be_info *info, const train_result *result);
void folder_close(train_folder *folder);

#endif
