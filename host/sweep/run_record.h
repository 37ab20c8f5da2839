/* run_record.h - one finished run as a flat record: a line of journal.jsonl, results.jsonl and results.csv. A record
 * owns no strings: they belong to the cell and the recipe (run_record_set_cell), or to an intern_table. */
#ifndef SWEEP_RUN_RECORD_H
#define SWEEP_RUN_RECORD_H

#include "core/intern.h"
#include "sweep/grid.h"

#define TITLE_MAX 256 /* capacity of titles and names for display; stored strings have no limit */

/* A setting as a column; RUN_RECORD_COLUMNS is expanded with a macro named X. */
#define SETTING_COLUMN(name, kind, ...) SETTING_COLUMN_##kind(name)
#define SETTING_COLUMN_INT(name) X(INT, name)
#define SETTING_COLUMN_REAL(name) X(REAL, name)
#define SETTING_COLUMN_CHOICE(name) X(TEXT, name)

/* X(type, member): TEXT (const char *, never NULL), INT (int64_t), REAL (double; NaN is null), in the order of the
 * columns. */
#define RUN_RECORD_COLUMNS(X)                     \
    X(TEXT, cell)                                 \
    X(TEXT, status)                               \
    X(TEXT, data)                                 \
    X(TEXT, model)                                \
    X(TEXT, norm)                                 \
    X(INT, layers)                                \
    X(REAL, missing_rate)                         \
    X(INT, seed)                                  \
    X(REAL, test_accuracy)                        \
    X(REAL, val_accuracy)                         \
    X(REAL, train_accuracy)                       \
    X(REAL, macro_f1)                             \
    X(REAL, instance_information_gain)            \
    X(REAL, group_distance_ratio)                 \
    X(REAL, intra_group_distance)                 \
    X(REAL, inter_group_distance)                 \
    X(REAL, dirichlet_energy)                     \
    X(REAL, dirichlet_energy_mean)                \
    X(REAL, mean_average_distance)                \
    X(INT, sampled)                               \
    X(REAL, loss)                                 \
    X(INT, best_epoch)                            \
    X(INT, epochs_run)                            \
    SETTINGS_COLUMNS(SETTING_COLUMN)              \
    X(TEXT, lambda_from)                          \
    SETTINGS_COLUMNS_AFTER_LAMBDA(SETTING_COLUMN) \
    X(TEXT, feature_norm)                         \
    X(TEXT, split)                                \
    X(TEXT, split_sha256)                         \
    X(INT, nodes)                                 \
    X(INT, edges)                                 \
    X(INT, features)                              \
    X(INT, classes)                               \
    X(TEXT, data_sha256)                          \
    X(TEXT, config_sha256)                        \
    X(TEXT, recipe)                               \
    X(TEXT, version)                              \
    X(TEXT, device)                               \
    X(TEXT, backend)                              \
    X(TEXT, driver)                               \
    X(REAL, total_s)                              \
    X(REAL, load_s)                               \
    X(REAL, build_s)                              \
    X(REAL, median_epoch_ms)                      \
    X(REAL, min_epoch_ms)                         \
    X(INT, planned_bytes)                         \
    X(TEXT, finished)                             \
    X(TEXT, error)

typedef struct run_record {
#define RUN_RECORD_TEXT(name) const char *name;
#define RUN_RECORD_INT(name) int64_t name;
#define RUN_RECORD_REAL(name) double name;
#define X(type, name) RUN_RECORD_##type(name)
    RUN_RECORD_COLUMNS(X)
#undef X
} run_record;

/* All members unset: "", 0, NaN. */
run_record run_record_empty(void);

/* The hyperparameters of the cell; call it first. */
void run_record_set_cell(run_record *record, const grid_cell *cell, const sweep_recipe *recipe);
/* Configuration and result of the training. config_sha256 covers configuration, data and split. */
fathom_status run_record_set_result(run_record *record, intern_table *strings, const train_result *result,
                                    const data_set *set, const be_info *device);
fathom_status run_record_set_time(run_record *record, intern_table *strings); /* `finished` = now, UTC */

/* Copies the strings of the record into `strings`. */
fathom_status run_record_intern(run_record *record, intern_table *strings);

fathom_status run_record_print(text_buf *out, const run_record *record); /* one line of JSON, with the newline */
fathom_status run_record_read(run_record *record, intern_table *strings, const char *line, size_t length,
                              const char *where);
void run_record_csv_head(text_buf *out);
void run_record_csv(text_buf *out, const run_record *record);

#endif
