/* recipe.h - what a sweep runs, as a short text that people write.
 *
 *     # accuracy at two depths
 *     data     cora citeseer
 *     models   gcn sgc
 *     norms    none group
 *     layers   2 15
 *     layers.sgc 5 60          # another list for one model
 *     seeds    5               # 100, 200, ...
 *
 * A line is a key and its values; '#' starts a comment. Keys that take several values span the grid of cells (grid.h);
 * the others hold for every cell. docs/recipes.md lists them. Four recipes are inside the library: table1, table2,
 * depth, grid. */
#ifndef LAB_RECIPE_H
#define LAB_RECIPE_H

#include "lab/text.h"
#include "train/train.h"

#define LAB_VALUES 64
#define LAB_RECIPE_MAX 65536 /* bytes of its text */

typedef struct lab_words {
    int count;
    char *word[LAB_VALUES];
} lab_words;

typedef struct lab_numbers {
    int count;
    double value[LAB_VALUES];
} lab_numbers;

/* What the report draws, in the order of the recipe's `show`. */
typedef enum lab_show { LAB_TABLE1, LAB_TABLE2, LAB_LINES, LAB_HEAT, LAB_CURVES, LAB_PICTURE, LAB_SHOWS } lab_show;

typedef struct lab_recipe {
    char *name, *title;
    lab_words data, models, norms, show;
    lab_numbers layers[NN_CONV_COUNT + 1]; /* the last for models without a list of their own */
    lab_numbers groups;                    /* empty: the preset's */
    lab_numbers lambda;                    /* empty: the preset's; NaN: auto */
    lab_numbers missing;
    int64_t seeds;
    int picture_model; /* of the runs whose representations are kept; -1: none */
    int64_t picture_layers;
    char *split;          /* NULL: the data set's own */
    char *features;       /* degree or identity; NULL: the data set's own */
    train_config setting; /* values that hold for every cell, train_unset() where the recipe says nothing */
} lab_recipe;

/* Reads a recipe by name or path. */
fathom_status lab_recipe_load(lab_recipe **recipe, const char *name_or_path);
fathom_status lab_recipe_parse(lab_recipe **recipe, const char *text, const char *name);
void lab_recipe_free(lab_recipe *recipe);

/* Takes another value for a key, as a line of a recipe would: "data", "cora,citeseer". What it narrows must be left
 * consistent: layers given here hold for every model. */
fathom_status lab_recipe_set(lab_recipe *recipe, const char *key, const char *values);

/* All that decides the cells, in one spelling: equal texts are equal sweeps. */
void lab_recipe_print(lab_text *out, const lab_recipe *recipe);
/* Those of its lines that hold for every cell and change its result. */
void lab_recipe_print_settings(lab_text *out, const lab_recipe *recipe);

const lab_numbers *lab_recipe_layers(const lab_recipe *recipe, nn_conv_kind model);
/* A recipe that does not say what to show shows everything. */
bool lab_recipe_shows(const lab_recipe *recipe, lab_show what);

/* The recipes inside the library: name and text, the name NULL past the end. */
typedef struct lab_builtin {
    const char *name, *text;
} lab_builtin;
extern const lab_builtin lab_builtins[];

#endif
