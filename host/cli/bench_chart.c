/* bench_chart.c - a benchmark in the terminal: a line per row and device, with a bar. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/bench.h"
#include "cli/cli.h"
#include "core/mem.h"

#define COLUMNS 8
#define CELL 64
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
    snprintf(cells[2], CELL, "%s", record->devices[d].word);
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

/* The columns that say something, moved together; returns how many. */
static size_t squeeze(const char **out, char (*cells)[CELL], size_t rows, unsigned *right) {
    size_t kept = 0, used[COLUMNS];
    *right = 0;
    for (size_t c = 0; c < COLUMNS; c++) {
        bool says = false;
        for (size_t r = 1; r < rows; r++)
            says |= cells[r * COLUMNS + c][0] != 0;
        if (!says)
            continue;
        *right |= (c >= 3 && c <= 6 ? 1u : 0u) << kept;
        used[kept++] = c;
    }
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < kept; c++)
            out[r * kept + c] = cells[r * COLUMNS + used[c]];
    return kept;
}

/* A row that no device has: its reason stands below the table. */
static bool nowhere(const struct bench_record *record, size_t r) {
    for (size_t d = 0; d < record->count; d++)
        if (!record->devices[d].rows[r].missing[0])
            return false;
    return true;
}

static void print_part(const struct bench_record *record, size_t part, char (*cells)[CELL], const char **table) {
    static const char *const heads[BENCH_PARTS][COLUMNS] = {
        {"operation", "shape", "device", "median", "spread", "GFLOP/s", "GB/s", "of its roof"},
        {"epoch", "data", "device", "median", "spread", "", "", "time"},
        {"metric", "data", "device", "median", "spread", "", "", "time"}};
    size_t rows = 1;
    unsigned right;
    for (size_t c = 0; c < COLUMNS; c++)
        snprintf(cells[c], CELL, "%s", heads[part][c]);
    for (size_t r = bench_start(record, part); r < record->ends[part]; r++)
        for (size_t d = 0; !nowhere(record, r) && d < record->count; d++, rows++) {
            fill_line(cells + rows * COLUMNS, record, part, d, r);
            if (record->count == 1)
                cells[rows * COLUMNS + 2][0] = 0;
        }
    if (rows == 1)
        return;
    size_t columns = squeeze(table, cells, rows, &right);
    putchar('\n');
    print_table(table, rows, columns, 0, right);
}

static bool said_before(const struct bench_record *record, size_t d, size_t r) {
    const char *reason = record->devices[d].rows[r].missing;
    for (size_t i = 0; i <= d; i++)
        for (size_t k = 0; k < (i < d ? record->devices[i].count : r); k++)
            if (strcmp(record->devices[i].rows[k].missing, reason) == 0)
                return true;
    return false;
}

/* Why rows are missing, each reason once, and what the marks mean. */
static void print_notes(const struct bench_record *record) {
    bool restless = false, few = false;
    for (size_t d = 0; d < record->count; d++)
        for (size_t r = 0; r < record->devices[d].count; r++) {
            const struct bench_row *row = &record->devices[d].rows[r];
            restless |= !row->missing[0] && bench_mark(&row->time)[0] == '!';
            few |= !row->missing[0] && bench_mark(&row->time)[0] == '?';
            if (row->missing[0] && !said_before(record, d, r))
                printf("- %s\n", shown(row->missing));
        }
    if (restless)
        printf("! the middle half of the samples did not come within %.0f%% of each other in %.2g s: "
               "is the machine otherwise idle?\n",
               100 * BENCH_SPREAD, record->seconds);
    if (few)
        printf("? too long for %d samples in %.2g s: --seconds gives it more time\n", BENCH_SAMPLES_MIN,
               record->seconds);
}

fathom_status bench_chart(const struct bench_record *record) {
    char(*cells)[CELL] = NULL;
    const char **table = NULL;
    size_t lines = 1 + record->devices[0].count * record->count;
    fathom_status status;
    TRY_OUT(mem_new(&cells, lines * COLUMNS, 1, sizeof *cells, "table of the benchmark"));
    TRY_OUT(mem_new(&table, lines * COLUMNS, 1, sizeof *table, "table of the benchmark"));
    for (size_t d = 0; d < record->count; d++) {
        const struct bench_device *device = &record->devices[d];
        printf("%s%s%s: %s", style(stdout, STYLE_BOLD), shown(device->word), style(stdout, STYLE_PLAIN),
               shown(device->name));
        if (device->threads)
            printf(", %d thread%s", (int)device->threads, device->threads == 1 ? "" : "s");
        if (device->tuned)
            printf(", tuned");
        if (device->gemm > 0)
            printf("; copies 1, 8, 64 MiB at %.0f, %.0f, %.0f GB/s, multiplies at %.0f GFLOP/s", 1e-9 * device->copy[0],
                   1e-9 * device->copy[1], 1e-9 * device->copy[2], 1e-9 * device->gemm);
        putchar('\n');
    }
    if (isfinite(record->ping_pong_ns))
        printf("core to core: %.0f ns\n", record->ping_pong_ns);
    for (size_t part = 0; part < BENCH_PARTS; part++)
        print_part(record, part, cells, table);
    print_notes(record);
out:
    mem_free(cells);
    mem_free(table);
    return status;
}
