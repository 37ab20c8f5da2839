/* report_html.c - the page: one file, light and dark, for a phone and for paper (report.h). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "lab/figures.h"
#include "lab/page.h"
#include "lab/paper.h"
#include "lab/report.h"
#include "lab/tables.h"

#define BELOW_SHOWN 6 /* more are folded away; their number never is */

static const char *const section_titles[LAB_SHOWS] = {"Accuracy beside the paper's table 1",
                                                      "Best depth beside the paper's table 2",
                                                      "Against depth",
                                                      "Groups and lambda",
                                                      "Training curves",
                                                      "Node representations"};

static const char *title_of(const lab_study *study) {
    return study->recipe->title ? study->recipe->title : study->recipe->name;
}

/* ---- how far it is, and how it compares ---- */

static void add_state(lab_text *out, const lab_study *s) {
    double part = s->cell_count ? 100.0 * (double)s->done / (double)s->cell_count : 0;
    lab_add(out,
            "<div class=\"state\"><span class=\"bar\"><i style=\"width:%.1f%%\"></i></span><span>%lld of %lld runs "
            "finished",
            part, (long long)s->done, (long long)s->cell_count);
    if (s->failures)
        lab_add(out, ", <span class=\"down\">%lld failed</span>", (long long)s->failures);
    if (s->done + s->failures < s->cell_count)
        lab_add(out, "; the rest is marked as missing");
    lab_add(out, "</span></div>\n");
}

static void add_comparison(lab_text *out, const lab_study *s) {
    lab_text list = {0};
    int compared, below = lab_entries_below(&list, &compared, s);
    if (compared > 0 && below == 0)
        lab_add(out,
                "<p class=\"note\">Of %d entries that the paper has too, none is lower than the paper's by more "
                "than two standard deviations.</p>\n",
                compared);
    if (below > 0) {
        bool many = below > BELOW_SHOWN;
        lab_add(out,
                "<div class=\"note warn\">Of %d entries that the paper has too, %d %s lower by more than two standard "
                "deviations%s",
                compared, below, below == 1 ? "is" : "are", many ? ". <details><summary>Which</summary>" : ": ");
        lab_add_escaped(out, list.bytes ? list.bytes : "");
        lab_add(out, "%s</div>\n", many ? "</details>" : ".");
    }
    if (list.status != FATHOM_OK)
        out->status = list.status;
    lab_text_free(&list);
}

static void add_settings(lab_text *out, const lab_study *s) {
    lab_text settings = {0};
    lab_add_settings(&settings, s);
    lab_add(out, "<p class=\"lead\">");
    lab_add_escaped(out, settings.bytes ? settings.bytes : "");
    lab_add(out, "; the epoch of the best validation accuracy counts.</p>\n");
    if (lab_recipe_lacks_missing(s->recipe))
        lab_add(out, "<p class=\"note\">%s.</p>\n", lab_lacks_missing);
    if (settings.status != FATHOM_OK)
        out->status = settings.status;
    lab_text_free(&settings);
}

/* ---- sections ---- */

static void add_section(lab_figures *f, const lab_study *s, lab_show what, int number) {
    lab_text *out = f->page;
    lab_add(out, "<section id=\"s%d-%d\">\n", number, (int)what);
    lab_page_element(out, "h2", section_titles[what]);
    switch (what) {
    case LAB_TABLE1:
        lab_page_table1(out, s);
        break;
    case LAB_TABLE2:
        lab_page_table2(out, s);
        break;
    case LAB_LINES:
        lab_add(out, "<p>A point is a mean over seeds, its band one standard deviation. Where a line stops or has a "
                     "gap, runs are missing.</p>\n");
        lab_figures_lines(f, s);
        break;
    case LAB_HEAT:
        lab_figures_heat(f, s);
        break;
    case LAB_CURVES:
        lab_figures_curves(f, s);
        break;
    default:
        lab_add(out, "<p>Every dot is a node, its colour the true class; rows are scaled to length 1, as for the "
                     "metrics. Triangles are the means of the last layer's groups: rows weighted by how much of "
                     "them is assigned to the group.</p>\n");
        lab_figures_picture(f, s);
        break;
    }
    lab_add(out, "</section>\n");
}

/* Is there anything to draw? A section without content is left out. */
static bool worth(const lab_study *s, lab_show what) {
    const lab_recipe *r = s->recipe;
    bool missing = false, all = false, depths = false;
    for (int i = 0; i < r->missing.count; i++)
        *(r->missing.value[i] > 0 ? &missing : &all) = true;
    for (int m = 0; m < r->models.count; m++)
        depths = depths || lab_recipe_layers(r, lab_model_at(r, m))->count > 1;
    switch (what) {
    case LAB_TABLE1:
        return all || !lab_recipe_shows(r, LAB_TABLE2);
    case LAB_TABLE2:
        return missing;
    case LAB_LINES:
        return depths;
    case LAB_HEAT:
        return r->groups.count && r->lambda.count;
    case LAB_CURVES:
        return s->done > 0;
    default:
        for (int64_t i = 0; i < s->cell_count; i++)
            if (s->row[i] && lab_cell_pictured(&s->cells[i], r))
                return true;
        return false;
    }
}

static void add_study(lab_figures *f, const lab_study *s, int number) {
    lab_text *out = f->page;
    lab_page_element(out, "h1", title_of(s));
    add_settings(out, s);
    add_state(out, s);
    add_comparison(out, s);
    lab_add(out, "<nav>");
    for (int i = 0; i < LAB_SHOWS; i++)
        if (lab_recipe_shows(s->recipe, (lab_show)i) && worth(s, (lab_show)i))
            lab_add(out, "<a href=\"#s%d-%d\">%s</a>", number, i, section_titles[i]);
    lab_add(out, "<a href=\"#about%d\">How it was made</a></nav>\n", number);
    for (int i = 0; i < LAB_SHOWS; i++)
        if (lab_recipe_shows(s->recipe, (lab_show)i) && worth(s, (lab_show)i))
            add_section(f, s, (lab_show)i, number);
}

/* ---- machine, versions, commands, failures ---- */

static void add_failures(lab_text *out, const lab_study *s) {
    char text[LAB_CELL_TEXT];
    if (!s->failures)
        return;
    lab_add(out, "<h3>Runs that failed</h3>\n<ul>\n");
    for (int64_t i = 0; i < s->cell_count; i++) {
        const lab_row *row = s->failed[i] ? lab_journal_find_failure(&s->journal, s->cells[i].id) : NULL;
        if (!row)
            continue;
        lab_cell_text(text, sizeof text, &s->cells[i]);
        lab_add(out, "<li>");
        lab_add_escaped(out, text);
        lab_add(out, ": ");
        lab_add_escaped(out, row->error);
        lab_add(out, "</li>\n");
    }
    lab_add(out, "</ul>\n<p>The same command with <code>--resume</code> tries them again.</p>\n");
}

/* Device names and drivers, each once. */
static void add_devices(lab_text *out, const lab_study *s) {
    char seen[8][2 * LAB_TEXT_ROOM + 8];
    int count = 0;
    for (int64_t i = 0; i < s->journal.count && count < 8; i++) {
        char text[sizeof seen[0]];
        bool new = true;
        snprintf(text, sizeof text, "%s (%s)", s->journal.rows[i].device, s->journal.rows[i].driver);
        for (int j = 0; j < count; j++)
            new = new &&strcmp(seen[j], text) != 0;
        if (new) {
            strcpy(seen[count++], text);
            lab_page_fact(out, "device", text);
        }
    }
}

static void add_data(lab_text *out, const lab_study *s) {
    for (int d = 0; d < s->recipe->data.count; d++)
        for (int64_t i = 0; i < s->journal.count; i++) {
            const lab_row *row = &s->journal.rows[i];
            lab_text text = {0};
            if (strcmp(row->data, s->recipe->data.word[d]) != 0)
                continue;
            lab_add(&text, "%s: %lld nodes, %lld edges, %lld features, %lld classes, split %s, SHA-256 %s", row->data,
                    (long long)row->nodes, (long long)row->edges, (long long)row->features, (long long)row->classes,
                    row->split, row->data_sha256);
            lab_page_fact(out, "data", text.bytes ? text.bytes : "");
            if (out->status == FATHOM_OK)
                out->status = text.status;
            lab_text_free(&text);
            break;
        }
}

static void add_about(lab_text *out, const lab_study *s, int number) {
    char text[64];
    lab_add(out, "<section id=\"about%d\"><h2>How it was made</h2>\n", number);
    add_failures(out, s);
    lab_add(out, "<pre>");
    for (int i = 0; i < s->about.commands; i++) {
        lab_add_escaped(out, s->about.command[i]);
        lab_add(out, "    # ");
        lab_add_escaped(out, s->about.started[i]);
        lab_add(out, "\n");
    }
    lab_add(out, "</pre>\n<dl>");
    lab_page_fact(out, "fathom", s->about.version);
    lab_page_fact(out, "processor", s->about.processor);
    snprintf(text, sizeof text, "%lld", (long long)s->about.cores);
    lab_page_fact(out, "cores", text);
    lab_page_fact(out, "system", s->about.system);
    add_devices(out, s);
    lab_page_fact(out, "libraries", s->about.libraries);
    add_data(out, s);
    lab_add(out, "</dl>\n<details><summary>The recipe as it was run</summary><pre>");
    lab_add_escaped(out, s->about.recipe);
    lab_add(out, "</pre></details>\n");
    lab_page_all(out, s);
    lab_add(out, "</section>\n");
}

fathom_status lab_report_html(lab_text *out, const lab_studies *studies, const lab_draw_options *options) {
    lab_figures figures = {.page = out, .options = options};
    lab_page_begin(out, title_of(&studies->study[0]));
    for (int i = 0; i < studies->count; i++) {
        add_study(&figures, &studies->study[i], i);
        add_about(out, &studies->study[i], i);
    }
    lab_page_end(out);
    TRY(figures.status);
    return out->status;
}

fathom_status lab_report_svg(int *count, const lab_studies *studies, const char *folder,
                             const lab_draw_options *options) {
    lab_figures figures = {.folder = folder, .options = options};
    TRY(lab_make_folder(folder));
    for (int i = 0; i < studies->count; i++) {
        const lab_study *s = &studies->study[i];
        const char *slash = strrchr(s->journal.folder, '/');
        figures.prefix = slash && slash[1] ? slash + 1 : s->journal.folder;
        if (lab_recipe_shows(s->recipe, LAB_LINES))
            lab_figures_lines(&figures, s);
        if (lab_recipe_shows(s->recipe, LAB_HEAT))
            lab_figures_heat(&figures, s);
        if (lab_recipe_shows(s->recipe, LAB_CURVES))
            lab_figures_curves(&figures, s);
        if (lab_recipe_shows(s->recipe, LAB_PICTURE))
            lab_figures_picture(&figures, s);
    }
    *count = figures.count;
    lab_strings_free(&figures.files);
    return figures.status;
}

fathom_status lab_report_csv(lab_text *out, const lab_studies *studies) {
    for (int i = 0; i < studies->count; i++)
        TRY(lab_study_csv(out, &studies->study[i], i == 0));
    return FATHOM_OK;
}
