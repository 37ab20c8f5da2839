/* figures_runs.c - charts of single runs: training curves and embeddings (figures.h). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/file.h"
#include "core/mem.h"
#include "core/plural.h"
#include "report/figures.h"
#include "report/paper_tables.h"
#include "sweep/embedding_plot.h"

#define CURVE_POINTS 240
#define CURVE_BYTES (UINT64_C(1) << 30)

/* ---- training curves ---- */

typedef struct curve {
    int count;
    double x[CURVE_POINTS], loss[CURVE_POINTS], val[CURVE_POINTS];
} curve;

/* Keeps every n-th line, counted from the last one: at most CURVE_POINTS points. */
static void parse_curve(curve *c, char *text) {
    int64_t lines = 0, line = 0;
    char *rest = NULL;
    for (const char *at = text; (at = strchr(at, '\n')); at++)
        lines++;
    int64_t every = (lines + CURVE_POINTS - 1) / CURVE_POINTS;
    for (char *entry = strtok_r(text, "\n", &rest); entry; entry = strtok_r(NULL, "\n", &rest), line++) {
        char *values[5] = {0}, *inner = NULL;
        int count = 0;
        if ((lines - 1 - line) % (every ? every : 1) != 0 || c->count == CURVE_POINTS)
            continue;
        for (char *value = strtok_r(entry, ",", &inner); value && count < 5; value = strtok_r(NULL, ",", &inner))
            values[count++] = value;
        if (count == 5 && text_read_number(&c->x[c->count], values[0])) {
            if (!text_read_number(&c->loss[c->count], values[1]))
                c->loss[c->count] = NAN;
            if (!text_read_number(&c->val[c->count], values[3]))
                c->val[c->count] = NAN;
            c->val[c->count] *= 100;
            c->count++;
        }
    }
}

static bool load_curve(curve *c, const sweep_results *results, const char *cell) {
    char path[SWEEP_PATH_MAX], name[64];
    uint8_t *bytes = NULL;
    size_t count;
    c->count = 0;
    snprintf(name, sizeof name, "curves/%s.csv", cell);
    if (journal_path(path, &results->journal, name) != FATHOM_OK || access(path, F_OK) != 0 ||
        file_load(&bytes, &count, path, CURVE_BYTES) != FATHOM_OK)
        return false;
    parse_curve(c, (char *)bytes);
    mem_free(bytes);
    return c->count > 1;
}

/* Validation accuracy and loss of all norms at one depth. */
static void draw_curves(report_figures *f, const sweep_results *results, results_filter filter, curve *curves) {
    chart_series val[NN_NORM_COUNT], loss[NN_NORM_COUNT];
    char title[128], name[TITLE_MAX], file[512];
    int count = 0;
    for (int n = 0; n < results->recipe->norms.count && n < NN_NORM_COUNT; n++) {
        filter.norm = recipe_norm_at(results->recipe, n);
        const grid_cell *cell = results_first_cell(results, &filter);
        curve *c = &curves[count];
        if (!cell || !load_curve(c, results, cell->id))
            continue;
        val[count] = (chart_series){
            .name = nn_norm_name(filter.norm), .style = (int)filter.norm, .count = c->count, .x = c->x, .mean = c->val};
        loss[count] = val[count];
        loss[count++].mean = c->loss;
    }
    if (count == 0)
        return;
    results_data_name(name, sizeof name, filter.data);
    chart_lines chart = {.title = title,
                         .x_label = "epoch",
                         .y_label = "validation accuracy, %",
                         .y_low = 0,
                         .y_high = 100,
                         .unit = " %",
                         .count = count,
                         .series = val};
    snprintf(title, sizeof title, "%s, %lld layer%s: validation accuracy", nn_conv_title(filter.model),
             (long long)filter.layers, plural(filter.layers));
    text_format(file, sizeof file, "curve-%s-%s-%lld-%g-accuracy", name, nn_conv_name(filter.model),
                (long long)filter.layers, filter.missing);
    figures_add_lines(f, &chart, file);
    snprintf(title, sizeof title, "%s, %lld layer%s: training loss", nn_conv_title(filter.model),
             (long long)filter.layers, plural(filter.layers));
    text_format(file, sizeof file, "curve-%s-%s-%lld-%g-loss", name, nn_conv_name(filter.model),
                (long long)filter.layers, filter.missing);
    chart.y_label = "loss";
    chart.unit = "";
    chart.y_low = chart.y_high = NAN;
    chart.series = loss;
    figures_add_lines(f, &chart, file);
}

void figures_curves(report_figures *f, const sweep_results *results) {
    const sweep_recipe *r = results->recipe;
    char heading[512], where[384];
    curve *curves = NULL;
    if (mem_new(&curves, NN_NORM_COUNT, 1, sizeof *curves, "training curves") != FATHOM_OK) {
        f->status = f->status == FATHOM_OK ? FATHOM_MEMORY : f->status;
        return;
    }
    for (int d = 0; d < r->data.count; d++)
        for (int i = 0; i < r->missing.count; i++) {
            dataset_title(where, sizeof where, r, r->data.value[d], r->missing.value[i]);
            snprintf(heading, sizeof heading, "%s: training at the greatest depth, seed 100", where);
            figures_open(f, heading, true);
            for (int m = 0; m < r->models.count; m++) {
                const recipe_numbers *layers = recipe_layers(r, recipe_model_at(r, m));
                draw_curves(f, results,
                            filter_make(r->data.value[d], recipe_model_at(r, m), NN_NONE,
                                        (int64_t)layers->value[layers->count - 1], r->missing.value[i]),
                            curves);
            }
            figures_close(f);
        }
    mem_free(curves);
}

/* ---- embeddings ---- */

static void draw_projection(report_figures *f, const embedding_plot *p, const double *xy, const char *title,
                            const char *note, const char *file) {
    chart_scatter chart = {.title = title,
                           .note = note,
                           .count = p->nodes,
                           .xy = xy,
                           .class_of = p->labels,
                           .classes = p->classes,
                           .means = p->means,
                           .mean_xy = xy + 2 * p->nodes};
    figures_add_scatter(f, &chart, file);
}

typedef struct tsne_progress {
    const report_draw_options *options;
    char what[160];
} tsne_progress;

static void on_tsne_step(void *user, int done, int steps) {
    const tsne_progress *p = user;
    p->options->progress(p->what, done, steps);
}

/* Norms none and group next to each other: a row of PCA, a row of t-SNE if requested. */
static void draw_embeddings(report_figures *f, const sweep_results *results, results_filter filter) {
    static const nn_norm_kind norms[2] = {NN_NONE, NN_GROUP};
    embedding_plot p[2] = {{0}, {0}};
    char title[128], note[128], name[TITLE_MAX], file[512];
    tsne_progress progress = {.options = f->options};
    embedding_plot_options options = {.tsne = f->options->tsne,
                                      .tsne_options = {.threads = f->options->threads,
                                                       .progress = f->options->progress ? on_tsne_step : NULL,
                                                       .user = &progress}};
    results_data_name(name, sizeof name, filter.data);
    for (int i = 0; i < 2; i++) {
        filter.norm = norms[i];
        const grid_cell *cell = results_first_cell(results, &filter);
        snprintf(progress.what, sizeof progress.what, "t-SNE of %.80s, %s norm", name, nn_norm_name(filter.norm));
        fathom_status status = cell ? embedding_plot_load(&p[i], &results->journal, cell->id, &options) : FATHOM_OK;
        f->status = f->status == FATHOM_OK ? status : f->status;
    }
    for (int i = 0; i < 4; i++) {
        bool tsne = i >= 2;
        const embedding_plot *shown = &p[i % 2];
        if (shown->nodes == 0 || (tsne && !shown->tsne))
            continue;
        snprintf(title, sizeof title, "%s, %lld layer%s, %s norm", nn_conv_title(filter.model),
                 (long long)filter.layers, plural(filter.layers), i % 2 ? "group" : "no");
        text_format(note, sizeof note, tsne ? "t-SNE" : "principal components, %.0f %% of the variance",
                    100 * shown->explained);
        text_format(file, sizeof file, "nodes-%s-%s-%lld-%g-%s-%s", name, nn_conv_name(filter.model),
                    (long long)filter.layers, filter.missing, nn_norm_name(norms[i % 2]), tsne ? "tsne" : "pca");
        draw_projection(f, shown, tsne ? shown->tsne : shown->pca, title, note, file);
    }
    embedding_plot_free(&p[0]);
    embedding_plot_free(&p[1]);
}

void figures_embeddings(report_figures *f, const sweep_results *results) {
    const sweep_recipe *r = results->recipe;
    char heading[512], where[384];
    if (r->embedding_model < 0)
        return;
    for (int d = 0; d < r->data.count; d++)
        for (int i = 0; i < r->missing.count; i++) {
            results_filter none = filter_make(r->data.value[d], (nn_conv_kind)r->embedding_model, NN_NONE,
                                              r->embedding_layers, r->missing.value[i]);
            results_filter group = none;
            group.norm = NN_GROUP;
            if (!results_first_cell(results, &none) && !results_first_cell(results, &group))
                continue;
            dataset_title(where, sizeof where, r, r->data.value[d], r->missing.value[i]);
            snprintf(heading, sizeof heading, "%s: nodes in the plane", where);
            figures_open(f, heading, true);
            draw_embeddings(f, results, none);
            figures_close(f);
        }
}
