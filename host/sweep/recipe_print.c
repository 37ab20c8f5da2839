/* recipe_print.c - the canonical text of a recipe (recipe.h). */
#include <math.h>
#include <string.h>

#include "sweep/recipe_key.h"

static void print_strings(text_buf *out, const recipe_strings *list) {
    for (int i = 0; i < list->count; i++)
        text_add(out, strpbrk(list->value[i], " \t,#\r=:") ? " \"%s\"" : " %s", list->value[i]);
}

static void print_numbers(text_buf *out, const recipe_key *key, const recipe_numbers *list) {
    for (int i = 0; i < list->count; i++)
        if (isnan(list->value[i]))
            text_add(out, " auto");
        else
            text_add_real(out, " ", list->value[i]);
    if (list->count == 0)
        text_add(out, " %s", key->keyword ? key->keyword : "-");
}

static void print_int(text_buf *out, const recipe_key *key, int64_t value) {
    if (value == 0 && key->keyword)
        text_add(out, " %s", key->keyword);
    else
        text_add(out, " %lld", (long long)value);
}

static void print_real(text_buf *out, const recipe_key *key, double value) {
    if (isnan(value))
        text_add(out, " %s", key->keyword);
    else
        text_add_real(out, " ", value);
}

static void print_key(text_buf *out, const sweep_recipe *recipe, const recipe_key *key) {
    const void *member = (const char *)recipe + key->offset;
    int index;
    char level[64];
    text_add(out, "%s", key->name);
    switch (key->type) {
    case RECIPE_STRINGS:
        print_strings(out, member);
        break;
    case RECIPE_NUMBERS:
        print_numbers(out, key, member);
        break;
    case RECIPE_INT:
        print_int(out, key, *(const int64_t *)member);
        break;
    case RECIPE_REAL:
        print_real(out, key, *(const double *)member);
        break;
    case RECIPE_COUNTED:
        text_write_counted(level, sizeof level, key->keyword, *(const int64_t *)member);
        text_add(out, " %s", level);
        break;
    case RECIPE_CHOICE:
        memcpy(&index, member, sizeof index);
        text_add(out, " %s", key->choices[index]);
        break;
    case RECIPE_RUN:
        text_add(out, " %s %lld", recipe_model_names[recipe->embedding_model], (long long)recipe->embedding_layers);
        break;
    case RECIPE_TEXT:
        text_add(out, recipe_needs_quotes(*(char *const *)member) ? " \"%s\"" : " %s", *(char *const *)member);
        break;
    }
    text_add(out, "\n");
}

static bool is_default(const sweep_recipe *recipe, const recipe_key *key) {
    const sweep_recipe unset = {.settings = train_unset()};
    const void *value = (const char *)recipe + key->offset, *none = (const char *)&unset + key->offset;
    double real, unset_real;
    switch (key->type) {
    case RECIPE_REAL:
        memcpy(&real, value, sizeof real);
        memcpy(&unset_real, none, sizeof unset_real);
        return real == unset_real || (isnan(real) && isnan(unset_real));
    case RECIPE_CHOICE:
        return memcmp(value, none, sizeof(int)) == 0;
    default: /* RECIPE_INT, RECIPE_COUNTED */
        return memcmp(value, none, sizeof(int64_t)) == 0;
    }
}

static bool is_set(const sweep_recipe *recipe, const recipe_key *key) {
    const void *member = (const char *)recipe + key->offset;
    switch (key->type) {
    case RECIPE_STRINGS:
        return ((const recipe_strings *)member)->count > 0;
    case RECIPE_NUMBERS:
        return key->keyword || ((const recipe_numbers *)member)->count > 0;
    case RECIPE_TEXT:
        return *(char *const *)member != NULL;
    case RECIPE_RUN:
        return recipe->embedding_model >= 0;
    default:
        return !key->later || !is_default(recipe, key);
    }
}

void recipe_print(text_buf *out, const sweep_recipe *recipe) {
    for (int i = 0; i < RECIPE_KEY_COUNT; i++)
        if (is_set(recipe, &recipe_keys[i]))
            print_key(out, recipe, &recipe_keys[i]);
}

void recipe_print_settings(text_buf *out, const sweep_recipe *recipe) {
    for (int i = 0; i < RECIPE_KEY_COUNT; i++) {
        const recipe_key *key = &recipe_keys[i];
        bool list = key->type == RECIPE_STRINGS || key->type == RECIPE_NUMBERS;
        bool one_skip = key->offset == offsetof(sweep_recipe, skips) && recipe->skips.count == 1; /* of all runs */
        bool spans_grid = (list && !one_skip) || key->offset == offsetof(sweep_recipe, seeds);
        bool report_only = key->type == RECIPE_RUN || key->offset == offsetof(sweep_recipe, title);
        bool memory_only = key->offset == offsetof(sweep_recipe, settings.net.recompute);
        if (!spans_grid && !report_only && !memory_only && is_set(recipe, key))
            print_key(out, recipe, key);
    }
}
