/* run_record.c - fills, prints and parses run records, driven by the list of columns (run_record.h). */
#include "sweep/run_record.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "core/digest.h"
#include "core/json.h"
#include "core/mem.h"

typedef enum column_type { TEXT, INT, REAL } column_type;

static const struct column {
    const char *name;
    column_type type;
    size_t offset;
} columns[] = {
#define X(type, name) {#name, type, offsetof(run_record, name)},
    RUN_RECORD_COLUMNS(X)
#undef X
};
#define INT_MAX_EXACT 9007199254740992.0 /* 2^53: larger integers are not exact in a JSON number (double) */
#define COLUMN_COUNT (sizeof columns / sizeof *columns)

static const char **text_at(run_record *record, size_t column) {
    return (const char **)(void *)((char *)record + columns[column].offset);
}

run_record run_record_empty(void) {
    run_record record;
    memset(&record, 0, sizeof record);
    for (size_t i = 0; i < COLUMN_COUNT; i++)
        if (columns[i].type == REAL)
            *(double *)(void *)((char *)&record + columns[i].offset) = NAN;
        else if (columns[i].type == TEXT)
            *text_at(&record, i) = "";
    return record;
}

fathom_status run_record_intern(run_record *record, intern_table *strings) {
    for (size_t i = 0; i < COLUMN_COUNT; i++)
        if (columns[i].type == TEXT)
            TRY(intern_add(text_at(record, i), strings, *text_at(record, i)));
    return FATHOM_OK;
}

void run_record_set_cell(run_record *record, const grid_cell *cell, const sweep_recipe *recipe) {
    record->cell = cell->id;
    record->data = cell->data;
    record->model = nn_conv_name(cell->model);
    record->norm = nn_norm_name(cell->norm);
    record->recipe = recipe->name;
    record->version = fathom_version();
    record->layers = cell->layers;
    record->missing_rate = cell->missing;
    record->seed = (int64_t)cell->seed;
    record->groups = cell->groups;
    record->lambda = cell->lambda;
}

fathom_status run_record_set_time(run_record *record, intern_table *strings) {
    char text[64] = "";
    time_t now = time(NULL);
    struct tm utc;
    if (gmtime_r(&now, &utc))
        strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
    return intern_add(&record->finished, strings, text);
}

/* A setting that the network does not use is 0, NaN or "". */
#define COLUMN_INT(name, value) value
#define COLUMN_REAL(name, value) value
#define COLUMN_CHOICE(name, value) SETTING_WORD_##name(value)
#define UNUSED_INT 0
#define UNUSED_REAL (double)NAN
#define UNUSED_CHOICE ""

static void set_config(run_record *record, const train_config *c) {
    static const char *const from[] = {"preset", "given", "auto"};
#define X(name, kind, member, owner, ...) \
    record->name = SETTING_USED_##owner(&c->net) ? COLUMN_##kind(name, c->member) : UNUSED_##kind;
    SETTINGS_COLUMNS(X);
    record->lambda_from = c->net.norm == NN_GROUP ? from[c->lambda_from] : "";
    SETTINGS_COLUMNS_AFTER_LAMBDA(X);
#undef X
    record->feature_norm = data_norm_name(c->feature_norm);
}

#define DIGEST_INT(value) text_add(&text, " %" PRId64, value);
#define DIGEST_REAL(value) text_add(&text, " %.17g", value);
#define DIGEST_CHOICE(value) text_add(&text, " %s", value);

/* Covers everything the result depends on, except the device. */
static fathom_status set_digest(run_record *record, intern_table *strings) {
    text_buf text = {0};
    char hex[65];
    digest_state state;
    text_add(&text, "%s %s %s %lld %.17g %lld", record->data_sha256, record->model, record->norm,
             (long long)record->layers, record->missing_rate, (long long)record->seed);
#define X(name, kind, ...) DIGEST_##kind(record->name)
    SETTINGS_COLUMNS(X);
    text_add(&text, " %s", record->lambda_from);
    SETTINGS_COLUMNS_AFTER_LAMBDA(X);
#undef X
    text_add(&text, " %s %s", record->feature_norm, record->split_sha256);
    fathom_status status = text.status;
    if (status == FATHOM_OK) {
        digest_begin(&state);
        digest_add(&state, text.bytes, text.count);
        digest_end(&state, hex);
        status = intern_add(&record->config_sha256, strings, hex);
    }
    text_free(&text);
    return status;
}

fathom_status run_record_set_result(run_record *record, intern_table *strings, const train_result *r,
                                    const data_set *set, const be_info *device) {
    record->status = "ok";
    set_config(record, &r->config);
    record->test_accuracy = r->accuracy[NN_TEST];
    record->val_accuracy = r->accuracy[NN_VAL];
    record->train_accuracy = r->accuracy[NN_TRAIN];
    record->macro_f1 = r->macro_f1;
#define X(name) record->name = isfinite(r->metrics.name) ? r->metrics.name : (double)NAN;
    METRICS_LIST(X)
#undef X
    record->sampled = r->metrics.sampled;
    record->loss = r->loss;
    record->best_epoch = r->best_epoch;
    record->epochs_run = r->epochs;
    record->total_s = r->total_s;
    record->build_s = r->build_s;
    record->median_epoch_ms = r->median_epoch_ms;
    record->min_epoch_ms = r->min_epoch_ms;
    record->planned_bytes = r->bytes.total;
    record->nodes = set->graph.nodes;
    record->edges = set->graph.edges;
    record->features = set->features.cols;
    record->classes = set->classes;
    TRY(intern_add(&record->data_sha256, strings, set->sha256));
    TRY(intern_add(&record->split, strings, set->split.name ? set->split.name : ""));
    TRY(intern_add(&record->split_sha256, strings, set->split.sha256));
    TRY(intern_add(&record->device, strings, device->name));
    TRY(intern_add(&record->backend, strings, device->backend));
    TRY(intern_add(&record->driver, strings, device->driver));
    return set_digest(record, strings);
}

/* ---- JSON ---- */

fathom_status run_record_print(text_buf *out, const run_record *record) {
    struct json *doc = NULL;
    char *line = NULL;
    TRY(json_new(&doc));
    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        const void *at = (const char *)record + columns[i].offset;
        const char *text = columns[i].type == TEXT ? *(const char *const *)at : NULL;
        if (columns[i].type == TEXT)
            json_text(doc, columns[i].name, *text ? text : NULL);
        else if (columns[i].type == INT)
            json_int(doc, columns[i].name, *(const int64_t *)at);
        else
            json_real(doc, columns[i].name, *(const double *)at);
    }
    fathom_status status = json_print_line(doc, &line);
    json_free(doc);
    TRY(status);
    text_add_bytes(out, line, strlen(line));
    text_add_bytes(out, "\n", 1);
    mem_free(line);
    return out->status;
}

/* Index of the column, or COLUMN_COUNT. The search starts at `next`, because members are written in this order. */
static size_t find_column(const char *name, size_t next) {
    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        size_t column = (next + i) % COLUMN_COUNT;
        if (strcmp(columns[column].name, name) == 0)
            return column;
    }
    return COLUMN_COUNT;
}

static fathom_status read_members(run_record *record, intern_table *strings, const cJSON *tree) {
    const cJSON *item;
    size_t next = 0;
    cJSON_ArrayForEach(item, tree) {
        size_t i = item->string ? find_column(item->string, next) : COLUMN_COUNT;
        if (i == COLUMN_COUNT)
            continue;
        void *at = (char *)record + columns[i].offset;
        if (columns[i].type == TEXT && cJSON_IsString(item))
            TRY(intern_add(text_at(record, i), strings, item->valuestring));
        else if (columns[i].type == INT && cJSON_IsNumber(item) && fabs(item->valuedouble) <= INT_MAX_EXACT)
            *(int64_t *)at = (int64_t)item->valuedouble;
        else if (columns[i].type == REAL && cJSON_IsNumber(item))
            *(double *)at = item->valuedouble;
        next = i + 1;
    }
    return FATHOM_OK;
}

fathom_status run_record_read(run_record *record, intern_table *strings, const char *line, size_t length,
                              const char *where) {
    struct cJSON *tree = NULL;
    *record = run_record_empty();
    TRY(json_parse(&tree, line, length, where));
    fathom_status status = read_members(record, strings, tree);
    cJSON_Delete(tree);
    TRY(status);
    if (!record->cell[0] || !record->data[0] || !record->model[0] || !record->norm[0])
        return fail(FATHOM_DATA, "%s: a record without cell, data, model or norm", where);
    return FATHOM_OK;
}

/* ---- CSV ---- */

void run_record_csv_head(text_buf *out) {
    for (size_t i = 0; i < COLUMN_COUNT; i++)
        text_add(out, "%s%s", i ? "," : "", columns[i].name);
    text_add(out, "\n");
}

/* RFC 4180: quoted if necessary, quotes doubled. */
static void csv_text(text_buf *out, const char *text) {
    if (!strpbrk(text, ",\"\r\n")) {
        text_add(out, "%s", text);
        return;
    }
    text_add(out, "\"");
    for (; *text; text++)
        text_add(out, *text == '"' ? "\"\"" : "%c", *text);
    text_add(out, "\"");
}

void run_record_csv(text_buf *out, const run_record *record) {
    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        const void *at = (const char *)record + columns[i].offset;
        if (i)
            text_add(out, ",");
        if (columns[i].type == TEXT)
            csv_text(out, *(const char *const *)at);
        else if (columns[i].type == INT)
            text_add(out, "%" PRId64, *(const int64_t *)at);
        else if (isfinite(*(const double *)at))
            text_add_real(out, "", *(const double *)at);
    }
    text_add(out, "\n");
}
