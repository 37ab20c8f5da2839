/* bench_read.c - reads the JSON that `fathom bench -o` wrote: what compare needs, everything checked. */
#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/bench.h"
#include "core/file.h"
#include "core/mem.h"

#define FILE_MOST (64u << 20)

static fathom_status damaged(const char *path, const char *what) {
    return fail(FATHOM_DATA, "%s: %s, so it is no benchmark of this fathom; write one with fathom bench -o", path,
                what);
}

static fathom_status text_field(char *text, size_t room, const cJSON *object, const char *key, const char *path) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    char what[80];
    if (!cJSON_IsString(item) || strlen(item->valuestring) >= room) {
        snprintf(what, sizeof what, "'%s' is missing or no short text", key);
        return damaged(path, what);
    }
    snprintf(text, room, "%s", item->valuestring);
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
    return FATHOM_OK;
}

static fathom_status read_device(struct bench_record *record, const cJSON *item, const char *path) {
    const cJSON *rows = cJSON_GetObjectItemCaseSensitive(item, "rows"), *row;
    if (record->count == BENCH_DEVICES)
        return damaged(path, "it has too many devices");
    if (!cJSON_IsArray(rows))
        return damaged(path, "a device has no 'rows'");
    struct bench_device *device = &record->devices[record->count++];
    *device = (struct bench_device){0};
    TRY(text_field(device->word, sizeof device->word, item, "word", path));
    TRY(text_field(device->name, sizeof device->name, item, "name", path));
    TRY(text_field(device->driver, sizeof device->driver, item, "driver", path));
    const cJSON *threads = cJSON_GetObjectItemCaseSensitive(item, "threads"); /* null: not a matter of threads */
    device->threads = cJSON_IsNumber(threads) ? threads->valueint : 0;
    device->tuned = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(item, "tuned"));
    cJSON_ArrayForEach(row, rows) TRY(read_row(device, row, path));
    return FATHOM_OK;
}

static fathom_status read_tree(struct bench_record *record, const cJSON *tree, const char *path) {
    const cJSON *format = cJSON_GetObjectItemCaseSensitive(tree, "fathom_bench");
    const cJSON *devices = cJSON_GetObjectItemCaseSensitive(tree, "devices"), *device;
    if (!cJSON_IsNumber(format))
        return damaged(path, "it does not say 'fathom_bench'");
    if (format->valueint != BENCH_FORMAT)
        return damaged(path, "it has another format");
    TRY(text_field(record->what, sizeof record->what, tree, "what", path));
    TRY(text_field(record->version, sizeof record->version, tree, "version", path));
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
    TRY(file_load(&bytes, &count, path, FILE_MOST));
    fathom_status status = bench_read_text(record, (const char *)bytes, count, path);
    mem_free(bytes);
    return status;
}
