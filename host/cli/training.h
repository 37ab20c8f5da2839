/* training.h - what train, demo and eval share: progress on the screen, Ctrl-C, and a run's numbers as text. */
#ifndef CLI_TRAINING_H
#define CLI_TRAINING_H

#include "cli/dataset.h"
#include "cli/open_device.h"
#include "train/train.h"

/* --metrics of eval and metrics; train has it from the list of settings. */
#define METRICS_ROW(S, member)                                                                                 \
    OPT_COUNTED(S, member, "metrics", 0, METRICS_ROWS_CHOICES, METRICS_ROWS_CHOICES, "auto", METRICS_ROWS_MIN, \
                METRICS_ROWS_MAX,                                                                              \
                "rows that metrics take against all rows; auto: all of 30,000 nodes, of more sampled:4000")

/* Progress on the screen; Ctrl-C once asks the run to stop after its epoch, twice ends the command immediately. */
void watch_training(fathom_train_options *options);

/* One line each about the data and the network, whose options are filled from the recipe first. */
fathom_status log_data(const fathom_data *data);
/* ", skip initial (weight 0.5)"; "" without one. */
const char *skip_text(char text[64], int32_t skip, double weight);
fathom_status log_network(const fathom_train_options *options, const fathom_data *data, const fathom_device *device);

/* "75.9 %", or "-" for what is not a number; lives until the next call but seven. */
const char *percent_text(double fraction);
const char *real_text(double value, int digits);

/* The metrics and their meaning, in the order in which they are printed. */
#define SHOWN_METRICS 7
struct shown_metric {
    const char *title, *meaning;
    size_t offset;       /* of the double in metrics_values */
    size_t error_offset; /* of its standard error; 0: it is never sampled */
};
extern const struct shown_metric shown_metrics[SHOWN_METRICS];
double shown_value(const metrics_values *values, int metric);
/* With the standard errors of a sample of `nodes`. */
void print_metrics(const metrics_values *values, int64_t nodes);

#endif
