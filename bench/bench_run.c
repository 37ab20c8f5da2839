/* bench_run.c - a whole benchmark: opens the devices, measures every row in several rounds. */
#include <stdio.h>
#include <string.h>

#include "bench/workloads.h"
#include "core/text.h"

#define IDLE_SECONDS 5.0 /* to wait for other programs before a run */

/* In the order of BENCH_WHAT. */
static fathom_status (*const measure[BENCH_PARTS])(struct bench_record *record, be_device *const *devices) = {
    bench_gnn, bench_ops, bench_epoch, bench_metrics};

fathom_status bench_device_rows(int *rows, int *count, const be_list *list, const char *selectors) {
    char selector[128];
    *count = 0;
    if (strcmp(selectors, "all") == 0) {
        for (; *count < list->count && *count < BENCH_DEVICES; ++*count)
            rows[*count] = *count;
        return FATHOM_OK;
    }
    for (const char *at = selectors; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        int row = 0, seen = 0;
        snprintf(selector, sizeof selector, "%.*s", (int)strcspn(at, ","), at);
        TRY(be_find(list, selector, &row));
        for (int i = 0; i < *count; i++)
            seen |= rows[i] == row;
        if (!seen && *count == BENCH_DEVICES)
            return fail(FATHOM_USAGE, "--device: at most %d devices are measured in one run", BENCH_DEVICES);
        if (!seen)
            rows[(*count)++] = row;
    }
    return FATHOM_OK;
}

/* Is a record of fathom tune used for the device? */
static bool is_tuned(const be_options *open, const be_info *info) {
    be_tuning tuning = {0};
    if (open->tuned)
        open->tuned(open->user, &tuning, info);
    return tuning.group || tuning.own_gemm;
}

/* A device that does not open is left out; the failure is returned only when none opens. */
static fathom_status open_devices(be_device **devices, struct bench_record *record, const struct bench_options *o) {
    be_list list = {0};
    int rows[BENCH_DEVICES], count, opened = 0;
    fathom_status status;
    TRY_OUT(be_list_devices(&list));
    TRY_OUT(bench_device_rows(rows, &count, &list, o->selectors));
    for (int i = 0; i < count; i++) {
        TRY_OUT(bench_add_device(record, &list.info[rows[i]], o->open.threads));
        record->devices[i].tuned = is_tuned(&o->open, &list.info[rows[i]]);
        status = be_open_row(&devices[i], &list, rows[i], &o->open);
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

static void report_busy_cores(const struct bench_record *record, be_device *const *devices) {
    char text[200];
    for (size_t d = 0; d < record->count && record->message; d++) {
        be_counters counters = devices[d] ? be_count(devices[d]) : (be_counters){0};
        if (!be_was_crowded(&counters))
            continue;
        snprintf(text, sizeof text,
                 "%s: other programs used the cores most of the time, so these times do not describe it; repeat on an "
                 "idle machine",
                 record->devices[d].selector);
        record->message(text);
    }
}

static bool any_on_cores(const struct bench_record *record) {
    for (size_t d = 0; d < record->count; d++)
        if (record->devices[d].on_cores)
            return true;
    return false;
}

/* All rounds, watched as a whole; the workloads of bench_gnn are also watched one by one. */
static fathom_status measure_rounds(struct bench_record *record, be_device *const *devices, int what) {
    struct bench_watch watch;
    bench_watch_begin(&watch, "", any_on_cores(record));
    for (; record->round < BENCH_ROUNDS; record->round++)
        TRY(measure_round(record, devices, what));
    bench_watch_end(&watch);
    record->load[0] = watch.before.average;
    record->load[1] = watch.after.average;
    record->others = bench_watch_others(&watch);
    if (what != BENCH_GNN)
        bench_watch_disturbed(record->disturbed, &watch);
    bench_finish_gnn(record);
    return FATHOM_OK;
}

static void report_busy_machine(const struct bench_record *record) {
    char text[100];
    double others = bench_wait_for_idle(IDLE_SECONDS);
    if (others > 0.1 * (double)record->cores && record->message) {
        text_format(text, sizeof text, "other programs use %.1f cores: wait until the machine is idle", others);
        record->message(text);
    }
}

fathom_status bench_run(struct bench_record *record, const struct bench_options *options) {
    static const char *const names[BENCH_PARTS + 1] = {"gnn", "ops", "epoch", "metrics", "all"};
    be_device *devices[BENCH_DEVICES] = {NULL};
    fathom_status status;
    record->only = options->only;
    record->progress = options->progress;
    record->message = options->message;
    TRY_OUT(bench_describe(record, names[options->what], options->seconds));
    snprintf(record->name, sizeof record->name, "%s", options->name ? options->name : "");
    record->forced = options->force;
    TRY_OUT(open_devices(devices, record, options));
    if (options->what == BENCH_GNN || options->what == BENCH_PARTS)
        report_busy_machine(record);
    TRY_OUT(measure_rounds(record, devices, options->what));
    progress_clear(record->progress);
    report_busy_cores(record, devices);
    if (record->devices[0].count == 0)
        status = fail(FATHOM_USAGE, "--only %s: no row of --what %s has this in its name or shape", options->only,
                      record->what);
out:
    for (size_t i = 0; i < BENCH_DEVICES; i++)
        be_close(devices[i]);
    return status;
}

fathom_status bench_verdict(const struct bench_record *record) {
    for (size_t d = 0; d < record->count; d++)
        for (size_t r = 0; r < record->devices[d].count; r++) {
            const struct bench_device *device = &record->devices[d];
            const struct bench_row *row = &device->rows[r];
            if (strncmp(row->missing, "wrong result", 12) == 0)
                return fail(FATHOM_NUMERIC, "%s on %s, %s: %s; run fathom selftest --device %s", row->name,
                            device->selector, row->shape, row->missing, device->selector);
        }
    for (size_t d = 0; d < record->count; d++)
        if (record->devices[d].failed[0])
            return fail(FATHOM_DEVICE, "%s failed, and its rows are missing: %s", record->devices[d].selector,
                        record->devices[d].failed);
    return FATHOM_OK;
}
