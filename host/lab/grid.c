/* grid.c - see grid.h. */
#include "lab/grid.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/digest.h"
#include "core/mem.h"

#define SEED_STEP 100 /* seeds are 100, 200, 300, ... */

/* ---- ids ---- */

/* With the zero at its end: no two lists of texts are fed as the same bytes. */
static void add_text(digest_state *state, const char *text) { digest_add(state, text, strlen(text) + 1); }

/* `shared` has been fed what all cells have in common. */
static void name_cell(lab_cell *cell, const digest_state *shared) {
    char text[320], hex[65];
    digest_state state = *shared;
    lab_format(text, sizeof text, "%s %s %lld g%lld l%d %.17g m%.17g s%llu", nn_conv_name(cell->model),
               nn_norm_name(cell->norm), (long long)cell->layers, (long long)cell->groups, (int)cell->lambda_from,
               cell->lambda_from == TRAIN_LAMBDA_GIVEN ? cell->lambda : 0, cell->missing,
               (unsigned long long)cell->seed);
    add_text(&state, text);
    add_text(&state, cell->data);
    digest_end(&state, hex);
    snprintf(cell->id, sizeof cell->id, "%.16s", hex);
}

/* As ids were before they covered the settings: for showing the results of such sweeps. */
static void name_cell_as_before(lab_cell *cell, const lab_recipe *recipe) {
    char text[640], hex[65];
    digest_state state;
    lab_format(text, sizeof text, "%.400s %s %s %lld g%lld l%d %.9g m%.9g s%llu", cell->data, nn_conv_name(cell->model),
               nn_norm_name(cell->norm), (long long)cell->layers, (long long)cell->groups, (int)cell->lambda_from,
               cell->lambda_from == TRAIN_LAMBDA_GIVEN ? cell->lambda : 0, cell->missing,
               (unsigned long long)cell->seed);
    digest_begin(&state);
    digest_add(&state, text, strlen(text));
    digest_add(&state, recipe->name, strlen(recipe->name));
    digest_end(&state, hex);
    snprintf(cell->id, sizeof cell->id, "%.16s", hex);
}

void lab_grid_ids_before(lab_cell *cells, int64_t count, const lab_recipe *recipe) {
    for (int64_t i = 0; i < count; i++)
        name_cell_as_before(&cells[i], recipe);
}

static fathom_status name_cells(lab_cell *cells, int64_t count, const lab_recipe *recipe) {
    lab_text settings = {0};
    digest_state shared;
    lab_recipe_print_settings(&settings, recipe);
    fathom_status status = settings.status;
    if (status == FATHOM_OK) {
        digest_begin(&shared);
        add_text(&shared, settings.bytes);
        add_text(&shared, recipe->name);
    }
    for (int64_t i = 0; status == FATHOM_OK && i < count; i++)
        name_cell(&cells[i], &shared);
    lab_text_free(&settings);
    return status;
}

/* ---- cells ---- */

/* Adds the cells of one data set, model, depth and norm: one, or for group norm its groups times its lambdas. */
static void add_norm(lab_cell *cells, int64_t *count, lab_cell cell, const lab_recipe *recipe) {
    bool group = cell.norm == NN_GROUP;
    int groups = group && recipe->groups.count ? recipe->groups.count : 1;
    int lambdas = group && recipe->lambda.count ? recipe->lambda.count : 1;
    for (int g = 0; g < groups; g++)
        for (int l = 0; l < lambdas; l++) {
            cell.groups = group && recipe->groups.count ? (int64_t)recipe->groups.value[g] : 0;
            cell.lambda = group && recipe->lambda.count ? recipe->lambda.value[l] : NAN;
            cell.lambda_from = !group || !recipe->lambda.count ? TRAIN_LAMBDA_RECIPE
                               : isnan(cell.lambda)            ? TRAIN_LAMBDA_AUTO
                                                               : TRAIN_LAMBDA_GIVEN;
            cells[(*count)++] = cell;
        }
}

static void add_data(lab_cell *cells, int64_t *count, lab_cell cell, const lab_recipe *recipe) {
    for (int m = 0; m < recipe->models.count; m++) {
        nn_conv_find(&cell.model, recipe->models.word[m]);
        const lab_numbers *layers = lab_recipe_layers(recipe, cell.model);
        for (int k = 0; k < layers->count; k++)
            for (int n = 0; n < recipe->norms.count; n++) {
                cell.layers = (int64_t)layers->value[k];
                nn_norm_find(&cell.norm, recipe->norms.word[n]);
                add_norm(cells, count, cell, recipe);
            }
    }
}

static void fill(lab_cell *cells, const lab_recipe *recipe) {
    int64_t count = 0;
    for (int64_t s = 0; s < recipe->seeds; s++)
        for (int d = 0; d < recipe->data.count; d++)
            for (int r = 0; r < recipe->missing.count; r++) {
                lab_cell cell = {.data = recipe->data.word[d],
                                 .missing = recipe->missing.value[r],
                                 .seed = (uint64_t)(s + 1) * SEED_STEP};
                add_data(cells, &count, cell, recipe);
            }
}

/* ---- how many ---- */

static size_t at_least_one(int count) { return count > 0 ? (size_t)count : 1; }

/* The lengths of the lists that span the grid: their product is the number of cells. */
enum { SEEDS, DATA, MISSING, DEPTHS, NORMS, FACTORS };

static void measure(size_t factors[FACTORS], const lab_recipe *recipe) {
    factors[SEEDS] = (size_t)recipe->seeds;
    factors[DATA] = (size_t)recipe->data.count;
    factors[MISSING] = (size_t)recipe->missing.count;
    factors[DEPTHS] = factors[NORMS] = 0;
    for (int m = 0; m < recipe->models.count; m++) {
        nn_conv_kind model = NN_GCN;
        nn_conv_find(&model, recipe->models.word[m]);
        factors[DEPTHS] += (size_t)lab_recipe_layers(recipe, model)->count;
    }
    for (int n = 0; n < recipe->norms.count; n++) {
        nn_norm_kind norm = NN_NONE;
        nn_norm_find(&norm, recipe->norms.word[n]);
        factors[NORMS] +=
            norm == NN_GROUP ? at_least_one(recipe->groups.count) * at_least_one(recipe->lambda.count) : 1;
    }
}

/* Counts without walking: a short recipe can span 1e14 cells. */
static fathom_status count_cells(int64_t *count, const lab_recipe *recipe) {
    size_t f[FACTORS], product = 1;
    bool fits = true;
    char number[32] = "2^64";
    measure(f, recipe);
    for (int i = 0; i < FACTORS; i++)
        fits = fits && mem_mul(&product, product, f[i]);
    if (fits && product <= LAB_CELLS_MAX) {
        *count = (int64_t)product;
        return FATHOM_OK;
    }
    if (fits)
        snprintf(number, sizeof number, "%zu", product);
    return fail(FATHOM_USAGE,
                "recipe %s: %s%s runs (%zu seeds x %zu data sets x %zu missing rates x %zu depths of all models x %zu "
                "norms with their groups and lambdas) are more than %d; narrow one of these lists",
                recipe->name, fits ? "" : "more than ", number, f[SEEDS], f[DATA], f[MISSING], f[DEPTHS], f[NORMS],
                LAB_CELLS_MAX);
}

fathom_status lab_grid(lab_cell **cells, int64_t *count, const lab_recipe *recipe) {
    *cells = NULL;
    TRY(count_cells(count, recipe));
    TRY(mem_new(cells, *count, 1, sizeof **cells, "cells of a sweep"));
    fill(*cells, recipe);
    fathom_status status = name_cells(*cells, *count, recipe);
    if (status != FATHOM_OK) {
        mem_free(*cells);
        *cells = NULL;
    }
    return status;
}

void lab_cell_text(char *out, size_t room, const lab_cell *cell) {
    char more[96] = "";
    size_t used = 0, length = strlen(cell->data), most = room > 160 ? room - 160 : 0;
    const char *data = length > most ? cell->data + length - most : cell->data; /* of a path the end says most */
    if (cell->missing > 0) {
        lab_format(more, sizeof more, ", missing %g", cell->missing);
        used = strlen(more);
    }
    if (cell->groups > 0) {
        lab_format(more + used, sizeof more - used, ", G %lld", (long long)cell->groups);
        used = strlen(more);
    }
    if (cell->lambda_from == TRAIN_LAMBDA_GIVEN)
        lab_format(more + used, sizeof more - used, ", lambda %g", cell->lambda);
    lab_format(out, room, "%s%s %s %s, %lld layer%s%s, seed %llu", data > cell->data ? "..." : "", data,
               nn_conv_name(cell->model), nn_norm_name(cell->norm), (long long)cell->layers,
               cell->layers == 1 ? "" : "s", more, (unsigned long long)cell->seed);
}

train_config lab_cell_config(const lab_cell *cell, const lab_recipe *recipe) {
    train_config config = recipe->setting;
    config.net.model = cell->model;
    config.net.norm = cell->norm;
    config.net.layers = cell->layers;
    config.net.groups = cell->groups;
    config.net.lambda = cell->lambda;
    config.lambda = cell->lambda_from;
    config.seed = cell->seed;
    config.data = cell->data;
    config.missing_rate = cell->missing;
    return config;
}

bool lab_cell_pictured(const lab_cell *cell, const lab_recipe *recipe) {
    return (int)cell->model == recipe->picture_model && cell->layers == recipe->picture_layers &&
           cell->seed == SEED_STEP && (cell->norm == NN_NONE || cell->norm == NN_GROUP);
}
