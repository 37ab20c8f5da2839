/* results.c - loads the results of sweeps, and computes statistics over seeds (results.h). */
#include "sweep/results.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/mem.h"

#define SWEEPS_MAX 64

void results_free(sweep_results *results) {
    provenance_free(&results->provenance);
    mem_free(results->cells);
    mem_free(results->record);
    mem_free(results->failed);
    recipe_free(results->recipe);
    journal_close(&results->journal);
}

void results_list_free(sweep_results_list *sweeps) {
    for (int i = 0; i < sweeps->count; i++)
        results_free(&sweeps->sweep[i]);
    mem_free(sweeps->sweep);
    *sweeps = (sweep_results_list){0};
}

static fathom_status load_sweep(sweep_results *results, const char *folder) {
    char path[SWEEP_PATH_MAX];
    TRY(sweep_join_path(path, folder, "sweep.json"));
    TRY(provenance_load(&results->provenance, path));
    TRY(recipe_parse(&results->recipe, results->provenance.recipe, results->provenance.name));
    TRY(grid_expand(&results->cells, &results->cell_count, results->recipe));
    TRY(journal_read(&results->journal, folder));
    TRY(mem_new(&results->record, results->cell_count, 1, sizeof *results->record, "records of a sweep"));
    TRY(mem_new(&results->failed, results->cell_count, 1, sizeof *results->failed, "failures of a sweep"));
    for (int64_t i = 0; i < results->cell_count; i++) {
        results->record[i] = journal_find(&results->journal, results->cells[i].id);
        results->failed[i] = !results->record[i] && journal_find_failure(&results->journal, results->cells[i].id);
        results->done += results->record[i] != NULL;
        results->failures += results->failed[i];
    }
    return FATHOM_OK;
}

fathom_status results_load(sweep_results *results, const char *folder) {
    *results = (sweep_results){.journal = JOURNAL_CLOSED};
    fathom_status status = load_sweep(results, folder);
    if (status != FATHOM_OK)
        results_free(results);
    return status;
}

static fathom_status add_folder(sweep_results_list *sweeps, const char *folder) {
    char path[SWEEP_PATH_MAX];
    int length = snprintf(path, sizeof path, "%s/sweep.json", folder);
    if (length < 0 || (size_t)length >= sizeof path || access(path, F_OK) != 0)
        return FATHOM_OK;
    if (sweeps->count == SWEEPS_MAX)
        return fail(FATHOM_DATA, "%s: more than %d sweeps", folder, SWEEPS_MAX);
    TRY(results_load(&sweeps->sweep[sweeps->count], folder));
    sweeps->count++;
    return FATHOM_OK;
}

static int by_name(const struct dirent **a, const struct dirent **b) { return strcmp((*a)->d_name, (*b)->d_name); }

static fathom_status add_subfolders(sweep_results_list *sweeps, const char *folder) {
    struct dirent **entries = NULL;
    fathom_status status = FATHOM_OK;
    int count = scandir(folder, &entries, NULL, by_name);
    for (int i = 0; i < count; i++) {
        char child[SWEEP_PATH_MAX];
        int length = snprintf(child, sizeof child, "%s/%s", folder, entries[i]->d_name);
        if (status == FATHOM_OK && entries[i]->d_name[0] != '.' && length > 0 && (size_t)length < sizeof child)
            status = add_folder(sweeps, child);
        free(entries[i]);
    }
    free(entries);
    return status;
}

fathom_status results_list_load(sweep_results_list *sweeps, const char *folder) {
    fathom_status status;
    *sweeps = (sweep_results_list){0};
    TRY(mem_new(&sweeps->sweep, SWEEPS_MAX, 1, sizeof *sweeps->sweep, "results of sweeps"));
    TRY_OUT(add_folder(sweeps, folder));
    TRY_OUT(add_subfolders(sweeps, folder));
    if (sweeps->count == 0)
        TRY_OUT(fail(FATHOM_DATA,
                     "%s: holds no sweep (no sweep.json there or in its folders); make one with "
                     "fathom sweep --recipe table1 --out %s",
                     folder, folder));
    return FATHOM_OK;
out:
    results_list_free(sweeps);
    return status;
}

/* ---- statistics over seeds ---- */

static bool matches(const grid_cell *cell, const results_filter *filter) {
    return strcmp(cell->data, filter->data) == 0 && cell->model == filter->model && cell->norm == filter->norm &&
           cell->layers == filter->layers && cell->missing == filter->missing &&
           (filter->groups < 0 || cell->groups == filter->groups) &&
           (isnan(filter->lambda) || cell->lambda == filter->lambda) &&
           (filter->skip < 0 || (int)cell->skip == filter->skip) &&
           (isnan(filter->drop_edge) || cell->drop_edge == filter->drop_edge);
}

run_stats results_stats(const sweep_results *results, const results_filter *filter, size_t offset) {
    run_stats stats = {0};
    double sum = 0, squares = 0;
    int count = 0;
    for (int64_t i = 0; i < results->cell_count; i++) {
        if (!matches(&results->cells[i], filter))
            continue;
        stats.wanted++;
        stats.failed += results->failed[i];
        stats.done += results->record[i] != NULL;
        double value = results->record[i] ? *(const double *)(const void *)((const char *)results->record[i] + offset)
                                          : (double)NAN;
        if (isfinite(value)) {
            sum += value;
            count++;
        }
    }
    stats.mean = count ? sum / count : (double)NAN;
    for (int64_t i = 0; count > 1 && i < results->cell_count; i++)
        if (results->record[i] && matches(&results->cells[i], filter)) {
            double value = *(const double *)(const void *)((const char *)results->record[i] + offset);
            squares += isfinite(value) ? (value - stats.mean) * (value - stats.mean) : 0;
        }
    stats.sd = count > 1 ? sqrt(squares / (count - 1)) : (double)NAN;
    return stats;
}

int64_t results_best_depth(run_stats *best, const sweep_results *results, results_filter filter) {
    const recipe_numbers *layers = recipe_layers(results->recipe, filter.model);
    int64_t depth = 0;
    *best = (run_stats){.mean = NAN, .sd = NAN};
    for (int k = 0; k < layers->count; k++) {
        filter.layers = (int64_t)layers->value[k];
        run_stats stats = results_stats(results, &filter, offsetof(run_record, test_accuracy));
        best->failed += depth ? 0 : stats.failed;
        if (isfinite(stats.mean) && !(stats.mean <= best->mean)) {
            *best = stats;
            depth = filter.layers;
        }
    }
    return depth;
}

const grid_cell *results_first_cell(const sweep_results *results, const results_filter *filter) {
    for (int64_t i = 0; i < results->cell_count; i++)
        if (results->record[i] && matches(&results->cells[i], filter))
            return &results->cells[i];
    return NULL;
}

/* ---- files ---- */

fathom_status results_csv(text_buf *out, const sweep_results *results, bool head) {
    if (head)
        run_record_csv_head(out);
    for (int64_t i = 0; i < results->cell_count; i++)
        if (results->record[i])
            run_record_csv(out, results->record[i]);
    return out->status;
}

fathom_status results_save(const sweep_results *results) {
    text_buf csv = {0}, lines = {0};
    char path[SWEEP_PATH_MAX];
    fathom_status status;
    TRY_OUT(results_csv(&csv, results, true));
    TRY_OUT(journal_path(path, &results->journal, "results.csv"));
    TRY_OUT(text_save(&csv, path));
    for (int64_t i = 0; i < results->cell_count; i++)
        if (results->record[i])
            TRY_OUT(run_record_print(&lines, results->record[i]));
    TRY_OUT(journal_path(path, &results->journal, "results.jsonl"));
    TRY_OUT(text_save(&lines, path));
out:
    text_free(&csv);
    text_free(&lines);
    return status;
}

void results_data_name(char *out, size_t capacity, const char *data) {
    const char *slash = strrchr(data, '/');
    data = slash && slash[1] ? slash + 1 : data;
    if (strncmp(data, "ind.", 4) == 0)
        data += 4;
    snprintf(out, capacity, "%s", data);
    char *extension = strrchr(out, '.');
    if (extension && extension != out)
        *extension = '\0';
    for (; *out; out++)
        if (*out == '_')
            *out = '-';
}
