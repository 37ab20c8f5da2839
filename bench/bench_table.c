/* bench_table.c - a benchmark as text tables: a line per row and device, with a bar. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/bench.h"
#include "core/mem.h"
#include "core/plural.h"

#define COLUMNS 8
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

static void fill_line(char (*cells)[CELL], const struct bench_record *record, size_t part, size_t d, size_t r) {
    const struct bench_row *row = &record->devices[d].rows[r];
    const struct bench_times *t = &row->time;
    memset(cells, 0, COLUMNS * sizeof *cells);
    snprintf(cells[0], CELL, "%s", d == 0 ? row->name : "");
    snprintf(cells[1], CELL, "%.63s", d == 0 ? row->shape : "");
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
    memset(cells[7], '#', (size_t)length);
    cells[7][length] = 0;
    if (part == BENCH_OPS)
        snprintf(cells[7] + length, CELL - BAR, "%s%.0f%%", length ? " " : "", 100 * share);
}

/* The columns that are not empty, side by side; returns how many. */
static size_t drop_empty_columns(const char **out, char (*cells)[CELL], size_t rows, unsigned *right) {
    size_t kept = 0, used[COLUMNS];
    *right = 0;
    for (size_t c = 0; c < COLUMNS; c++) {
        bool used_column = false;
        for (size_t r = 1; r < rows; r++)
            used_column |= cells[r * COLUMNS + c][0] != 0;
        if (!used_column)
            continue;
        *right |= (c >= 3 && c <= 6 ? 1u : 0u) << kept;
        used[kept++] = c;
    }
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < kept; c++)
            out[r * kept + c] = cells[r * COLUMNS + used[c]];
    return kept;
}

/* Such a row is not in the table; its reason is printed below. */
static bool is_missing_everywhere(const struct bench_record *record, size_t r) {
    for (size_t d = 0; d < record->count; d++)
        if (!record->devices[d].rows[r].missing[0])
            return false;
    return true;
}

fathom_status bench_table_make(struct bench_table *t, const struct bench_record *record, size_t part) {
    static const char *const heads[BENCH_PARTS][COLUMNS] = {
        {"operation", "shape", "device", "median", "spread", "GFLOP/s", "GB/s", "of its roof"},
        {"epoch", "data", "device", "median", "spread", "", "", "time"},
        {"metric", "data", "device", "median", "spread", "", "", "time"}};
    size_t lines = 1 + (record->ends[part] - bench_start(record, part)) * record->count;
    *t = (struct bench_table){.rows = 1};
    TRY(mem_new(&t->text, lines * COLUMNS, 1, sizeof *t->text, "table of the benchmark"));
    TRY(mem_new(&t->cells, lines * COLUMNS, 1, sizeof *t->cells, "table of the benchmark"));
    for (size_t c = 0; c < COLUMNS; c++)
        snprintf(t->text[c], CELL, "%s", heads[part][c]);
    for (size_t r = bench_start(record, part); r < record->ends[part]; r++)
        for (size_t d = 0; !is_missing_everywhere(record, r) && d < record->count; d++, t->rows++) {
            fill_line(t->text + t->rows * COLUMNS, record, part, d, r);
            if (record->count == 1)
                t->text[t->rows * COLUMNS + 2][0] = 0;
        }
    t->columns = drop_empty_columns(t->cells, t->text, t->rows, &t->right);
    return FATHOM_OK;
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
