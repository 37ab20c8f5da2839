/* study.h - a sweep as its readers see it: the recipe, which cells are done, and numbers over seeds. A folder of
 * several sweeps is several studies. */
#ifndef LAB_STUDY_H
#define LAB_STUDY_H

#include "lab/about.h"
#include "lab/journal.h"

typedef struct lab_study {
    lab_about about;
    lab_recipe *recipe;
    lab_cell *cells;
    const lab_row **row; /* of each cell: its finished run, or NULL */
    bool *failed;        /* of each cell: its last try failed */
    int64_t cell_count, done, failures;
    lab_journal journal;
} lab_study;

/* Reads the sweep in `folder`. */
fathom_status lab_study_load(lab_study *study, const char *folder);
void lab_study_free(lab_study *study);

typedef struct lab_studies {
    lab_study *study;
    int count;
} lab_studies;

/* Reads `folder`, and the folders in it that hold a sweep, by name. */
fathom_status lab_studies_load(lab_studies *studies, const char *folder);
void lab_studies_free(lab_studies *studies);

/* What to take the mean of: cells that agree in all of this. */
typedef struct lab_pick {
    const char *data;
    nn_conv_kind model;
    nn_norm_kind norm;
    int64_t layers;
    double missing;
    int64_t groups; /* as in the cell; -1: any */
    double lambda;  /* NaN: any */
} lab_pick;

typedef struct lab_stats {
    int wanted, done, failed;
    double mean, sd; /* NaN: not run yet; sd also with one seed. sd divides by n - 1 */
} lab_stats;

/* `offset` of a REAL member of lab_row: offsetof(lab_row, test_accuracy). */
lab_stats lab_study_stats(const lab_study *study, const lab_pick *pick, size_t offset);

/* The depth with the highest mean of test accuracy (as the paper's table 2 chooses), 0 when nothing has been run. */
int64_t lab_study_best_depth(lab_stats *stats, const lab_study *study, lab_pick pick);

/* The first cell a pick stands for that has been run, or NULL. */
const lab_cell *lab_study_first(const lab_study *study, const lab_pick *pick);

/* results.csv and results.jsonl in the study's folder: finished runs in the order of the recipe. */
fathom_status lab_study_csv(lab_text *out, const lab_study *study, bool head);
fathom_status lab_study_save_results(const lab_study *study);

/* The data set's name in a recipe's word: of a path the file's name without ind. and ending, '_' as '-'. */
void lab_data_name(char *out, size_t room, const char *word);

#endif
