/* cmd_report.c - `fathom report`: what came of sweeps, as a page, as text, as CSV and as pictures. */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "lab/report.h"

struct report_options {
    struct common_options common;
    const char *folder, *output, *csv, *svg;
    bool text;
};

#define S struct report_options
static const struct opt_row rows[] = {
    OPT_OPERAND(S, folder, "DIR", OPT_REQUIRED, "the folder of a sweep, or one that holds several"),
    OPT_PATH(S, output, "output", 'o', "FILE", NULL, "the page (default: DIR/report.html)"),
    OPT_FLAG(S, text, "text", 0, "print the tables here, and write no page"),
    OPT_PATH(S, csv, "csv", 0, "FILE", NULL, "all finished runs as CSV"),
    OPT_PATH(S, svg, "svg", 0, "DIR", NULL, "every chart as an SVG file in this folder"),
};

static fathom_status save_csv(const lab_studies *studies, const char *path) {
    lab_text text = {0};
    fathom_status status = lab_report_csv(&text, studies);
    if (status == FATHOM_OK)
        status = lab_text_save(&text, path);
    lab_text_free(&text);
    return status;
}

static fathom_status save_page(const lab_studies *studies, const char *path) {
    lab_text text = {0};
    fathom_status status = lab_report_html(&text, studies);
    if (status == FATHOM_OK)
        status = lab_text_save(&text, path);
    lab_text_free(&text);
    return status;
}

static fathom_status print_text(const lab_studies *studies) {
    lab_text text = {0};
    fathom_status status = lab_report_text(&text, studies);
    if (status == FATHOM_OK)
        fputs(text.bytes, stdout);
    lab_text_free(&text);
    return status;
}

static fathom_status print_summary(const lab_studies *studies, const S *o, const char *page, int charts) {
    struct json *doc = NULL;
    TRY(json_new(&doc));
    json_text(doc, "page", page);
    json_text(doc, "csv", o->csv);
    json_text(doc, "svg", o->svg);
    json_int(doc, "svg_files", charts);
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
    fathom_status status = print_json(doc);
    json_free(doc);
    return status;
}

static fathom_status run(const void *given) {
    const S *o = given;
    lab_studies studies = {0};
    char path[LAB_PATH];
    int charts = 0;
    fathom_status status;
    const char *page = o->text ? NULL : o->output ? o->output : path;
    snprintf(path, sizeof path, "%.4000s/report.html", o->folder);
    TRY_OUT(lab_studies_load(&studies, o->folder));
    if (o->csv)
        TRY_OUT(save_csv(&studies, o->csv));
    if (o->svg)
        TRY_OUT(lab_report_svg(&charts, &studies, o->svg));
    if (page)
        TRY_OUT(save_page(&studies, page));
    if (o->common.json)
        TRY_OUT(print_summary(&studies, o, page, charts));
    else if (o->text)
        TRY_OUT(print_text(&studies));
    if (page && !o->common.json)
        printf("%s\n", page);
    if (o->svg)
        say("%d charts in %s", charts, o->svg);
out:
    lab_studies_free(&studies);
    return status;
}

const struct verb verb_report = {
    "report",
    "show what came of a sweep: tables beside the paper's, charts, one page",
    "Works while a sweep is running too: what has not been run is marked as missing.\n",
    "fathom report R -o report.html\n"
    "fathom report R --text\n",
    OPT_ROWS(rows),
    sizeof(struct report_options),
    run,
};
#undef S
