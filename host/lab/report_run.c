/* report_run.c - reads the folder of a run: run.json and epochs.jsonl (report_run.h). */
#include "lab/report_run.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/file.h"
#include "core/json.h"
#include "core/mem.h"

#define RECORD_BYTES (UINT64_C(1) << 24)
#define EPOCHS_BYTES (UINT64_C(1) << 32)

static const char *const columns[LAB_RUN_COLUMNS] = {"loss", "train_acc", "val_acc", "test_acc"};

bool lab_is_run(const char *folder) {
    char path[LAB_PATH];
    int length = snprintf(path, sizeof path, "%s/run.json", folder);
    return length > 0 && (size_t)length < sizeof path && access(path, F_OK) == 0;
}

/* ---- run.json ---- */

static const cJSON *member(const lab_run *run, const char *path) {
    char key[64];
    const cJSON *item = run->record;
    while (item && *path) {
        size_t length = strcspn(path, ".");
        snprintf(key, sizeof key, "%.*s", (int)length, path);
        item = cJSON_GetObjectItemCaseSensitive(item, key);
        path += length + (path[length] == '.');
    }
    return item;
}

double lab_run_number(const lab_run *run, const char *path) {
    const cJSON *item = member(run, path);
    return cJSON_IsNumber(item) ? item->valuedouble : (double)NAN;
}

const char *lab_run_word(const lab_run *run, const char *path) {
    const cJSON *item = member(run, path);
    return cJSON_IsString(item) ? item->valuestring : "";
}

/* ---- epochs.jsonl ---- */

/* Calls `take` for every epoch, in order; a last line without its end is what a kill in mid-write left, and skipped. */
typedef void take_epoch(void *user, int64_t number, const double value[LAB_RUN_COLUMNS], double ms);

static fathom_status parse_line(double *epoch, double value[LAB_RUN_COLUMNS], double *ms, const char *line,
                                size_t length, const char *where) {
    cJSON *tree = NULL;
    TRY(json_parse(&tree, line, length, where));
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(tree, "epoch");
    bool good = cJSON_IsNumber(item);
    *epoch = good ? item->valuedouble : 0;
    for (int c = 0; c < LAB_RUN_COLUMNS; c++) {
        item = cJSON_GetObjectItemCaseSensitive(tree, columns[c]);
        value[c] = cJSON_IsNumber(item) ? item->valuedouble : (double)NAN;
    }
    item = cJSON_GetObjectItemCaseSensitive(tree, "ms");
    *ms = cJSON_IsNumber(item) ? item->valuedouble : (double)NAN;
    cJSON_Delete(tree);
    return good ? FATHOM_OK : fail(FATHOM_DATA, "%s: is not an epoch of a run", where);
}

static fathom_status for_each_epoch(const lab_run *run, take_epoch *take, void *user) {
    char where[LAB_PATH + 64];
    int64_t number = 0;
    const char *end, *stop = (const char *)run->epochs + run->epochs_bytes;
    for (const char *line = (const char *)run->epochs; (end = memchr(line, '\n', (size_t)(stop - line)));
         line = end + 1) {
        double epoch, value[LAB_RUN_COLUMNS], ms;
        snprintf(where, sizeof where, "%s/epochs.jsonl, line %lld", run->folder, (long long)++number);
        TRY(parse_line(&epoch, value, &ms, line, (size_t)(end - line), where));
        if (epoch != (double)number)
            return fail(FATHOM_DATA, "%s: epoch %g stands where epoch %lld is expected", where, epoch,
                        (long long)number);
        take(user, number, value, ms);
    }
    return FATHOM_OK;
}

/* How many epochs have a value in each column: with --eval-every accuracies are null in between. */
typedef struct thinning {
    lab_run *run;
    int64_t values[LAB_RUN_COLUMNS], seen[LAB_RUN_COLUMNS];
} thinning;

static void count_values(void *user, int64_t number, const double value[LAB_RUN_COLUMNS], double ms) {
    thinning *t = user;
    (void)ms;
    t->run->epoch_count = number;
    for (int c = 0; c < LAB_RUN_COLUMNS; c++)
        t->values[c] += isfinite(value[c]);
}

/* Takes every n-th value, counted from the last one. */
static void take_values(void *user, int64_t number, const double value[LAB_RUN_COLUMNS], double ms) {
    thinning *t = user;
    (void)ms;
    for (int c = 0; c < LAB_RUN_COLUMNS; c++) {
        lab_curve *curve = &t->run->curve[c];
        int64_t every = (t->values[c] + LAB_RUN_POINTS - 1) / LAB_RUN_POINTS;
        if (!isfinite(value[c]))
            continue;
        t->seen[c]++;
        if ((t->values[c] - t->seen[c]) % every != 0 || curve->count == LAB_RUN_POINTS)
            continue;
        curve->x[curve->count] = (double)number;
        curve->y[curve->count++] = value[c] * (c == LAB_RUN_LOSS ? 1 : 100);
    }
}

static fathom_status load_curves(lab_run *run) {
    thinning t = {.run = run};
    TRY(for_each_epoch(run, count_values, &t));
    return for_each_epoch(run, take_values, &t);
}

static fathom_status load_files(lab_run *run) {
    char path[LAB_PATH + 16];
    uint8_t *bytes = NULL;
    size_t count;
    snprintf(path, sizeof path, "%s/run.json", run->folder);
    TRY(file_load(&bytes, &count, path, RECORD_BYTES));
    fathom_status status = json_parse(&run->record, (const char *)bytes, count, path);
    mem_free(bytes);
    TRY(status);
    if (!cJSON_IsObject(cJSON_GetObjectItemCaseSensitive(run->record, "config")))
        return fail(FATHOM_DATA, "%s: is not the record of a training run", path);
    snprintf(path, sizeof path, "%s/epochs.jsonl", run->folder);
    return file_load(&run->epochs, &run->epochs_bytes, path, EPOCHS_BYTES);
}

fathom_status lab_run_load(lab_run *run, const char *folder) {
    *run = (lab_run){0};
    if (strlen(folder) >= sizeof run->folder - 16)
        return fail(FATHOM_DATA, "%.80s...: the path is too long", folder);
    strcpy(run->folder, folder);
    fathom_status status = load_files(run);
    if (status == FATHOM_OK)
        status = load_curves(run);
    if (status != FATHOM_OK)
        lab_run_free(run);
    return status;
}

void lab_run_free(lab_run *run) {
    cJSON_Delete(run->record);
    mem_free(run->epochs);
    *run = (lab_run){0};
}

/* ---- CSV ---- */

static void add_number(lab_text *out, double value, const char *end) {
    if (isfinite(value))
        lab_add(out, "%.9g", value);
    lab_add(out, "%s", end);
}

static void add_csv_line(void *user, int64_t number, const double value[LAB_RUN_COLUMNS], double ms) {
    lab_text *out = user;
    lab_add(out, "%lld,", (long long)number);
    for (int c = 0; c < LAB_RUN_COLUMNS; c++)
        add_number(out, value[c], ",");
    add_number(out, ms, "\n");
}

fathom_status lab_run_csv(lab_text *out, const lab_run *run) {
    lab_add(out, "epoch");
    for (int c = 0; c < LAB_RUN_COLUMNS; c++)
        lab_add(out, ",%s", columns[c]);
    lab_add(out, ",ms\n");
    TRY(for_each_epoch(run, add_csv_line, out));
    return out->status;
}
