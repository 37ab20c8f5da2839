/* resume.h - the options of `train`, and taking those that are not given from the record of a run. */
#ifndef CLI_RESUME_H
#define CLI_RESUME_H

#include "cli/dataset.h"

struct train_options {
    struct common_options common;
    const char *data;
    struct data_choice choice;
    int model, norm, preset, fallback;
    int64_t layers, hidden, groups, epochs, patience, eval_every, checkpoint_every;
    double lambda, dropout, lr, weight_decay, alpha, theta;
    const char *init, *out;
    bool resume, dry_run, profile;
    uint64_t taken; /* options taken from a record, a bit each in the order of their members */
};

struct cJSON;
struct resumed { /* owns the texts that were taken */
    struct cJSON *record;
};

/* Was the option given, by the user or by the record? */
bool option_set(const struct train_options *options, const void *member);

/* Reads OUT/run.json, which must be there, into the options that the user did not give. */
fathom_status resume_options(struct train_options *options, struct resumed *resumed, const struct opt_row *rows,
                             size_t count);
void resume_free(struct resumed *resumed);

#endif
