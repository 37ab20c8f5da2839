/* cmd_bench.c - `fathom bench`: how fast the devices of this machine are at this work. */
#include <string.h>

#include "cli/bench.h"
#include "cli/cli.h"
#include "cli/device.h"
#include "core/file.h"
#include "core/mem.h"

#define WHAT "ops|epoch|metrics|all"

struct bench_options {
    struct common_options common;
    int what;
    double seconds;
    const char *only, *out, *html;
};

/* In the order of WHAT; the word behind the last means each of them. */
static fathom_status (*const measure[BENCH_PARTS])(struct bench_record *record,
                                                   be_device *const *devices) = {bench_ops, bench_epoch, bench_metrics};

fathom_status bench_device_rows(int *rows, int *count, const be_list *list, const char *words) {
    char word[128];
    *count = 0;
    if (strcmp(words, "all") == 0) {
        for (; *count < list->count && *count < BENCH_DEVICES; ++*count)
            rows[*count] = *count;
        return FATHOM_OK;
    }
    for (const char *at = words; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        int row = 0, seen = 0;
        snprintf(word, sizeof word, "%.*s", (int)strcspn(at, ","), at);
        TRY(be_find(list, word, &row));
        for (int i = 0; i < *count; i++)
            seen |= rows[i] == row;
        if (!seen && *count == BENCH_DEVICES)
            return fail(FATHOM_USAGE, "--device: at most %d devices are measured at once", BENCH_DEVICES);
        if (!seen)
            rows[(*count)++] = row;
    }
    return FATHOM_OK;
}

/* Is there a record of fathom tune for the device, and is it used? */
static bool is_tuned(const be_options *open, const be_info *info) {
    be_tuning tuning = {0};
    if (open->tuned)
        open->tuned(open->user, &tuning, info);
    return tuning.group || tuning.columns || tuning.own_gemm;
}

/* One device that does not open does not keep the others from being measured; when none does, that is the failure. */
static fathom_status open_devices(be_device **devices, struct bench_record *record,
                                  const struct bench_options *options) {
    const be_options open = device_options(&options->common, false);
    be_list list = {0};
    int rows[BENCH_DEVICES], count, opened = 0;
    fathom_status status;
    TRY_OUT(be_list_devices(&list));
    TRY_OUT(bench_device_rows(rows, &count, &list, options->common.device));
    for (int i = 0; i < count; i++) {
        TRY_OUT(bench_add_device(record, &list.info[rows[i]], options->common.threads));
        record->devices[i].tuned = is_tuned(&open, &list.info[rows[i]]);
        status = be_open_row(&devices[i], &list, rows[i], &open);
        opened += status == FATHOM_OK;
        if (status == FATHOM_DEVICE || status == FATHOM_MEMORY)
            bench_give_up(&record->devices[i]);
        else if (status != FATHOM_OK)
            goto out;
    }
    if (opened > 0)
        status = FATHOM_OK;
out:
    be_list_free(&list);
    return status;
}

static fathom_status write_json(const char *path, struct json *doc) {
    char *text = NULL;
    TRY(json_print(doc, &text));
    fathom_status status = file_replace(path, (const file_piece[]){{text, strlen(text)}, {"\n", 1}}, 2);
    mem_free(text);
    return status;
}

/* A device that computes wrongly is not a matter of speed; one that failed was asked for. */
static fathom_status check(const struct bench_record *record) {
    for (size_t d = 0; d < record->count; d++)
        for (size_t r = 0; r < record->devices[d].count; r++) {
            const struct bench_row *row = &record->devices[d].rows[r];
            if (strncmp(row->missing, "wrong result", 12) == 0)
                return fail(FATHOM_NUMERIC, "%s on %s, %s: %s; fathom selftest --device %s tells more", row->name,
                            record->devices[d].word, row->shape, row->missing, record->devices[d].word);
        }
    for (size_t d = 0; d < record->count; d++)
        if (record->devices[d].failed[0])
            return fail(FATHOM_DEVICE, "%s failed, and its rows are missing: %s", record->devices[d].word,
                        record->devices[d].failed);
    return FATHOM_OK;
}

/* Prints and writes the record in every form that was asked for. */
static fathom_status deliver(const struct bench_record *record, const struct bench_options *options) {
    struct json *doc = NULL;
    fathom_status verdict = check(record), status;
    TRY_OUT(json_new_document(&doc));
    bench_to_json(doc, record);
    if (options->out)
        TRY_OUT(write_json(options->out, doc));
    if (options->html)
        TRY_OUT(bench_write_html(options->html, record));
    if (options->common.json) {
        if (verdict != FATHOM_OK)
            add_json_error(doc, verdict);
        TRY_OUT(print_json(doc));
    } else {
        TRY_OUT(bench_chart(record));
    }
    if (options->out)
        say("written: %s", options->out);
    if (options->html)
        say("written: %s", options->html);
    status = verdict;
out:
    json_free(doc);
    return status;
}

static fathom_status measure_round(struct bench_record *record, be_device *const *devices, int what) {
    for (size_t d = 0; d < record->count; d++)
        record->devices[d].next = 0;
    for (int part = 0; part < BENCH_PARTS; part++) {
        if (what == part || what == BENCH_PARTS)
            TRY(measure[part](record, devices));
        record->ends[part] = record->round == 0 ? record->devices[0].count : record->ends[part];
    }
    return FATHOM_OK;
}

static fathom_status run(const void *given) {
    const struct bench_options *options = given;
    struct bench_record *record = NULL;
    be_device *devices[BENCH_DEVICES] = {NULL};
    fathom_status status;
    TRY(mem_new(&record, 1, 1, sizeof *record, "record of the benchmark"));
    TRY_OUT(bench_describe(record, opt_choice(WHAT, options->what), options->seconds));
    TRY_OUT(open_devices(devices, record, options));
    record->only = options->only;
    for (; record->round < BENCH_ROUNDS; record->round++)
        TRY_OUT(measure_round(record, devices, options->what));
    progress_end();
    if (record->devices[0].count == 0) {
        status = fail(FATHOM_USAGE, "--only %s: no row of --what %s has this in its name or shape", options->only,
                      record->what);
        goto out;
    }
    TRY_OUT(deliver(record, options));
out:
    for (size_t i = 0; i < BENCH_DEVICES; i++)
        be_close(devices[i]);
    bench_free(record);
    mem_free(record);
    return status;
}

#define S struct bench_options
static const struct opt_row rows[] = {
    OPT_CHOICE(S, what, "what", 0, WHAT, "ops", "what is measured"),
    OPT_REAL(S, seconds, "seconds", 0, "S", "0.2", 0.001, 600, NULL,
             "time for each row; it ends earlier when the samples agree"),
    OPT_TEXT(S, only, "only", 0, "TEXT", NULL, "only rows with this in their name or shape"),
    OPT_PATH(S, out, "out", 'o', "F.json", NULL, "write the figures, for fathom bench compare"),
    OPT_PATH(S, html, "html", 0, "F.html", NULL, "write a page with charts"),
};
#undef S

const struct verb verb_bench = {
    "bench",
    "measure the speed of devices",
    "--device takes several words here (cpu,opencl:0), or all.\n"
    "ops: every operation, beside the roof of the device: the time that a copy\n"
    "of the same bytes or a large product of as many operations takes. Results\n"
    "are checked before they are timed.\n"
    "epoch: training step, evaluation and accuracies of deep networks; data sets\n"
    "that are not on this machine are left out. metrics: those of fathom metrics.\n"
    "A device that fails is left out from there on; the others are measured, and\n"
    "the exit code is 3.\n"
    "Let nothing else run meanwhile.\n",
    "fathom bench --device cpu,opencl:0 -o today.json --html today.html\n"
    "fathom bench compare yesterday.json today.json\n",
    OPT_ROWS(rows),
    sizeof(struct bench_options),
    run,
};
