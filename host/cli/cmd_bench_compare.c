/* cmd_bench_compare.c - `fathom bench compare`: prints comparisons of benchmarks. */
#include "bench/bench_html.h"
#include "bench/compare.h"
#include "bench/workloads.h"
#include "cli/cli.h"
#include "core/mem.h"
#include "core/plural.h"

#define FILES_MAX 8
#define COLUMNS 6
#define CELL 64

struct compare_options {
    struct common_options common;
    const char *files[FILES_MAX], *html;
};

static void fill_line(char (*line)[CELL], const struct bench_compared *row) {
    snprintf(line[0], CELL, "%s", row->base->name);
    snprintf(line[1], CELL, "%.63s", row->base->shape);
    snprintf(line[2], CELL, "%s", row->device->selector);
    snprintf(line[3], CELL, "%s", bench_time_text(row->base->time.median));
    snprintf(line[4], CELL, "%s", bench_time_text(row->other->time.median));
    if (row->verdict == BENCH_SAME)
        snprintf(line[5], CELL, "within the noise (%.2fx)", row->ratio);
    else if (row->verdict == BENCH_UNKNOWN)
        snprintf(line[5], CELL, "too few samples (%.2fx)", row->ratio);
    else
        snprintf(line[5], CELL, "%.2fx %s", row->verdict == BENCH_FASTER ? row->ratio : 1 / row->ratio,
                 bench_verdict_name(row->verdict));
}

static void print_differences(const struct bench_comparison *c) {
    for (size_t i = 0; i < c->difference_count; i++) {
        const struct bench_difference *d = &c->differences[i];
        printf("%s%s%s%s: %s and %s", i ? "; " : "the files differ: ", printable(d->device ? d->device : ""),
               d->device ? ", " : "", d->what, printable(d->base), printable(d->other));
    }
    if (c->difference_count)
        putchar('\n');
}

static fathom_status print_rows(const struct bench_comparison *c) {
    const char *titles[COLUMNS] = {"work", "shape", "device", c->base_path, c->other_path, "verdict"}, **table = NULL;
    char(*cells)[CELL] = NULL;
    fathom_status status;
    TRY_OUT(mem_new(&cells, COLUMNS * c->count, 1, sizeof *cells, "table of the comparison"));
    TRY_OUT(mem_new(&table, COLUMNS * (c->count + 1), 1, sizeof *table, "table of the comparison"));
    for (size_t i = 0; i < c->count; i++)
        fill_line(cells + COLUMNS * i, &c->rows[i]);
    for (size_t i = 0; i < COLUMNS * (c->count + 1); i++)
        table[i] = i < COLUMNS ? titles[i] : cells[i - COLUMNS];
    print_table(table, c->count + 1, COLUMNS, 0, 1u << 3 | 1u << 4);
out:
    mem_free(table);
    mem_free(cells);
    return status;
}

static fathom_status print_comparison(const struct bench_comparison *c) {
    if (c->count == 0)
        return FATHOM_OK;
    TRY(print_rows(c));
    printf("%s against %s: %zu faster, %zu slower, %zu within the noise", printable(c->other_path),
           printable(c->base_path), c->of[BENCH_FASTER], c->of[BENCH_SLOWER], c->of[BENCH_SAME]);
    if (c->of[BENCH_UNKNOWN])
        printf(", %zu with too few samples", c->of[BENCH_UNKNOWN]);
    printf("; %.2fx as fast on the whole\n", c->speed_up);
    if (c->base_only || c->other_only)
        printf("not compared: %zu row%s of %s alone, %zu of %s alone\n", c->base_only, plural((int64_t)c->base_only),
               printable(c->base_path), c->other_only, printable(c->other_path));
    print_differences(c);
    putchar('\n');
    return FATHOM_OK;
}

/* `doc`: or NULL, then it is printed as text. */
static fathom_status show_comparison(const struct bench_record *base, const char *base_path,
                                     const struct bench_record *other, const char *other_path, struct json *doc) {
    struct bench_comparison c;
    fathom_status status = bench_compare(&c, base, base_path, other, other_path);
    if (status == FATHOM_OK && doc)
        bench_comparison_to_json(doc, &c);
    else if (status == FATHOM_OK)
        status = print_comparison(&c);
    bench_comparison_free(&c);
    return status;
}

static fathom_status print_made(struct bench_table *t, fathom_status status, size_t shrink) {
    if (status == FATHOM_OK) {
        print_table(t->cells, t->rows, t->columns, shrink, t->right);
        putchar('\n');
    }
    bench_table_free(t);
    return status;
}

/* Whole machines: scores, then times of the standard workloads. */
static fathom_status print_machines(const struct bench_record *records, size_t count) {
    struct bench_table t;
    for (size_t i = 0; i < count; i++)
        if (records[i].disturbed[0])
            printf("%s was disturbed: %s\n", printable(records[i].name), printable(records[i].disturbed));
    TRY(print_made(&t, bench_score_table(&t, records, count), 3));
    return print_made(&t, bench_machines_table(&t, records, count), 1);
}

static bool all_have_workloads(const struct bench_record *records, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (!bench_has_workloads(&records[i]))
            return false;
    return true;
}

/* Row by row against the first file; of more than two machines only as JSON. */
static fathom_status show_comparisons(const struct bench_record *records, size_t count,
                                      const struct compare_options *options, struct json *doc, bool machines) {
    for (size_t i = 1; i < count && (doc || !machines || count == 2); i++)
        TRY(show_comparison(&records[0], options->files[0], &records[i], options->files[i], doc));
    return FATHOM_OK;
}

static fathom_status output_comparisons(const struct bench_record *records, size_t count,
                                        const struct compare_options *options) {
    const bool machines = all_have_workloads(records, count);
    struct json *doc = NULL;
    fathom_status status;
    if (options->html && !machines)
        return fail(FATHOM_USAGE, "--html: a page compares standard workloads; write the files with fathom bench -o");
    if (!options->common.json) {
        if (machines)
            TRY(print_machines(records, count));
        return show_comparisons(records, count, options, NULL, machines);
    }
    TRY(json_new_document(&doc));
    json_open_array(doc, "comparisons");
    TRY_OUT(show_comparisons(records, count, options, doc, machines));
    json_close(doc);
    if (machines)
        bench_machines_to_json(doc, records, count);
    TRY_OUT(print_json(&doc, FATHOM_OK));
out:
    json_free(doc);
    return status;
}

static fathom_status cmd_bench_compare(const void *given) {
    const struct compare_options *options = given;
    struct bench_record *records = NULL;
    fathom_status status;
    size_t count = 0;
    TRY_OUT(mem_new(&records, FILES_MAX, 1, sizeof *records, "benchmarks"));
    for (; count < FILES_MAX && options->files[count]; count++)
        TRY_OUT(bench_read(&records[count], options->files[count]));
    TRY_OUT(output_comparisons(records, count, options));
    if (options->html) {
        TRY_OUT(bench_write_compare_html(options->html, records, count));
        log_info("written: %s", options->html);
    }
out:
    for (int i = 0; records && i < FILES_MAX; i++)
        bench_free(&records[i]);
    mem_free(records);
    return status;
}

#define S struct compare_options
static const struct opt_row rows[] = {
    OPT_OPERAND(S, files[0], "A.json", OPT_REQUIRED, "the base of the comparison"),
    OPT_OPERAND(S, files[1], "B.json", OPT_REQUIRED, "a benchmark to compare with it"),
    OPT_OPERAND(S, files[2], "C", NULL, "another one"),
    OPT_OPERAND(S, files[3], "D", NULL, "another one"),
    OPT_OPERAND(S, files[4], "E", NULL, "another one"),
    OPT_OPERAND(S, files[5], "F", NULL, "another one"),
    OPT_OPERAND(S, files[6], "G", NULL, "another one"),
    OPT_OPERAND(S, files[7], "H", NULL, "another one"),
    OPT_PATH(S, html, "html", 0, "F.html", NULL, "write a page with a chart for each standard workload"),
};
#undef S

const struct command command_bench_compare = {
    "bench compare",
    "compare benchmarks: machines, or row by row",
    "Files of standard workloads compare machines: scores and times of all devices.\n"
    "Of two files, and of all others, each row is compared with that of the first.\n"
    "A difference counts when the quartile ranges of the samples are more than\n"
    "3 % apart, in rows with at least five samples. Rows are matched by name, shape\n"
    "and device; files with one device each are always compared.\n",
    "fathom bench compare before.json after.json\n"
    "fathom bench compare mine.json yours.json theirs.json --html all.html\n",
    OPT_ROWS(rows),
    sizeof(struct compare_options),
    cmd_bench_compare,
};
