/* report_run.h - report on a single run: settings, result and learning curves, from the folder that
 * `fathom train --out DIR` writes. An unfinished run has curves up to its last epoch. */
#ifndef REPORT_REPORT_RUN_H
#define REPORT_REPORT_RUN_H

#include "report/report.h"

#define RUN_CURVE_POINTS 240

/* A quantity over epochs, downsampled to at most RUN_CURVE_POINTS points that include the last epoch. */
typedef struct run_curve {
    int count;
    double x[RUN_CURVE_POINTS], y[RUN_CURVE_POINTS];
} run_curve;

/* Columns of epochs.jsonl, in the order of the file. */
typedef enum run_curve_column {
    RUN_CURVE_LOSS,
    RUN_CURVE_TRAIN,
    RUN_CURVE_VAL,
    RUN_CURVE_TEST,
    RUN_CURVE_COUNT
} run_curve_column;

typedef struct report_run {
    char folder[SWEEP_PATH_MAX];
    struct cJSON *record; /* run.json */
    uint8_t *epochs;      /* epochs.jsonl */
    size_t epochs_bytes;
    int64_t epoch_count;
    run_curve curve[RUN_CURVE_COUNT]; /* accuracies in per cent */
} report_run;

/* Whether `folder` holds a run (run.json). */
bool report_is_run(const char *folder);
fathom_status report_run_load(report_run *run, const char *folder);
void report_run_free(report_run *run);

fathom_status report_run_html(text_buf *out, const report_run *run);
fathom_status report_run_text(text_buf *out, const report_run *run);
/* epoch,loss,train_acc,val_acc,test_acc,ms: every epoch */
fathom_status report_run_csv(text_buf *out, const report_run *run);
/* Folder, status and result, under "run". */
void report_run_to_json(struct json *doc, const report_run *run);
fathom_status report_run_svg(int *count, const report_run *run, const char *folder);

/* A member of run.json by its path ("result.test_accuracy"); NaN or "" when it is missing. */
double report_run_number(const report_run *run, const char *path);
const char *report_run_string(const report_run *run, const char *path);

#endif
