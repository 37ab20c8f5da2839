/* cmd_bench.c - `fathom bench`: measures the speed of devices. */
#include <math.h>
#include <string.h>

#include "bench/bench.h"
#include "cli/open_device.h"
#include "core/file.h"
#include "core/mem.h"
#include "core/plural.h"

#define WHAT "ops|epoch|metrics|all"

struct bench_command {
    struct common_options common;
    int what;
    double seconds;
    const char *only, *out, *html;
};

/* Why rows are missing, each reason once, and the legend of the marks. */
static void print_notes(const struct bench_record *record) {
    bool noisy = false, few = false;
    for (size_t d = 0; d < record->count; d++)
        for (size_t r = 0; r < record->devices[d].count; r++) {
            const struct bench_row *row = &record->devices[d].rows[r];
            noisy |= !row->missing[0] && bench_mark(&row->time)[0] == '!';
            few |= !row->missing[0] && bench_mark(&row->time)[0] == '?';
            if (bench_is_new_reason(record, d, r))
                printf("- %s\n", printable(row->missing));
        }
    if (noisy)
        printf("! the middle half of the samples did not come within %.0f%% of each other in %.2g s: "
               "is the machine otherwise idle?\n",
               100 * BENCH_SPREAD, record->seconds);
    if (few)
        printf("? too long for %d samples in %.2g s: --seconds gives it more time\n", BENCH_SAMPLES_MIN,
               record->seconds);
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
    if (isfinite(record->ping_pong_ns))
        printf("core to core: %.0f ns\n", record->ping_pong_ns);
}

static fathom_status print_part(const struct bench_record *record, size_t part) {
    struct bench_table table;
    fathom_status status = bench_table_make(&table, record, part);
    if (status == FATHOM_OK && table.rows > 1) {
        putchar('\n');
        print_table(table.cells, table.rows, table.columns, 0, table.right);
    }
    bench_table_free(&table);
    return status;
}

static fathom_status print_record(const struct bench_record *record) {
    print_devices(record);
    for (size_t part = 0; part < BENCH_PARTS; part++)
        TRY(print_part(record, part));
    print_notes(record);
    return FATHOM_OK;
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
    struct json *doc = NULL;
    fathom_status verdict = bench_verdict(record), status;
    TRY_OUT(json_new_document(&doc));
    bench_to_json(doc, record);
    if (options->out)
        TRY_OUT(write_json(options->out, doc));
    if (options->html)
        TRY_OUT(bench_write_html(options->html, record));
    if (!options->common.json)
        TRY_OUT(print_record(record));
    if (options->out)
        log_info("written: %s", options->out);
    if (options->html)
        log_info("written: %s", options->html);
    if (options->common.json)
        return print_json(&doc, verdict);
    status = verdict;
out:
    json_free(doc);
    return status;
}

static fathom_status cmd_bench(const void *given) {
    const struct bench_command *o = given;
    const struct bench_options options = {.selectors = o->common.device,
                                          .open = device_options(&o->common, false),
                                          .what = o->what,
                                          .seconds = o->seconds,
                                          .only = o->only,
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
    OPT_CHOICE(S, what, "what", 0, WHAT, "ops", "what is measured"),
    OPT_REAL(S, seconds, "seconds", 0, "S", "0.2", 0.001, 600, NULL,
             "time for each row; it ends earlier when the samples agree"),
    OPT_TEXT(S, only, "only", 0, "TEXT", NULL, "only rows with this in their name or shape"),
    OPT_PATH(S, out, "out", 'o', "F.json", NULL, "write the figures, for fathom bench compare"),
    OPT_PATH(S, html, "html", 0, "F.html", NULL, "write a page with charts"),
};
#undef S

const struct command command_bench = {
    "bench",
    "measure the speed of devices",
    "--device takes a list here (cpu,opencl:0), or all.\n"
    "ops: every operation, next to the roof of the device: the time that a copy\n"
    "of the same bytes or a large product of as many operations takes. Results\n"
    "are checked before they are timed.\n"
    "epoch: training step, evaluation and accuracies of deep networks; data sets\n"
    "that are not on this machine are left out. metrics: those of fathom metrics.\n"
    "A device that fails is left out from there on; the others are measured, and\n"
    "the exit code is 3.\n"
    "Run it on an idle machine.\n",
    "fathom bench --device cpu,opencl:0 -o today.json --html today.html\n"
    "fathom bench compare yesterday.json today.json\n",
    OPT_ROWS(rows),
    sizeof(struct bench_command),
    cmd_bench,
};
