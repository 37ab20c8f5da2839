/* report_run_page.c - a run as a page, as text and as SVG files (report_run.h). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/visible.h"
#include "lab/figures.h"
#include "lab/page.h"
#include "lab/report_run.h"
#include "lab/tables.h"

#define TEXT_LINES 12 /* epochs shown in a terminal */

static const char *const curve_names[LAB_RUN_COLUMNS] = {"loss", "training", "validation", "test"};

/* "GCN, 15 layers, group norm, cora" */
static void title_of(char *out, size_t capacity, const lab_run *run) {
    char model[16];
    snprintf(model, sizeof model, "%s", lab_run_word(run, "config.model"));
    for (char *c = model; *c; c++)
        *c = *c >= 'a' && *c <= 'z' ? (char)(*c - 'a' + 'A') : *c;
    const char *norm = lab_run_word(run, "config.norm");
    lab_format(out, capacity, "%s, %.0f layers, %.16s norm, %.200s", model, lab_run_number(run, "config.layers"),
               strcmp(norm, "none") == 0 ? "no" : norm, lab_run_word(run, "data.name"));
}

/* What run.json says of its end. A run without a result is running, or was killed. */
static const char *state_of(const lab_run *run) {
    const char *status = lab_run_word(run, "status");
    if (strcmp(status, "ok") == 0)
        return "finished";
    if (strcmp(status, "running") == 0)
        return "not finished: running, or ended before its result was saved";
    if (strcmp(status, "fell_back") == 0)
        return "finished on the CPU after its device was lost";
    return status;
}

/* The facts of the page and of the text, one after the other. `line` gets a name and a value. */
typedef void add_line(lab_text *out, const char *name, const char *value);

static void add_percent(lab_text *out, add_line *line, const lab_run *run, const char *name, const char *path) {
    char text[32];
    double value = lab_run_number(run, path);
    if (!isfinite(value))
        return;
    lab_format(text, sizeof text, "%.1f %%", 100 * value);
    line(out, name, text);
}

static void add_value(lab_text *out, add_line *line, const lab_run *run, const char *name, const char *path) {
    char text[32];
    double value = lab_run_number(run, path);
    if (!isfinite(value))
        return;
    lab_format(text, sizeof text, "%.6g", value);
    line(out, name, text);
}

static void add_result(lab_text *out, add_line *line, const lab_run *run) {
    char text[96];
    add_percent(out, line, run, "test accuracy", "result.test_accuracy");
    add_percent(out, line, run, "validation accuracy", "result.val_accuracy");
    add_percent(out, line, run, "training accuracy", "result.train_accuracy");
    if (isfinite(lab_run_number(run, "result.best_epoch"))) {
        lab_format(text, sizeof text, "%.0f of %lld", lab_run_number(run, "result.best_epoch"),
                   (long long)run->epoch_count);
        line(out, "best epoch", text);
    }
    add_value(out, line, run, "instance information gain", "result.instance_information_gain");
    add_value(out, line, run, "group distance ratio", "result.group_distance_ratio");
    add_value(out, line, run, "intra-group distance", "result.intra_group_distance");
    add_value(out, line, run, "Dirichlet energy", "result.dirichlet_energy");
    add_value(out, line, run, "mean average distance", "result.mean_average_distance");
    add_value(out, line, run, "median epoch, ms", "time.median_epoch_ms");
}

static void add_settings(lab_text *out, add_line *line, const lab_run *run) {
    static const char *const numbers[] = {"hidden", "groups", "lambda", "dropout", "lr", "weight_decay", "seed"};
    char path[64], text[160];
    line(out, "preset", lab_run_word(run, "config.preset"));
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        snprintf(path, sizeof path, "config.%s", numbers[i]);
        add_value(out, line, run, numbers[i], path);
    }
    line(out, "split", lab_run_word(run, "data.split.name"));
    lab_format(text, sizeof text, "%.0f nodes, %.0f edges, %.0f features, %.0f classes",
               lab_run_number(run, "data.nodes"), lab_run_number(run, "data.edges"),
               lab_run_number(run, "data.features"), lab_run_number(run, "data.classes"));
    line(out, "graph", text);
    line(out, "device", lab_run_word(run, "device.name"));
    line(out, "driver", lab_run_word(run, "device.driver"));
    line(out, "fathom", lab_run_word(run, "fathom"));
}

/* ---- learning curves ---- */

static void draw_lines(lab_text *out, const void *chart, bool alone) { chart_lines_draw(out, chart, alone); }

static chart_series series_of(const lab_run *run, int column) {
    const lab_curve *c = &run->curve[column];
    return (chart_series){.name = curve_names[column], .style = column % 4, .count = c->count, .x = c->x, .mean = c->y};
}

static void draw_curves(lab_figures *f, const lab_run *run) {
    chart_series loss = series_of(run, LAB_RUN_LOSS), accuracy[3];
    int count = 0;
    for (int c = LAB_RUN_TRAIN; c <= LAB_RUN_TEST; c++)
        if (run->curve[c].count > 0) /* a split may have no validation nodes */
            accuracy[count++] = series_of(run, c);
    chart_lines chart = {.title = "accuracy",
                         .x_label = "epoch",
                         .y_label = "accuracy, %",
                         .y_low = 0,
                         .y_high = 100,
                         .unit = " %",
                         .count = count,
                         .series = accuracy};
    if (count > 0)
        lab_figures_add(f, draw_lines, &chart, "accuracy");
    chart = (chart_lines){.title = "training loss",
                          .x_label = "epoch",
                          .y_label = "loss",
                          .y_low = NAN,
                          .y_high = NAN,
                          .unit = "",
                          .count = 1,
                          .series = &loss};
    if (loss.count > 0)
        lab_figures_add(f, draw_lines, &chart, "loss");
}

/* ---- the page, the text, the files ---- */

fathom_status lab_run_html(lab_text *out, const lab_run *run) {
    char title[320];
    lab_figures figures = {.page = out};
    title_of(title, sizeof title, run);
    lab_page_begin(out, title);
    lab_page_element(out, "h1", title);
    lab_add(out, "<p class=\"lead\">One training run, %lld of %.0f epochs; ", (long long)run->epoch_count,
            lab_run_number(run, "config.epochs"));
    lab_add_escaped(out, state_of(run));
    lab_add(out, ".</p>\n<section><h2>Learning curves</h2>\n");
    if (run->epoch_count == 0)
        lab_add(out, "<p class=\"note\">No epoch has been recorded yet.</p>\n");
    lab_add(out, "<div class=\"charts pairs\">\n");
    draw_curves(&figures, run);
    lab_add(out, "</div></section>\n<section><h2>Result</h2>\n<dl>");
    add_result(out, lab_page_fact, run);
    lab_add(out, "</dl>\n");
    lab_add(out, "</section>\n<section><h2>How it was made</h2>\n<dl>");
    add_settings(out, lab_page_fact, run);
    lab_add(out, "</dl></section>\n");
    lab_page_end(out);
    return out->status;
}

static void add_text_line(lab_text *out, const char *name, const char *value) {
    char shown[1024];
    visible_copy(shown, sizeof shown, value, false);
    lab_add(out, "  %-26s %s\n", name, shown);
}

/* The value of a curve at an epoch, NaN where the thinned curve has none. */
static double value_at(const lab_curve *curve, double epoch) {
    for (int i = 0; i < curve->count; i++)
        if (curve->x[i] == epoch)
            return curve->y[i];
    return (double)NAN;
}

/* A few epochs of the curves: evaluated ones where there are any. */
static void add_epochs(lab_text *out, const lab_run *run) {
    const lab_curve *steps = &run->curve[run->curve[LAB_RUN_TRAIN].count ? LAB_RUN_TRAIN : LAB_RUN_LOSS];
    int every = (steps->count + TEXT_LINES - 1) / TEXT_LINES;
    lab_add(out, "\n  %8s%12s%12s%12s%12s\n", "epoch", "loss", "train, %", "val, %", "test, %");
    for (int i = 0; i < steps->count; i++) {
        if ((steps->count - 1 - i) % every != 0)
            continue;
        lab_add(out, "  %8.0f", steps->x[i]);
        for (int c = 0; c < LAB_RUN_COLUMNS; c++) {
            double value = value_at(&run->curve[c], steps->x[i]);
            if (isfinite(value))
                lab_add(out, c == LAB_RUN_LOSS ? "%12.4f" : "%12.1f", value);
            else
                lab_add(out, "%12s", "-");
        }
        lab_add(out, "\n");
    }
}

fathom_status lab_run_text(lab_text *out, const lab_run *run) {
    char title[320], shown[1024];
    title_of(title, sizeof title, run);
    visible_copy(shown, sizeof shown, title, false);
    lab_add(out, "%s: %lld of %.0f epochs, %s\n", shown, (long long)run->epoch_count,
            lab_run_number(run, "config.epochs"), state_of(run));
    add_result(out, add_text_line, run);
    add_settings(out, add_text_line, run);
    if (run->epoch_count > 0)
        add_epochs(out, run);
    return out->status;
}

fathom_status lab_run_svg(int *count, const lab_run *run, const char *folder) {
    const char *slash = strrchr(run->folder, '/');
    lab_figures figures = {.folder = folder, .prefix = slash && slash[1] ? slash + 1 : run->folder};
    TRY(lab_make_folder(folder));
    draw_curves(&figures, run);
    *count = figures.count;
    lab_strings_free(&figures.files);
    return figures.status;
}
