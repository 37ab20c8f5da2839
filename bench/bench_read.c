/* bench_read.c - reads the JSON that `fathom bench -o` wrote: the fields that compare needs, each checked. */
#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "core/file.h"
#include "core/mem.h"

#define FILE_MAX_BYTES (64u << 20)

static fathom_status damaged(const char *path, const char *what) {
    return fail(FATHOM_DATA, "%s: %s, so it is no benchmark of this fathom; write one with fathom bench -o", path,
                what);
}

static fathom_status text_field(char *text, size_t size, const cJSON *object, const char *key, const char *path) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    char what[80];
    if (!cJSON_IsString(item) || strlen(item->valuestring) >= size) {
        snprintf(what, sizeof what, "'%s' is missing or no short text", key);
        return damaged(path, what);
    }
    snprintf(text, size, "%s", item->valuestring);
    return FATHOM_OK;
}

/* A time or a count: positive and finite. */
static fathom_status positive_field(double *value, const cJSON *object, const char *key, const char *path) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    char what[80];
    if (!cJSON_IsNumber(item) || !(item->valuedouble > 0) || !isfinite(item->valuedouble)) {
        snprintf(what, sizeof what, "'%s' of a row is missing or no positive number", key);
        return damaged(path, what);
    }
    *value = item->valuedouble;
    return FATHOM_OK;
}

/* ---- fields that not every file has ---- */

static void optional_text(char *text, size_t size, const cJSON *object, const char *key) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    snprintf(text, size, "%s", cJSON_IsString(item) ? item->valuestring : "");
}

/* 0 where it is null, not there or not positive. */
static double optional_number(const cJSON *object, const char *key) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    return cJSON_IsNumber(item) && item->valuedouble > 0 && isfinite(item->valuedouble) ? item->valuedouble : 0;
}

static int64_t optional_count(const cJSON *object, const char *key) {
    return (int64_t)fmin(optional_number(object, key), 9e15);
}

static void read_figures(struct bench_row *row, const cJSON *item) {
    struct bench_figures *f = &row->figures;
    f->edges = optional_number(item, "edges_per_s") * row->time.median;
    f->speed_up = optional_number(item, "speed_up");
    f->memory = optional_count(item, "memory_bytes");
    f->launches = optional_count(item, "launches");
    f->first = optional_number(item, "first_run_s");
    f->joules = optional_number(item, "joules");
    optional_text(f->recompute, sizeof f->recompute, item, "recompute");
    optional_text(f->disturbed, sizeof f->disturbed, item, "disturbed");
}

static void read_machine(struct bench_record *record, const cJSON *tree) {
    const cJSON *machine = cJSON_GetObjectItemCaseSensitive(tree, "machine");
    const cJSON *conditions = cJSON_GetObjectItemCaseSensitive(tree, "conditions");
    optional_text(record->when, sizeof record->when, tree, "when");
    optional_text(record->cpu, sizeof record->cpu, machine, "cpu");
    optional_text(record->system, sizeof record->system, machine, "system");
    record->cores = optional_count(machine, "cores");
    optional_text(record->disturbed, sizeof record->disturbed, conditions, "disturbed");
    record->forced = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(conditions, "forced"));
    optional_text(record->name, sizeof record->name, tree, "name");
    if (!record->name[0])
        snprintf(record->name, sizeof record->name, "%.60s", record->cpu[0] ? record->cpu : "unnamed");
}

static fathom_status read_row(struct bench_device *device, const cJSON *item, const char *path) {
    char name[sizeof((struct bench_row *)0)->name], shape[sizeof((struct bench_row *)0)->shape];
    const cJSON *missing = cJSON_GetObjectItemCaseSensitive(item, "missing");
    struct bench_row *row = NULL;
    TRY(text_field(name, sizeof name, item, "name", path));
    TRY(text_field(shape, sizeof shape, item, "shape", path));
    TRY(bench_add_row(&row, device, name, shape));
    if (cJSON_IsString(missing)) {
        snprintf(row->missing, sizeof row->missing, "%s", missing->valuestring[0] ? missing->valuestring : "unknown");
        return FATHOM_OK;
    }
    TRY(positive_field(&row->time.median, item, "median_s", path));
    TRY(positive_field(&row->time.q1, item, "q1_s", path));
    TRY(positive_field(&row->time.q3, item, "q3_s", path));
    if (row->time.q1 > row->time.median || row->time.median > row->time.q3)
        return damaged(path, "the quartiles of a row are out of order");
    double samples = 0;
    TRY(positive_field(&samples, item, "samples", path));
    row->time.samples = (int64_t)fmin(samples, BENCH_SAMPLES);
    row->time.settled = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(item, "settled"));
    read_figures(row, item);
    return FATHOM_OK;
}

/* ---- rows by name and shape ---- */

static int compare_rows(const struct bench_row *a, const struct bench_row *b) {
    int order = strcmp(a->name, b->name);
    return order ? order : strcmp(a->shape, b->shape);
}

static int by_name(const void *a, const void *b) {
    const struct bench_row *x = *(const struct bench_row *const *)a, *y = *(const struct bench_row *const *)b;
    int order = compare_rows(x, y);
    return order ? order : (x > y) - (x < y); /* the first of two equal ones is found */
}

static fathom_status sort_rows(struct bench_device *device) {
    TRY(mem_new(&device->sorted, device->count, 1, sizeof *device->sorted, "rows of a benchmark"));
    for (size_t i = 0; i < device->count; i++)
        device->sorted[i] = &device->rows[i];
    qsort(device->sorted, device->count, sizeof *device->sorted, by_name);
    return FATHOM_OK;
}

const struct bench_row *bench_find(const struct bench_device *device, const struct bench_row *like) {
    size_t low = 0, high = device->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (compare_rows(device->sorted[middle], like) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    const struct bench_row *row = low < device->count ? device->sorted[low] : NULL;
    return row && compare_rows(row, like) == 0 && !row->missing[0] ? row : NULL;
}

/* ---- the tree ---- */

static fathom_status read_rows(struct bench_record *record, struct bench_device *device, const cJSON *rows,
                               const char *path) {
    size_t count = (size_t)cJSON_GetArraySize(rows);
    const cJSON *row;
    char what[80];
    for (size_t d = 0; d + 1 < record->count; d++)
        count += record->devices[d].count;
    if (count > BENCH_ROWS_READ) {
        snprintf(what, sizeof what, "it has more than %d rows", BENCH_ROWS_READ);
        return damaged(path, what);
    }
    TRY(bench_reserve_rows(device, (size_t)cJSON_GetArraySize(rows)));
    cJSON_ArrayForEach(row, rows) TRY(read_row(device, row, path));
    return sort_rows(device);
}

static fathom_status read_device(struct bench_record *record, const cJSON *item, const char *path) {
    const cJSON *rows = cJSON_GetObjectItemCaseSensitive(item, "rows");
    if (record->count == BENCH_DEVICES)
        return damaged(path, "it has too many devices");
    if (!cJSON_IsArray(rows))
        return damaged(path, "a device has no 'rows'");
    struct bench_device *device = &record->devices[record->count++];
    *device = (struct bench_device){0};
    TRY(text_field(device->selector, sizeof device->selector, item, "word", path));
    TRY(text_field(device->name, sizeof device->name, item, "name", path));
    TRY(text_field(device->driver, sizeof device->driver, item, "driver", path));
    const cJSON *threads = cJSON_GetObjectItemCaseSensitive(item, "threads"); /* null: not a matter of threads */
    device->threads = cJSON_IsNumber(threads) ? threads->valueint : 0;
    device->score = optional_number(item, "score");
    optional_text(device->backend, sizeof device->backend, item, "backend");
    device->tuned = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(item, "tuned"));
    return read_rows(record, device, rows, path);
}

static fathom_status read_tree(struct bench_record *record, const cJSON *tree, const char *path) {
    const cJSON *format = cJSON_GetObjectItemCaseSensitive(tree, "fathom_bench");
    const cJSON *devices = cJSON_GetObjectItemCaseSensitive(tree, "devices"), *device;
    if (!cJSON_IsNumber(format))
        return damaged(path, "it has no member 'fathom_bench'");
    if (format->valueint != BENCH_FORMAT)
        return damaged(path, "it has another format");
    TRY(text_field(record->what, sizeof record->what, tree, "what", path));
    TRY(text_field(record->version, sizeof record->version, tree, "version", path));
    read_machine(record, tree);
    if (!cJSON_IsArray(devices) || cJSON_GetArraySize(devices) == 0)
        return damaged(path, "it has no devices");
    cJSON_ArrayForEach(device, devices) TRY(read_device(record, device, path));
    return FATHOM_OK;
}

fathom_status bench_read_text(struct bench_record *record, const char *text, size_t count, const char *path) {
    cJSON *tree = NULL;
    TRY(json_parse(&tree, text, count, path));
    fathom_status status = read_tree(record, tree, path);
    cJSON_Delete(tree);
    return status;
}

fathom_status bench_read(struct bench_record *record, const char *path) {
    uint8_t *bytes = NULL;
    size_t count = 0;
    TRY(file_load(&bytes, &count, path, FILE_MAX_BYTES));
    fathom_status status = bench_read_text(record, (const char *)bytes, count, path);
    mem_free(bytes);
    return status;
}
