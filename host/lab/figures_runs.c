/* figures_runs.c - charts of single runs: training curves, and the picture of representations (figures.h). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/file.h"
#include "core/mem.h"
#include "lab/figures.h"
#include "lab/picture.h"
#include "lab/tables.h"

#define CURVE_POINTS 240
#define CURVE_BYTES (UINT64_C(1) << 30)

/* ---- training curves ---- */

typedef struct curve {
    int count;
    double x[CURVE_POINTS], loss[CURVE_POINTS], val[CURVE_POINTS];
} curve;

/* Takes every n-th line, so that a curve has at most CURVE_POINTS points; the last epoch is among them. */
static void thin(curve *c, char *text) {
    int64_t lines = 0, line = 0;
    char *rest = NULL;
    for (const char *at = text; (at = strchr(at, '\n')); at++)
        lines++;
    int64_t every = (lines + CURVE_POINTS - 1) / CURVE_POINTS;
    for (char *row = strtok_r(text, "\n", &rest); row; row = strtok_r(NULL, "\n", &rest), line++) {
        char *words[5] = {0}, *inner = NULL;
        int count = 0;
        if ((lines - 1 - line) % (every ? every : 1) != 0 || c->count == CURVE_POINTS)
            continue;
        for (char *word = strtok_r(row, ",", &inner); word && count < 5; word = strtok_r(NULL, ",", &inner))
            words[count++] = word;
        if (count == 5 && lab_read_number(&c->x[c->count], words[0])) {
            if (!lab_read_number(&c->loss[c->count], words[1]))
                c->loss[c->count] = NAN;
            if (!lab_read_number(&c->val[c->count], words[3]))
                c->val[c->count] = NAN;
            c->val[c->count] *= 100;
            c->count++;
        }
    }
}

static bool load_curve(curve *c, const lab_study *study, const char *cell) {
    char path[LAB_PATH], name[64];
    uint8_t *bytes = NULL;
    size_t count;
    c->count = 0;
    snprintf(name, sizeof name, "curves/%s.csv", cell);
    if (lab_journal_path(path, &study->journal, name) != FATHOM_OK || access(path, F_OK) != 0 ||
        file_load(&bytes, &count, path, CURVE_BYTES) != FATHOM_OK)
        return false;
    thin(c, (char *)bytes);
    mem_free(bytes);
    return c->count > 1;
}

static void draw_lines(lab_text *out, const void *chart, bool alone) { chart_lines_draw(out, chart, alone); }

/* Validation accuracy and loss of the four norms at one depth. */
static void draw_curves(lab_figures *f, const lab_study *study, lab_pick pick, curve *curves) {
    chart_series val[NN_NORM_COUNT], loss[NN_NORM_COUNT];
    char title[128], name[LAB_TEXT_ROOM], file[512];
    int count = 0;
    for (int n = 0; n < study->recipe->norms.count && n < NN_NORM_COUNT; n++) {
        pick.norm = lab_norm_at(study->recipe, n);
        const lab_cell *cell = lab_study_first(study, &pick);
        curve *c = &curves[count];
        if (!cell || !load_curve(c, study, cell->id))
            continue;
        val[count] = (chart_series){
            .name = nn_norm_name(pick.norm), .style = (int)pick.norm, .count = c->count, .x = c->x, .mean = c->val};
        loss[count] = val[count];
        loss[count++].mean = c->loss;
    }
    if (count == 0)
        return;
    lab_data_name(name, sizeof name, pick.data);
    chart_lines chart = {.title = title,
                         .x_label = "epoch",
                         .y_label = "validation accuracy, %",
                         .y_low = 0,
                         .y_high = 100,
                         .unit = " %",
                         .count = count,
                         .series = val};
    snprintf(title, sizeof title, "%s, %lld layers: validation accuracy", lab_model_title(pick.model),
             (long long)pick.layers);
    lab_format(file, sizeof file, "curve-%s-%s-%lld-%g-accuracy", name, nn_conv_name(pick.model),
               (long long)pick.layers, pick.missing);
    lab_figures_add(f, draw_lines, &chart, file);
    snprintf(title, sizeof title, "%s, %lld layers: training loss", lab_model_title(pick.model),
             (long long)pick.layers);
    lab_format(file, sizeof file, "curve-%s-%s-%lld-%g-loss", name, nn_conv_name(pick.model), (long long)pick.layers,
               pick.missing);
    chart.y_label = "loss";
    chart.unit = "";
    chart.y_low = chart.y_high = NAN;
    chart.series = loss;
    lab_figures_add(f, draw_lines, &chart, file);
}

void lab_figures_curves(lab_figures *f, const lab_study *study) {
    const lab_recipe *r = study->recipe;
    char heading[512], where[384];
    curve *curves = NULL;
    if (mem_new(&curves, NN_NORM_COUNT, 1, sizeof *curves, "training curves") != FATHOM_OK) {
        f->status = f->status == FATHOM_OK ? FATHOM_MEMORY : f->status;
        return;
    }
    for (int d = 0; d < r->data.count; d++)
        for (int i = 0; i < r->missing.count; i++) {
            lab_where_title(where, sizeof where, r, r->data.word[d], r->missing.value[i]);
            snprintf(heading, sizeof heading, "%s: training at the greatest depth, seed 100", where);
            lab_figures_open(f, heading, true);
            for (int m = 0; m < r->models.count; m++) {
                const lab_numbers *layers = lab_recipe_layers(r, lab_model_at(r, m));
                draw_curves(f, study,
                            lab_pick_all(r->data.word[d], lab_model_at(r, m), NN_NONE,
                                         (int64_t)layers->value[layers->count - 1], r->missing.value[i]),
                            curves);
            }
            lab_figures_close(f);
        }
    mem_free(curves);
}

/* ---- representations ---- */

static void draw_scatter(lab_text *out, const void *chart, bool alone) { chart_scatter_draw(out, chart, alone); }

static void draw_plane(lab_figures *f, const lab_picture *p, const double *xy, const char *title, const char *note,
                       const char *file) {
    chart_scatter chart = {.title = title,
                           .note = note,
                           .count = p->nodes,
                           .xy = xy,
                           .class_of = p->labels,
                           .classes = p->classes,
                           .means = p->means,
                           .mean_xy = xy + 2 * p->nodes};
    lab_figures_add(f, draw_scatter, &chart, file);
}

typedef struct picture_progress {
    const lab_draw_options *options;
    char what[160];
} picture_progress;

static void on_step(void *user, int done, int steps) {
    const picture_progress *p = user;
    p->options->progress(p->what, done, steps);
}

/* Without norm and with groups beside each other, first by principal components, then by t-SNE. */
static void draw_pictures(lab_figures *f, const lab_study *study, lab_pick pick) {
    static const nn_norm_kind norms[2] = {NN_NONE, NN_GROUP};
    lab_picture p[2] = {{0}, {0}};
    char title[128], note[128], name[LAB_TEXT_ROOM], file[512];
    picture_progress progress = {.options = f->options};
    lab_layout layout = {
        .tsne = f->options->tsne,
        .options = {.threads = f->options->threads, .hook = f->options->progress ? on_step : NULL, .user = &progress}};
    lab_data_name(name, sizeof name, pick.data);
    for (int i = 0; i < 2; i++) {
        pick.norm = norms[i];
        const lab_cell *cell = lab_study_first(study, &pick);
        snprintf(progress.what, sizeof progress.what, "t-SNE of %.80s, %s norm", name, nn_norm_name(pick.norm));
        fathom_status status = cell ? lab_picture_load(&p[i], &study->journal, cell->id, &layout) : FATHOM_OK;
        f->status = f->status == FATHOM_OK ? status : f->status;
    }
    for (int i = 0; i < 4; i++) {
        bool tsne = i >= 2;
        const lab_picture *shown = &p[i % 2];
        if (shown->nodes == 0 || (tsne && !shown->tsne))
            continue;
        snprintf(title, sizeof title, "%s, %lld layers, %s norm", lab_model_title(pick.model), (long long)pick.layers,
                 i % 2 ? "group" : "no");
        lab_format(note, sizeof note, tsne ? "t-SNE" : "principal components, %.0f %% of the variance",
                   100 * shown->share);
        lab_format(file, sizeof file, "nodes-%s-%s-%lld-%g-%s-%s", name, nn_conv_name(pick.model),
                   (long long)pick.layers, pick.missing, nn_norm_name(norms[i % 2]), tsne ? "tsne" : "pca");
        draw_plane(f, shown, tsne ? shown->tsne : shown->pca, title, note, file);
    }
    lab_picture_free(&p[0]);
    lab_picture_free(&p[1]);
}

void lab_figures_picture(lab_figures *f, const lab_study *study) {
    const lab_recipe *r = study->recipe;
    char heading[512], where[384];
    if (r->picture_model < 0)
        return;
    for (int d = 0; d < r->data.count; d++)
        for (int i = 0; i < r->missing.count; i++) {
            lab_pick none = lab_pick_all(r->data.word[d], (nn_conv_kind)r->picture_model, NN_NONE, r->picture_layers,
                                         r->missing.value[i]);
            lab_pick group = none;
            group.norm = NN_GROUP;
            if (!lab_study_first(study, &none) && !lab_study_first(study, &group))
                continue;
            lab_where_title(where, sizeof where, r, r->data.word[d], r->missing.value[i]);
            snprintf(heading, sizeof heading, "%s: nodes in the plane", where);
            lab_figures_open(f, heading, true);
            draw_pictures(f, study, none);
            lab_figures_close(f);
        }
}
