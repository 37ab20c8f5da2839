/* cmd_bench.c - `fathom bench`: measures the speed of devices. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "cli/open_device.h"
#include "core/file.h"
#include "core/mem.h"
#include "core/plural.h"

#define WHAT "gnn|ops|epoch|metrics|all"
#define NARROW 72 /* columns: tables on narrower terminals have fewer */

struct bench_command {
    struct common_options common;
    int what;
    double seconds;
    const char *only, *out, *csv, *html, *name;
    bool markdown, force;
};

/* Why rows are missing, each reason once, and the legend of the marks. */
static void print_notes(const struct bench_record *record) {
    bool noisy = false, few = false, disturbed = false;
    for (size_t d = 0; d < record->count; d++)
        for (size_t r = 0; r < record->devices[d].count; r++) {
            const struct bench_row *row = &record->devices[d].rows[r];
            noisy |= !row->missing[0] && !row->figures.disturbed[0] && bench_mark(&row->time)[0] == '!';
            few |= !row->missing[0] && bench_mark(&row->time)[0] == '?';
            disturbed |= row->figures.disturbed[0] != 0;
            if (bench_is_new_reason(record, d, r))
                printf("- %s\n", printable(row->missing));
        }
    if (disturbed)
        printf("* disturbed while it was measured\n");
    if (noisy)
        printf("! the middle half of the samples did not come within %.0f%% of each other: "
               "is the machine otherwise idle?\n",
               100 * BENCH_SPREAD);
    if (few)
        printf("? fewer than %d samples: --seconds gives it more time\n", BENCH_SAMPLES_MIN);
}

static void print_devices(const struct bench_record *record) {
    for (size_t d = 0; d < record->count; d++) {
        const struct bench_device *device = &record->devices[d];
        printf("%s%s%s: %s", style(stdout, STYLE_BOLD), printable(device->selector), style(stdout, STYLE_PLAIN),
               printable(device->name));
        if (device->threads)
            printf(", %d thread%s", (int)device->threads, plural(device->threads));
        if (device->tuned)
            printf(", tuned");
        if (device->gemm > 0)
            printf("; copies 1, 8, 64 MiB at %.0f, %.0f, %.0f GB/s, multiplies at %.0f GFLOP/s", 1e-9 * device->copy[0],
                   1e-9 * device->copy[1], 1e-9 * device->copy[2], 1e-9 * device->gemm);
        putchar('\n');
    }
}

static void print_distance(const struct bench_record *record) {
    if (isfinite(record->ping_pong_ns))
        printf("core to core: %.0f ns\n", record->ping_pong_ns);
}

static fathom_status print_part(const struct bench_record *record, size_t part) {
    struct bench_table table;
    bool narrow = terminal_width() > 0 && terminal_width() < NARROW;
    if (bench_start(record, part) == record->ends[part])
        return FATHOM_OK;
    fathom_status status = bench_table_make(&table, record, part, narrow);
    if (status == FATHOM_OK && table.rows > 1) {
        putchar('\n');
        print_table(table.cells, table.rows, table.columns, 0, table.right);
    }
    bench_table_free(&table);
    return status;
}

/* The answer first: the verdict, the scores. */
static fathom_status print_answer(const struct bench_record *record) {
    struct bench_table table;
    text_buf verdict = {0};
    bench_write_verdict(&verdict, record);
    fathom_status status = verdict.status;
    for (const char *line = verdict.bytes; line && *line; line = strchr(line, '\n') + 1) {
        char text[400];
        snprintf(text, sizeof text, "%.*s", (int)strcspn(line, "\n"), line);
        print_wrapped(stdout, printable(text), 0, 2, terminal_width());
    }
    text_free(&verdict);
    if (status != FATHOM_OK || record->ends[BENCH_GNN] == 0)
        return status;
    status = bench_score_table(&table, record, 1);
    if (status == FATHOM_OK) {
        putchar('\n');
        print_table(table.cells, table.rows, table.columns, 2, table.right);
    }
    bench_table_free(&table);
    return status;
}

static fathom_status print_record(const struct bench_record *record) {
    TRY(print_answer(record));
    if (record->ends[BENCH_OPS] > record->ends[BENCH_GNN])
        print_devices(record);
    for (size_t part = 0; part < BENCH_PARTS; part++)
        TRY(print_part(record, part));
    print_notes(record);
    print_distance(record);
    return FATHOM_OK;
}

/* A text that is saved to `path`, or printed where it is NULL. */
static fathom_status output_text(fathom_status (*write)(text_buf *, const struct bench_record *),
                                 const struct bench_record *record, const char *path) {
    text_buf text = {0};
    fathom_status status = write(&text, record);
    if (status == FATHOM_OK && path)
        status = text_save(&text, path);
    else if (status == FATHOM_OK)
        fputs(text.bytes, stdout);
    text_free(&text);
    return status;
}

static fathom_status write_json(const char *path, struct json *doc) {
    char *text = NULL;
    TRY(json_print(doc, &text));
    fathom_status status = file_replace(path, (const file_piece[]){{text, strlen(text)}, {"\n", 1}}, 2);
    mem_free(text);
    return status;
}

/* Prints and writes the record in every requested form. */
static fathom_status output_record(const struct bench_record *record, const struct bench_command *options) {
    const char *const written[] = {options->out, options->csv, options->html};
    struct json *doc = NULL;
    fathom_status verdict = bench_verdict(record), status;
    TRY_OUT(json_new_document(&doc));
    bench_to_json(doc, record);
    if (options->out)
        TRY_OUT(write_json(options->out, doc));
    if (options->csv)
        TRY_OUT(output_text(bench_write_csv, record, options->csv));
    if (options->html)
        TRY_OUT(bench_write_html(options->html, record));
    if (options->markdown && !options->common.json)
        TRY_OUT(output_text(bench_write_markdown, record, NULL));
    else if (!options->common.json)
        TRY_OUT(print_record(record));
    for (int i = 0; i < 3; i++)
        if (written[i])
            log_info("written: %s", written[i]);
    if (options->common.json)
        return print_json(&doc, verdict);
    status = verdict;
out:
    json_free(doc);
    return status;
}

static fathom_status cmd_bench(const void *given) {
    const struct bench_command *o = given;
    const bool chosen = opt_given(&o->common, &o->common.device) || getenv("FATHOM_DEVICE");
    const struct bench_options options = {.selectors = chosen || o->what != BENCH_GNN ? o->common.device : "all",
                                          .open = device_options(&o->common, false),
                                          .what = o->what,
                                          .seconds = o->seconds,
                                          .only = o->only,
                                          .name = o->name,
                                          .force = o->force,
                                          .progress = show_progress,
                                          .message = show_message};
    struct bench_record *record = NULL;
    TRY(mem_new(&record, 1, 1, sizeof *record, "record of the benchmark"));
    fathom_status status = bench_run(record, &options);
    if (status == FATHOM_OK)
        status = output_record(record, o);
    bench_free(record);
    mem_free(record);
    return status;
}

#define S struct bench_command
static const struct opt_row rows[] = {
    OPT_CHOICE(S, what, "what", 0, WHAT, "gnn", "what is measured"),
    OPT_TEXT(S, only, "only", 0, "TEXT", NULL, "only rows with this in their name or shape"),
    OPT_PATH(S, out, "out", 'o', "F.json", NULL, "write the figures, for fathom bench compare"),
    OPT_PATH(S, csv, "csv", 0, "F.csv", NULL, "write the figures for a spreadsheet"),
    OPT_PATH(S, html, "html", 0, "F.html", NULL, "write a page with charts"),
    OPT_FLAG(S, markdown, "markdown", 0, "print Markdown tables"),
    OPT_TEXT(S, name, "name", 0, "N", NULL, "what to call this machine (default: its processor)"),
    OPT_FLAG(S, force, "force", 0, "give scores even if other programs disturbed the run"),
    OPT_REAL(S, seconds, "seconds", 0, "S", "0.2", 0.001, 600, NULL,
             "ops, epoch, metrics: time for each row; it ends earlier when the samples agree"),
};
#undef S

const struct command command_bench = {
    "bench",
    "measure the speed of devices",
    "gnn: six standard workloads, the same on every machine, on every device unless\n"
    "--device names some (cpu,opencl:0), and a score for each device. Results are\n"
    "checked before they are timed. A measurement that other programs disturb is\n"
    "repeated, then marked; a disturbed run gives no score.\n"
    "ops: every operation, next to the roof of the device: the time that a copy\n"
    "of the same bytes or a large product of as many operations takes.\n"
    "epoch: training step, evaluation and accuracies of deep networks; data sets\n"
    "that are not on this machine are left out. metrics: those of fathom metrics.\n"
    "A device that fails is left out from there on; the others are measured, and\n"
    "the exit code is 3. Files have no names of host, user or folders.\n"
    "Run it on an idle machine.\n",
    "fathom bench -o mine.json --html mine.html\n"
    "fathom bench --what ops --device cpu,opencl:0\n"
    "fathom bench compare mine.json yours.json --html both.html\n",
    OPT_ROWS(rows),
    sizeof(struct bench_command),
    cmd_bench,
};
