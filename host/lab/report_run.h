/* report_run.h - one run as its reader sees it: settings, result and learning curves, from the folder that
 * `fathom train --out DIR` writes. A run that was interrupted, or is still running, has curves up to its last epoch. */
#ifndef LAB_REPORT_RUN_H
#define LAB_REPORT_RUN_H

#include "lab/report.h"

#define LAB_RUN_POINTS 240

/* A quantity over epochs, thinned to at most LAB_RUN_POINTS points; the last one is among them. */
typedef struct lab_curve {
    int count;
    double x[LAB_RUN_POINTS], y[LAB_RUN_POINTS];
} lab_curve;

/* epochs.jsonl's columns, in the order of the file. */
typedef enum lab_run_column { LAB_RUN_LOSS, LAB_RUN_TRAIN, LAB_RUN_VAL, LAB_RUN_TEST, LAB_RUN_COLUMNS } lab_run_column;

typedef struct lab_run {
    char folder[LAB_PATH];
    struct cJSON *record; /* run.json */
    uint8_t *epochs;      /* epochs.jsonl */
    size_t epochs_bytes;
    int64_t epoch_count;
    lab_curve curve[LAB_RUN_COLUMNS]; /* accuracies in per cent */
} lab_run;

/* Does `folder` hold a run (run.json)? */
bool lab_is_run(const char *folder);
fathom_status lab_run_load(lab_run *run, const char *folder);
void lab_run_free(lab_run *run);

fathom_status lab_run_html(lab_text *out, const lab_run *run);
fathom_status lab_run_text(lab_text *out, const lab_run *run);
/* epoch,loss,train_acc,val_acc,test_acc,ms: every epoch. */
fathom_status lab_run_csv(lab_text *out, const lab_run *run);
fathom_status lab_run_svg(int *count, const lab_run *run, const char *folder);

/* A member of run.json by its path ("result.test_accuracy"): NaN or "" when it is not there. */
double lab_run_number(const lab_run *run, const char *path);
const char *lab_run_word(const lab_run *run, const char *path);

#endif
