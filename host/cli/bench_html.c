/* bench_html.c - a benchmark as one HTML page without anything from outside: bars with their quartiles. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli/bench.h"
#include "core/file.h"
#include "core/mem.h"

#define PIECE 1024

struct page {
    char *text;
    size_t used, room;
    fathom_status status; /* of the first failure; nothing is added after it */
};

/* Adds at most PIECE bytes. */
CORE_PRINTF(2, 3) static void add(struct page *page, const char *format, ...) {
    va_list args;
    if (page->status == FATHOM_OK && page->room - page->used < PIECE) {
        size_t room = 2 * page->room + 4 * PIECE;
        page->status = mem_grow(&page->text, page->room, room, 1, "page of the benchmark");
        page->room = page->status == FATHOM_OK ? room : page->room;
    }
    if (page->status != FATHOM_OK)
        return;
    va_start(args, format);
    int length = vsnprintf(page->text + page->used, PIECE, format, args);
    va_end(args);
    page->used += length < PIECE ? (size_t)length : PIECE - 1;
}

/* Names of devices and drivers come from outside. */
static void add_text(struct page *page, const char *text) {
    for (; *text; text++) {
        const char *entity = *text == '<' ? "&lt;" : *text == '>' ? "&gt;" : *text == '&' ? "&amp;" : NULL;
        if (entity)
            add(page, "%s", entity);
        else
            add(page, "%c", *text);
    }
}

static const char head[] =
    "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>fathom bench</title>\n<style>\n"
    ":root{--ink:#1b1f24;--soft:#66707b;--page:#fff;--line:#e3e7eb;--track:#f0f2f5}\n"
    "@media(prefers-color-scheme:dark){:root{--ink:#e8eaed;--soft:#9aa4af;--page:#15181c;--line:#2c3238;"
    "--track:#22272d}}\n"
    "body{font:15px/1.45 system-ui,sans-serif;color:var(--ink);background:var(--page);max-width:68rem;"
    "margin:2rem auto;padding:0 1rem}\n";
static const char head_rest[] =
    "h1{font-size:1.4rem}h2{font-size:1.05rem;margin:1.6rem 0 .3rem}p,small{color:var(--soft)}\n"
    "table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}\n"
    "th{text-align:left;font-weight:600;color:var(--soft)}td,th{padding:.15rem .5rem;white-space:nowrap}"
    "tr.first td{border-top:1px solid "
    "var(--line)}td.n,th.n{text-align:right}td.bar{width:35%}svg{display:block;width:100%}\n"
    "i{display:inline-block;width:.8em;height:.8em;border-radius:2px;margin-right:.4em}\n"
    "</style></head><body>\n";

/* Told apart without colour vision too. */
static const char *const colours[] = {"#2f6fb0", "#d9822b", "#3a9a6b", "#a2559c", "#8c6d31", "#c0504d"};
static const char *colour(size_t d) { return colours[d % (sizeof colours / sizeof *colours)]; }

static void add_device(struct page *page, const struct bench_device *device, size_t d) {
    add(page, "<tr><td><i style=\"background:%s\"></i>", colour(d));
    add_text(page, device->word);
    add(page, "</td><td>");
    add_text(page, device->name);
    if (device->threads)
        add(page, ", %d thread%s", (int)device->threads, device->threads == 1 ? "" : "s");
    add(page, "%s</td><td>", device->tuned ? ", tuned" : "");
    add_text(page, device->driver);
    add(page, "</td>");
    for (int i = 0; device->gemm > 0 && i < BENCH_COPIES; i++)
        add(page, "<td class=n>%.0f GB/s</td>", 1e-9 * device->copy[i]);
    if (device->gemm > 0)
        add(page, "<td class=n>%.0f GFLOP/s</td>", 1e-9 * device->gemm);
    add(page, "</tr>\n");
}

static void add_facts(struct page *page, const struct bench_record *record) {
    bool roof = record->ends[BENCH_OPS] > 0;
    add(page, "<h1>fathom bench: %s</h1>\n<p>fathom %s, ", record->what, record->version);
    add(page, "%s. ", record->when);
    add_text(page, record->cpu);
    add(page, ", %d cores, ", (int)record->cores);
    add_text(page, record->system);
    if (isfinite(record->ping_pong_ns))
        add(page, "; core to core %.0f ns", record->ping_pong_ns);
    add(page, ". Clock: %s.</p>\n<table><tr><th>device</th><th>name</th><th>driver</th>%s</tr>\n", record->clock,
        roof ? "<th class=n>copy of 1 MiB</th><th class=n>8 MiB</th><th class=n>64 MiB</th><th class=n>product</th>"
             : "");
    for (size_t d = 0; d < record->count; d++)
        add_device(page, &record->devices[d], d);
    add(page, "</table>\n<p>Bars: median time beside the longest of the row (epochs and metrics of one device: "
              "of the table)");
    add(page, "; the thin line joins the quartiles%s.</p>\n",
        roof ? "; the dark mark is the time at the roof, what a copy of the same bytes or a product of the same "
               "operations would take"
             : "");
}

static void add_bar(struct page *page, const struct bench_row *row, double longest, size_t d) {
    const double scale = 980 / longest;
    const struct bench_times *t = &row->time;
    add(page, "<svg viewBox=\"0 0 1000 22\" preserveAspectRatio=\"none\" height=\"14\" role=\"img\" aria-label=\"%s\">",
        bench_time_text(t->median));
    add(page,
        "<rect width=\"1000\" height=\"22\" fill=\"var(--track)\"/><rect y=\"3\" height=\"16\" width=\"%.1f\" "
        "fill=\"%s\"/>",
        fmax(1, scale * t->median), colour(d));
    add(page, "<rect x=\"%.1f\" y=\"10\" height=\"2\" width=\"%.1f\" fill=\"var(--ink)\"/>", scale * t->q1,
        fmax(1, scale * (fmin(t->q3, 1.02 * longest) - t->q1)));
    if (row->roof > 0)
        add(page, "<rect x=\"%.1f\" width=\"3\" height=\"22\" fill=\"var(--ink)\"/>", fmin(996, scale * row->roof));
    add(page, "</svg>");
}

static void add_row(struct page *page, const struct bench_record *record, size_t part, size_t r) {
    double longest = bench_longest(record, part, r);
    for (size_t d = 0; d < record->count; d++) {
        const struct bench_row *row = &record->devices[d].rows[r];
        add(page, "<tr%s><td>%s</td><td>%s</td><td>", d == 0 ? " class=first" : "", d == 0 ? row->name : "",
            d == 0 ? row->shape : "");
        add_text(page, record->devices[d].word);
        if (row->missing[0]) {
            add(page, "</td><td colspan=%d><small>not measured: ", part == BENCH_OPS ? 6 : 3);
            add_text(page, row->missing);
            add(page, "</small></td></tr>\n");
            continue;
        }
        add(page, "</td><td class=n>%s</td><td class=n>&plusmn;%.0f%%%s</td>", bench_time_text(row->time.median),
            50 * bench_spread(&row->time), bench_mark(&row->time));
        if (part == BENCH_OPS)
            add(page, "<td class=n>%.1f</td><td class=n>%.1f</td><td class=n>%.0f%%</td>",
                1e-9 * row->flops / row->time.median, 1e-9 * row->bytes / row->time.median,
                100 * row->roof / row->time.median);
        add(page, "<td class=bar>");
        add_bar(page, row, longest, d);
        add(page, "</td></tr>\n");
    }
}

static void add_part(struct page *page, const struct bench_record *record, size_t part) {
    static const char *const titles[BENCH_PARTS] = {"Operations", "Epochs of training", "Metrics of over-smoothing"};
    static const char *const heads[BENCH_PARTS] = {"operation</th><th>shape", "epoch</th><th>data",
                                                   "metric</th><th>data"};
    if (bench_start(record, part) == record->ends[part])
        return;
    add(page, "<h2>%s</h2>\n<table><tr><th>%s</th><th>device</th><th class=n>median</th><th class=n>spread</th>%s",
        titles[part], heads[part],
        part == BENCH_OPS ? "<th class=n>GFLOP/s</th><th class=n>GB/s</th><th class=n>of roof</th>" : "");
    add(page, "<th></th></tr>\n");
    for (size_t r = bench_start(record, part); r < record->ends[part]; r++)
        add_row(page, record, part, r);
    add(page, "</table>\n");
}

fathom_status bench_write_html(const char *path, const struct bench_record *record) {
    struct page page = {0};
    add(&page, "%s", head);
    add(&page, "%s", head_rest);
    add_facts(&page, record);
    for (size_t part = 0; part < BENCH_PARTS; part++)
        add_part(&page, record, part);
    add(&page,
        "<p><small>! the middle half of the samples did not come within %.0f%% of each other. "
        "? too long for %d samples in %.2g s.</small></p>\n",
        100 * BENCH_SPREAD, BENCH_SAMPLES_MIN, record->seconds);
    add(&page, "</body></html>\n");
    fathom_status status = page.status;
    if (status == FATHOM_OK)
        status = file_replace(path, &(file_piece){page.text, page.used}, 1);
    mem_free(page.text);
    return status;
}
