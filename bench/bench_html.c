/* bench_html.c - a benchmark as a self-contained HTML page: tables whose last column is a bar with its quartiles. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "bench/bench_html.h"
#include "core/plural.h"

#define COLOURS 8 /* of chart_bar */

/* A line above the first device of each row, none between the devices. */
static const char style[] =
    "main{max-width:1400px}tbody td{border-bottom:0}tr.first td{border-top:1px solid var(--rule)}";

static int colour(size_t d) { return (int)(d % COLOURS); }

/* One cell; the text is escaped. */
static void add_cell(text_buf *out, const char *class, const char *format, ...) CORE_PRINTF(3, 4);
static void add_cell(text_buf *out, const char *class, const char *format, ...) {
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    page_cell(out, class, text);
}

static void add_device(text_buf *out, const struct bench_device *device, size_t d) {
    text_add(out, "<tr><td>");
    chart_swatch(out, colour(d));
    text_add_escaped(out, device->selector);
    text_add(out, "</td><td>");
    text_add_escaped(out, device->name);
    if (device->threads)
        text_add(out, ", %d thread%s", (int)device->threads, plural(device->threads));
    text_add(out, "%s</td>", device->tuned ? ", tuned" : "");
    page_cell(out, NULL, device->driver);
    for (int i = 0; device->gemm > 0 && i < BENCH_COPIES; i++)
        add_cell(out, "n", "%.0f GB/s", 1e-9 * device->copy[i]);
    if (device->gemm > 0)
        add_cell(out, "n", "%.0f GFLOP/s", 1e-9 * device->gemm);
    text_add(out, "</tr>\n");
}

static void add_devices(text_buf *out, const struct bench_record *record, bool roof) {
    static const char *const roof_titles[] = {"copy of 1 MiB", "8 MiB", "64 MiB", "product"};
    page_table_begin(out, NULL, NULL);
    page_table_head(out, NULL, "device");
    page_table_head(out, NULL, "name");
    page_table_head(out, NULL, "driver");
    for (size_t i = 0; roof && i < sizeof roof_titles / sizeof *roof_titles; i++)
        page_table_head(out, "n", roof_titles[i]);
    page_table_body(out);
    for (size_t d = 0; d < record->count; d++)
        add_device(out, &record->devices[d], d);
    page_table_end(out);
}

static void add_facts(text_buf *out, const struct bench_record *record) {
    text_add(out, "<h1>");
    text_add_escaped(out, record->name[0] ? record->name : record->cpu);
    text_add(out, "</h1>\n<p class=\"lead\">fathom ");
    text_add_escaped(out, record->version);
    text_add(out, ", ");
    text_add_escaped(out, record->when);
    text_add(out, ". ");
    text_add_escaped(out, record->cpu);
    text_add(out, ", %d cores, ", (int)record->cores);
    text_add_escaped(out, record->system);
    if (isfinite(record->ping_pong_ns))
        text_add(out, "; core to core %.0f ns", record->ping_pong_ns);
    text_add(out, ". Clock: ");
    text_add_escaped(out, record->clock);
    text_add(out, ".</p>\n");
}

static void add_verdict(text_buf *out, const struct bench_record *record) {
    text_buf verdict = {0};
    bench_write_verdict(&verdict, record);
    if (verdict.count > 0) {
        text_add(out, "<p class=\"note%s\">", record->disturbed[0] ? " warn" : "");
        text_add_escaped(out, verdict.bytes);
        text_add(out, "</p>\n");
    }
    if (verdict.status != FATHOM_OK)
        out->status = verdict.status;
    text_free(&verdict);
}

static void add_roofs(text_buf *out, const struct bench_record *record) {
    bool roof = record->ends[BENCH_OPS] > record->ends[BENCH_GNN];
    add_devices(out, record, roof);
    text_add(out,
             "<p>Bars: median time next to the longest of the row (epochs and metrics of one device: of the "
             "table); the thin line joins the quartiles%s.</p>\n",
             roof ? "; the dark mark is the time at the roof, what a copy of the same bytes or a product of the same "
                    "operations would take"
                  : "");
}

static void add_row(text_buf *out, const struct bench_record *record, size_t part, size_t r) {
    double longest = bench_longest(record, part, r);
    for (size_t d = 0; d < record->count; d++) {
        const struct bench_row *row = &record->devices[d].rows[r];
        const struct bench_times *t = &row->time;
        text_add(out, "<tr%s>", d == 0 ? " class=\"first\"" : "");
        page_cell(out, NULL, d == 0 ? row->name : "");
        page_cell(out, NULL, d == 0 ? row->shape : "");
        page_cell(out, NULL, record->devices[d].selector);
        if (row->missing[0]) {
            text_add(out, "<td colspan=\"%d\"><small>not measured: ", part == BENCH_OPS ? 6 : 3);
            text_add_escaped(out, row->missing);
            text_add(out, "</small></td></tr>\n");
            continue;
        }
        add_cell(out, "n", "%s", bench_time_text(t->median));
        add_cell(out, "n", "\xC2\xB1%.0f%%%s", 50 * bench_spread(t), bench_mark(t));
        if (part == BENCH_OPS) {
            add_cell(out, "n", "%.1f", 1e-9 * row->flops / t->median);
            add_cell(out, "n", "%.1f", 1e-9 * row->bytes / t->median);
            add_cell(out, "n", "%.0f%%", 100 * row->roof / t->median);
        }
        text_add(out, "<td class=\"hbar\">");
        chart_bar_draw(out, &(chart_bar){.label = bench_time_text(t->median),
                                         .style = colour(d),
                                         .value = t->median,
                                         .longest = longest,
                                         .low = t->q1,
                                         .high = t->q3,
                                         .mark = row->roof > 0 ? row->roof : NAN});
        text_add(out, "</td></tr>\n");
    }
}

static void add_part(text_buf *out, const struct bench_record *record, size_t part) {
    static const char *const titles[BENCH_PARTS] = {"", "Operations", "Epochs of training",
                                                    "Metrics of over-smoothing"};
    static const char *const heads[BENCH_PARTS][2] = {
        {"", ""}, {"operation", "shape"}, {"epoch", "data"}, {"metric", "data"}};
    if (bench_start(record, part) == record->ends[part])
        return;
    page_element(out, "h2", titles[part]);
    page_table_begin(out, NULL, NULL);
    page_table_head(out, NULL, heads[part][0]);
    page_table_head(out, NULL, heads[part][1]);
    page_table_head(out, NULL, "device");
    page_table_head(out, "n", "median");
    page_table_head(out, "n", "spread");
    if (part == BENCH_OPS) {
        page_table_head(out, "n", "GFLOP/s");
        page_table_head(out, "n", "GB/s");
        page_table_head(out, "n", "of roof");
    }
    page_table_head(out, NULL, "");
    page_table_body(out);
    for (size_t r = bench_start(record, part); r < record->ends[part]; r++)
        add_row(out, record, part, r);
    page_table_end(out);
}

static void add_legend(text_buf *out) {
    text_add(out,
             "<p><small>! the middle half of the samples did not come within %.0f%% of each other. ? fewer than %d "
             "samples. * disturbed while it was measured.</small></p>\n",
             100 * BENCH_SPREAD, BENCH_SAMPLES_MIN);
}

fathom_status bench_write_html(const char *path, const struct bench_record *record) {
    text_buf out = {0};
    page_begin(&out, NULL, "bench", style);
    add_facts(&out, record);
    add_verdict(&out, record);
    fathom_status status = record->ends[BENCH_GNN] > 0 ? bench_html_workloads(&out, record, 1) : FATHOM_OK;
    if (record->ends[BENCH_PARTS - 1] > record->ends[BENCH_GNN])
        add_roofs(&out, record);
    for (size_t part = BENCH_OPS; part < BENCH_PARTS; part++)
        add_part(&out, record, part);
    add_legend(&out);
    page_end(&out, NULL);
    if (status == FATHOM_OK)
        status = text_save(&out, path);
    text_free(&out);
    return status;
}

/* ---- several machines ---- */

static void add_machine(text_buf *out, const struct bench_record *record) {
    text_add(out, "<tr>");
    page_cell(out, NULL, record->name);
    page_cell(out, "wrap", record->cpu);
    add_cell(out, "n", "%d", (int)record->cores);
    page_cell(out, "wrap", record->disturbed[0] ? record->disturbed : "no");
    page_cell(out, "k", record->version);
    page_cell(out, "k", record->when);
    text_add(out, "</tr>\n");
}

fathom_status bench_write_compare_html(const char *path, const struct bench_record *records, size_t count) {
    static const char *const heads[][2] = {{"machine", NULL},   {"processor", NULL}, {"cores", "n"},
                                           {"disturbed", NULL}, {"fathom", "k"},     {"when", "k"}};
    text_buf out = {0};
    page_begin(&out, NULL, "bench compare", style);
    page_element(&out, "h1", "GNN training on several machines");
    fathom_status status = bench_html_workloads(&out, records, count);
    page_element(&out, "h2", "Machines");
    page_table_begin(&out, NULL, NULL);
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        page_table_head(&out, heads[i][1], heads[i][0]);
    page_table_body(&out);
    for (size_t i = 0; i < count; i++)
        add_machine(&out, &records[i]);
    page_table_end(&out);
    add_legend(&out);
    page_end(&out, NULL);
    if (status == FATHOM_OK)
        status = text_save(&out, path);
    text_free(&out);
    return status;
}
