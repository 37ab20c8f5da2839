/* cmd_report.c - `fathom report`: what came of a run or of sweeps, as a page, as text, as CSV and as pictures. */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "core/mem.h"
#include "lab/report.h"
#include "lab/report_run.h"

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
    OPT_FLAG(S, tsne, "tsne", 0, "pictures of nodes by t-SNE too: seconds to minutes each, kept for the next report"),
};

/* What the folder holds: one run, or sweeps. */
struct source {
    bool is_run;
    lab_run run;
    lab_studies studies;
};

static fathom_status load(struct source *from, const char *folder) {
    from->is_run = lab_is_run(folder);
    return from->is_run ? lab_run_load(&from->run, folder) : lab_studies_load(&from->studies, folder);
}

static void free_source(struct source *from) {
    if (from->is_run)
        lab_run_free(&from->run);
    else
        lab_studies_free(&from->studies);
}

static fathom_status save(lab_text *text, fathom_status status, const char *path) {
    if (status == FATHOM_OK)
        status = lab_text_save(text, path);
    lab_text_free(text);
    return status;
}

static fathom_status save_csv(const struct source *from, const char *path) {
    lab_text text = {0};
    return save(&text, from->is_run ? lab_run_csv(&text, &from->run) : lab_report_csv(&text, &from->studies), path);
}

static fathom_status save_page(const struct source *from, const char *path, const lab_draw_options *draw) {
    lab_text text = {0};
    return save(&text, from->is_run ? lab_run_html(&text, &from->run) : lab_report_html(&text, &from->studies, draw),
                path);
}

static fathom_status print_text(const struct source *from) {
    lab_text text = {0};
    fathom_status status = from->is_run ? lab_run_text(&text, &from->run) : lab_report_text(&text, &from->studies);
    if (status == FATHOM_OK)
        fputs(text.bytes, stdout);
    lab_text_free(&text);
    return status;
}

static void on_progress(const char *what, int done, int steps) { progress("%s: step %d of %d", what, done, steps); }

static void add_run(struct json *doc, const lab_run *run) {
    json_open(doc, "run");
    json_text(doc, "folder", run->folder);
    json_text(doc, "status", lab_run_word(run, "status"));
    json_int(doc, "epochs", run->epoch_count);
    json_real(doc, "best_epoch", lab_run_number(run, "result.best_epoch"));
    json_real(doc, "test_accuracy", lab_run_number(run, "result.test_accuracy"));
    json_close(doc);
}

static void add_sweeps(struct json *doc, const lab_studies *studies) {
    json_open_array(doc, "sweeps");
    for (int i = 0; i < studies->count; i++) {
        const lab_study *study = &studies->study[i];
        json_open(doc, NULL);
        json_text(doc, "folder", study->journal.folder);
        json_text(doc, "recipe", study->recipe->name);
        json_int(doc, "runs", study->cell_count);
        json_int(doc, "finished", study->done);
        json_int(doc, "failed", study->failures);
        json_close(doc);
    }
    json_close(doc);
}

static fathom_status print_summary(const struct source *from, const S *o, const char *page, int charts) {
    struct json *doc = NULL;
    TRY(json_new_document(&doc));
    json_text(doc, "page", page);
    json_text(doc, "csv", o->csv);
    json_text(doc, "svg", o->svg);
    json_int(doc, "svg_files", charts);
    if (from->is_run)
        add_run(doc, &from->run);
    else
        add_sweeps(doc, &from->studies);
    fathom_status status = print_json(doc);
    json_free(doc);
    return status;
}

static fathom_status run(const void *given) {
    const S *o = given;
    struct source *from = NULL; /* too large for a small stack */
    lab_draw_options draw = {.tsne = o->tsne, .threads = (int)o->common.threads, .progress = on_progress};
    char path[LAB_PATH];
    int charts = 0;
    fathom_status status;
    const char *page = o->text ? NULL : o->output ? o->output : path;
    TRY(mem_new(&from, 1, 1, sizeof *from, "what the report is made of"));
    status = load(from, o->folder);
    if (status != FATHOM_OK) {
        mem_free(from);
        return status;
    }
    TRY_OUT(lab_path(path, o->folder, "report.html"));
    if (o->csv)
        TRY_OUT(save_csv(from, o->csv));
    if (o->svg)
        TRY_OUT(from->is_run ? lab_run_svg(&charts, &from->run, o->svg)
                             : lab_report_svg(&charts, &from->studies, o->svg, &draw));
    if (page)
        TRY_OUT(save_page(from, page, &draw));
    progress_end();
    if (o->common.json)
        TRY_OUT(print_summary(from, o, page, charts));
    else if (o->text)
        TRY_OUT(print_text(from));
    if (page && !o->common.json)
        printf("%s\n", shown(page));
    if (o->svg)
        say("%d chart%s in %s", charts, charts == 1 ? "" : "s", o->svg);
out:
    free_source(from);
    mem_free(from);
    return status;
}

const struct verb verb_report = {
    "report",
    "show what came of a run or a sweep: curves, tables, one page",
    "Of a run (the --out of train): learning curves, result and settings. Of a sweep:\n"
    "tables beside the paper's, charts over depth, pictures of the nodes. Works while\n"
    "it is running too: what has not been run is marked as missing.\n",
    "fathom report runs/deep\n"
    "fathom report R -o report.html\n"
    "fathom report R --text\n",
    OPT_ROWS(rows),
    sizeof(struct report_options),
    run,
};
#undef S
