/* study.c - see study.h. */
#include "lab/study.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/mem.h"

#define STUDIES_MAX 64

void lab_study_free(lab_study *study) {
    lab_about_free(&study->about);
    mem_free(study->cells);
    mem_free(study->row);
    mem_free(study->failed);
    lab_recipe_free(study->recipe);
    lab_journal_close(&study->journal);
}

void lab_studies_free(lab_studies *studies) {
    for (int i = 0; i < studies->count; i++)
        lab_study_free(&studies->study[i]);
    mem_free(studies->study);
    *studies = (lab_studies){0};
}

static fathom_status fill_study(lab_study *study, const char *folder) {
    char about[LAB_PATH];
    TRY(lab_path(about, folder, "sweep.json"));
    TRY(lab_about_load(&study->about, about));
    TRY(lab_recipe_parse(&study->recipe, study->about.recipe, study->about.name));
    TRY(lab_grid(&study->cells, &study->cell_count, study->recipe));
    if (study->about.format == 1)
        lab_grid_ids_before(study->cells, study->cell_count, study->recipe);
    TRY(lab_journal_read(&study->journal, folder));
    TRY(mem_new(&study->row, study->cell_count, 1, sizeof *study->row, "rows of a study"));
    TRY(mem_new(&study->failed, study->cell_count, 1, sizeof *study->failed, "failures of a study"));
    for (int64_t i = 0; i < study->cell_count; i++) {
        study->row[i] = lab_journal_find(&study->journal, study->cells[i].id);
        study->failed[i] = !study->row[i] && lab_journal_find_failure(&study->journal, study->cells[i].id);
        study->done += study->row[i] != NULL;
        study->failures += study->failed[i];
    }
    return FATHOM_OK;
}

fathom_status lab_study_load(lab_study *study, const char *folder) {
    *study = (lab_study){.journal = LAB_JOURNAL_NONE};
    fathom_status status = fill_study(study, folder);
    if (status != FATHOM_OK)
        lab_study_free(study);
    return status;
}

static fathom_status add_folder(lab_studies *studies, const char *folder) {
    char about[LAB_PATH];
    int length = snprintf(about, sizeof about, "%s/sweep.json", folder);
    if (length < 0 || (size_t)length >= sizeof about || access(about, F_OK) != 0)
        return FATHOM_OK;
    if (studies->count == STUDIES_MAX)
        return fail(FATHOM_DATA, "%s: more than %d sweeps", folder, STUDIES_MAX);
    TRY(lab_study_load(&studies->study[studies->count], folder));
    studies->count++;
    return FATHOM_OK;
}

static int by_name(const struct dirent **a, const struct dirent **b) { return strcmp((*a)->d_name, (*b)->d_name); }

static fathom_status add_children(lab_studies *studies, const char *folder) {
    struct dirent **entries = NULL;
    fathom_status status = FATHOM_OK;
    int count = scandir(folder, &entries, NULL, by_name);
    for (int i = 0; i < count; i++) {
        char child[LAB_PATH];
        int length = snprintf(child, sizeof child, "%s/%s", folder, entries[i]->d_name);
        if (status == FATHOM_OK && entries[i]->d_name[0] != '.' && length > 0 && (size_t)length < sizeof child)
            status = add_folder(studies, child);
        free(entries[i]);
    }
    free(entries);
    return status;
}

fathom_status lab_studies_load(lab_studies *studies, const char *folder) {
    fathom_status status;
    *studies = (lab_studies){0};
    TRY(mem_new(&studies->study, STUDIES_MAX, 1, sizeof *studies->study, "studies"));
    TRY_OUT(add_folder(studies, folder));
    TRY_OUT(add_children(studies, folder));
    if (studies->count == 0)
        TRY_OUT(fail(FATHOM_DATA,
                     "%s: holds no sweep (no sweep.json there or in its folders); make one with "
                     "fathom sweep --recipe table1 --out %s",
                     folder, folder));
    return FATHOM_OK;
out:
    lab_studies_free(studies);
    return status;
}

/* ---- numbers over seeds ---- */

static bool picked(const lab_cell *cell, const lab_pick *pick) {
    return strcmp(cell->data, pick->data) == 0 && cell->model == pick->model && cell->norm == pick->norm &&
           cell->layers == pick->layers && cell->missing == pick->missing &&
           (pick->groups < 0 || cell->groups == pick->groups) && (isnan(pick->lambda) || cell->lambda == pick->lambda);
}

lab_stats lab_study_stats(const lab_study *study, const lab_pick *pick, size_t offset) {
    lab_stats stats = {0};
    double sum = 0, squares = 0;
    int count = 0;
    for (int64_t i = 0; i < study->cell_count; i++) {
        if (!picked(&study->cells[i], pick))
            continue;
        stats.wanted++;
        stats.failed += study->failed[i];
        stats.done += study->row[i] != NULL;
        double value =
            study->row[i] ? *(const double *)(const void *)((const char *)study->row[i] + offset) : (double)NAN;
        if (isfinite(value)) {
            sum += value;
            count++;
        }
    }
    stats.mean = count ? sum / count : (double)NAN;
    for (int64_t i = 0; count > 1 && i < study->cell_count; i++)
        if (study->row[i] && picked(&study->cells[i], pick)) {
            double value = *(const double *)(const void *)((const char *)study->row[i] + offset);
            squares += isfinite(value) ? (value - stats.mean) * (value - stats.mean) : 0;
        }
    stats.sd = count > 1 ? sqrt(squares / (count - 1)) : (double)NAN;
    return stats;
}

int64_t lab_study_best_depth(lab_stats *best, const lab_study *study, lab_pick pick) {
    const lab_numbers *layers = lab_recipe_layers(study->recipe, pick.model);
    int64_t depth = 0;
    *best = (lab_stats){.mean = NAN, .sd = NAN};
    for (int k = 0; k < layers->count; k++) {
        pick.layers = (int64_t)layers->value[k];
        lab_stats stats = lab_study_stats(study, &pick, offsetof(lab_row, test_accuracy));
        best->failed += depth ? 0 : stats.failed;
        if (isfinite(stats.mean) && !(stats.mean <= best->mean)) {
            *best = stats;
            depth = pick.layers;
        }
    }
    return depth;
}

const lab_cell *lab_study_first(const lab_study *study, const lab_pick *pick) {
    for (int64_t i = 0; i < study->cell_count; i++)
        if (study->row[i] && picked(&study->cells[i], pick))
            return &study->cells[i];
    return NULL;
}

/* ---- results ---- */

fathom_status lab_study_csv(lab_text *out, const lab_study *study, bool head) {
    if (head)
        lab_row_csv_head(out);
    for (int64_t i = 0; i < study->cell_count; i++)
        if (study->row[i])
            lab_row_csv(out, study->row[i]);
    return out->status;
}

fathom_status lab_study_save_results(const lab_study *study) {
    lab_text csv = {0}, lines = {0};
    char path[LAB_PATH];
    fathom_status status;
    TRY_OUT(lab_study_csv(&csv, study, true));
    TRY_OUT(lab_journal_path(path, &study->journal, "results.csv"));
    TRY_OUT(lab_text_save(&csv, path));
    for (int64_t i = 0; i < study->cell_count; i++)
        if (study->row[i])
            TRY_OUT(lab_row_print(&lines, study->row[i]));
    TRY_OUT(lab_journal_path(path, &study->journal, "results.jsonl"));
    TRY_OUT(lab_text_save(&lines, path));
out:
    lab_text_free(&csv);
    lab_text_free(&lines);
    return status;
}

void lab_data_name(char *out, size_t room, const char *word) {
    const char *slash = strrchr(word, '/');
    word = slash && slash[1] ? slash + 1 : word;
    if (strncmp(word, "ind.", 4) == 0)
        word += 4;
    snprintf(out, room, "%s", word);
    char *ending = strrchr(out, '.');
    if (ending && ending != out)
        *ending = '\0';
    for (; *out; out++)
        if (*out == '_')
            *out = '-';
}
