/* bench_text.c - the verdict of a benchmark, its rows as CSV and its tables as Markdown. */
#include <math.h>
#include <string.h>

#include "bench/workloads.h"
#include "core/plural.h"

/* ---- verdict ---- */

/* The device with the highest score except `but`; -1: there is none. */
static int best_device(const struct bench_record *record, int but) {
    int best = -1;
    for (int d = 0; d < (int)record->count; d++)
        if (d != but && record->devices[d].score > 0 &&
            (best < 0 || record->devices[d].score > record->devices[best].score))
            best = d;
    return best;
}

static void add_scores(text_buf *out, const struct bench_record *record, int best) {
    const struct bench_device *first = &record->devices[best];
    int next = best_device(record, best);
    if (next >= 0) {
        text_add(out, "%s is the fastest here: %.*f times as fast as %s on GNN training", first->selector,
                 first->score < 9.95 * record->devices[next].score, first->score / record->devices[next].score,
                 record->devices[next].selector);
        text_add(out, " (score %.0f)\n", first->score);
    } else {
        text_add(out, "%s: score %.0f on GNN training; the reference machine has %.0f\n", first->selector, first->score,
                 SCORE_REFERENCE);
    }
}

/* With --only, or when a workload is missing: the fastest on those that were measured. */
static void add_fastest(text_buf *out, const struct bench_record *record) {
    for (size_t r = 0; r < record->ends[BENCH_GNN]; r++) {
        const struct bench_row *best = NULL;
        const char *selector = "";
        for (size_t d = 0; d < record->count; d++) {
            const struct bench_row *row = &record->devices[d].rows[r];
            if (!row->missing[0] && (!best || row->time.median < best->time.median)) {
                best = row;
                selector = record->devices[d].selector;
            }
        }
        if (best)
            text_add(out, "%s: %s is the fastest here, %s\n", best->name, selector, bench_time_text(best->time.median));
    }
}

void bench_write_verdict(text_buf *out, const struct bench_record *record) {
    int best = best_device(record, -1);
    if (record->disturbed[0])
        text_add(out, "disturbed: %s%s\n", record->disturbed,
                 best < 0         ? ""
                 : record->forced ? "; the scores do not count"
                                  : "; no score (--force gives it)");
    if (best >= 0 && bench_shown_score(record, (size_t)best) > 0)
        add_scores(out, record, best);
    else
        add_fastest(out, record);
}

/* ---- CSV ---- */

/* Quoted where it must be. */
static void add_field(text_buf *out, const char *text) {
    bool quoted = strpbrk(text, ",\"\n") != NULL;
    text_add(out, quoted ? "\"" : "");
    for (; *text; text++)
        text_add(out, *text == '"' ? "\"\"" : "%c", *text);
    text_add(out, quoted ? "\"," : ",");
}

/* 0: unknown, an empty field. */
static void add_number(text_buf *out, double value) {
    if (value > 0)
        text_add_real(out, "", value);
    text_add(out, ",");
}

static void add_csv_row(text_buf *out, const struct bench_record *record, size_t d, const struct bench_row *row) {
    const struct bench_device *device = &record->devices[d];
    const struct bench_times *t = &row->time;
    const struct bench_figures *f = &row->figures;
    bool there = !row->missing[0];
    add_field(out, record->name[0] ? record->name : record->cpu);
    add_field(out, record->version);
    add_field(out, device->selector);
    add_field(out, device->name);
    add_field(out, device->driver);
    add_number(out, (double)device->threads);
    add_number(out, bench_shown_score(record, d));
    add_field(out, row->name);
    add_field(out, row->shape);
    add_number(out, there ? t->median : 0);
    add_number(out, there ? t->q1 : 0);
    add_number(out, there ? t->q3 : 0);
    add_number(out, (double)t->samples);
    add_number(out, there ? f->edges / t->median : 0);
    add_number(out, f->speed_up);
    add_number(out, (double)f->memory);
    add_number(out, (double)f->launches);
    add_number(out, f->first);
    add_number(out, f->joules);
    add_number(out, there ? 1e-9 * row->flops / t->median : 0);
    add_number(out, there ? 1e-9 * row->bytes / t->median : 0);
    add_number(out, there ? row->roof / t->median : 0);
    add_field(out, f->disturbed[0] ? f->disturbed : record->disturbed);
    add_field(out, row->missing);
    if (out->status == FATHOM_OK)
        out->bytes[out->count - 1] = '\n'; /* the last comma */
}

fathom_status bench_write_csv(text_buf *out, const struct bench_record *record) {
    text_add(out, "machine,version,device,device_name,driver,threads,score,name,shape,median_s,q1_s,q3_s,samples,"
                  "edges_per_s,speed_up,memory_bytes,launches,first_run_s,joules,gflop_s,gb_s,of_roof,disturbed,"
                  "missing\n");
    for (size_t d = 0; d < record->count; d++)
        for (size_t r = 0; r < record->devices[d].count && out->status == FATHOM_OK; r++)
            add_csv_row(out, record, d, &record->devices[d].rows[r]);
    return out->status;
}

/* ---- Markdown ---- */

static void add_markdown_cell(text_buf *out, const char *text) {
    text_add(out, " ");
    for (; *text; text++)
        text_add(out, *text == '|' ? "\\|" : "%c", *text);
    text_add(out, " |");
}

static fathom_status add_markdown(text_buf *out, struct bench_table *t, fathom_status status) {
    for (size_t r = 0; r < t->rows && t->rows > 1 && status == FATHOM_OK; r++) {
        text_add(out, r == 0 ? "\n|" : "|");
        for (size_t c = 0; c < t->columns; c++)
            add_markdown_cell(out, t->cells[r * t->columns + c]);
        text_add(out, r == 0 ? "\n|" : "\n");
        for (size_t c = 0; r == 0 && c < t->columns; c++)
            text_add(out, t->right >> c & 1 ? "---:|" : "---|");
        text_add(out, r == 0 ? "\n" : "");
    }
    bench_table_free(t);
    return status == FATHOM_OK ? out->status : status;
}

fathom_status bench_write_markdown(text_buf *out, const struct bench_record *record) {
    struct bench_table t;
    bench_write_verdict(out, record);
    text_add(out, "\nfathom %s, %s, %s, %d core%s", record->version, record->name[0] ? record->name : record->cpu,
             record->system, (int)record->cores, plural(record->cores));
    text_add(out, "\n");
    if (record->ends[BENCH_GNN] > 0)
        TRY(add_markdown(out, &t, bench_score_table(&t, record, 1)));
    for (size_t part = 0; part < BENCH_PARTS; part++)
        if (bench_start(record, part) < record->ends[part])
            TRY(add_markdown(out, &t, bench_table_make(&t, record, part, false)));
    return out->status;
}
