/* resume.h - the options of `train`, and taking those that are not given from the record of a run. */
#ifndef CLI_RESUME_H
#define CLI_RESUME_H

#include "cli/dataset.h"

struct train_options {
    struct common_options common;
    const char *data;
    struct data_choice choice;
    fathom_train_options settings; /* those of settings.h, init and out */
    int fallback;                  /* 0: cpu, 1: none, -1: not given */
    bool resume, dry_run, profile;
    int64_t ranks; /* to plan for */
    double comm_timeout;
};

struct cJSON;
struct resumed { /* owns the texts that were taken */
    struct cJSON *record;
};

/* Reads OUT/run.json, which must be there, into the options that the user did not give. */
fathom_status resume_options(struct train_options *options, struct resumed *resumed, const struct opt_row *rows,
                             size_t count);
void resume_free(struct resumed *resumed);

#endif
