/* grid.h - the cells of a recipe: every combination of data, missing rate, model, depth, skip, drop-edge, norm, groups,
 * lambda and seed.
 * One cell is one training run. Seeds vary slowest, so an interrupted sweep has runs for every table entry. */
#ifndef SWEEP_GRID_H
#define SWEEP_GRID_H

#include "sweep/recipe.h"

#define GRID_CELL_ID 17        /* bytes of an id, with its NUL */
#define GRID_CELLS_MAX 1000000 /* larger grids are refused: most likely a mistake in a list */

typedef struct grid_cell {
    const char *data; /* as the recipe spells it: a name or a path */
    nn_conv_kind model;
    nn_norm_kind norm;
    int64_t layers;
    int64_t groups; /* 0: the preset's */
    double lambda;  /* NaN when lambda_from is PRESET or AUTO */
    train_lambda lambda_from;
    double missing;
    nn_skip_kind skip;
    double drop_edge;
    uint64_t seed;
    char id[GRID_CELL_ID]; /* first 16 hex digits of the SHA-256 of all of the above and of the common settings */
} grid_cell;

/* Allocates *cells (mem_free), at most GRID_CELLS_MAX. The cells point into the recipe. Groups and lambda multiply the
 * cells of group norm only, several skips those of networks that have two layers to connect. */
fathom_status grid_expand(grid_cell **cells, int64_t *count, const sweep_recipe *recipe);

#define GRID_CELL_TEXT 4352 /* capacity that holds any path; in less, the beginning of a long path is left out */

/* For messages: "cora gcn group, 15 layers, seed 100". */
void grid_cell_text(char *out, size_t capacity, const grid_cell *cell);

struct json;
/* The recipe's name, the number of runs, and every cell. */
void grid_to_json(struct json *doc, const sweep_recipe *recipe, const grid_cell *cells, int64_t count);

/* The configuration a cell trains with, before train_fill. */
train_config grid_cell_config(const grid_cell *cell, const sweep_recipe *recipe);

/* Whether the embeddings of this cell are saved for the report: first seed, norms none and group. */
bool grid_cell_is_plotted(const grid_cell *cell, const sweep_recipe *recipe);

#endif
