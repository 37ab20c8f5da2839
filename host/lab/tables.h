/* tables.h - the entries of the paper's tables, ours and published, for HTML and text alike. Per cent. */
#ifndef LAB_TABLES_H
#define LAB_TABLES_H

#include "lab/study.h"

typedef struct lab_entry {
    lab_stats stats; /* mean and sd in per cent */
    int64_t depth;   /* of ours; 0: nothing run */
    double paper;    /* NaN: none */
    int64_t paper_depth;
    double difference; /* ours - paper; NaN unless both are there */
    bool below;        /* by more than two standard deviations of ours */
} lab_entry;

lab_entry lab_table1_entry(const lab_study *study, const lab_pick *pick);
/* The best depth of the recipe's list, chosen by test accuracy as the paper does. */
lab_entry lab_table2_entry(const lab_study *study, lab_pick pick);
/* The depth at which group norm is best: ours of the recipe's list, the paper's of its own (#K); 0: none. */
typedef struct lab_depths {
    int64_t ours, paper;
} lab_depths;
lab_depths lab_best_depths(const lab_study *study, const char *data, nn_conv_kind model, double missing);
/* Average improvement of group norm over a norm, over the data sets where both are there, per cent; NaN: none. */
double lab_table2_improvement(const lab_study *study, nn_conv_kind model, nn_norm_kind norm, double missing);

/* How many entries of table 1 and 2 are below the paper's by more than two standard deviations, and which. */
int lab_entries_below(lab_text *list, int *compared, const lab_study *study);

/* Walks a recipe's lists. */
nn_conv_kind lab_model_at(const lab_recipe *recipe, int i);
nn_norm_kind lab_norm_at(const lab_recipe *recipe, int i);
lab_pick lab_pick_all(const char *data, nn_conv_kind model, nn_norm_kind norm, int64_t layers, double missing);

/* "GCN", "group"; "all features", "missing features", "30 % of features missing". */
const char *lab_model_title(nn_conv_kind model);
void lab_missing_title(char *out, size_t room, double missing);
/* "Cora" for cora; other names as they are, with their place in the recipe where two are called the same. */
void lab_data_title(char *out, size_t room, const lab_recipe *recipe, const char *word);
/* "Cora, all features". */
void lab_where_title(char *out, size_t room, const lab_recipe *recipe, const char *word, double missing);
/* "Recipe table1, 200 epochs a run (the paper: up to 1000), 5 seeds, preset authors". */
void lab_add_settings(lab_text *out, const lab_study *study);

/* Does it show table 2, which is of missing features, without any? And the message that says so. */
bool lab_recipe_lacks_missing(const lab_recipe *recipe);
extern const char lab_lacks_missing[];

#endif
