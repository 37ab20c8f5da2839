/* report_run.c - loads run.json and epochs.jsonl of a run (report_run.h). */
#include "report/report_run.h"

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

static const char *const columns[RUN_CURVE_COUNT] = {"loss", "train_acc", "val_acc", "test_acc"};

bool report_is_run(const char *folder) {
    char path[SWEEP_PATH_MAX];
    int length = snprintf(path, sizeof path, "%s/run.json", folder);
    return length > 0 && (size_t)length < sizeof path && access(path, F_OK) == 0;
}

/* ---- run.json ---- */

static const cJSON *member(const report_run *run, const char *path) {
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

double report_run_number(const report_run *run, const char *path) {
    const cJSON *item = member(run, path);
    return cJSON_IsNumber(item) ? item->valuedouble : (double)NAN;
}

const char *report_run_string(const report_run *run, const char *path) {
    const cJSON *item = member(run, path);
    return cJSON_IsString(item) ? item->valuestring : "";
}

/* ---- epochs.jsonl ---- */

/* Called for every epoch, in order. A last line without newline was truncated by a kill and is skipped. */
typedef void epoch_fn(void *user, int64_t number, const double value[RUN_CURVE_COUNT], double ms);

static fathom_status parse_line(double *epoch, double value[RUN_CURVE_COUNT], double *ms, const char *line,
                                size_t length, const char *where) {
    cJSON *tree = NULL;
    TRY(json_parse(&tree, line, length, where));
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(tree, "epoch");
    bool valid = cJSON_IsNumber(item);
    *epoch = valid ? item->valuedouble : 0;
    for (int c = 0; c < RUN_CURVE_COUNT; c++) {
        item = cJSON_GetObjectItemCaseSensitive(tree, columns[c]);
        value[c] = cJSON_IsNumber(item) ? item->valuedouble : (double)NAN;
    }
    item = cJSON_GetObjectItemCaseSensitive(tree, "ms");
    *ms = cJSON_IsNumber(item) ? item->valuedouble : (double)NAN;
    cJSON_Delete(tree);
    return valid ? FATHOM_OK : fail(FATHOM_DATA, "%s: is not an epoch of a run", where);
}

static fathom_status for_each_epoch(const report_run *run, epoch_fn *visit, void *user) {
    char where[SWEEP_PATH_MAX + 64];
    int64_t number = 0;
    const char *end, *stop = (const char *)run->epochs + run->epochs_bytes;
    for (const char *line = (const char *)run->epochs; (end = memchr(line, '\n', (size_t)(stop - line)));
         line = end + 1) {
        double epoch, value[RUN_CURVE_COUNT], ms;
        snprintf(where, sizeof where, "%s/epochs.jsonl, line %lld", run->folder, (long long)++number);
        TRY(parse_line(&epoch, value, &ms, line, (size_t)(end - line), where));
        if (epoch != (double)number)
            return fail(FATHOM_DATA, "%s: epoch %g where epoch %lld is expected", where, epoch, (long long)number);
        visit(user, number, value, ms);
    }
    return FATHOM_OK;
}

/* `values`: epochs with a value, per column; with --eval-every accuracies are null in between. `seen`: of these, so
 * far. */
typedef struct downsampling {
    report_run *run;
    int64_t values[RUN_CURVE_COUNT], seen[RUN_CURVE_COUNT];
} downsampling;

static void count_values(void *user, int64_t number, const double value[RUN_CURVE_COUNT], double ms) {
    downsampling *t = user;
    (void)ms;
    t->run->epoch_count = number;
    for (int c = 0; c < RUN_CURVE_COUNT; c++)
        t->values[c] += isfinite(value[c]);
}

/* Keeps every n-th value, counted from the last one. */
static void keep_values(void *user, int64_t number, const double value[RUN_CURVE_COUNT], double ms) {
    downsampling *t = user;
    (void)ms;
    for (int c = 0; c < RUN_CURVE_COUNT; c++) {
        run_curve *curve = &t->run->curve[c];
        int64_t every = (t->values[c] + RUN_CURVE_POINTS - 1) / RUN_CURVE_POINTS;
        if (!isfinite(value[c]))
            continue;
        t->seen[c]++;
        if ((t->values[c] - t->seen[c]) % every != 0 || curve->count == RUN_CURVE_POINTS)
            continue;
        curve->x[curve->count] = (double)number;
        curve->y[curve->count++] = value[c] * (c == RUN_CURVE_LOSS ? 1 : 100);
    }
}

static fathom_status load_curves(report_run *run) {
    downsampling t = {.run = run};
    TRY(for_each_epoch(run, count_values, &t));
    return for_each_epoch(run, keep_values, &t);
}

static fathom_status load_files(report_run *run) {
    char path[SWEEP_PATH_MAX + 16];
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

fathom_status report_run_load(report_run *run, const char *folder) {
    *run = (report_run){0};
    if (strlen(folder) >= sizeof run->folder - 16)
        return fail(FATHOM_DATA, "%.80s...: the path is too long", folder);
    strcpy(run->folder, folder);
    fathom_status status = load_files(run);
    if (status == FATHOM_OK)
        status = load_curves(run);
    if (status != FATHOM_OK)
        report_run_free(run);
    return status;
}

void report_run_free(report_run *run) {
    cJSON_Delete(run->record);
    mem_free(run->epochs);
    *run = (report_run){0};
}

/* ---- CSV ---- */

static void add_number(text_buf *out, double value, const char *end) {
    if (isfinite(value))
        text_add(out, "%.9g", value);
    text_add(out, "%s", end);
}

static void add_csv_line(void *user, int64_t number, const double value[RUN_CURVE_COUNT], double ms) {
    text_buf *out = user;
    text_add(out, "%lld,", (long long)number);
    for (int c = 0; c < RUN_CURVE_COUNT; c++)
        add_number(out, value[c], ",");
    add_number(out, ms, "\n");
}

fathom_status report_run_csv(text_buf *out, const report_run *run) {
    text_add(out, "epoch");
    for (int c = 0; c < RUN_CURVE_COUNT; c++)
        text_add(out, ",%s", columns[c]);
    text_add(out, ",ms\n");
    TRY(for_each_epoch(run, add_csv_line, out));
    return out->status;
}

void report_run_to_json(struct json *doc, const report_run *run) {
    json_open(doc, "run");
    json_text(doc, "folder", run->folder);
    json_text(doc, "status", report_run_string(run, "status"));
    json_int(doc, "epochs", run->epoch_count);
    json_real(doc, "best_epoch", report_run_number(run, "result.best_epoch"));
    json_real(doc, "test_accuracy", report_run_number(run, "result.test_accuracy"));
    json_close(doc);
}
