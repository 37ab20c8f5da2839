/* sweep_plan.c - prepares a sweep: checks the folder, the data and the splits, plans the cells (sweep_plan.h). */
#include "sweep/sweep_plan.h"

#include <string.h>
#include <unistd.h>

#include "core/mem.h"

/* ---- the folder ---- */

/* Whether a line of a recipe affects the runs. */
static bool affects_runs(const char *line) {
    static const char *const others[] = {"title", "show", "recompute"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strncmp(line, others[i], strlen(others[i])) == 0)
            return false;
    return true;
}

static const char *next_relevant_line(const char *line) {
    while (line && *line && !affects_runs(line)) {
        line = strchr(line, '\n');
        line = line ? line + 1 : NULL;
    }
    return line && *line ? line : NULL;
}

static fathom_status compare_recipes(const char *folder, const char *old, const char *new) {
    const char *a = next_relevant_line(old), *b = next_relevant_line(new);
    while (a && b) {
        size_t la = strcspn(a, "\n"), lb = strcspn(b, "\n");
        if (la != lb || strncmp(a, b, la) != 0)
            return fail(FATHOM_USAGE,
                        "%s: holds a sweep of another recipe ('%.*s' there, '%.*s' now); repeat its options, or take "
                        "another --out",
                        folder, (int)(la < 200 ? la : 200), a, (int)(lb < 200 ? lb : 200), b);
        a = a[la] ? next_relevant_line(a + la + 1) : NULL;
        b = b[lb] ? next_relevant_line(b + lb + 1) : NULL;
    }
    if (a || b)
        return fail(FATHOM_USAGE,
                    "%s: holds a sweep of another recipe ('%.*s' is in one of them only); take another "
                    "--out",
                    folder, (int)strcspn(a ? a : b, "\n"), a ? a : b);
    return FATHOM_OK;
}

fathom_status sweep_check_folder(const sweep_state *s) {
    const char *out = s->options->out;
    char path[SWEEP_PATH_MAX];
    TRY(sweep_join_path(path, out, "sweep.json"));
    bool exists = access(path, F_OK) == 0;
    if (exists && !s->options->resume)
        return fail(FATHOM_USAGE, "%s: holds a sweep already; continue it with --resume, or choose another --out", out);
    if (!exists && s->options->resume)
        return fail(FATHOM_USAGE,
                    "%s: holds no sweep to continue (no sweep.json); give its folder, or start a new one without "
                    "--resume",
                    out);
    return FATHOM_OK;
}

/* Checks that the sweep in the folder is this one, and takes over its list of commands. */
static fathom_status resume(sweep_state *s, sweep_provenance *old, const char *path, const char *recipe) {
    TRY(provenance_load(old, path));
    TRY(compare_recipes(s->options->out, old->recipe, recipe));
    for (int i = 0; i < old->commands; i++) {
        s->provenance.command[i] = old->command[i];
        s->provenance.started[i] = old->started[i];
    }
    s->provenance.commands = old->commands;
    old->commands = 0;
    return FATHOM_OK;
}

fathom_status sweep_open_folder(sweep_state *s) {
    char path[SWEEP_PATH_MAX];
    text_buf recipe = {0};
    sweep_provenance old = {0};
    fathom_status status;
    TRY(journal_open(&s->journal, s->options->out));
    TRY(sweep_check_folder(s)); /* again, now that the folder is locked */
    TRY(journal_path(path, &s->journal, "sweep.json"));
    if (!s->options->resume && s->journal.count + s->journal.failed_count > 0)
        return fail(FATHOM_USAGE,
                    "%s: holds a journal of runs without the sweep.json they belong to; take another --out",
                    s->options->out);
    recipe_print(&recipe, s->recipe);
    TRY_OUT(recipe.status);
    TRY_OUT(provenance_collect(&s->provenance, s->devices.all > 1));
    if (s->options->resume)
        TRY_OUT(resume(s, &old, path, recipe.bytes));
    TRY_OUT(mem_strdup(&s->provenance.name, s->recipe->name));
    TRY_OUT(mem_strdup(&s->provenance.recipe, recipe.bytes));
    TRY_OUT(provenance_add_command(&s->provenance, s->options->command));
out:
    provenance_free(&old);
    text_free(&recipe);
    return status;
}

fathom_status sweep_record_start(const sweep_state *s) {
    char path[SWEEP_PATH_MAX];
    TRY(journal_path(path, &s->journal, "sweep.json"));
    return provenance_save(&s->provenance, path);
}

/* ---- data and cells ---- */

/* SHA-256 of the split of a data set for each seed; computed on first use. */
typedef struct split_digests {
    char (*sha256)[65]; /* [seeds of the recipe] */
    int64_t count;
} split_digests;

static fathom_status split_digest(const char **sha256, split_digests *known, const sweep_state *s, data_set *set,
                                  int64_t seed) {
    int64_t at = seed / (int64_t)s->cells[0].seed - 1; /* seeds are multiples of the first */
    data_split split = {0};
    *sha256 = NULL;
    if (at < 0 || at >= known->count)
        return FATHOM_OK;
    if (!known->sha256[at][0]) {
        TRY(data_split_make(&split, set, s->recipe->split, (uint64_t)seed));
        memcpy(known->sha256[at], split.sha256, sizeof split.sha256);
        data_split_free(&split);
    }
    *sha256 = known->sha256[at];
    return FATHOM_OK;
}

/* A finished run must have used the same data and the same split as are loaded now. */
static fathom_status compare_record(const sweep_state *s, const run_record *record, data_set *set,
                                    split_digests *known) {
    const char *split;
    if (strcmp(record->data_sha256, set->sha256) != 0)
        return fail(FATHOM_DATA,
                    "%s: its finished runs were of another %s (SHA-256 %.12s... there, %.12s... now); restore "
                    "that data, or take another --out",
                    s->options->out, record->data, record->data_sha256, set->sha256);
    TRY(split_digest(&split, known, s, set, record->seed));
    if (split && strcmp(record->split_sha256, split) != 0)
        return fail(
            FATHOM_DATA,
            "%s: its finished runs of %s were of another split (%s, SHA-256 %.12s... there, %.12s... now); restore "
            "that split, or take another --out",
            s->options->out, record->data, record->split, record->split_sha256, split);
    return FATHOM_OK;
}

static fathom_status compare_data(const sweep_state *s, const char *data, data_set *set) {
    split_digests known = {.count = s->recipe->seeds};
    fathom_status status = FATHOM_OK;
    TRY(mem_new(&known.sha256, known.count, 1, sizeof *known.sha256, "digests of splits"));
    for (int64_t i = 0; status == FATHOM_OK && i < s->journal.count; i++)
        if (strcmp(s->journal.records[i].data, data) == 0)
            status = compare_record(s, &s->journal.records[i], set, &known);
    mem_free(known.sha256);
    return status;
}

static fathom_status check_stop(const sweep_state *s) {
    if (!s->options->stop || !*s->options->stop)
        return FATHOM_OK;
    return fail(FATHOM_INTERRUPTED, "interrupted before the first run began; nothing was trained");
}

/* Loads every data set once, so that one that is missing or changed is reported before hours of training.
 * size[d] = 3 nodes + 2 edges. */
static fathom_status check_data(sweep_state *s, double size[RECIPE_VALUES_MAX]) {
    for (int d = 0; d < s->recipe->data.count; d++) {
        data_set *set = NULL;
        data_options options = data_options_default();
        options.split = s->recipe->split;
        options.features = s->recipe->features;
        TRY(check_stop(s));
        TRY(data_load(&set, s->recipe->data.value[d], &options));
        size[d] = (double)set->graph.nodes * 3 + 2 * (double)set->graph.edges;
        fathom_status status = data_need_features(set);
        if (status == FATHOM_OK)
            status = compare_data(s, s->recipe->data.value[d], set);
        data_free(set);
        TRY(status);
    }
    return FATHOM_OK;
}

/* Relative training time of a cell, for the estimate of the time left:
 * size * (layers * norm + 3) * model * search */
static double cell_cost(const grid_cell *cell, const sweep_recipe *recipe, const double *data_size) {
#define CONV_COST(id, name, cost, title) cost,
#define NORM_COST(id, name, cost) cost,
    static const double model[] = {NN_CONV_LIST(CONV_COST)}, norm[] = {NN_NORM_LIST(NORM_COST)};
    double size = 1;
    for (int d = 0; d < recipe->data.count; d++)
        if (strcmp(recipe->data.value[d], cell->data) == 0)
            size = data_size[d];
    double search = cell->norm == NN_GROUP && cell->lambda_from == TRAIN_LAMBDA_AUTO ? 1.9 : 1;
    return size * ((double)cell->layers * norm[cell->norm] + 3) * model[cell->model] * search;
}

fathom_status sweep_plan_cells(sweep_state *s) {
    double size[RECIPE_VALUES_MAX];
    TRY(check_data(s, size));
    TRY(check_stop(s));
    TRY(mem_new(&s->cost, s->count, 1, sizeof *s->cost, "costs of cells"));
    TRY(mem_new(&s->taken, s->count, 1, sizeof *s->taken, "state of cells"));
    for (int64_t i = 0; i < s->count; i++) {
        s->cost[i] = cell_cost(&s->cells[i], s->recipe, size);
        s->taken[i] = journal_find(&s->journal, s->cells[i].id) != NULL;
        s->before += s->taken[i];
        s->queue.cost_left += s->taken[i] ? 0 : s->cost[i];
    }
    return FATHOM_OK;
}
