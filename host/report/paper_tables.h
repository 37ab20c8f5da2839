/* paper_tables.h - entries of tables 1 and 2, measured and published, for the HTML and the text report. In per cent. */
#ifndef REPORT_PAPER_TABLES_H
#define REPORT_PAPER_TABLES_H

#include "sweep/results.h"

typedef struct table_entry {
    run_stats stats; /* mean and sd in per cent */
    int64_t depth;   /* measured; 0: no runs */
    double paper;    /* published; NaN: none */
    int64_t paper_depth;
    double difference; /* measured - published; NaN unless both exist */
    bool below;        /* lower than published by more than two of our standard deviations */
} table_entry;

table_entry table1_entry(const sweep_results *results, const results_filter *filter);
/* The best depth of the recipe, chosen by test accuracy as in the paper. */
table_entry table2_entry(const sweep_results *results, results_filter filter);
/* The depth at which group norm is best: measured over the depths of the recipe, and published (#K); 0: none. */
typedef struct depth_pair {
    int64_t ours, paper;
} depth_pair;
depth_pair best_depths(const sweep_results *results, const char *data, nn_conv_kind model, double missing);
/* Improvement of group norm over another norm in per cent, averaged over the data sets that have both; NaN: none. */
double table2_improvement(const sweep_results *results, nn_conv_kind model, nn_norm_kind norm, double missing);

/* Number of entries with `below`, listed in `list`; *compared: entries that have a published figure. */
int entries_below_paper(text_buf *list, int *compared, const sweep_results *results);

/* Does a recipe span skip connections or drop-edge? The rows of its remedies: drop-edge by skip by norm. The filter of
 * row i has any depth. */
bool recipe_has_remedies(const sweep_recipe *recipe);
int remedy_count(const sweep_recipe *recipe);
results_filter remedy_at(const sweep_recipe *recipe, int i, const char *data, nn_conv_kind model, double missing);
table_entry remedy_entry(const sweep_results *results, results_filter filter, int64_t layers);

/* Entry i of a list of the recipe. */
nn_conv_kind recipe_model_at(const sweep_recipe *recipe, int i);
nn_norm_kind recipe_norm_at(const sweep_recipe *recipe, int i);
/* A filter for any groups and lambda. */
results_filter filter_make(const char *data, nn_conv_kind model, nn_norm_kind norm, int64_t layers, double missing);

/* "GCN"; "all features", "missing features", "30 % of features missing" */
void missing_title(char *out, size_t capacity, double missing);
/* "Cora" for cora; other short names unchanged, with their position in the recipe where two are equal. */
void data_title(char *out, size_t capacity, const sweep_recipe *recipe, const char *data);
/* "Cora, all features". */
void dataset_title(char *out, size_t capacity, const sweep_recipe *recipe, const char *data, double missing);
/* "Recipe table1, 200 epochs a run (the paper: up to 1000), 5 seeds, preset authors". */
void report_add_settings(text_buf *out, const sweep_results *results);

/* Whether the recipe shows table 2 but has no missing features; and the message for it. */
bool recipe_lacks_missing(const sweep_recipe *recipe);
extern const char lacks_missing_message[];

#endif
