/* row.h - one finished run as a flat record: a line of the journal, of results.jsonl and of results.csv. A row owns
 * none of its texts: they belong to the cell and the recipe (lab_row_set_cell), else to a string table. */
#ifndef LAB_ROW_H
#define LAB_ROW_H

#include "lab/grid.h"
#include "lab/strings.h"

#define LAB_TEXT_ROOM 256 /* of titles and names that are shown; what is stored is not cut */

/* X(kind, member): kinds are TEXT (const char *, never NULL), INT (int64_t), REAL (double; NaN is null). The order is
 * that of the columns. */
#define LAB_COLUMNS(X)                 \
    X(TEXT, cell)                      \
    X(TEXT, status)                    \
    X(TEXT, data)                      \
    X(TEXT, model)                     \
    X(TEXT, norm)                      \
    X(INT, layers)                     \
    X(REAL, missing_rate)              \
    X(INT, seed)                       \
    X(REAL, test_accuracy)             \
    X(REAL, val_accuracy)              \
    X(REAL, train_accuracy)            \
    X(REAL, instance_information_gain) \
    X(REAL, group_distance_ratio)      \
    X(REAL, intra_group_distance)      \
    X(REAL, inter_group_distance)      \
    X(REAL, dirichlet_energy)          \
    X(REAL, dirichlet_energy_mean)     \
    X(REAL, mean_average_distance)     \
    X(REAL, loss)                      \
    X(INT, best_epoch)                 \
    X(INT, epochs_run)                 \
    X(INT, epochs)                     \
    X(INT, patience)                   \
    X(INT, hidden)                     \
    X(INT, groups)                     \
    X(REAL, lambda)                    \
    X(TEXT, lambda_from)               \
    X(REAL, dropout)                   \
    X(REAL, lr)                        \
    X(REAL, weight_decay)              \
    X(REAL, alpha)                     \
    X(REAL, theta)                     \
    X(REAL, momentum)                  \
    X(TEXT, preset)                    \
    X(TEXT, feature_norm)              \
    X(TEXT, split)                     \
    X(TEXT, split_sha256)              \
    X(INT, nodes)                      \
    X(INT, edges)                      \
    X(INT, features)                   \
    X(INT, classes)                    \
    X(TEXT, data_sha256)               \
    X(TEXT, config_sha256)             \
    X(TEXT, recipe)                    \
    X(TEXT, version)                   \
    X(TEXT, device)                    \
    X(TEXT, backend)                   \
    X(TEXT, driver)                    \
    X(REAL, total_s)                   \
    X(REAL, load_s)                    \
    X(REAL, build_s)                   \
    X(REAL, median_epoch_ms)           \
    X(REAL, min_epoch_ms)              \
    X(INT, planned_bytes)              \
    X(TEXT, finished)                  \
    X(TEXT, error)

typedef struct lab_row {
#define LAB_TEXT_MEMBER(name) const char *name;
#define LAB_INT_MEMBER(name) int64_t name;
#define LAB_REAL_MEMBER(name) double name;
#define X(kind, name) LAB_##kind##_MEMBER(name)
    LAB_COLUMNS(X)
#undef X
} lab_row;

/* A row in which nothing is known: empty, 0, NaN. */
lab_row lab_row_empty(void);

/* What the cell asks for; first. */
void lab_row_set_cell(lab_row *row, const lab_cell *cell, const lab_recipe *recipe);
/* What was trained; `config_sha256` covers configuration, data and split. */
fathom_status lab_row_set_result(lab_row *row, lab_strings *strings, const train_result *result, const data_set *set,
                                 const be_info *device);
fathom_status lab_row_set_time(lab_row *row, lab_strings *strings); /* finished now */

/* Stores the texts of `row` in `strings`, and lets it point there. */
fathom_status lab_row_store(lab_row *row, lab_strings *strings);

fathom_status lab_row_print(lab_text *out, const lab_row *row); /* one line of JSON, with its end */
fathom_status lab_row_read(lab_row *row, lab_strings *strings, const char *line, size_t length, const char *where);
void lab_row_csv_head(lab_text *out);
void lab_row_csv(lab_text *out, const lab_row *row);

#endif
