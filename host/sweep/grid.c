/* grid.c - expands a recipe into its cells (grid.h). */
#include "sweep/grid.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/digest.h"
#include "core/json.h"
#include "core/mem.h"
#include "core/plural.h"

#define SEED_STEP 100 /* seeds are 100, 200, 300, ... */

/* ---- ids ---- */

/* Includes the NUL, so that ("ab", "c") and ("a", "bc") give different digests. */
static void digest_add_text(digest_state *state, const char *text) { digest_add(state, text, strlen(text) + 1); }

/* `shared`: the digest of what all cells have in common. */
static void set_id(grid_cell *cell, const sweep_recipe *recipe, const digest_state *shared) {
    char text[320], hex[65];
    digest_state state = *shared;
    text_format(text, sizeof text, "%s %s %lld g%lld l%d %.17g m%.17g s%llu", nn_conv_name(cell->model),
                nn_norm_name(cell->norm), (long long)cell->layers, (long long)cell->groups, (int)cell->lambda_from,
                cell->lambda_from == TRAIN_LAMBDA_GIVEN ? cell->lambda : 0, cell->missing,
                (unsigned long long)cell->seed);
    digest_add_text(&state, text);
    if (recipe->skips.count > 1)
        digest_add_text(&state, nn_skip_name(cell->skip));
    if (recipe->drop_edge.count > 0) {
        text_format(text, sizeof text, "e%.17g", cell->drop_edge);
        digest_add_text(&state, text);
    }
    digest_add_text(&state, cell->data);
    digest_end(&state, hex);
    snprintf(cell->id, sizeof cell->id, "%.16s", hex);
}

static fathom_status set_ids(grid_cell *cells, int64_t count, const sweep_recipe *recipe) {
    text_buf settings = {0};
    digest_state shared;
    recipe_print_settings(&settings, recipe);
    fathom_status status = settings.status;
    if (status == FATHOM_OK) {
        digest_begin(&shared);
        digest_add_text(&shared, settings.bytes);
        digest_add_text(&shared, recipe->name);
    }
    for (int64_t i = 0; status == FATHOM_OK && i < count; i++)
        set_id(&cells[i], recipe, &shared);
    text_free(&settings);
    return status;
}

/* ---- cells ---- */

/* Cells of one data set, model, depth and norm: one, or groups x lambdas for group norm. */
static void expand_norm(grid_cell *cells, int64_t *count, grid_cell cell, const sweep_recipe *recipe) {
    bool group = cell.norm == NN_GROUP;
    int groups = group && recipe->groups.count ? recipe->groups.count : 1;
    int lambdas = group && recipe->lambda.count ? recipe->lambda.count : 1;
    for (int g = 0; g < groups; g++)
        for (int l = 0; l < lambdas; l++) {
            cell.groups = group && recipe->groups.count ? (int64_t)recipe->groups.value[g] : 0;
            cell.lambda = group && recipe->lambda.count ? recipe->lambda.value[l] : NAN;
            cell.lambda_from = !group || !recipe->lambda.count ? TRAIN_LAMBDA_PRESET
                               : isnan(cell.lambda)            ? TRAIN_LAMBDA_AUTO
                                                               : TRAIN_LAMBDA_GIVEN;
            cells[(*count)++] = cell;
        }
}

/* Skips of a depth: several where there are layers to connect (nn_skip_check), else the first, or none. */
static int skip_count(const sweep_recipe *recipe, nn_conv_kind model, int64_t layers) {
    return nn_takes_skip(model) && layers > 2 ? recipe->skips.count : 1;
}

static nn_skip_kind skip_at(const sweep_recipe *recipe, int count, int i) {
    nn_skip_kind skip = NN_SKIP_NONE;
    if (count == recipe->skips.count)
        nn_skip_find(&skip, recipe->skips.value[i]);
    return skip;
}

/* Cells of one data set, model and depth. */
static void expand_remedies(grid_cell *cells, int64_t *count, grid_cell cell, const sweep_recipe *recipe) {
    int skips = skip_count(recipe, cell.model, cell.layers);
    for (int k = 0; k < skips; k++)
        for (int e = 0; e == 0 || e < recipe->drop_edge.count; e++)
            for (int n = 0; n < recipe->norms.count; n++) {
                cell.skip = skip_at(recipe, skips, k);
                cell.drop_edge = recipe->drop_edge.count ? recipe->drop_edge.value[e] : 0;
                nn_norm_find(&cell.norm, recipe->norms.value[n]);
                expand_norm(cells, count, cell, recipe);
            }
}

static void expand_models(grid_cell *cells, int64_t *count, grid_cell cell, const sweep_recipe *recipe) {
    for (int m = 0; m < recipe->models.count; m++) {
        nn_conv_find(&cell.model, recipe->models.value[m]);
        const recipe_numbers *layers = recipe_layers(recipe, cell.model);
        for (int k = 0; k < layers->count; k++) {
            cell.layers = (int64_t)layers->value[k];
            expand_remedies(cells, count, cell, recipe);
        }
    }
}

static void expand_all(grid_cell *cells, const sweep_recipe *recipe) {
    int64_t count = 0;
    for (int64_t s = 0; s < recipe->seeds; s++)
        for (int d = 0; d < recipe->data.count; d++)
            for (int r = 0; r < recipe->missing.count; r++) {
                grid_cell cell = {.data = recipe->data.value[d],
                                  .missing = recipe->missing.value[r],
                                  .seed = (uint64_t)(s + 1) * SEED_STEP};
                expand_models(cells, &count, cell, recipe);
            }
}

/* ---- number of cells ---- */

static size_t at_least_one(int count) { return count > 0 ? (size_t)count : 1; }

/* The number of cells is the product of these. */
enum { SEEDS, DATA, MISSING, DEPTHS, DROPS, NORMS, FACTORS };

static void count_factors(size_t factors[FACTORS], const sweep_recipe *recipe) {
    factors[SEEDS] = (size_t)recipe->seeds;
    factors[DATA] = (size_t)recipe->data.count;
    factors[MISSING] = (size_t)recipe->missing.count;
    factors[DROPS] = at_least_one(recipe->drop_edge.count);
    factors[DEPTHS] = factors[NORMS] = 0;
    for (int m = 0; m < recipe->models.count; m++) {
        nn_conv_kind model = NN_GCN;
        nn_conv_find(&model, recipe->models.value[m]);
        const recipe_numbers *layers = recipe_layers(recipe, model);
        for (int k = 0; k < layers->count; k++)
            factors[DEPTHS] += (size_t)skip_count(recipe, model, (int64_t)layers->value[k]);
    }
    for (int n = 0; n < recipe->norms.count; n++) {
        nn_norm_kind norm = NN_NONE;
        nn_norm_find(&norm, recipe->norms.value[n]);
        factors[NORMS] +=
            norm == NN_GROUP ? at_least_one(recipe->groups.count) * at_least_one(recipe->lambda.count) : 1;
    }
}

/* A product, not an enumeration: a short recipe can span 1e14 cells. */
static fathom_status count_cells(int64_t *count, const sweep_recipe *recipe) {
    size_t f[FACTORS], product = 1;
    bool fits = true;
    char number[32] = "2^64";
    count_factors(f, recipe);
    for (int i = 0; i < FACTORS; i++)
        fits = fits && mem_mul(&product, product, f[i]);
    if (fits && product <= GRID_CELLS_MAX) {
        *count = (int64_t)product;
        return FATHOM_OK;
    }
    if (fits)
        snprintf(number, sizeof number, "%zu", product);
    return fail(FATHOM_USAGE,
                "recipe %s: %s%s runs (%zu seeds x %zu data sets x %zu missing rates x %zu depths of all models with "
                "their skips x %zu drop-edge rates x %zu norms with their groups and lambdas) are more than %d; narrow "
                "one of these lists",
                recipe->name, fits ? "" : "more than ", number, f[SEEDS], f[DATA], f[MISSING], f[DEPTHS], f[DROPS],
                f[NORMS], GRID_CELLS_MAX);
}

fathom_status grid_expand(grid_cell **cells, int64_t *count, const sweep_recipe *recipe) {
    *cells = NULL;
    TRY(count_cells(count, recipe));
    TRY(mem_new(cells, *count, 1, sizeof **cells, "cells of a sweep"));
    expand_all(*cells, recipe);
    fathom_status status = set_ids(*cells, *count, recipe);
    for (int64_t i = 0; status == FATHOM_OK && i < *count; i++)
        status = nn_recompute_check(recipe->settings.net.recompute, (*cells)[i].layers);
    if (status != FATHOM_OK) {
        mem_free(*cells);
        *cells = NULL;
    }
    return status;
}

void grid_cell_text(char *out, size_t capacity, const grid_cell *cell) {
    char more[160] = "";
    size_t used = 0, length = strlen(cell->data), most = capacity > 224 ? capacity - 224 : 0;
    const char *data = length > most ? cell->data + length - most : cell->data; /* the end of a path */
    if (cell->missing > 0) {
        text_format(more, sizeof more, ", missing %g", cell->missing);
        used = strlen(more);
    }
    if (cell->groups > 0) {
        text_format(more + used, sizeof more - used, ", G %lld", (long long)cell->groups);
        used = strlen(more);
    }
    if (cell->skip != NN_SKIP_NONE) {
        text_format(more + used, sizeof more - used, ", skip %s", nn_skip_name(cell->skip));
        used = strlen(more);
    }
    if (cell->drop_edge > 0) {
        text_format(more + used, sizeof more - used, ", drop-edge %g", cell->drop_edge);
        used = strlen(more);
    }
    if (cell->lambda_from == TRAIN_LAMBDA_GIVEN)
        text_format(more + used, sizeof more - used, ", lambda %g", cell->lambda);
    text_format(out, capacity, "%s%s %s %s, %lld layer%s%s, seed %llu", data > cell->data ? "..." : "", data,
                nn_conv_name(cell->model), nn_norm_name(cell->norm), (long long)cell->layers, plural(cell->layers),
                more, (unsigned long long)cell->seed);
}

train_config grid_cell_config(const grid_cell *cell, const sweep_recipe *recipe) {
    train_config config = recipe->settings;
    config.net.model = cell->model;
    config.net.norm = cell->norm;
    config.net.layers = cell->layers;
    config.net.heads = cell->model == NN_GAT ? config.net.heads : 1;
    config.net.groups = cell->groups;
    config.net.lambda = cell->lambda;
    config.lambda_from = cell->lambda_from;
    config.seed = cell->seed;
    config.data = cell->data;
    config.missing_rate = cell->missing;
    config.net.skip = cell->skip;
    config.net.drop_edge = cell->drop_edge;
    return config;
}

bool grid_cell_is_plotted(const grid_cell *cell, const sweep_recipe *recipe) {
    return (int)cell->model == recipe->embedding_model && cell->layers == recipe->embedding_layers &&
           cell->seed == SEED_STEP && (cell->norm == NN_NONE || cell->norm == NN_GROUP);
}

void grid_to_json(struct json *doc, const sweep_recipe *recipe, const grid_cell *cells, int64_t count) {
    json_text(doc, "recipe", recipe->name);
    json_int(doc, "runs", count);
    json_open_array(doc, "cells");
    for (int64_t i = 0; i < count; i++) {
        json_open(doc, NULL);
        json_text(doc, "cell", cells[i].id);
        json_text(doc, "data", cells[i].data);
        json_text(doc, "model", nn_conv_name(cells[i].model));
        json_text(doc, "norm", nn_norm_name(cells[i].norm));
        json_int(doc, "layers", cells[i].layers);
        json_real(doc, "missing_rate", cells[i].missing);
        json_text(doc, "skip", nn_skip_name(cells[i].skip));
        json_real(doc, "drop_edge", cells[i].drop_edge);
        json_int(doc, "seed", (int64_t)cells[i].seed);
        json_close(doc);
    }
    json_close(doc);
}
