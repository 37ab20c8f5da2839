/* train.h - training, once for every device: recipe, loop, best epoch, early stop, lambda search, checkpoints.
 *
 *     train_config config = train_unset();          // the user's values go in here
 *     config.net.model = NN_GCN; ...
 *     TRY(train_fill(&config, set));                // what the user left open, from the recipe
 *     train_result *result = NULL;
 *     TRY(train_run(&result, &config, set, dev, &hooks));
 *     train_result_free(result);
 *
 * Nothing here prints: progress goes through the hooks. */
#ifndef TRAIN_TRAIN_H
#define TRAIN_TRAIN_H

#include <signal.h>

#include "metrics/metrics.h"
#include "nn/nn.h"

typedef enum train_preset { TRAIN_AUTHORS, TRAIN_PAPER, TRAIN_PYG, TRAIN_PRESETS } train_preset;
const char *train_preset_name(train_preset preset);

typedef enum train_lambda { TRAIN_LAMBDA_RECIPE, TRAIN_LAMBDA_GIVEN, TRAIN_LAMBDA_AUTO } train_lambda;

typedef struct train_config {
    nn_config net;
    train_preset preset;
    train_lambda lambda; /* where net.lambda comes from; AUTO: searched, then net.lambda is the choice */
    double lr, weight_decay;
    int64_t epochs;
    int64_t patience;   /* stop after so many epochs without a better validation accuracy; 0: never */
    int64_t eval_every; /* evaluate every so many epochs, and after the last one */
    uint64_t seed;
    const char *init; /* a model file to start from, or NULL */

    const char *out;          /* folder of the run, or NULL */
    int64_t checkpoint_every; /* epochs */
    bool resume;
    bool fallback;  /* when an OpenCL device is lost in mid-run, go on on the CPU from the last kept state */
    bool automatic; /* nobody named the device: the CPU takes the place of one that fails its check */
    bool checked;   /* train_check was called */

    /* How the data was loaded: for the record, and for comparing runs. */
    const char *data, *features, *labels;
    double missing_rate;
    data_norm feature_norm; /* as applied: train_fill takes it from the set */
    double load_s, open_s;  /* seconds it took to load the data and to open the device */
    int64_t threads;        /* asked for; 0: one per core */
} train_config;

/* Nothing decided: train_fill sees what the user gave. */
train_config train_unset(void);
fathom_status train_fill(train_config *config, const data_set *set);

/* ---- may a device be used? (device_check.c) ---- */

typedef struct train_use {
    const nn_config *config; /* NULL: metrics alone */
    bool training, metrics;
    bool dense; /* the features are */
    metrics_definition definition;
} train_use;

/* Runs every operation of this use on a small case against its oracle, and a small network there and on the CPU. An
 * OpenCL device that gets one wrong is FATHOM_DEVICE, with the operation's name; a trusted one gets a note instead,
 * else `note` is "". */
fathom_status train_check(be_device *dev, const train_use *use, char note[CORE_MESSAGE_MAX]);

/* ---- running ---- */

typedef struct train_epoch {
    int64_t epoch, epochs;
    double loss;              /* training loss before this epoch's update */
    double accuracy[NN_SETS]; /* after it; NaN when not evaluated, or when the set is empty */
    double best_val, best_test;
    int64_t best_epoch;
    double ms, seconds_left;
    double candidate; /* the lambda being tried while searching, else NaN */
} train_epoch;

typedef struct train_hooks { /* any may be NULL */
    void *user;
    void (*epoch)(void *user, const train_epoch *epoch);
    void (*note)(void *user, const char *text);
    fathom_status (*finished)(void *user, const nn_model *model); /* with the best weights in place */
    /* Not 0: finish the epoch and save, or leave set-up or metrics undone; return FATHOM_INTERRUPTED. */
    const volatile sig_atomic_t *stop;
} train_hooks;

#define TRAIN_CANDIDATES 9

typedef struct train_result {
    train_config config; /* with the lambda that was used */
    double accuracy[NN_SETS], loss;
    int64_t best_epoch, epochs; /* epochs: how many were run in all */
    int64_t first_epoch;        /* of this process; above 1 when resumed */
    bool interrupted, stopped_early;
    bool fell_back; /* to the CPU, in mid-run */
    metrics_values metrics;
    double build_s, total_s, median_epoch_ms, min_epoch_ms;
    nn_bytes bytes;
    be_counters per_epoch; /* launches, reads, bytes: each the most of a steady epoch, or of the only one */
    int64_t builds_after_first_epoch, allocations_after_first_epoch;
    be_op_time profile[BE_OP_COUNT]; /* sums over the steady epochs; zeros unless the device times operations */
    int64_t steady_epochs;
    int candidates; /* of the search for lambda */
    double candidate[TRAIN_CANDIDATES], candidate_val[TRAIN_CANDIDATES];
} train_result;

/* Interrupted: *result is there all the same and FATHOM_INTERRUPTED is returned. */
fathom_status train_run(train_result **result, const train_config *config, const data_set *set, be_device *dev,
                        const train_hooks *hooks);
void train_result_free(train_result *result);

/* ---- the record of a run: --json and run.json (record.c) ---- */

struct json;
void train_json_data(struct json *doc, const data_set *set);
void train_json_device(struct json *doc, const be_info *info);
void train_json_config(struct json *doc, const train_config *config, const data_set *set);
void train_json_metrics(struct json *doc, const metrics_values *values); /* the fields and `unavailable` */
/* All of it; `result` NULL: a run that has only begun. */
void train_json(struct json *doc, const train_config *config, const data_set *set, const be_info *info,
                const train_result *result);

/* ---- evaluating a model whose weights are set ---- */

typedef struct train_scores {
    float *logits; /* n x C, mem_free */
    bool finite;   /* all of them; else there are no metrics */
    double accuracy[NN_SETS], loss;
    metrics_values metrics;
} train_scores;

/* Without metrics. */
fathom_status train_score(train_scores *scores, nn_model *model, const data_set *set, be_device *dev);
/* The metrics of the logits; *stop (NULL: never) as in metrics_input. */
fathom_status train_measure(train_scores *scores, const data_set *set, be_device *dev, metrics_definition definition,
                            const volatile sig_atomic_t *stop);
/* Both. */
fathom_status train_evaluate(train_scores *scores, nn_model *model, const data_set *set, be_device *dev,
                             metrics_definition definition);

#endif
