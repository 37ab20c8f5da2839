/* figures.c - charts over depth and the map of groups and lambda (figures.h). */
#include "lab/figures.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "lab/paper.h"
#include "lab/tables.h"

#define FILE_NAME 256

/* ---- where charts go ---- */

void lab_figures_open(lab_figures *f, const char *heading, bool pairs) {
    if (!f->page)
        return;
    lab_add(f->page, "<h3>");
    lab_add_escaped(f->page, heading);
    lab_add(f->page, "</h3>\n<div class=\"charts%s\">\n", pairs ? " pairs" : "");
}

void lab_figures_close(lab_figures *f) {
    if (f->page)
        lab_add(f->page, "</div>\n");
}

/* A name of its own for the file: data sets of different folders may be called the same, and long names are cut. */
static fathom_status name_file(char out[FILE_NAME], lab_figures *f, const char *name) {
    const char *stored;
    snprintf(out, FILE_NAME, "%.60s-%.150s", f->prefix, name);
    for (char *c = out; *c; c++)
        *c = isalnum((unsigned char)*c) && (unsigned char)*c < 128 ? (char)tolower((unsigned char)*c) : '-';
    size_t length = strlen(out);
    for (int turn = 2;; turn++) {
        TRY(lab_strings_add(&stored, &f->files, out));
        int64_t *taken = lab_strings_value(&f->files, out);
        if (!*taken) {
            *taken = 1;
            strcat(out, ".svg");
            return FATHOM_OK;
        }
        snprintf(out + length, FILE_NAME - length, "-%d", turn);
    }
}

static fathom_status save(lab_figures *f, lab_draw *draw, const void *chart, const char *name) {
    char path[LAB_PATH], file[FILE_NAME];
    lab_text text = {0};
    TRY(name_file(file, f, name));
    TRY(lab_path(path, f->folder, file));
    draw(&text, chart, true);
    fathom_status status = lab_text_save(&text, path);
    lab_text_free(&text);
    return status;
}

void lab_figures_add(lab_figures *f, lab_draw *draw, const void *chart, const char *name) {
    f->count++;
    if (f->page) {
        lab_add(f->page, "<figure>");
        draw(f->page, chart, false);
        lab_add(f->page, "</figure>\n");
    }
    if (f->folder && f->status == FATHOM_OK)
        f->status = save(f, draw, chart, name);
}

static void draw_lines(lab_text *out, const void *chart, bool alone) { chart_lines_draw(out, chart, alone); }
static void draw_heat(lab_text *out, const void *chart, bool alone) { chart_heat_draw(out, chart, alone); }

/* ---- over depth ---- */

static const struct metric {
    const char *name, *title, *label, *unit;
    size_t offset;
    double scale, low, high;
    bool all, missing; /* drawn with all features, with missing ones: as in the paper */
} metrics[] = {
    {"accuracy", "test accuracy", "test accuracy, %", " %", offsetof(lab_row, test_accuracy), 100, 0, 100, true, true},
    {"gain", "instance information gain", "information gain, bits", " bits",
     offsetof(lab_row, instance_information_gain), 1, NAN, NAN, true, false},
    {"ratio", "group distance ratio", "between over inside groups", "", offsetof(lab_row, group_distance_ratio), 1, NAN,
     NAN, true, true},
    {"intra", "intra-group distance", "distance inside groups", "", offsetof(lab_row, intra_group_distance), 1, NAN,
     NAN, false, true},
    {"energy", "Dirichlet energy", "energy of the graph signal", "", offsetof(lab_row, dirichlet_energy), 1, NAN, NAN,
     true, true},
    {"mad", "mean average distance", "cosine distance of two nodes", "", offsetof(lab_row, mean_average_distance), 1,
     NAN, NAN, true, true},
};

typedef struct line_data {
    double x[LAB_VALUES], mean[NN_NORM_COUNT][LAB_VALUES], sd[NN_NORM_COUNT][LAB_VALUES];
    double paper[NN_NORM_COUNT][LAB_VALUES];
    chart_series series[NN_NORM_COUNT];
    int runs, wanted;
    bool any_paper;
} line_data;

static void collect(line_data *data, const lab_study *study, const struct metric *metric, lab_pick pick) {
    const lab_recipe *r = study->recipe;
    const lab_numbers *layers = lab_recipe_layers(r, pick.model);
    char name[LAB_TEXT_ROOM];
    lab_data_name(name, sizeof name, pick.data);
    memcpy(data->x, layers->value, sizeof data->x);
    for (int n = 0; n < r->norms.count && n < NN_NORM_COUNT; n++) {
        pick.norm = lab_norm_at(r, n);
        for (int k = 0; k < layers->count; k++) {
            pick.layers = (int64_t)layers->value[k];
            lab_stats stats = lab_study_stats(study, &pick, metric->offset);
            data->mean[n][k] = stats.mean * metric->scale;
            data->sd[n][k] = stats.sd * metric->scale;
            data->runs += stats.done;
            data->wanted += stats.wanted;
            data->paper[n][k] = metric == metrics && pick.missing == 0
                                    ? lab_paper_table1(name, pick.model, pick.norm, pick.layers)
                                    : (double)NAN;
            data->any_paper = data->any_paper || isfinite(data->paper[n][k]);
        }
        data->series[n] = (chart_series){.name = nn_norm_name(pick.norm),
                                         .style = (int)pick.norm,
                                         .count = layers->count,
                                         .x = data->x,
                                         .mean = data->mean[n],
                                         .sd = data->sd[n],
                                         .paper = data->paper[n]};
    }
}

static void draw_metric(lab_figures *f, const lab_study *study, const struct metric *metric, lab_pick pick) {
    line_data data = {0};
    char title[96], note[96] = "", name[LAB_TEXT_ROOM], file[512];
    collect(&data, study, metric, pick);
    snprintf(title, sizeof title, "%s, %s", lab_model_title(pick.model), metric->title);
    if (data.runs < data.wanted)
        snprintf(note, sizeof note, "%d of %d runs so far%s", data.runs, data.wanted, data.any_paper ? "; " : "");
    if (data.any_paper)
        snprintf(note + strlen(note), sizeof note - strlen(note), "rings: the paper's table 1");
    chart_lines chart = {.title = title,
                         .note = note[0] ? note : NULL,
                         .x_label = "layers",
                         .y_label = metric->label,
                         .y_low = metric->low,
                         .y_high = metric->high,
                         .marks = true,
                         .unit = metric->unit,
                         .count =
                             study->recipe->norms.count < NN_NORM_COUNT ? study->recipe->norms.count : NN_NORM_COUNT,
                         .series = data.series};
    lab_data_name(name, sizeof name, pick.data);
    lab_format(file, sizeof file, "depth-%s-%s-%g-%s", name, nn_conv_name(pick.model), pick.missing, metric->name);
    lab_figures_add(f, draw_lines, &chart, file);
}

static bool has_depths(const lab_recipe *r) {
    for (int m = 0; m < r->models.count; m++)
        if (lab_recipe_layers(r, lab_model_at(r, m))->count > 1)
            return true;
    return false;
}

void lab_figures_lines(lab_figures *f, const lab_study *study) {
    const lab_recipe *r = study->recipe;
    char where[384];
    if (!has_depths(r))
        return;
    for (int d = 0; d < r->data.count; d++)
        for (int i = 0; i < r->missing.count; i++) {
            lab_where_title(where, sizeof where, r, r->data.word[d], r->missing.value[i]);
            lab_figures_open(f, where, false);
            for (int m = 0; m < r->models.count; m++)
                for (size_t k = 0; k < sizeof metrics / sizeof *metrics; k++)
                    if (r->missing.value[i] > 0 ? metrics[k].missing : metrics[k].all)
                        draw_metric(f, study, &metrics[k],
                                    lab_pick_all(r->data.word[d], lab_model_at(r, m), NN_NONE, 0, r->missing.value[i]));
            lab_figures_close(f);
        }
}

/* ---- groups and lambda ---- */

typedef struct map {
    double value[LAB_VALUES * LAB_VALUES], sd[LAB_VALUES * LAB_VALUES];
    int failed[LAB_VALUES * LAB_VALUES];
} map;

static void draw_map(lab_figures *f, const lab_study *study, lab_pick pick, map *of) {
    const lab_recipe *r = study->recipe;
    int runs = 0, wanted = 0;
    char title[96], note[96], name[LAB_TEXT_ROOM], file[512];
    for (int g = 0; g < r->groups.count; g++)
        for (int l = 0; l < r->lambda.count; l++) {
            int at = g * r->lambda.count + l;
            pick.groups = (int64_t)r->groups.value[g];
            pick.lambda = r->lambda.value[l];
            lab_stats stats = lab_study_stats(study, &pick, offsetof(lab_row, test_accuracy));
            of->value[at] = 100 * stats.mean;
            of->sd[at] = 100 * stats.sd;
            of->failed[at] = stats.failed;
            runs += stats.done;
            wanted += stats.wanted;
        }
    snprintf(title, sizeof title, "%s, %lld layers, group norm: test accuracy, %%", lab_model_title(pick.model),
             (long long)pick.layers);
    snprintf(note, sizeof note, "%d of %d runs; framed: the highest", runs, wanted);
    chart_heat chart = {.title = title,
                        .note = note,
                        .x_label = "\xCE\xBB",
                        .y_label = "groups G",
                        .unit = "%",
                        .rows = r->groups.count,
                        .columns = r->lambda.count,
                        .row_value = r->groups.value,
                        .column_value = r->lambda.value,
                        .value = of->value,
                        .sd = of->sd,
                        .failed = of->failed};
    lab_data_name(name, sizeof name, pick.data);
    lab_format(file, sizeof file, "grid-%s-%s-%lld-%g", name, nn_conv_name(pick.model), (long long)pick.layers,
               pick.missing);
    lab_figures_add(f, draw_heat, &chart, file);
}

void lab_figures_heat(lab_figures *f, const lab_study *study) {
    const lab_recipe *r = study->recipe;
    char where[384];
    map *of = NULL;
    if (r->groups.count == 0 || r->lambda.count == 0)
        return;
    if (mem_new(&of, 1, 1, sizeof *of, "map of groups and lambda") != FATHOM_OK) {
        f->status = f->status == FATHOM_OK ? FATHOM_MEMORY : f->status;
        return;
    }
    for (int d = 0; d < r->data.count; d++)
        for (int i = 0; i < r->missing.count; i++) {
            lab_where_title(where, sizeof where, r, r->data.word[d], r->missing.value[i]);
            lab_figures_open(f, where, true);
            for (int m = 0; m < r->models.count; m++) {
                const lab_numbers *layers = lab_recipe_layers(r, lab_model_at(r, m));
                for (int k = 0; k < layers->count; k++)
                    draw_map(f, study,
                             lab_pick_all(r->data.word[d], lab_model_at(r, m), NN_GROUP, (int64_t)layers->value[k],
                                          r->missing.value[i]),
                             of);
            }
            lab_figures_close(f);
        }
    mem_free(of);
}
