/* cmd_report.c - `fathom report`: a run or sweeps as HTML page, text, CSV and SVG charts. */
#include "cli/cli.h"
#include "core/mem.h"
#include "core/plural.h"
#include "report/report.h"
#include "report/report_run.h"

struct report_options {
    struct common_options common;
    const char *folder, *output, *csv, *svg;
    bool text, tsne;
};

#define S struct report_options
static const struct opt_row rows[] = {
    OPT_OPERAND(S, folder, "DIR", OPT_REQUIRED, "the folder of a run, of a sweep, or one that holds several sweeps"),
    OPT_PATH(S, output, "output", 'o', "FILE", NULL, "the page (default: DIR/report.html)"),
    OPT_FLAG(S, text, "text", 0, "print the tables here, and write no page"),
    OPT_PATH(S, csv, "csv", 0, "FILE", NULL, "all finished runs of a sweep, or all epochs of a run, as CSV"),
    OPT_PATH(S, svg, "svg", 0, "DIR", NULL, "every chart as an SVG file in this folder"),
    OPT_FLAG(S, tsne, "tsne", 0, "also plot embeddings by t-SNE: seconds to minutes each, saved for the next report"),
};

/* Contents of the folder: one run, or sweeps. */
struct source {
    bool is_run;
    report_run run;
    sweep_results_list sweeps;
};

static fathom_status load(struct source *from, const char *folder) {
    from->is_run = report_is_run(folder);
    return from->is_run ? report_run_load(&from->run, folder) : results_list_load(&from->sweeps, folder);
}

static void free_source(struct source *from) {
    if (from->is_run)
        report_run_free(&from->run);
    else
        results_list_free(&from->sweeps);
}

static fathom_status save(text_buf *text, fathom_status status, const char *path) {
    if (status == FATHOM_OK)
        status = text_save(text, path);
    text_free(text);
    return status;
}

static fathom_status save_csv(const struct source *from, const char *path) {
    text_buf text = {0};
    return save(&text, from->is_run ? report_run_csv(&text, &from->run) : report_csv(&text, &from->sweeps), path);
}

static fathom_status save_page(const struct source *from, const char *path, const report_draw_options *draw) {
    text_buf text = {0};
    return save(&text, from->is_run ? report_run_html(&text, &from->run) : report_html(&text, &from->sweeps, draw),
                path);
}

static fathom_status print_text(const struct source *from) {
    text_buf text = {0};
    fathom_status status = from->is_run ? report_run_text(&text, &from->run) : report_text(&text, &from->sweeps);
    if (status == FATHOM_OK)
        fputs(text.bytes, stdout);
    text_free(&text);
    return status;
}

static void on_progress(const char *what, int done, int steps) { progress("%s: step %d of %d", what, done, steps); }

static fathom_status print_summary(const struct source *from, const S *o, const char *page, int charts) {
    struct json *doc = NULL;
    TRY(json_new_document(&doc));
    json_text(doc, "page", page);
    json_text(doc, "csv", o->csv);
    json_text(doc, "svg", o->svg);
    json_int(doc, "svg_files", charts);
    if (from->is_run)
        report_run_to_json(doc, &from->run);
    else
        report_sweeps_to_json(doc, &from->sweeps);
    return print_json(&doc, FATHOM_OK);
}

static fathom_status run_report(const void *given) {
    const S *o = given;
    struct source *from = NULL; /* too large for the stack */
    report_draw_options draw = {.tsne = o->tsne, .threads = (int)o->common.threads, .progress = on_progress};
    char path[SWEEP_PATH_MAX];
    int charts = 0;
    fathom_status status;
    const char *page = o->text ? NULL : o->output ? o->output : path;
    TRY(mem_new(&from, 1, 1, sizeof *from, "report"));
    status = load(from, o->folder);
    if (status != FATHOM_OK) {
        mem_free(from);
        return status;
    }
    TRY_OUT(sweep_join_path(path, o->folder, "report.html"));
    if (o->csv)
        TRY_OUT(save_csv(from, o->csv));
    if (o->svg)
        TRY_OUT(from->is_run ? report_run_svg(&charts, &from->run, o->svg)
                             : report_svg(&charts, &from->sweeps, o->svg, &draw));
    if (page)
        TRY_OUT(save_page(from, page, &draw));
    progress_end();
    if (o->common.json)
        TRY_OUT(print_summary(from, o, page, charts));
    else if (o->text)
        TRY_OUT(print_text(from));
    if (page && !o->common.json)
        printf("%s\n", printable(page));
    if (o->svg)
        log_info("%d chart%s in %s", charts, plural(charts), o->svg);
out:
    free_source(from);
    mem_free(from);
    return status;
}

const struct command command_report = {
    "report",
    "show the results of a run or a sweep: curves, tables, one page",
    "Of a run (the --out of train): learning curves, result and settings. Of a sweep:\n"
    "tables next to the paper's, charts over depth, plots of the embeddings. Works\n"
    "while the sweep is running: missing runs are marked.\n",
    "fathom report runs/deep\n"
    "fathom report R -o report.html\n"
    "fathom report R --text\n",
    OPT_ROWS(rows),
    sizeof(struct report_options),
    run_report,
};
#undef S
