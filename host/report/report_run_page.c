/* report_run_page.c - a run as HTML page, as text and as SVG files (report_run.h). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/escape.h"
#include "report/figures.h"
#include "report/page.h"
#include "report/paper.h"
#include "report/paper_tables.h"
#include "report/report_layers.h"
#include "report/report_run.h"

#define TEXT_LINES 12 /* epochs shown in a terminal */

static const char *const curve_names[RUN_CURVE_COUNT] = {"loss", "training", "validation", "test"};

/* "GCN, 15 layers, group norm, cora" */
static void title_of(char *out, size_t capacity, const report_run *run) {
    char model[16];
    snprintf(model, sizeof model, "%s", report_run_string(run, "config.model"));
    for (char *c = model; *c; c++)
        *c = *c >= 'a' && *c <= 'z' ? (char)(*c - 'a' + 'A') : *c;
    const char *norm = report_run_string(run, "config.norm");
    text_format(out, capacity, "%s, %.0f layers, %.16s norm, %.200s", model, report_run_number(run, "config.layers"),
                strcmp(norm, "none") == 0 ? "no" : norm, report_run_string(run, "data.name"));
}

/* A run without a result is still running, or was killed. */
static const char *state_of(const report_run *run) {
    const char *status = report_run_string(run, "status");
    if (strcmp(status, "ok") == 0)
        return "finished";
    if (strcmp(status, "running") == 0)
        return "not finished: running, or ended before its result was saved";
    if (strcmp(status, "fell_back") == 0)
        return "finished on the CPU after its device was lost";
    return status;
}

/* Writes a name and a value: page_dl_row or add_text_line. */
typedef void add_line(text_buf *out, const char *name, const char *value);

static void add_percent(text_buf *out, add_line *line, const report_run *run, const char *name, const char *path) {
    char text[32];
    double value = report_run_number(run, path);
    if (!isfinite(value))
        return;
    text_format(text, sizeof text, "%.1f %%", 100 * value);
    line(out, name, text);
}

static void add_value(text_buf *out, add_line *line, const report_run *run, const char *name, const char *path) {
    char text[32];
    double value = report_run_number(run, path);
    if (!isfinite(value))
        return;
    text_format(text, sizeof text, "%.6g", value);
    line(out, name, text);
}

static void add_result(text_buf *out, add_line *line, const report_run *run) {
    char text[96];
    add_percent(out, line, run, "test accuracy", "result.test_accuracy");
    add_percent(out, line, run, "validation accuracy", "result.val_accuracy");
    add_percent(out, line, run, "training accuracy", "result.train_accuracy");
    if (isfinite(report_run_number(run, "result.best_epoch"))) {
        text_format(text, sizeof text, "%.0f of %lld", report_run_number(run, "result.best_epoch"),
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

static void add_settings(text_buf *out, add_line *line, const report_run *run) {
    static const char *const numbers[] = {"hidden", "groups", "lambda", "dropout", "lr", "weight_decay", "seed"};
    static const char *const switches[][2] = {{"bias", "on"}, {"last_norm", "off"}, {"last_act", "off"}};
    char path[64], text[160];
    line(out, "preset", report_run_string(run, "config.preset"));
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        snprintf(path, sizeof path, "config.%s", numbers[i]);
        add_value(out, line, run, numbers[i], path);
    }
    if (report_run_number(run, "config.skip_weight") > 0) {
        text_format(text, sizeof text, "%s, weight %g", report_run_string(run, "config.skip"),
                    report_run_number(run, "config.skip_weight"));
        line(out, "skip", text);
    }
    if (report_run_number(run, "config.heads") > 1)
        add_value(out, line, run, "heads", "config.heads");
    for (size_t i = 0; i < sizeof switches / sizeof *switches; i++) { /* where they are not the default */
        snprintf(path, sizeof path, "config.%s", switches[i][0]);
        if (strcmp(report_run_string(run, path), switches[i][1]) == 0)
            line(out, switches[i][0], switches[i][1]);
    }
    line(out, "split", report_run_string(run, "data.split.name"));
    text_format(text, sizeof text, "%.0f nodes, %.0f edges, %.0f features, %.0f classes",
                report_run_number(run, "data.nodes"), report_run_number(run, "data.edges"),
                report_run_number(run, "data.features"), report_run_number(run, "data.classes"));
    line(out, "graph", text);
    line(out, "device", report_run_string(run, "device.name"));
    line(out, "driver", report_run_string(run, "device.driver"));
    line(out, "fathom", report_run_string(run, "fathom"));
}

/* ---- learning curves ---- */

static chart_series series_of(const report_run *run, int column) {
    const run_curve *c = &run->curve[column];
    return (chart_series){.name = curve_names[column], .style = column % 4, .count = c->count, .x = c->x, .mean = c->y};
}

static void draw_curves(report_figures *f, const report_run *run) {
    chart_series loss = series_of(run, RUN_CURVE_LOSS), accuracy[3];
    int count = 0;
    for (int c = RUN_CURVE_TRAIN; c <= RUN_CURVE_TEST; c++)
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
        figures_add_lines(f, &chart, "accuracy");
    chart = (chart_lines){.title = "training loss",
                          .x_label = "epoch",
                          .y_label = "loss",
                          .y_low = NAN,
                          .y_high = NAN,
                          .unit = "",
                          .count = 1,
                          .series = &loss};
    if (loss.count > 0)
        figures_add_lines(f, &chart, "loss");
}

/* ---- outputs ---- */

fathom_status report_run_html(text_buf *out, const report_run *run) {
    char title[320];
    report_figures figures = {.page = out};
    title_of(title, sizeof title, run);
    page_begin(out, title, "report", NULL);
    page_element(out, "h1", title);
    text_add(out, "<p class=\"lead\">One training run, %lld of %.0f epochs; ", (long long)run->epoch_count,
             report_run_number(run, "config.epochs"));
    text_add_escaped(out, state_of(run));
    text_add(out, ".</p>\n<section><h2>Learning curves</h2>\n");
    if (run->epoch_count == 0)
        text_add(out, "<p class=\"note\">No epoch has been recorded yet.</p>\n");
    text_add(out, "<div class=\"charts pairs\">\n");
    draw_curves(&figures, run);
    text_add(out, "</div></section>\n");
    if (report_layers_count(run) > 0) {
        text_add(out,
                 "<section><h2>Over layers</h2>\n<p class=\"note\">The representations of every layer after some "
                 "epochs; bands are standard errors of a sample of the nodes.</p>\n<div class=\"charts pairs\">\n");
        TRY(report_layers_draw(&figures, run));
        text_add(out, "</div></section>\n");
    }
    text_add(out, "<section><h2>Result</h2>\n<dl>");
    add_result(out, page_dl_row, run);
    text_add(out, "</dl>\n");
    text_add(out, "</section>\n<section><h2>How it was made</h2>\n<dl>");
    add_settings(out, page_dl_row, run);
    text_add(out, "</dl></section>\n");
    page_end(out, paper_citation);
    return out->status;
}

static void add_text_line(text_buf *out, const char *name, const char *value) {
    char shown[1024];
    escape_copy(shown, sizeof shown, value, false);
    text_add(out, "  %-26s %s\n", name, shown);
}

/* The value of a curve at an epoch, NaN where the downsampled curve has none. */
static double value_at(const run_curve *curve, double epoch) {
    for (int i = 0; i < curve->count; i++)
        if (curve->x[i] == epoch)
            return curve->y[i];
    return (double)NAN;
}

/* At most TEXT_LINES epochs, evaluated ones if there are any. */
static void add_epochs(text_buf *out, const report_run *run) {
    const run_curve *steps = &run->curve[run->curve[RUN_CURVE_TRAIN].count ? RUN_CURVE_TRAIN : RUN_CURVE_LOSS];
    int every = (steps->count + TEXT_LINES - 1) / TEXT_LINES;
    text_add(out, "\n  %8s%12s%12s%12s%12s\n", "epoch", "loss", "train, %", "val, %", "test, %");
    for (int i = 0; i < steps->count; i++) {
        if ((steps->count - 1 - i) % every != 0)
            continue;
        text_add(out, "  %8.0f", steps->x[i]);
        for (int c = 0; c < RUN_CURVE_COUNT; c++) {
            double value = value_at(&run->curve[c], steps->x[i]);
            if (isfinite(value))
                text_add(out, c == RUN_CURVE_LOSS ? "%12.4f" : "%12.1f", value);
            else
                text_add(out, "%12s", "-");
        }
        text_add(out, "\n");
    }
}

fathom_status report_run_text(text_buf *out, const report_run *run) {
    char title[320], shown[1024];
    title_of(title, sizeof title, run);
    escape_copy(shown, sizeof shown, title, false);
    text_add(out, "%s: %lld of %.0f epochs, %s\n", shown, (long long)run->epoch_count,
             report_run_number(run, "config.epochs"), state_of(run));
    add_result(out, add_text_line, run);
    add_settings(out, add_text_line, run);
    if (run->epoch_count > 0)
        add_epochs(out, run);
    return out->status;
}

fathom_status report_run_svg(int *count, const report_run *run, const char *folder) {
    const char *slash = strrchr(run->folder, '/');
    report_figures figures = {.folder = folder, .prefix = slash && slash[1] ? slash + 1 : run->folder};
    TRY(sweep_make_dir(folder));
    draw_curves(&figures, run);
    fathom_status status = report_layers_draw(&figures, run);
    *count = figures.count;
    intern_free(&figures.files);
    return status == FATHOM_OK ? figures.status : status;
}
