/* report_html.c - the report on sweeps as an HTML page, and its charts as files (report.h). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "report/figures.h"
#include "report/page.h"
#include "report/paper.h"
#include "report/paper_tables.h"
#include "report/report.h"
#include "report/report_tables.h"

#define BELOW_SHOWN 6 /* longer lists are folded; their length is always shown */

static const char *const section_titles[SHOW_COUNT] = {"Accuracy beside the paper's table 1",
                                                       "Best depth beside the paper's table 2",
                                                       "Remedies side by side",
                                                       "Against depth",
                                                       "Groups and lambda",
                                                       "Training curves",
                                                       "Node representations"};

static const char *title_of(const sweep_results *results) {
    return results->recipe->title ? results->recipe->title : results->recipe->name;
}

/* ---- summary ---- */

static void add_progress(text_buf *out, const sweep_results *s) {
    double percent = s->cell_count ? 100.0 * (double)s->done / (double)s->cell_count : 0;
    text_add(out,
             "<div class=\"state\"><span class=\"bar\"><i style=\"width:%.1f%%\"></i></span><span>%lld of %lld runs "
             "finished",
             percent, (long long)s->done, (long long)s->cell_count);
    if (s->failures)
        text_add(out, ", <span class=\"down\">%lld failed</span>", (long long)s->failures);
    if (s->done + s->failures < s->cell_count)
        text_add(out, "; the rest is marked as missing");
    text_add(out, "</span></div>\n");
}

static void add_comparison(text_buf *out, const sweep_results *s) {
    text_buf list = {0};
    int compared, below = entries_below_paper(&list, &compared, s);
    if (compared > 0 && below == 0)
        text_add(out,
                 "<p class=\"note\">Of %d entries that the paper has too, none is lower than the paper's by more "
                 "than two standard deviations.</p>\n",
                 compared);
    if (below > 0) {
        bool many = below > BELOW_SHOWN;
        text_add(out,
                 "<div class=\"note warn\">Of %d entries that the paper has too, %d %s lower by more than two standard "
                 "deviations%s",
                 compared, below, below == 1 ? "is" : "are", many ? ". <details><summary>Which</summary>" : ": ");
        text_add_escaped(out, list.bytes ? list.bytes : "");
        text_add(out, "%s</div>\n", many ? "</details>" : ".");
    }
    if (list.status != FATHOM_OK)
        out->status = list.status;
    text_free(&list);
}

static void add_settings(text_buf *out, const sweep_results *s) {
    text_buf settings = {0};
    report_add_settings(&settings, s);
    text_add(out, "<p class=\"lead\">");
    text_add_escaped(out, settings.bytes ? settings.bytes : "");
    text_add(out, "; the epoch of the best validation accuracy counts.</p>\n");
    if (recipe_lacks_missing(s->recipe))
        text_add(out, "<p class=\"note\">%s.</p>\n", lacks_missing_message);
    if (settings.status != FATHOM_OK)
        out->status = settings.status;
    text_free(&settings);
}

/* ---- sections ---- */

static void add_section(report_figures *f, const sweep_results *s, recipe_show section, int number) {
    text_buf *out = f->page;
    text_add(out, "<section id=\"s%d-%d\">\n", number, (int)section);
    page_element(out, "h2", section_titles[section]);
    switch (section) {
    case SHOW_TABLE1:
        report_table1(out, s);
        break;
    case SHOW_TABLE2:
        report_table2(out, s);
        break;
    case SHOW_REMEDIES:
        report_remedies(out, s);
        break;
    case SHOW_LINES:
        text_add(out, "<p>A point is a mean over seeds, its band one standard deviation. Where a line stops or has a "
                      "gap, runs are missing.</p>\n");
        figures_lines(f, s);
        break;
    case SHOW_HEAT:
        figures_heat(f, s);
        break;
    case SHOW_CURVES:
        figures_curves(f, s);
        break;
    default:
        text_add(out, "<p>Every dot is a node, its colour the true class; rows are scaled to length 1, as for the "
                      "metrics. Triangles are the means of the last layer's groups: rows weighted by how much of "
                      "them is assigned to the group.</p>\n");
        figures_embeddings(f, s);
        break;
    }
    text_add(out, "</section>\n");
}

/* Sections without content are left out. */
static bool has_content(const sweep_results *s, recipe_show section) {
    const sweep_recipe *r = s->recipe;
    bool missing = false, all = false, depths = false;
    for (int i = 0; i < r->missing.count; i++)
        *(r->missing.value[i] > 0 ? &missing : &all) = true;
    for (int m = 0; m < r->models.count; m++)
        depths = depths || recipe_layers(r, recipe_model_at(r, m))->count > 1;
    switch (section) {
    case SHOW_TABLE1:
        return all || !recipe_shows(r, SHOW_TABLE2);
    case SHOW_TABLE2:
        return missing;
    case SHOW_REMEDIES:
        return recipe_has_remedies(r);
    case SHOW_LINES:
        return depths;
    case SHOW_HEAT:
        return r->groups.count && r->lambda.count;
    case SHOW_CURVES:
        return s->done > 0;
    default:
        for (int64_t i = 0; i < s->cell_count; i++)
            if (s->record[i] && grid_cell_is_plotted(&s->cells[i], r))
                return true;
        return false;
    }
}

static void add_sweep(report_figures *f, const sweep_results *s, int number) {
    text_buf *out = f->page;
    page_element(out, "h1", title_of(s));
    add_settings(out, s);
    add_progress(out, s);
    add_comparison(out, s);
    text_add(out, "<nav>");
    for (int i = 0; i < SHOW_COUNT; i++)
        if (recipe_shows(s->recipe, (recipe_show)i) && has_content(s, (recipe_show)i))
            text_add(out, "<a href=\"#s%d-%d\">%s</a>", number, i, section_titles[i]);
    text_add(out, "<a href=\"#about%d\">How it was made</a></nav>\n", number);
    for (int i = 0; i < SHOW_COUNT; i++)
        if (recipe_shows(s->recipe, (recipe_show)i) && has_content(s, (recipe_show)i))
            add_section(f, s, (recipe_show)i, number);
}

/* ---- machine, versions, commands, failures ---- */

static void add_failures(text_buf *out, const sweep_results *s) {
    char text[GRID_CELL_TEXT];
    if (!s->failures)
        return;
    text_add(out, "<h3>Runs that failed</h3>\n<ul>\n");
    for (int64_t i = 0; i < s->cell_count; i++) {
        const run_record *record = s->failed[i] ? journal_find_failure(&s->journal, s->cells[i].id) : NULL;
        if (!record)
            continue;
        grid_cell_text(text, sizeof text, &s->cells[i]);
        text_add(out, "<li>");
        text_add_escaped(out, text);
        text_add(out, ": ");
        text_add_escaped(out, record->error);
        text_add(out, "</li>\n");
    }
    text_add(out, "</ul>\n<p>The same command with <code>--resume</code> tries them again.</p>\n");
}

/* Devices with their drivers, without duplicates. */
static void add_devices(text_buf *out, const sweep_results *s) {
    char seen[8][2 * TITLE_MAX + 8];
    int count = 0;
    for (int64_t i = 0; i < s->journal.count && count < 8; i++) {
        char text[sizeof seen[0]];
        bool new = true;
        snprintf(text, sizeof text, "%s (%s)", s->journal.records[i].device, s->journal.records[i].driver);
        for (int j = 0; j < count; j++)
            new = new &&strcmp(seen[j], text) != 0;
        if (new) {
            strcpy(seen[count++], text);
            page_dl_row(out, "device", text);
        }
    }
}

static void add_data(text_buf *out, const sweep_results *s) {
    for (int d = 0; d < s->recipe->data.count; d++)
        for (int64_t i = 0; i < s->journal.count; i++) {
            const run_record *record = &s->journal.records[i];
            text_buf text = {0};
            if (strcmp(record->data, s->recipe->data.value[d]) != 0)
                continue;
            text_add(&text, "%s: %lld nodes, %lld edges, %lld features, %lld classes, split %s, SHA-256 %s",
                     record->data, (long long)record->nodes, (long long)record->edges, (long long)record->features,
                     (long long)record->classes, record->split, record->data_sha256);
            page_dl_row(out, "data", text.bytes ? text.bytes : "");
            if (out->status == FATHOM_OK)
                out->status = text.status;
            text_free(&text);
            break;
        }
}

static void add_provenance(text_buf *out, const sweep_results *s, int number) {
    char text[64];
    text_add(out, "<section id=\"about%d\"><h2>How it was made</h2>\n", number);
    add_failures(out, s);
    text_add(out, "<pre>");
    for (int i = 0; i < s->provenance.commands; i++) {
        text_add_escaped(out, s->provenance.command[i]);
        text_add(out, "    # ");
        text_add_escaped(out, s->provenance.started[i]);
        text_add(out, "\n");
    }
    text_add(out, "</pre>\n<dl>");
    page_dl_row(out, "fathom", s->provenance.version);
    page_dl_row(out, "processor", s->provenance.processor);
    snprintf(text, sizeof text, "%lld", (long long)s->provenance.cores);
    page_dl_row(out, "cores", text);
    page_dl_row(out, "system", s->provenance.system);
    add_devices(out, s);
    page_dl_row(out, "libraries", s->provenance.libraries);
    add_data(out, s);
    text_add(out, "</dl>\n<details><summary>The recipe as it was run</summary><pre>");
    text_add_escaped(out, s->provenance.recipe);
    text_add(out, "</pre></details>\n");
    report_all_runs(out, s);
    text_add(out, "</section>\n");
}

fathom_status report_html(text_buf *out, const sweep_results_list *sweeps, const report_draw_options *options) {
    report_figures figures = {.page = out, .options = options};
    page_begin(out, title_of(&sweeps->sweep[0]), "report", NULL);
    for (int i = 0; i < sweeps->count; i++) {
        add_sweep(&figures, &sweeps->sweep[i], i);
        add_provenance(out, &sweeps->sweep[i], i);
    }
    page_end(out, paper_citation);
    TRY(figures.status);
    return out->status;
}

fathom_status report_svg(int *count, const sweep_results_list *sweeps, const char *folder,
                         const report_draw_options *options) {
    report_figures figures = {.folder = folder, .options = options};
    TRY(sweep_make_dir(folder));
    for (int i = 0; i < sweeps->count; i++) {
        const sweep_results *s = &sweeps->sweep[i];
        const char *slash = strrchr(s->journal.folder, '/');
        figures.prefix = slash && slash[1] ? slash + 1 : s->journal.folder;
        if (recipe_shows(s->recipe, SHOW_LINES))
            figures_lines(&figures, s);
        if (recipe_shows(s->recipe, SHOW_HEAT))
            figures_heat(&figures, s);
        if (recipe_shows(s->recipe, SHOW_CURVES))
            figures_curves(&figures, s);
        if (recipe_shows(s->recipe, SHOW_EMBEDDING))
            figures_embeddings(&figures, s);
    }
    *count = figures.count;
    intern_free(&figures.files);
    return figures.status;
}

fathom_status report_csv(text_buf *out, const sweep_results_list *sweeps) {
    for (int i = 0; i < sweeps->count; i++)
        TRY(results_csv(out, &sweeps->sweep[i], i == 0));
    return FATHOM_OK;
}
