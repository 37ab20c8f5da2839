/* figures.c - where charts are written; charts over depth, heat maps of groups and lambda (figures.h). */
#include "report/figures.h"
#include "core/plural.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "report/paper.h"
#include "report/paper_tables.h"

#define FILE_NAME 256

/* ---- output ---- */

void figures_open(report_figures *f, const char *heading, bool pairs) {
    if (!f->page)
        return;
    text_add(f->page, "<h3>");
    text_add_escaped(f->page, heading);
    text_add(f->page, "</h3>\n<div class=\"charts%s\">\n", pairs ? " pairs" : "");
}

void figures_close(report_figures *f) {
    if (f->page)
        text_add(f->page, "</div>\n");
}

/* A unique file name: data sets in different folders may share a name, and long names are truncated. */
static fathom_status make_file_name(char out[FILE_NAME], report_figures *f, const char *name) {
    const char *stored;
    snprintf(out, FILE_NAME, "%.60s-%.150s", f->prefix, name);
    for (char *c = out; *c; c++)
        *c = isalnum((unsigned char)*c) && (unsigned char)*c < 128 ? (char)tolower((unsigned char)*c) : '-';
    size_t length = strlen(out);
    for (int number = 2;; number++) {
        TRY(intern_add(&stored, &f->files, out));
        int64_t *taken = intern_value(&f->files, out);
        if (!*taken) {
            *taken = 1;
            strcat(out, ".svg");
            return FATHOM_OK;
        }
        snprintf(out + length, FILE_NAME - length, "-%d", number);
    }
}

typedef void draw_fn(text_buf *out, const void *chart, bool standalone);

static fathom_status save(report_figures *f, draw_fn *draw, const void *chart, const char *name) {
    char path[SWEEP_PATH_MAX], file[FILE_NAME];
    text_buf text = {0};
    TRY(make_file_name(file, f, name));
    TRY(sweep_join_path(path, f->folder, file));
    draw(&text, chart, true);
    fathom_status status = text_save(&text, path);
    text_free(&text);
    return status;
}

static void add_chart(report_figures *f, draw_fn *draw, const void *chart, const char *name) {
    f->count++;
    if (f->page) {
        text_add(f->page, "<figure>");
        draw(f->page, chart, false);
        text_add(f->page, "</figure>\n");
    }
    if (f->folder && f->status == FATHOM_OK)
        f->status = save(f, draw, chart, name);
}

static void draw_lines(text_buf *out, const void *chart, bool standalone) { chart_lines_draw(out, chart, standalone); }
static void draw_heat(text_buf *out, const void *chart, bool standalone) { chart_heat_draw(out, chart, standalone); }
static void draw_scatter(text_buf *out, const void *chart, bool standalone) {
    chart_scatter_draw(out, chart, standalone);
}

void figures_add_lines(report_figures *f, const chart_lines *chart, const char *name) {
    add_chart(f, draw_lines, chart, name);
}

void figures_add_heat(report_figures *f, const chart_heat *chart, const char *name) {
    add_chart(f, draw_heat, chart, name);
}

void figures_add_scatter(report_figures *f, const chart_scatter *chart, const char *name) {
    add_chart(f, draw_scatter, chart, name);
}

/* ---- over depth ---- */

static const struct metric {
    const char *name, *title, *label, *unit;
    size_t offset;
    double scale, low, high;
    bool all, missing; /* drawn with all features, with missing features: as in the paper */
} metrics[] = {
    {"accuracy", "test accuracy", "test accuracy, %", " %", offsetof(run_record, test_accuracy), 100, 0, 100, true,
     true},
    {"gain", "instance information gain", "information gain, bits", " bits",
     offsetof(run_record, instance_information_gain), 1, NAN, NAN, true, false},
    {"ratio", "group distance ratio", "between over inside groups", "", offsetof(run_record, group_distance_ratio), 1,
     NAN, NAN, true, true},
    {"intra", "intra-group distance", "distance inside groups", "", offsetof(run_record, intra_group_distance), 1, NAN,
     NAN, false, true},
    {"energy", "Dirichlet energy", "energy of the graph signal", "", offsetof(run_record, dirichlet_energy), 1, NAN,
     NAN, true, true},
    {"mad", "mean average distance", "cosine distance of two nodes", "", offsetof(run_record, mean_average_distance), 1,
     NAN, NAN, true, true},
};

typedef struct line_data {
    double x[RECIPE_VALUES_MAX], mean[NN_NORM_COUNT][RECIPE_VALUES_MAX], sd[NN_NORM_COUNT][RECIPE_VALUES_MAX];
    double paper[NN_NORM_COUNT][RECIPE_VALUES_MAX];
    chart_series series[NN_NORM_COUNT];
    int runs, wanted;
    bool any_paper;
} line_data;

static void collect(line_data *data, const sweep_results *results, const struct metric *metric, results_filter filter) {
    const sweep_recipe *r = results->recipe;
    const recipe_numbers *layers = recipe_layers(r, filter.model);
    char name[TITLE_MAX];
    results_data_name(name, sizeof name, filter.data);
    memcpy(data->x, layers->value, sizeof data->x);
    for (int n = 0; n < r->norms.count && n < NN_NORM_COUNT; n++) {
        filter.norm = recipe_norm_at(r, n);
        for (int k = 0; k < layers->count; k++) {
            filter.layers = (int64_t)layers->value[k];
            run_stats stats = results_stats(results, &filter, metric->offset);
            data->mean[n][k] = stats.mean * metric->scale;
            data->sd[n][k] = stats.sd * metric->scale;
            data->runs += stats.done;
            data->wanted += stats.wanted;
            data->paper[n][k] = metric == metrics && filter.missing == 0
                                    ? paper_table1(name, filter.model, filter.norm, filter.layers)
                                    : (double)NAN;
            data->any_paper = data->any_paper || isfinite(data->paper[n][k]);
        }
        data->series[n] = (chart_series){.name = nn_norm_name(filter.norm),
                                         .style = (int)filter.norm,
                                         .count = layers->count,
                                         .x = data->x,
                                         .mean = data->mean[n],
                                         .sd = data->sd[n],
                                         .paper = data->paper[n]};
    }
}

static void draw_metric(report_figures *f, const sweep_results *results, const struct metric *metric,
                        results_filter filter) {
    line_data data = {0};
    char title[96], note[96] = "", name[TITLE_MAX], file[512];
    collect(&data, results, metric, filter);
    snprintf(title, sizeof title, "%s, %s", nn_conv_title(filter.model), metric->title);
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
                         .count = results->recipe->norms.count < NN_NORM_COUNT ? results->recipe->norms.count
                                                                               : NN_NORM_COUNT,
                         .series = data.series};
    results_data_name(name, sizeof name, filter.data);
    text_format(file, sizeof file, "depth-%s-%s-%g-%s", name, nn_conv_name(filter.model), filter.missing, metric->name);
    figures_add_lines(f, &chart, file);
}

static bool has_depths(const sweep_recipe *r) {
    for (int m = 0; m < r->models.count; m++)
        if (recipe_layers(r, recipe_model_at(r, m))->count > 1)
            return true;
    return false;
}

void figures_lines(report_figures *f, const sweep_results *results) {
    const sweep_recipe *r = results->recipe;
    char where[384];
    if (!has_depths(r))
        return;
    for (int d = 0; d < r->data.count; d++)
        for (int i = 0; i < r->missing.count; i++) {
            dataset_title(where, sizeof where, r, r->data.value[d], r->missing.value[i]);
            figures_open(f, where, false);
            for (int m = 0; m < r->models.count; m++)
                for (size_t k = 0; k < sizeof metrics / sizeof *metrics; k++)
                    if (r->missing.value[i] > 0 ? metrics[k].missing : metrics[k].all)
                        draw_metric(
                            f, results, &metrics[k],
                            filter_make(r->data.value[d], recipe_model_at(r, m), NN_NONE, 0, r->missing.value[i]));
            figures_close(f);
        }
}

/* ---- groups and lambda ---- */

typedef struct heat_map {
    double value[RECIPE_VALUES_MAX * RECIPE_VALUES_MAX], sd[RECIPE_VALUES_MAX * RECIPE_VALUES_MAX];
    int failed[RECIPE_VALUES_MAX * RECIPE_VALUES_MAX];
} heat_map;

static void draw_heat_map(report_figures *f, const sweep_results *results, results_filter filter, heat_map *map) {
    const sweep_recipe *r = results->recipe;
    int runs = 0, wanted = 0;
    char title[96], note[96], name[TITLE_MAX], file[512];
    for (int g = 0; g < r->groups.count; g++)
        for (int l = 0; l < r->lambda.count; l++) {
            int at = g * r->lambda.count + l;
            filter.groups = (int64_t)r->groups.value[g];
            filter.lambda = r->lambda.value[l];
            run_stats stats = results_stats(results, &filter, offsetof(run_record, test_accuracy));
            map->value[at] = 100 * stats.mean;
            map->sd[at] = 100 * stats.sd;
            map->failed[at] = stats.failed;
            runs += stats.done;
            wanted += stats.wanted;
        }
    snprintf(title, sizeof title, "%s, %lld layer%s, group norm: test accuracy, %%", nn_conv_title(filter.model),
             (long long)filter.layers, plural(filter.layers));
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
                        .value = map->value,
                        .sd = map->sd,
                        .failed = map->failed};
    results_data_name(name, sizeof name, filter.data);
    text_format(file, sizeof file, "grid-%s-%s-%lld-%g", name, nn_conv_name(filter.model), (long long)filter.layers,
                filter.missing);
    figures_add_heat(f, &chart, file);
}

void figures_heat(report_figures *f, const sweep_results *results) {
    const sweep_recipe *r = results->recipe;
    char where[384];
    heat_map *map = NULL;
    if (r->groups.count == 0 || r->lambda.count == 0)
        return;
    if (mem_new(&map, 1, 1, sizeof *map, "heat map") != FATHOM_OK) {
        f->status = f->status == FATHOM_OK ? FATHOM_MEMORY : f->status;
        return;
    }
    for (int d = 0; d < r->data.count; d++)
        for (int i = 0; i < r->missing.count; i++) {
            dataset_title(where, sizeof where, r, r->data.value[d], r->missing.value[i]);
            figures_open(f, where, true);
            for (int m = 0; m < r->models.count; m++) {
                const recipe_numbers *layers = recipe_layers(r, recipe_model_at(r, m));
                for (int k = 0; k < layers->count; k++)
                    draw_heat_map(f, results,
                                  filter_make(r->data.value[d], recipe_model_at(r, m), NN_GROUP,
                                              (int64_t)layers->value[k], r->missing.value[i]),
                                  map);
            }
            figures_close(f);
        }
    mem_free(map);
}
