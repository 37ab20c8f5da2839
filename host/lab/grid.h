/* grid.h - the cells of a recipe: every combination of data, features, model, norm, depth, groups, lambda and seed,
 * each one training run. Seeds vary slowest, so that an unfinished sweep has something of every table entry. */
#ifndef LAB_GRID_H
#define LAB_GRID_H

#include "lab/recipe.h"

#define LAB_CELL_ID 17
#define LAB_CELLS_MAX 1000000 /* more are refused: a slip in a list looks like this */

typedef struct lab_cell {
    const char *data; /* the recipe's word */
    nn_conv_kind model;
    nn_norm_kind norm;
    int64_t layers;
    int64_t groups; /* 0: the preset's */
    double lambda;  /* NaN with lambda_from RECIPE or AUTO */
    train_lambda lambda_from;
    double missing;
    uint64_t seed;
    char id[LAB_CELL_ID]; /* 16 hexadecimal digits of all of the above and of the settings that all cells share */
} lab_cell;

/* *cells (mem_free) and their number, at most LAB_CELLS_MAX; they point into the recipe. Groups and lambda span cells
 * of group norm only. */
fathom_status lab_grid(lab_cell **cells, int64_t *count, const lab_recipe *recipe);

/* Gives the cells the ids of sweeps of format 1 (about.h), which covered none of the shared settings. */
void lab_grid_ids_before(lab_cell *cells, int64_t count, const lab_recipe *recipe);

#define LAB_CELL_TEXT 4352 /* bytes that hold any path with the rest; in fewer a long path is shown by its end */

/* "cora gcn group 15 layers, seed 100" for people. */
void lab_cell_text(char *out, size_t room, const lab_cell *cell);

/* The configuration a cell trains with, before train_fill. */
train_config lab_cell_config(const lab_cell *cell, const lab_recipe *recipe);

/* Are the representations of this cell kept for the picture? Those of the first seed, without norm and with groups. */
bool lab_cell_pictured(const lab_cell *cell, const lab_recipe *recipe);

#endif
