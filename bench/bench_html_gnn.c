/* bench_html_gnn.c - the standard workloads as charts: one table per workload with a bar for each device of one run, or
 * of runs on several machines. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench_html.h"
#include "bench/workloads.h"
#include "core/mem.h"
#include "core/plural.h"
#include "core/quantity.h"

/* A device of a machine. */
struct entry {
    const struct bench_record *record;
    size_t d;
    int colour;
    double speed; /* by which the rows of a table are sorted */
};

struct entries {
    struct entry *at;
    size_t count;
    bool machines; /* of several records */
};

static const struct bench_device *device_of(const struct entry *e) { return &e->record->devices[e->d]; }

static int faster_first(const void *a, const void *b) {
    const struct entry *x = a, *y = b;
    return x->speed != y->speed ? (x->speed < y->speed) - (x->speed > y->speed) : x->colour - y->colour;
}

static fathom_status make_entries(struct entries *all, const struct bench_record *records, size_t count) {
    size_t devices = 0;
    for (size_t i = 0; i < count; i++)
        devices += records[i].count;
    *all = (struct entries){.machines = count > 1};
    TRY(mem_new(&all->at, devices, 1, sizeof *all->at, "devices of the benchmark"));
    for (size_t i = 0; i < count; i++)
        for (size_t d = 0; d < records[i].count; d++, all->count++)
            all->at[all->count] = (struct entry){&records[i], d, (int)all->count, 0};
    return FATHOM_OK;
}

static double sort_by(struct entries *all, double (*speed)(const struct entry *, size_t), size_t workload) {
    for (size_t i = 0; i < all->count; i++)
        all->at[i].speed = speed(&all->at[i], workload);
    qsort(all->at, all->count, sizeof *all->at, faster_first);
    return all->count ? all->at[0].speed : 0;
}

static double score_of(const struct entry *e, size_t workload) {
    (void)workload;
    return bench_shown_score(e->record, e->d);
}

static double speed_of(const struct entry *e, size_t workload) {
    const struct bench_row *row = bench_workload_row(device_of(e), workload);
    return row ? 1 / row->time.median : 0;
}

/* "my laptop: cpu", with the stamp of a run that was disturbed. */
static void add_label(text_buf *out, const struct entries *all, const struct entry *e) {
    text_add(out, "<td class=\"name\">");
    chart_swatch(out, e->colour);
    if (all->machines) {
        text_add_escaped(out, e->record->name);
        text_add(out, ": ");
    }
    text_add_escaped(out, device_of(e)->selector);
    if (e->record->disturbed[0])
        text_add(out, " <small class=\"down\">disturbed</small>");
    text_add(out, "</td>");
}

/* ---- scores ---- */

static void add_score(text_buf *out, const struct entries *all, const struct entry *e, double best) {
    const struct bench_device *device = device_of(e);
    char text[32] = "none";
    text_add(out, "<tr>");
    add_label(out, all, e);
    text_add(out, "<td class=\"k wrap\">");
    text_add_escaped(out, device->name);
    if (device->threads)
        text_add(out, ", %d thread%s", (int)device->threads, plural(device->threads));
    text_add(out, "%s</td>", device->tuned ? ", tuned" : "");
    page_cell(out, "k wrap", device->driver);
    if (e->speed > 0)
        text_format(text, sizeof text, e->speed < 100 ? "%.1f" : "%.0f", e->speed);
    page_cell_number(out, "n", text, e->speed);
    text_add(out, "<td class=\"hbar\">");
    if (e->speed > 0)
        chart_bar_draw(out, &(chart_bar){.label = text,
                                         .style = e->colour,
                                         .value = e->speed,
                                         .longest = best,
                                         .low = NAN,
                                         .high = NAN,
                                         .mark = NAN});
    text_add(out, "</td></tr>\n");
}

static void add_scores(text_buf *out, struct entries *all) {
    double best = sort_by(all, score_of, 0);
    text_add(out, "<section>\n");
    page_element(out, "h2", "Score");
    text_add(
        out,
        "<p>The geometric mean of the speeds on the %d workloads below; the reference machine has %.0f. Longer bars "
        "are faster.</p>\n",
        WORKLOADS, SCORE_REFERENCE);
    page_table_begin(out, "sortable wide", NULL);
    page_table_head(out, NULL, "device");
    page_table_head(out, "k", "name");
    page_table_head(out, "k", "driver");
    page_table_head(out, "n", "score");
    page_table_head(out, NULL, "");
    page_table_body(out);
    for (size_t i = 0; i < all->count; i++)
        add_score(out, all, &all->at[i], best);
    page_table_end(out);
    text_add(out, "</section>\n");
}

/* ---- workloads ---- */

static const struct bench_row *any_row(const struct bench_device *device, const char *name) {
    for (size_t r = 0; r < device->count; r++)
        if (strcmp(device->rows[r].name, name) == 0)
            return &device->rows[r];
    return NULL;
}

static void add_missing(text_buf *out, const struct entry *e, const char *name) {
    const struct bench_row *row = any_row(device_of(e), name);
    text_add(out, "<td colspan=\"9\" class=\"wrap\"><small>not measured%s", row ? ": " : "");
    text_add_escaped(out, !row ? "" : row->missing[0] ? row->missing : "another version of the workload");
    text_add(out, "</small></td></tr>\n");
}

static void add_figures(text_buf *out, const struct bench_row *row, bool joules) {
    const struct bench_times *t = &row->time;
    const struct bench_figures *f = &row->figures;
    char text[32];
    page_cell_number(out, "n", bench_time_text(t->median), t->median);
    text_format(text, sizeof text, "%.1f%%%s", 50 * bench_spread(t), f->disturbed[0] ? "*" : bench_mark(t));
    page_cell_number(out, "n k", text, bench_spread(t));
    text_format(text, sizeof text, "%.2fx", f->speed_up);
    page_cell_number(out, "n k", f->speed_up > 0 ? text : "", f->speed_up);
    page_cell_number(out, "n k", bench_rate_text(1 / t->median), 1 / t->median);
    page_cell_number(out, "n k", bench_rate_text(f->edges / t->median), f->edges / t->median);
    page_cell_number(out, "n k", f->memory > 0 ? bytes_text((uint64_t)f->memory) : "", (double)f->memory);
    text_format(text, sizeof text, "%lld", (long long)f->launches);
    page_cell_number(out, "n k", f->launches > 0 ? text : "", (double)f->launches);
    page_cell_number(out, "n k", f->first > 0 ? bench_time_text(f->first) : "", f->first);
    if (joules) {
        text_format(text, sizeof text, "%.3g J", f->joules);
        page_cell_number(out, "n k", f->joules > 0 ? text : "", f->joules);
    }
}

static void add_entry(text_buf *out, const struct entries *all, const struct entry *e, size_t w, double best,
                      bool joules) {
    const struct bench_row *row = bench_workload_row(device_of(e), w);
    text_add(out, "<tr>");
    add_label(out, all, e);
    if (!row) {
        add_missing(out, e, bench_workloads[w].name);
        return;
    }
    add_figures(out, row, joules);
    text_add(out, "<td class=\"hbar\">");
    chart_bar_draw(out, &(chart_bar){.label = bench_time_text(row->time.median),
                                     .style = e->colour,
                                     .value = e->speed,
                                     .longest = best,
                                     .low = 1 / row->time.q3,
                                     .high = 1 / row->time.q1,
                                     .mark = NAN});
    text_add(out, "</td></tr>\n");
}

/* Was the energy of this workload read anywhere? */
static bool any_joules(const struct entries *all, size_t w) {
    for (size_t i = 0; i < all->count; i++) {
        const struct bench_row *row = bench_workload_row(device_of(&all->at[i]), w);
        if (row && row->figures.joules > 0)
            return true;
    }
    return false;
}

static void add_workload(text_buf *out, struct entries *all, size_t w) {
    static const char *const heads[] = {"\xC2\xB1", "vs cpu", "1/s", "edges/s", "memory", "launches", "first run"};
    const bool joules = any_joules(all, w);
    double best = sort_by(all, speed_of, w);
    if (!(best > 0))
        return;
    text_add(out, "<section>\n<h3>%s <small class=\"lead\">", bench_workloads[w].name);
    text_add_escaped(out, bench_workloads[w].shape);
    text_add(out, "</small></h3>\n");
    page_table_begin(out, "sortable wide", NULL);
    page_table_head(out, NULL, "device");
    page_table_head(out, "n", "time");
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        page_table_head(out, "n k", heads[i]);
    if (joules)
        page_table_head(out, "n k", "energy");
    page_table_head(out, NULL, "");
    page_table_body(out);
    for (size_t i = 0; i < all->count; i++)
        add_entry(out, all, &all->at[i], w, best, joules);
    page_table_end(out);
    text_add(out, "</section>\n");
}

fathom_status bench_html_workloads(text_buf *out, const struct bench_record *records, size_t count) {
    struct entries all;
    fathom_status status = make_entries(&all, records, count);
    if (status == FATHOM_OK) {
        add_scores(out, &all);
        page_element(out, "h2", "Workloads");
        text_add(out,
                 "<p>Median time of an epoch (of the metric, for <code>gain</code>); bars are speeds, the thin line "
                 "joins the quartiles. \xC2\xB1 is half of the middle half of the samples.</p>\n");
        for (size_t w = 0; w < WORKLOADS; w++)
            add_workload(out, &all, w);
    }
    mem_free(all.at);
    return status;
}
