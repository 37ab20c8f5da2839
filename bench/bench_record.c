/* bench_record.c - the record of a benchmark: facts about machine and devices, rows, and its JSON. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "bench/bench.h"
#include "core/cpu_name.h"
#include "core/mem.h"
#include "core/redact.h"

/* The first line of `path`; "" when there is none. */
static void first_line(char *text, size_t size, const char *path) {
    char line[256];
    FILE *file = fopen(path, "r");
    text[0] = 0;
    if (file && fgets(line, sizeof line, file))
        snprintf(text, size, "%.*s", (int)strcspn(line, "\n"), line);
    if (file)
        fclose(file);
}

static void describe_clock(char *text, size_t size) {
    char source[32];
    struct timespec step = {0};
    first_line(source, sizeof source, "/sys/devices/system/clocksource/clocksource0/current_clocksource");
    clock_getres(CLOCK_MONOTONIC, &step);
    snprintf(text, size, "CLOCK_MONOTONIC of %s, steps of %ld ns", source[0] ? source : "the system",
             (long)step.tv_nsec);
}

fathom_status bench_describe(struct bench_record *record, const char *what, double seconds) {
    struct utsname system;
    char text[200], clean[REDACT_LINE_MAX];
    time_t now = time(NULL);
    struct tm utc;
    record->seconds = seconds;
    snprintf(record->what, sizeof record->what, "%s", what);
    snprintf(record->version, sizeof record->version, "%s", fathom_version());
    if (gmtime_r(&now, &utc))
        strftime(record->when, sizeof record->when, "%Y-%m-%dT%H:%M:%SZ", &utc);
    if (uname(&system) == 0) {
        /* The version without the name of who built the kernel. */
        snprintf(text, sizeof text, "%.60s %.*s %.60s", system.sysname, (int)strspn(system.release, "0123456789."),
                 system.release, system.machine);
        redact_line(clean, text);
        snprintf(record->system, sizeof record->system, "%.199s", clean);
    }
    cpu_name(record->cpu, sizeof record->cpu);
    record->cores = sysconf(_SC_NPROCESSORS_ONLN);
    describe_clock(record->clock, sizeof record->clock);
    be_describe("cpu", record->libraries[0], sizeof record->libraries[0]);
    be_describe("opencl", record->libraries[1], sizeof record->libraries[1]);
    record->ping_pong_ns = record->core_ns[0] = record->core_ns[1] = bench_ping_pong();
    record->load[0] = record->load[1] = record->others = NAN;
    return FATHOM_OK;
}

fathom_status bench_add_device(struct bench_record *record, const be_info *info, int64_t threads) {
    if (record->count == BENCH_DEVICES)
        return fail(FATHOM_USAGE, "--device: at most %d devices are measured in one run", BENCH_DEVICES);
    struct bench_device *device = &record->devices[record->count++];
    *device = (struct bench_device){.compute_units = info->compute_units};
    device->threads = strcmp(info->backend, "cpu") == 0 ? (threads ? threads : record->cores) : 0;
    snprintf(device->selector, sizeof device->selector, "%s", info->selector);
    snprintf(device->backend, sizeof device->backend, "%s", info->backend);
    snprintf(device->name, sizeof device->name, "%s", info->name);
    snprintf(device->platform, sizeof device->platform, "%s", info->platform);
    snprintf(device->driver, sizeof device->driver, "%s", info->driver);
    snprintf(device->pci, sizeof device->pci, "%s", info->pci);
    device->on_cores = info->kind == BE_CPU || info->kind == BE_OPENCL_CPU;
    device->in_package = device->on_cores || info->kind == BE_GPU_INTEGRATED;
    return FATHOM_OK;
}

void bench_give_up(struct bench_device *device) {
    char clean[REDACT_LINE_MAX];
    redact_line(clean, fathom_last_error());
    snprintf(device->failed, sizeof device->failed, "%.499s", clean);
}

fathom_status bench_end_row(struct bench_device *device, struct bench_row *row, fathom_status status) {
    if (status != FATHOM_DEVICE && status != FATHOM_MEMORY)
        return status;
    char clean[REDACT_LINE_MAX];
    redact_line(clean, fathom_last_error());
    row->time = (struct bench_times){0};
    row->figures = (struct bench_figures){0};
    snprintf(row->missing, sizeof row->missing, "%.199s", clean);
    if (status == FATHOM_DEVICE)
        bench_give_up(device);
    return FATHOM_OK;
}

fathom_status bench_reserve_rows(struct bench_device *device, size_t count) {
    TRY(mem_grow(&device->rows, device->capacity, count, sizeof *device->rows, "rows of a benchmark"));
    device->capacity = count;
    return FATHOM_OK;
}

fathom_status bench_add_row(struct bench_row **row, struct bench_device *device, const char *name, const char *shape) {
    if (device->count == device->capacity)
        TRY(bench_reserve_rows(device, device->capacity ? 2 * device->capacity : 32));
    *row = &device->rows[device->count++];
    **row = (struct bench_row){0};
    snprintf((*row)->name, sizeof(*row)->name, "%s", name);
    snprintf((*row)->shape, sizeof(*row)->shape, "%s", shape);
    snprintf((*row)->missing, sizeof(*row)->missing, "%.199s", device->failed);
    return FATHOM_OK;
}

fathom_status bench_next_row(struct bench_row **row, const struct bench_record *record, struct bench_device *device,
                             const char *name, const char *shape) {
    if (record->round == 0)
        return bench_add_row(row, device, name, shape);
    *row = &device->rows[device->next++];
    return FATHOM_OK;
}

bool bench_due(const struct bench_record *record, const struct bench_device *device, const struct bench_row *row) {
    bool again = record->round > 0 && bench_is_long(&row->time) && row->time.median > record->seconds;
    return !device->failed[0] && !row->missing[0] && !again;
}

bool bench_wanted(const struct bench_record *record, const char *name, const char *shape) {
    return !record->only || strstr(name, record->only) || strstr(shape, record->only);
}

void bench_free(struct bench_record *record) {
    for (size_t i = 0; i < record->count; i++) {
        mem_free(record->devices[i].rows);
        mem_free(record->devices[i].sorted);
    }
    record->count = 0;
}

/* ---- JSON ---- */

/* 0: not measured. */
static void real_or_null(struct json *doc, const char *key, double value) {
    if (value > 0)
        json_real(doc, key, value);
    else
        json_null(doc, key);
}

static void int_or_null(struct json *doc, const char *key, int64_t value) {
    if (value > 0)
        json_int(doc, key, value);
    else
        json_null(doc, key);
}

/* Of a standard workload. */
static void figures_to_json(struct json *doc, const struct bench_row *row) {
    const struct bench_figures *f = &row->figures;
    json_real(doc, "epochs_per_s", 1 / row->time.median);
    json_real(doc, "edges_per_s", f->edges / row->time.median);
    real_or_null(doc, "speed_up", f->speed_up);
    int_or_null(doc, "memory_bytes", f->memory);
    int_or_null(doc, "launches", f->launches);
    real_or_null(doc, "first_run_s", f->first);
    real_or_null(doc, "joules", f->joules);
    json_text(doc, "recompute", f->recompute[0] ? f->recompute : NULL);
    json_text(doc, "disturbed", f->disturbed[0] ? f->disturbed : NULL);
}

static void row_to_json(struct json *doc, const struct bench_row *row) {
    bool there = !row->missing[0];
    json_open(doc, NULL);
    json_text(doc, "name", row->name);
    json_text(doc, "shape", row->shape);
    json_text(doc, "missing", there ? NULL : row->missing);
    if (there) {
        const struct bench_times *t = &row->time;
        json_real(doc, "median_s", t->median);
        json_real(doc, "q1_s", t->q1);
        json_real(doc, "q3_s", t->q3);
        json_real(doc, "spread", bench_spread(t));
        json_bool(doc, "settled", t->settled);
        json_int(doc, "samples", t->samples);
        json_int(doc, "launches_per_sample", t->launches);
        real_or_null(doc, "gflop_s", 1e-9 * row->flops / t->median);
        real_or_null(doc, "gb_s", 1e-9 * row->bytes / t->median);
        real_or_null(doc, "of_roof", row->roof / t->median);
        if (row->figures.edges > 0)
            figures_to_json(doc, row);
    }
    json_close(doc);
}

static void device_to_json(struct json *doc, const struct bench_device *device, double score) {
    json_open(doc, NULL);
    json_text(doc, "word", device->selector);
    json_text(doc, "name", device->name);
    json_text(doc, "backend", device->backend);
    json_text(doc, "platform", device->platform);
    json_text(doc, "driver", device->driver);
    json_text(doc, "failed", device->failed[0] ? device->failed : NULL);
    json_int(doc, "compute_units", device->compute_units);
    if (device->threads)
        json_int(doc, "threads", device->threads);
    else
        json_null(doc, "threads");
    json_bool(doc, "tuned", device->tuned);
    real_or_null(doc, "score", score);
    json_open(doc, "roof");
    real_or_null(doc, "copy_in_cache_gb_s", 1e-9 * device->copy[0]);
    real_or_null(doc, "copy_8_mib_gb_s", 1e-9 * device->copy[1]);
    real_or_null(doc, "copy_in_memory_gb_s", 1e-9 * device->copy[2]);
    real_or_null(doc, "gemm_gflop_s", 1e-9 * device->gemm);
    json_bool(doc, "steady", device->roof_steady);
    json_close(doc);
    json_open_array(doc, "rows");
    for (size_t i = 0; i < device->count; i++)
        row_to_json(doc, &device->rows[i]);
    json_close(doc);
    json_close(doc);
}

void bench_to_json(struct json *doc, const struct bench_record *record) {
    json_int(doc, "fathom_bench", BENCH_FORMAT);
    json_text(doc, "what", record->what);
    json_text(doc, "version", record->version);
    json_text(doc, "when", record->when);
    json_text(doc, "name", record->name[0] ? record->name : record->cpu);
    json_open(doc, "machine");
    json_text(doc, "system", record->system);
    json_text(doc, "cpu", record->cpu);
    json_int(doc, "cores", record->cores);
    json_real(doc, "core_to_core_ns", record->ping_pong_ns);
    json_text(doc, "clock", record->clock);
    json_close(doc);
    json_open(doc, "conditions");
    json_text(doc, "disturbed", record->disturbed[0] ? record->disturbed : NULL);
    json_bool(doc, "forced", record->forced);
    json_int(doc, "retries", record->retries);
    json_real(doc, "cores_of_others", record->others);
    json_real(doc, "load_before", record->load[0]);
    json_real(doc, "load_after", record->load[1]);
    json_real(doc, "core_to_core_min_ns", record->core_ns[0]);
    json_real(doc, "core_to_core_max_ns", record->core_ns[1]);
    json_close(doc);
    json_open(doc, "libraries");
    json_text(doc, "cpu", record->libraries[0]);
    json_text(doc, "opencl", record->libraries[1]);
    json_close(doc);
    json_real(doc, "seconds_per_row", record->seconds);
    json_real(doc, "spread_wanted", BENCH_SPREAD);
    json_open_array(doc, "devices");
    for (size_t i = 0; i < record->count; i++)
        device_to_json(doc, &record->devices[i], bench_shown_score(record, i));
    json_close(doc);
}
