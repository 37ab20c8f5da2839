/* recipe_key.h - the keys of a recipe: one row per key with its type, range and member. Private to recipe*.c. */
#ifndef SWEEP_RECIPE_KEY_H
#define SWEEP_RECIPE_KEY_H

#include "sweep/recipe.h"

typedef enum recipe_type {
    RECIPE_STRINGS, /* recipe_strings */
    RECIPE_NUMBERS, /* recipe_numbers */
    RECIPE_INT,     /* int64_t */
    RECIPE_REAL,    /* double */
    RECIPE_CHOICE,  /* an enum, stored as int; the value is the position in `choices` */
    RECIPE_COUNTED, /* int64_t: a word of `keyword`, or the last one with a number (core/text.h) */
    RECIPE_TEXT,    /* char *: the rest of the line */
    RECIPE_RUN      /* a model and a depth: embedding_model, embedding_layers */
} recipe_type;

typedef struct recipe_key {
    const char *name;
    recipe_type type;
    size_t offset;       /* of the member in sweep_recipe */
    double low, high;    /* range of numbers */
    bool whole;          /* integers only */
    const char *keyword; /* accepted instead of a number ("preset"): leaves the member unset; RECIPE_COUNTED: all */
    const char *const *choices; /* accepted strings; NULL: any */
    size_t choice_count;
    bool later; /* a setting of SETTINGS_RECIPE_LATER */
} recipe_key;

#define RECIPE_COUNT_ONE(...) +1
enum {
    RECIPE_KEY_COUNT =
        13 NN_CONV_LIST(RECIPE_COUNT_ONE) SETTINGS_GROUP_NORM(RECIPE_COUNT_ONE) SETTINGS_RECIPE(RECIPE_COUNT_ONE)
};
extern const recipe_key recipe_keys[RECIPE_KEY_COUNT];
extern const char *const recipe_model_names[NN_CONV_COUNT], *const recipe_show_names[SHOW_COUNT];

/* Fails with the nearest names when there is no such key. */
fathom_status recipe_find_key(const recipe_key **key, const char *name);

/* Parses and validates the values of one key and stores them. On failure the member keeps its old value. */
fathom_status recipe_read_values(sweep_recipe *recipe, const recipe_key *key, const char *values);

void recipe_strings_free(recipe_strings *strings);

/* Whether RECIPE_TEXT must be quoted to read back as the same text. */
bool recipe_needs_quotes(const char *text);

/* Position of `name` in `names`, or -1. */
int recipe_index_of(const char *name, const char *const *names, size_t count);

#endif
