/* results.h - the results of a sweep: its recipe, the record of each finished cell, statistics over seeds. */
#ifndef SWEEP_RESULTS_H
#define SWEEP_RESULTS_H

#include "sweep/journal.h"
#include "sweep/provenance.h"

typedef struct sweep_results {
    sweep_provenance provenance;
    sweep_recipe *recipe;
    grid_cell *cells;
    const run_record **record; /* [cell_count]: the finished run of each cell, or NULL */
    bool *failed;              /* [cell_count]: the last run of the cell failed */
    int64_t cell_count, done, failures;
    sweep_journal journal;
} sweep_results;

/* Loads the sweep in `folder`. */
fathom_status results_load(sweep_results *results, const char *folder);
void results_free(sweep_results *results);

typedef struct sweep_results_list {
    sweep_results *sweep; /* [count] */
    int count;
} sweep_results_list;

/* Loads the sweep in `folder` and those in its subfolders, in the order of their names. */
fathom_status results_list_load(sweep_results_list *sweeps, const char *folder);
void results_list_free(sweep_results_list *sweeps);

/* Selects the cells to average: those that match in every member. */
typedef struct results_filter {
    const char *data;
    nn_conv_kind model;
    nn_norm_kind norm;
    int64_t layers;
    double missing;
    int64_t groups;   /* -1: any */
    double lambda;    /* NaN: any */
    int skip;         /* an nn_skip_kind; -1: any */
    double drop_edge; /* NaN: any */
} results_filter;

typedef struct run_stats {
    int wanted, done, failed; /* numbers of runs */
    double mean, sd;          /* NaN without runs; sd also with one run. sd divides by n - 1 */
} run_stats;

/* `offset`: of a REAL column, offsetof(run_record, test_accuracy). */
run_stats results_stats(const sweep_results *results, const results_filter *filter, size_t offset);

/* The depth with the highest mean test accuracy, as in table 2 of the paper; 0 without runs. */
int64_t results_best_depth(run_stats *stats, const sweep_results *results, results_filter filter);

/* The first finished cell that matches, or NULL. */
const grid_cell *results_first_cell(const sweep_results *results, const results_filter *filter);

/* Finished runs in the order of the recipe: as CSV, and as results.csv and results.jsonl in the folder. */
fathom_status results_csv(text_buf *out, const sweep_results *results, bool head);
fathom_status results_save(const sweep_results *results);

/* Short name of a data set: of a path the file name without "ind." and extension, '_' replaced by '-'. */
void results_data_name(char *out, size_t capacity, const char *data);

#endif
