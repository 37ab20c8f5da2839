/* cmd_bench_compare.c - `fathom bench compare`: what is faster, by how much, and is it more than noise? */
#include <math.h>
#include <string.h>

#include "cli/bench.h"
#include "cli/cli.h"
#include "core/mem.h"

#define FILES_MAX 8
#define COLUMNS 6
#define CELL 64

struct compare_options {
    struct common_options common;
    const char *files[FILES_MAX];
};

enum verdict { SAME, FASTER, SLOWER, UNKNOWN, VERDICTS };
static const char *const verdict_names[] = {"same", "faster", "slower", "unknown"};

/* A difference counts when the middle halves of the samples lie apart by more than the noise; the medians do, then. */
static enum verdict judge(const struct bench_times *base, const struct bench_times *other) {
    if (base->samples < BENCH_SAMPLES_MIN || other->samples < BENCH_SAMPLES_MIN)
        return UNKNOWN;
    if (base->q1 > (1 + BENCH_NOISE) * other->q3)
        return FASTER;
    if (other->q1 > (1 + BENCH_NOISE) * base->q3)
        return SLOWER;
    return SAME;
}

/* The device of `other` that device d of the base is held against: the one with the same word, or, where each file has
 * one device only, that one; NULL when there is none. */
static const struct bench_device *partner(const struct bench_record *base, size_t d, const struct bench_record *other) {
    for (size_t i = 0; i < other->count; i++)
        if (strcmp(other->devices[i].word, base->devices[d].word) == 0)
            return &other->devices[i];
    return base->count == 1 && other->count == 1 ? &other->devices[0] : NULL;
}

/* What was found between the base and one other file. */
struct tally {
    size_t rows, of[VERDICTS];
    size_t base_only, other_only; /* rows that were measured in one of them */
    double log_ratio;             /* sum of log(base / other) */
};

struct comparison {
    const struct bench_record *base, *other;
    const char *base_path, *other_path;
    struct json *doc; /* or NULL: a table is printed */
    char (*cells)[CELL];
    size_t lines;
    struct tally tally;
    size_t differences; /* printed so far */
};

static void add_line(struct comparison *c, const struct bench_device *device, const struct bench_row *base,
                     const struct bench_row *other) {
    double ratio = base->time.median / other->time.median;
    enum verdict verdict = judge(&base->time, &other->time);
    c->tally.rows++;
    c->tally.of[verdict]++;
    c->tally.log_ratio += log(ratio);
    if (c->doc) {
        json_open(c->doc, NULL);
        json_text(c->doc, "name", base->name);
        json_text(c->doc, "shape", base->shape);
        json_text(c->doc, "device", device->word);
        json_real(c->doc, "base_s", base->time.median);
        json_real(c->doc, "other_s", other->time.median);
        json_real(c->doc, "speed_up", ratio);
        json_bool(c->doc, "beyond_noise", verdict == FASTER || verdict == SLOWER);
        json_text(c->doc, "verdict", verdict_names[verdict]);
        json_close(c->doc);
        return;
    }
    char(*line)[CELL] = c->cells + COLUMNS * c->lines++;
    snprintf(line[0], CELL, "%s", base->name);
    snprintf(line[1], CELL, "%.63s", base->shape);
    snprintf(line[2], CELL, "%s", device->word);
    snprintf(line[3], CELL, "%s", bench_time_text(base->time.median));
    snprintf(line[4], CELL, "%s", bench_time_text(other->time.median));
    if (verdict == SAME)
        snprintf(line[5], CELL, "within the noise (%.2fx)", ratio);
    else if (verdict == UNKNOWN)
        snprintf(line[5], CELL, "too few samples (%.2fx)", ratio);
    else
        snprintf(line[5], CELL, "%.2fx %s", verdict == FASTER ? ratio : 1 / ratio, verdict_names[verdict]);
}

/* Rows that were measured in `record` and not in `other`. */
static size_t alone(const struct bench_record *record, const struct bench_record *other) {
    size_t rows = 0;
    for (size_t d = 0; d < record->count; d++) {
        const struct bench_device *device = &record->devices[d], *there = partner(record, d, other);
        for (size_t r = 0; r < device->count; r++)
            rows += !device->rows[r].missing[0] && !(there && bench_find(there, &device->rows[r]));
    }
    return rows;
}

static void walk(struct comparison *c) {
    for (size_t d = 0; d < c->base->count; d++) {
        const struct bench_device *device = &c->base->devices[d], *other = partner(c->base, d, c->other);
        for (size_t r = 0; other && r < device->count; r++) {
            const struct bench_row *row = &device->rows[r], *match = bench_find(other, row);
            if (match && !row->missing[0])
                add_line(c, device, row, match);
        }
    }
    c->tally.base_only = alone(c->base, c->other);
    c->tally.other_only = alone(c->other, c->base);
}

/* ---- what else differs between the files, so that a ratio is not taken for that of two programs ---- */

struct difference {
    const char *device; /* NULL: of the whole file */
    const char *what, *base, *other;
};

static void tell(struct comparison *c, struct difference d) {
    if (strcmp(d.base, d.other) == 0)
        return;
    if (c->doc) {
        json_open(c->doc, NULL);
        json_text(c->doc, "device", d.device);
        json_text(c->doc, "what", d.what);
        json_text(c->doc, "base", d.base);
        json_text(c->doc, "other", d.other);
        json_close(c->doc);
        return;
    }
    printf("%s%s%s%s: %s and %s", c->differences++ ? "; " : "the files differ: ", shown(d.device ? d.device : ""),
           d.device ? ", " : "", d.what, shown(d.base), shown(d.other));
}

static void tell_differences(struct comparison *c) {
    tell(c, (struct difference){NULL, "fathom", c->base->version, c->other->version});
    for (size_t d = 0; d < c->base->count; d++) {
        const struct bench_device *base = &c->base->devices[d], *other = partner(c->base, d, c->other);
        char threads[2][24];
        if (!other)
            continue;
        snprintf(threads[0], sizeof threads[0], "%lld", (long long)base->threads);
        snprintf(threads[1], sizeof threads[1], "%lld", (long long)other->threads);
        tell(c, (struct difference){base->word, "name", base->name, other->name});
        tell(c, (struct difference){base->word, "driver", base->driver, other->driver});
        tell(c, (struct difference){base->word, "threads", threads[0], threads[1]});
        tell(c, (struct difference){base->word, "tuned", base->tuned ? "yes" : "no", other->tuned ? "yes" : "no"});
    }
    if (c->differences)
        putchar('\n');
}

static fathom_status print_comparison(struct comparison *c) {
    const char **table = NULL;
    const char *heads[COLUMNS] = {"work", "shape", "device", c->base_path, c->other_path, "verdict"};
    TRY(mem_new(&table, COLUMNS * (c->lines + 1), 1, sizeof *table, "table of the comparison"));
    for (size_t i = 0; i < COLUMNS * (c->lines + 1); i++)
        table[i] = i < COLUMNS ? heads[i] : c->cells[i - COLUMNS];
    print_table(table, c->lines + 1, COLUMNS, 0, 1u << 3 | 1u << 4);
    mem_free(table);
    printf("%s against %s: %zu faster, %zu slower, %zu within the noise", shown(c->other_path), shown(c->base_path),
           c->tally.of[FASTER], c->tally.of[SLOWER], c->tally.of[SAME]);
    if (c->tally.of[UNKNOWN])
        printf(", %zu with too few samples", c->tally.of[UNKNOWN]);
    printf("; %.2fx as fast on the whole\n", exp(c->tally.log_ratio / (double)c->tally.rows));
    if (c->tally.base_only || c->tally.other_only)
        printf("not compared: %zu rows of %s alone, %zu of %s alone\n", c->tally.base_only, shown(c->base_path),
               c->tally.other_only, shown(c->other_path));
    tell_differences(c);
    putchar('\n');
    return FATHOM_OK;
}

static void finish_json(struct comparison *c) {
    json_close(c->doc);
    json_int(c->doc, "faster", (int64_t)c->tally.of[FASTER]);
    json_int(c->doc, "slower", (int64_t)c->tally.of[SLOWER]);
    json_int(c->doc, "same", (int64_t)c->tally.of[SAME]);
    json_int(c->doc, "unknown", (int64_t)c->tally.of[UNKNOWN]);
    json_real(c->doc, "speed_up", exp(c->tally.log_ratio / (double)c->tally.rows));
    json_int(c->doc, "base_only", (int64_t)c->tally.base_only);
    json_int(c->doc, "other_only", (int64_t)c->tally.other_only);
    json_open_array(c->doc, "differences");
    tell_differences(c);
    json_close(c->doc);
    json_close(c->doc);
}

static fathom_status compare(struct comparison *c) {
    size_t most = 0;
    fathom_status status = FATHOM_OK;
    if (strcmp(c->base->what, c->other->what) != 0)
        return fail(FATHOM_DATA, "%s measured %s and %s measured %s: compare benchmarks of one kind", c->base_path,
                    c->base->what, c->other_path, c->other->what);
    for (size_t d = 0; d < c->base->count; d++)
        most += c->base->devices[d].count;
    if (c->doc) {
        json_open(c->doc, NULL);
        json_text(c->doc, "base", c->base_path);
        json_text(c->doc, "other", c->other_path);
        json_open_array(c->doc, "rows");
    } else {
        TRY(mem_new(&c->cells, COLUMNS * most, 1, sizeof *c->cells, "table of the comparison"));
    }
    walk(c);
    if (c->tally.rows == 0)
        status = fail(FATHOM_DATA,
                      "%s and %s have no row on the same device in common; measure one device in each, "
                      "or the same devices in both",
                      c->base_path, c->other_path);
    else if (c->doc)
        finish_json(c);
    else
        status = print_comparison(c);
    mem_free(c->cells);
    return status;
}

static fathom_status run(const void *given) {
    const struct compare_options *options = given;
    struct bench_record *records = NULL;
    struct json *doc = NULL;
    fathom_status status;
    int count = 0;
    TRY_OUT(mem_new(&records, FILES_MAX, 1, sizeof *records, "benchmarks"));
    for (; count < FILES_MAX && options->files[count]; count++)
        TRY_OUT(bench_read(&records[count], options->files[count]));
    if (options->common.json) {
        TRY_OUT(json_new_document(&doc));
        json_open_array(doc, "comparisons");
    }
    for (int i = 1; i < count; i++) {
        struct comparison c = {.base = &records[0],
                               .other = &records[i],
                               .base_path = options->files[0],
                               .other_path = options->files[i],
                               .doc = doc};
        TRY_OUT(compare(&c));
    }
    if (doc) {
        json_close(doc);
        TRY_OUT(print_json(doc));
    }
out:
    for (int i = 0; records && i < FILES_MAX; i++)
        bench_free(&records[i]);
    mem_free(records);
    json_free(doc);
    return status;
}

#define S struct compare_options
static const struct opt_row rows[] = {
    OPT_OPERAND(S, files[0], "A.json", OPT_REQUIRED, "the benchmark the others are held against"),
    OPT_OPERAND(S, files[1], "B.json", OPT_REQUIRED, "another one"),
    OPT_OPERAND(S, files[2], "C", NULL, "one more"),
    OPT_OPERAND(S, files[3], "D", NULL, "one more"),
    OPT_OPERAND(S, files[4], "E", NULL, "one more"),
    OPT_OPERAND(S, files[5], "F", NULL, "one more"),
    OPT_OPERAND(S, files[6], "G", NULL, "one more"),
    OPT_OPERAND(S, files[7], "H", NULL, "one more"),
};
#undef S

const struct verb verb_bench_compare = {
    "bench compare",
    "hold benchmarks against each other",
    "A difference counts when the middle halves of the samples lie apart by more\n"
    "than 3 %, in rows with five samples at least. Rows are matched by name, shape\n"
    "and device; files with one device each are compared whatever that device is.\n",
    "fathom bench compare before.json after.json\n",
    OPT_ROWS(rows),
    sizeof(struct compare_options),
    run,
};
