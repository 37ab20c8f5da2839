/* grid.c - see grid.h. */
#include "lab/grid.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/digest.h"
#include "core/mem.h"

#define CELLS_MAX 1000000
#define SEED_STEP 100 /* seeds are 100, 200, 300, ... */

static void name_cell(lab_cell *cell, const lab_recipe *recipe) {
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
            if (cells) {
                cells[*count] = cell;
                name_cell(&cells[*count], recipe);
            }
            ++*count;
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

/* Counts, and fills when `cells` is there. */
static int64_t walk(lab_cell *cells, const lab_recipe *recipe) {
    int64_t count = 0;
    for (int64_t s = 0; s < recipe->seeds; s++)
        for (int d = 0; d < recipe->data.count; d++)
            for (int r = 0; r < recipe->missing.count; r++) {
                lab_cell cell = {.data = recipe->data.word[d],
                                 .missing = recipe->missing.value[r],
                                 .seed = (uint64_t)(s + 1) * SEED_STEP};
                add_data(cells, &count, cell, recipe);
            }
    return count;
}

fathom_status lab_grid(lab_cell **cells, int64_t *count, const lab_recipe *recipe) {
    *cells = NULL;
    *count = walk(NULL, recipe);
    if (*count > CELLS_MAX)
        return fail(FATHOM_USAGE, "recipe %s: %lld cells are more than %d; narrow it", recipe->name, (long long)*count,
                    CELLS_MAX);
    TRY(mem_new(cells, *count, 1, sizeof **cells, "cells of a sweep"));
    walk(*cells, recipe);
    return FATHOM_OK;
}

void lab_cell_text(char *out, size_t room, const lab_cell *cell) {
    char more[96] = "";
    size_t used = 0;
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
    lab_format(out, room, "%s %s %s, %lld layer%s%s, seed %llu", cell->data, nn_conv_name(cell->model),
               nn_norm_name(cell->norm), (long long)cell->layers, cell->layers == 1 ? "" : "s", more,
               (unsigned long long)cell->seed);
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
