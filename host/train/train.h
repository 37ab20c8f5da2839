/* train.h - training on any device: presets, epochs, best epoch, early stopping, lambda search, checkpoints.
 *
 *     train_config config = train_unset();          // set what the user gave
 *     config.net.model = NN_GCN; ...
 *     TRY(train_fill(&config, set));                // the rest from the preset
 *     train_result *result = NULL;
 *     TRY(train_run(&result, &config, set, dev, &hooks));
 *     train_result_free(result);
 *
 * train_run is the one entry into training: fathom_train, `fathom train` and the workers of `fathom sweep` call it. The
 * settings are listed in settings.h. Nothing here prints: progress is reported through the hooks. */
#ifndef TRAIN_TRAIN_H
#define TRAIN_TRAIN_H

#include "core/stop.h"
#include "metrics/metrics.h"
#include "nn/nn.h"
#include "train/settings.h"

#define X(id, name) TRAIN_##id,
typedef enum train_preset { TRAIN_PRESET_LIST(X) TRAIN_PRESETS } train_preset;
#undef X
const char *train_preset_name(train_preset preset);

#define X(id, name) TRAIN_##id,
typedef enum train_schedule { TRAIN_SCHEDULE_LIST(X) TRAIN_SCHEDULES } train_schedule;
#undef X
const char *train_schedule_name(int schedule);

typedef enum train_lambda { TRAIN_LAMBDA_PRESET, TRAIN_LAMBDA_GIVEN, TRAIN_LAMBDA_AUTO } train_lambda;

typedef struct train_config {
    nn_config net;
    train_preset preset;
    train_lambda lambda_from; /* where net.lambda comes from; AUTO: the search sets net.lambda */
#define X(name, kind, ...) SETTING_TYPE_##kind name;
    SETTINGS_TRAINER(X)
#undef X
    uint64_t seed;
    const char *init; /* model file with initial weights, or NULL */

    const char *out; /* directory of the run, or NULL */
    bool resume;
    bool fallback;  /* if an OpenCL device is lost, continue on the CPU from the last snapshot */
    bool automatic; /* --device auto: the CPU replaces a device that fails the sanity check */
    bool checked;   /* train_check was called */
    data_order order;
    int ranks;  /* of this run, for its record; train_run sets it */
    comm *comm; /* the ranks of this run, each of which calls train_run; NULL: one device */

    /* How the data was loaded: for run.json and the resume fingerprint. */
    const char *data, *features, *labels;
    double missing_rate;
    data_norm feature_norm; /* as applied; train_fill copies it from the set */
    double load_s, open_s;  /* seconds to load the data and to open the device */
    int64_t threads;        /* requested; 0: one per core */
} train_config;

/* Defaults; what the preset decides is unset (0, NaN). */
train_config train_unset(void);
/* Sets what is unset by preset, data set, model and depth (defaults.c), and validates. */
fathom_status train_fill(train_config *config, const data_set *set);

/* ---- sanity check of a device (device_sanity.c) ---- */

typedef struct train_use {
    const nn_config *config;                 /* NULL: metrics only */
    bool training, metrics, sampled, layers; /* sampled: metrics of some rows; layers: metrics of every layer */
    bool dense;                              /* features */
    metrics_definition definition;
} train_use;

/* Compares every operation of this use with its oracle on a small case, and two steps of a small network with the CPU.
 * A wrong result of an OpenCL device is FATHOM_DEVICE and names the operation; with --trust-device it is only noted in
 * `note`, which is "" otherwise. */
fathom_status train_check(be_device *dev, const train_use *use, char note[CORE_MESSAGE_MAX]);

/* ---- training ---- */

typedef struct train_epoch {
    int64_t epoch, epochs;
    double loss;              /* training loss before this epoch's update */
    double accuracy[NN_SETS]; /* after it; NaN when not evaluated, or when the set is empty */
    double best_val, best_test;
    int64_t best_epoch;
    double ms, seconds_left;
    double candidate; /* lambda on trial during the search, else NaN */
} train_epoch;

typedef struct train_hooks { /* any may be NULL */
    void *user;
    void (*epoch)(void *user, const train_epoch *epoch);
    void (*note)(void *user, const char *text);
    message_fn *progress;                                         /* of the metrics */
    fathom_status (*finished)(void *user, const nn_model *model); /* the model holds the best weights */
    /* Nonzero: finish the epoch and save, or skip set-up or metrics; train_run returns FATHOM_INTERRUPTED. */
    const stop_flag *stop;
} train_hooks;

#define TRAIN_CANDIDATES 9

typedef struct train_result {
    train_config config; /* net.lambda: as used */
    double accuracy[NN_SETS], loss;
    double macro_f1;            /* as in train_scores */
    int64_t best_epoch, epochs; /* epochs: all that were trained, also before a resume */
    int64_t first_epoch;        /* of this process; above 1 after a resume */
    bool interrupted, stopped_early;
    bool fell_back; /* to the CPU, during the run */
    metrics_values metrics;
    double build_s, total_s, median_epoch_ms, min_epoch_ms;
    nn_bytes bytes;
    be_counters per_epoch; /* each the maximum over steady-state epochs */
    int64_t builds_after_first_epoch, allocations_after_first_epoch;
    be_op_time profile[BE_OP_COUNT]; /* sums over the steady epochs; zeros unless the device times operations */
    int64_t steady_epochs;
    int candidates; /* of the lambda search */
    double candidate[TRAIN_CANDIDATES], candidate_val[TRAIN_CANDIDATES];
} train_result;

/* What one epoch enqueues (trainer.c), for training and for its benchmark: a training step, and with `evaluate` a
 * forward pass in evaluation mode and the counts of correct predictions. Then reads the statistics, the only wait. */
fathom_status train_one_epoch(nn_epoch_stats *stats, nn_model *model, const train_config *config, int64_t epoch,
                              bool evaluate, double lr);

/* FATHOM_INTERRUPTED also sets *result. */
fathom_status train_run(train_result **result, const train_config *config, const data_set *set, be_device *dev,
                        const train_hooks *hooks);
void train_result_free(train_result *result);

/* The same on several devices of this process: a thread and a rank for each, the caller's is rank 0, whose result,
 * message and hooks these are. `timeout`: seconds a rank may be silent while another waits for it, 0: for ever. */
fathom_status train_run_devices(train_result **result, const train_config *config, const data_set *set,
                                be_device *const *devices, int count, double timeout, const train_hooks *hooks);

/* ---- JSON: --json and run.json (run_json.c) ---- */

struct json;
void train_json_data(struct json *doc, const data_set *set);
void train_json_device(struct json *doc, const be_info *info);
void train_json_config(struct json *doc, const train_config *config, const data_set *set);
void train_json_model(struct json *doc, const nn_config *config); /* what a checkpoint contains: SETTINGS_MODEL */
/* Fields, `unavailable`, and `standard_error` of a sample of the nodes. */
void train_json_metrics(struct json *doc, const metrics_values *values, int64_t nodes);
/* The whole record; `result` NULL: the run has only begun. */
void train_json(struct json *doc, const train_config *config, const data_set *set, const be_info *info,
                const train_result *result);

/* The bytes of a plan by lifetime; and the record of a dry run, with a plan for each level of recomputation. */
/* Adds to the sizes of a plan what layer metrics of the run take beside the network. */
void train_plan_beside(nn_shape *shape, const train_config *config, const data_set *set);
void train_plan_parts(int64_t part[NN_MEM_COUNT], const fathom_plan *plan);
void train_json_plan(struct json *doc, const train_config *config, const data_set *set, const be_info *info,
                     const fathom_plan *plan, const fathom_plan *levels, int count);

/* ---- evaluation ---- */

/* A line for each node: its number, the class of the largest output (the lowest of equals), softmax of it. */
fathom_status train_save_predictions(const char *path, const float *logits, int64_t nodes, int64_t classes);

/* Calls `layer` with H_k of every layer k = 0 .. K-1 in evaluation: rows x cols, in the order of the set. */
typedef fathom_status train_layer_fn(void *user, int64_t k, const float *h, int64_t rows, int64_t cols);
fathom_status train_each_layer(nn_model *model, train_layer_fn *layer, void *user);

/* A .npz with layer_1 .. layer_K: the same. */
fathom_status train_save_layers(const char *path, nn_model *model);

typedef struct train_scores {
    float *logits; /* n x C, mem_free */
    bool finite;   /* all logits; else the metrics are NaN */
    double accuracy[NN_SETS], loss;
    /* Of the test nodes: the mean over classes of 2 TP / (2 TP + FP + FN), of those with a node or a prediction, as in
     * scikit-learn; NaN without test nodes. */
    double macro_f1;
    metrics_values metrics;
} train_scores;

/* Logits, accuracies and loss, without metrics. */
fathom_status train_score(train_scores *scores, nn_model *model, const data_set *set, be_device *dev);
typedef struct train_measuring {
    metrics_definition definition;
    int64_t rows;          /* as in metrics_input, and the next two */
    const stop_flag *stop; /* NULL: never */
    message_fn *progress;  /* may be NULL */
} train_measuring;

/* Metrics of the logits. */
fathom_status train_measure(train_scores *scores, const data_set *set, be_device *dev, const train_measuring *how);
/* Both; how NULL: no metrics. */
fathom_status train_evaluate(train_scores *scores, nn_model *model, const data_set *set, be_device *dev,
                             const train_measuring *how);

#endif
