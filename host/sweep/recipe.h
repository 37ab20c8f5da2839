/* recipe.h - a recipe: the text file that lists the runs of a sweep.
 *
 *     # accuracy at two depths
 *     data     cora citeseer
 *     models   gcn sgc
 *     norms    none group
 *     layers   2 15
 *     layers.sgc 5 60          # overrides `layers` for one model
 *     seeds    5               # 100, 200, ...
 *
 * A line is a key and its values; '#' starts a comment. The grid of runs is the product of the keys that take a list
 * (grid.h); every other key applies to all runs. docs/recipes.md documents the keys. Five recipes are built in:
 * table1, table2, depth, grid, remedies. */
#ifndef SWEEP_RECIPE_H
#define SWEEP_RECIPE_H

#include "core/text.h"
#include "train/train.h"

#define RECIPE_VALUES_MAX 64   /* capacity of a list */
#define RECIPE_BYTES_MAX 65536 /* length of the text */

typedef struct recipe_strings {
    int count;
    char *value[RECIPE_VALUES_MAX];
} recipe_strings;

typedef struct recipe_numbers {
    int count;
    double value[RECIPE_VALUES_MAX];
} recipe_numbers;

/* Sections of the report, in the order of recipe_show_names (recipe_key.h). */
typedef enum recipe_show {
    SHOW_TABLE1,
    SHOW_TABLE2,
    SHOW_REMEDIES,
    SHOW_LINES,
    SHOW_HEAT,
    SHOW_CURVES,
    SHOW_EMBEDDING,
    SHOW_COUNT
} recipe_show;

typedef struct sweep_recipe {
    char *name, *title;
    recipe_strings data, models, norms, skips, show;
    recipe_numbers layers[NN_CONV_COUNT + 1]; /* [NN_CONV_COUNT]: models without a list of their own */
    recipe_numbers groups;                    /* empty: the preset's */
    recipe_numbers lambda;                    /* empty: the preset's; NaN: auto */
    recipe_numbers missing;
    recipe_numbers drop_edge; /* empty: 0 */
    int64_t seeds;
    int embedding_model; /* model of the runs whose embeddings are saved for the report; -1: none */
    int64_t embedding_layers;
    char *split;           /* NULL: the data set's own */
    char *features;        /* degree or identity; NULL: the data set's own */
    train_config settings; /* common to all runs; train_unset() for keys that are not given */
    uint64_t given;        /* bit i: the i-th key was given, in the text or by recipe_set */
} sweep_recipe;

/* Loads a built-in recipe by name, or a file by path (a path contains '/' or '.'). */
fathom_status recipe_load(sweep_recipe **recipe, const char *name_or_path);
fathom_status recipe_parse(sweep_recipe **recipe, const char *text, const char *name);
void recipe_free(sweep_recipe *recipe);

/* Replaces the values of a key, as the option --KEY of `fathom sweep` does: "data", "cora,citeseer". Setting `layers`
 * drops the lists of single models. On failure the old values remain. */
fathom_status recipe_set(sweep_recipe *recipe, const char *key, const char *values);

/* The i-th key, NULL past the last one; and why it changes no run of the recipe, NULL when it does or is not given. */
const char *recipe_key_name(int i);
const char *recipe_idle_reason(const sweep_recipe *recipe, int i);

/* Prints every key in canonical form: two recipes with the same text are the same sweep. */
void recipe_print(text_buf *out, const sweep_recipe *recipe);
/* Prints the keys that apply to all runs and affect their results: the part of a run's id that all runs share. */
void recipe_print_settings(text_buf *out, const sweep_recipe *recipe);

/* Depths of a model: its own list, or the common one. */
const recipe_numbers *recipe_layers(const sweep_recipe *recipe, nn_conv_kind model);
/* Whether the report has this section. A recipe without `show` has all of them. */
bool recipe_shows(const sweep_recipe *recipe, recipe_show section);

/* Built-in recipes, generated from data/recipes; ends with a NULL name. */
typedef struct builtin_recipe {
    const char *name, *text;
} builtin_recipe;
extern const builtin_recipe builtin_recipes[];

#endif
