/* bench_table.c - a benchmark as text tables: a line per row and device, with a bar. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/workloads.h"
#include "core/mem.h"
#include "core/plural.h"
#include "core/quantity.h"

#define TABLE_COLUMNS 12
#define ROW_COLUMNS 9
#define GNN_COLUMNS 12
#define CELL BENCH_CELL
#define BAR 24

const char *bench_time_text(double seconds) {
    static _Thread_local char ring[8][24];
    static _Thread_local unsigned turn;
    static const struct {
        double least, factor;
        const char *unit;
    } units[] = {{1, 1, "s"}, {1e-3, 1e3, "ms"}, {1e-6, 1e6, "us"}, {0, 1e9, "ns"}};
    char *text = ring[turn++ % 8];
    size_t u = 0;
    while (seconds < units[u].least)
        u++;
    double value = seconds * units[u].factor;
    snprintf(text, sizeof ring[0], "%.*f %s", value < 10 ? 2 : value < 100 ? 1 : 0, value, units[u].unit);
    return text;
}

double bench_longest(const struct bench_record *record, size_t part, size_t r) {
    double longest = 0;
    for (size_t d = 0; d < record->count; d++)
        for (size_t k = bench_start(record, part); k < record->ends[part]; k++)
            if (k == r || (part != BENCH_OPS && record->count == 1))
                longest = fmax(longest, record->devices[d].rows[k].time.median);
    return longest;
}

static void number(char *cell, double value) {
    if (value > 0)
        snprintf(cell, CELL, "%.*f", value < 10 ? 2 : value < 100 ? 1 : 0, value);
}

/* ---- building: every line has the same columns, of which those that stay empty are dropped ---- */

static fathom_status begin(struct bench_table *t, const char *const *heads, size_t columns, size_t lines) {
    *t = (struct bench_table){.rows = 1, .columns = columns};
    TRY(mem_new(&t->text, (lines + 1) * columns, 1, sizeof *t->text, "table of the benchmark"));
    TRY(mem_new(&t->cells, (lines + 1) * columns, 1, sizeof *t->cells, "table of the benchmark"));
    for (size_t c = 0; c < columns; c++)
        snprintf(t->text[c], CELL, "%s", heads[c]);
    return FATHOM_OK;
}

static char (*next_line(struct bench_table *t))[CELL] { return t->text + t->columns * t->rows++; }

/* `right` and `narrow` have a bit per column: flushed right; dropped where the table is to be narrow. */
static void end(struct bench_table *t, unsigned right, unsigned narrow) {
    size_t kept = 0, used[TABLE_COLUMNS];
    t->right = 0;
    for (size_t c = 0; c < t->columns; c++) {
        bool is_used = false;
        for (size_t r = 1; r < t->rows; r++)
            is_used |= t->text[r * t->columns + c][0] != 0;
        if (!is_used || (narrow >> c & 1))
            continue;
        t->right |= (right >> c & 1) << kept;
        used[kept++] = c;
    }
    for (size_t r = 0; r < t->rows; r++)
        for (size_t c = 0; c < kept; c++)
            t->cells[r * kept + c] = t->text[r * t->columns + used[c]];
    t->columns = kept;
}

/* ---- operations, epochs, metrics ---- */

static void fill_line(char (*cells)[CELL], const struct bench_record *record, size_t part, size_t d, size_t r) {
    const struct bench_row *row = &record->devices[d].rows[r];
    const struct bench_times *t = &row->time;
    snprintf(cells[0], CELL, "%s", d == 0 ? row->name : "");
    snprintf(cells[1], CELL, "%.63s", d == 0 ? row->shape : "");
    if (record->count > 1)
        snprintf(cells[2], CELL, "%s", record->devices[d].selector);
    if (row->missing[0]) {
        snprintf(cells[3], CELL, "-");
        return;
    }
    snprintf(cells[3], CELL, "%s", bench_time_text(t->median));
    snprintf(cells[4], CELL, "%.0f%%%s", 100 * bench_spread(t), bench_mark(t));
    number(cells[5], 1e-9 * row->flops / t->median);
    number(cells[6], 1e-9 * row->bytes / t->median);
    double share = part == BENCH_OPS ? row->roof / t->median : t->median / bench_longest(record, part, r);
    int length = (int)lround(BAR * fmin(1, share));
    memset(cells[8], '#', (size_t)length);
    if (part == BENCH_OPS) {
        snprintf(cells[7], CELL, "%.0f%%", 100 * share);
        snprintf(cells[8] + length, CELL - BAR, "%s%.0f%%", length ? " " : "", 100 * share);
    }
}

/* Such a row is not in the table; its reason is printed below. */
static bool is_missing_everywhere(const struct bench_record *record, size_t r) {
    for (size_t d = 0; d < record->count; d++)
        if (!record->devices[d].rows[r].missing[0])
            return false;
    return true;
}

static fathom_status rows_table(struct bench_table *t, const struct bench_record *record, size_t part, bool narrow) {
    static const char *const heads[BENCH_PARTS][ROW_COLUMNS] = {
        [BENCH_OPS] = {"operation", "shape", "device", "median", "spread", "GFLOP/s", "GB/s", "of roof", "of its roof"},
        [BENCH_EPOCH] = {"epoch", "data", "device", "median", "spread", "", "", "", "time"},
        [BENCH_METRICS] = {"metric", "data", "device", "median", "spread", "", "", "", "time"}};
    TRY(begin(t, heads[part], ROW_COLUMNS, (record->ends[part] - bench_start(record, part)) * record->count));
    for (size_t r = bench_start(record, part); r < record->ends[part]; r++)
        for (size_t d = 0; !is_missing_everywhere(record, r) && d < record->count; d++)
            fill_line(next_line(t), record, part, d, r);
    end(t, 0xf8, narrow ? 0x170 : 0x80);
    return FATHOM_OK;
}

/* ---- standard workloads ---- */

const char *bench_rate_text(double rate) {
    static _Thread_local char ring[4][24];
    static _Thread_local unsigned turn;
    static const char units[] = {' ', 'k', 'M', 'G', 'T'};
    char *text = ring[turn++ % 4];
    size_t u = 0;
    for (; rate >= 1e4 && u + 1 < sizeof units; u++)
        rate /= 1e3;
    snprintf(text, sizeof ring[0], "%.*f%s%.*s",
             rate < 10    ? 2
             : rate < 100 ? 1
                          : 0,
             rate, u ? " " : "", u ? 1 : 0, &units[u]);
    return text;
}

static void fill_gnn_line(char (*cells)[CELL], const struct bench_record *record, size_t d, size_t r) {
    const struct bench_row *row = &record->devices[d].rows[r];
    const struct bench_times *t = &row->time;
    const struct bench_figures *f = &row->figures;
    snprintf(cells[0], CELL, "%s", d == 0 ? row->name : "");
    if (record->count > 1)
        snprintf(cells[1], CELL, "%s", record->devices[d].selector);
    if (row->missing[0]) {
        snprintf(cells[2], CELL, "-");
        return;
    }
    snprintf(cells[2], CELL, "%s", bench_time_text(t->median));
    snprintf(cells[3], CELL, "%.1f%%%s", 50 * bench_spread(t), f->disturbed[0] ? "*" : bench_mark(t));
    if (record->count > 1 && f->speed_up > 0)
        snprintf(cells[4], CELL, "%.2fx", f->speed_up);
    snprintf(cells[5], CELL, "%s", bench_rate_text(1 / t->median));
    snprintf(cells[6], CELL, "%s", bench_rate_text(f->edges / t->median));
    if (f->memory > 0)
        snprintf(cells[7], CELL, "%s", bytes_text((uint64_t)f->memory));
    snprintf(cells[8], CELL, "%lld", (long long)f->launches);
    snprintf(cells[9], CELL, "%s", bench_time_text(f->first));
    if (f->joules > 0)
        snprintf(cells[10], CELL, "%.3g J", f->joules);
    snprintf(cells[11], CELL, "%s", f->recompute);
}

static fathom_status gnn_table(struct bench_table *t, const struct bench_record *record, bool narrow) {
    static const char *const heads[GNN_COLUMNS] = {"workload", "device",    "time",    "\xC2\xB1",
                                                   "vs cpu",   "1/s",       "edges/s", "memory",
                                                   "launches", "first run", "energy",  "recomputed"};
    TRY(begin(t, heads, GNN_COLUMNS, record->ends[BENCH_GNN] * record->count));
    for (size_t r = 0; r < record->ends[BENCH_GNN]; r++)
        for (size_t d = 0; d < record->count; d++)
            fill_gnn_line(next_line(t), record, d, r);
    end(t, 0x7fc, narrow ? 0xfe0 : 0);
    return FATHOM_OK;
}

fathom_status bench_table_make(struct bench_table *t, const struct bench_record *record, size_t part, bool narrow) {
    return part == BENCH_GNN ? gnn_table(t, record, narrow) : rows_table(t, record, part, narrow);
}

/* Devices of all records, the highest score first; those without one as they come. */
struct place {
    const struct bench_record *record;
    size_t d, order;
    double score;
};

static int higher_first(const void *a, const void *b) {
    const struct place *x = a, *y = b;
    return x->score != y->score ? (x->score < y->score) - (x->score > y->score)
                                : (x->order > y->order) - (x->order < y->order);
}

static fathom_status make_places(struct place **places, size_t *count, const struct bench_record *records,
                                 size_t record_count) {
    size_t devices = 0;
    *count = 0;
    for (size_t i = 0; i < record_count; i++)
        devices += records[i].count;
    TRY(mem_new(places, devices, 1, sizeof **places, "devices of the benchmark"));
    for (size_t i = 0; i < record_count; i++)
        for (size_t d = 0; d < records[i].count; d++, ++*count)
            (*places)[*count] = (struct place){&records[i], d, *count, bench_shown_score(&records[i], d)};
    qsort(*places, *count, sizeof **places, higher_first);
    return FATHOM_OK;
}

static void fill_place(char (*cells)[CELL], const struct place *p, bool several) {
    const struct bench_device *device = &p->record->devices[p->d];
    if (several)
        snprintf(cells[0], CELL, "%.63s", p->record->name);
    snprintf(cells[1], CELL, "%s", device->selector);
    snprintf(cells[2], CELL, p->score > 0 ? "%.*f" : "-", p->score < 100, p->score);
    snprintf(cells[3], CELL, "%.40s", device->name);
    if (device->threads)
        snprintf(cells[3] + strlen(cells[3]), CELL - strlen(cells[3]), ", %d thread%s", (int)device->threads,
                 plural(device->threads));
}

fathom_status bench_score_table(struct bench_table *t, const struct bench_record *records, size_t count) {
    static const char *const heads[] = {"machine", "device", "score", "name"};
    struct place *places = NULL;
    size_t devices;
    fathom_status status = make_places(&places, &devices, records, count);
    *t = (struct bench_table){0};
    if (status == FATHOM_OK)
        status = begin(t, heads, 4, devices);
    for (size_t i = 0; status == FATHOM_OK && i < devices; i++)
        fill_place(next_line(t), &places[i], count > 1);
    if (status == FATHOM_OK)
        end(t, 4, 0);
    mem_free(places);
    return status;
}

fathom_status bench_machines_table(struct bench_table *t, const struct bench_record *records, size_t count) {
    static const char *const heads[] = {"workload", "machine", "device", "time", "\xC2\xB1"};
    struct place *places = NULL;
    size_t devices;
    fathom_status status = make_places(&places, &devices, records, count);
    *t = (struct bench_table){0};
    if (status == FATHOM_OK)
        status = begin(t, heads, 5, WORKLOADS * devices);
    for (size_t i = 0; status == FATHOM_OK && i < WORKLOADS * devices; i++) {
        const struct place *p = &places[i % devices];
        const struct bench_row *row = bench_workload_row(&p->record->devices[p->d], i / devices);
        char(*cells)[CELL] = next_line(t);
        snprintf(cells[0], CELL, "%s", i % devices == 0 ? bench_workloads[i / devices].name : "");
        snprintf(cells[1], CELL, "%.63s", p->record->name);
        snprintf(cells[2], CELL, "%s", p->record->devices[p->d].selector);
        snprintf(cells[3], CELL, "%s", row ? bench_time_text(row->time.median) : "-");
        if (row)
            snprintf(cells[4], CELL, "%.1f%%%s", 50 * bench_spread(&row->time),
                     row->figures.disturbed[0] ? "*" : bench_mark(&row->time));
    }
    if (status == FATHOM_OK)
        end(t, 0x18, 0);
    mem_free(places);
    return status;
}

void bench_table_free(struct bench_table *t) {
    mem_free(t->text);
    mem_free(t->cells);
}

bool bench_is_new_reason(const struct bench_record *record, size_t d, size_t r) {
    const char *reason = record->devices[d].rows[r].missing;
    for (size_t i = 0; i <= d; i++)
        for (size_t k = 0; k < (i < d ? record->devices[i].count : r); k++)
            if (strcmp(record->devices[i].rows[k].missing, reason) == 0)
                return false;
    return reason[0] != 0;
}
