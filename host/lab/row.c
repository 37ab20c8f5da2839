/* row.c - see row.h. */
#include "lab/row.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "core/digest.h"
#include "core/json.h"
#include "core/mem.h"

typedef enum kind { TEXT, INT, REAL } kind;

static const struct column {
    const char *name;
    kind kind;
    size_t offset;
} columns[] = {
#define X(kind, name) {#name, kind, offsetof(lab_row, name)},
    LAB_COLUMNS(X)
#undef X
};
#define WHOLE_MOST 9007199254740992.0 /* 2^53: beyond it a double is no exact count */
#define COLUMN_COUNT (sizeof columns / sizeof *columns)

static const char **text_at(lab_row *row, size_t column) {
    return (const char **)(void *)((char *)row + columns[column].offset);
}

lab_row lab_row_empty(void) {
    lab_row row;
    memset(&row, 0, sizeof row);
    for (size_t i = 0; i < COLUMN_COUNT; i++)
        if (columns[i].kind == REAL)
            *(double *)(void *)((char *)&row + columns[i].offset) = NAN;
        else if (columns[i].kind == TEXT)
            *text_at(&row, i) = "";
    return row;
}

fathom_status lab_row_store(lab_row *row, lab_strings *strings) {
    for (size_t i = 0; i < COLUMN_COUNT; i++)
        if (columns[i].kind == TEXT)
            TRY(lab_strings_add(text_at(row, i), strings, *text_at(row, i)));
    return FATHOM_OK;
}

void lab_row_set_cell(lab_row *row, const lab_cell *cell, const lab_recipe *recipe) {
    row->cell = cell->id;
    row->data = cell->data;
    row->model = nn_conv_name(cell->model);
    row->norm = nn_norm_name(cell->norm);
    row->recipe = recipe->name;
    row->version = fathom_version();
    row->layers = cell->layers;
    row->missing_rate = cell->missing;
    row->seed = (int64_t)cell->seed;
    row->groups = cell->groups;
    row->lambda = cell->lambda;
}

fathom_status lab_row_set_time(lab_row *row, lab_strings *strings) {
    char text[64] = "";
    time_t now = time(NULL);
    struct tm utc;
    if (gmtime_r(&now, &utc))
        strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
    return lab_strings_add(&row->finished, strings, text);
}

static void set_config(lab_row *row, const train_config *c) {
    static const char *const from[] = {"preset", "given", "auto"};
    row->epochs = c->epochs;
    row->patience = c->patience;
    row->hidden = c->net.hidden;
    row->groups = c->net.norm == NN_GROUP ? c->net.groups : 0;
    row->lambda = c->net.norm == NN_GROUP ? c->net.lambda : (double)NAN;
    row->lambda_from = c->net.norm == NN_GROUP ? from[c->lambda] : "";
    row->dropout = c->net.dropout;
    row->lr = c->lr;
    row->weight_decay = c->weight_decay;
    row->alpha = c->net.model == NN_GCNII ? c->net.alpha : (double)NAN;
    row->theta = c->net.model == NN_GCNII ? c->net.theta : (double)NAN;
    row->momentum = c->net.momentum;
    row->preset = train_preset_name(c->preset);
    row->feature_norm = data_norm_name(c->feature_norm);
}

/* Everything that decides the numbers, apart from the device. */
static fathom_status set_digest(lab_row *row, lab_strings *strings) {
    lab_text text = {0};
    char hex[65];
    digest_state state;
    lab_add(&text, "%s %s %s %lld %.17g %lld", row->data_sha256, row->model, row->norm, (long long)row->layers,
            row->missing_rate, (long long)row->seed);
    lab_add(&text, " %lld %lld %lld %lld %.17g %s", (long long)row->epochs, (long long)row->patience,
            (long long)row->hidden, (long long)row->groups, row->lambda, row->lambda_from);
    lab_add(&text, " %.17g %.17g %.17g %.17g %.17g %.17g %s %s %s", row->dropout, row->lr, row->weight_decay,
            row->alpha, row->theta, row->momentum, row->preset, row->feature_norm, row->split_sha256);
    fathom_status status = text.status;
    if (status == FATHOM_OK) {
        digest_begin(&state);
        digest_add(&state, text.bytes, text.count);
        digest_end(&state, hex);
        status = lab_strings_add(&row->config_sha256, strings, hex);
    }
    lab_text_free(&text);
    return status;
}

fathom_status lab_row_set_result(lab_row *row, lab_strings *strings, const train_result *r, const data_set *set,
                                 const be_info *device) {
    row->status = "ok";
    set_config(row, &r->config);
    row->test_accuracy = r->accuracy[NN_TEST];
    row->val_accuracy = r->accuracy[NN_VAL];
    row->train_accuracy = r->accuracy[NN_TRAIN];
#define X(name) row->name = isfinite(r->metrics.name) ? r->metrics.name : (double)NAN;
    METRICS_LIST(X)
#undef X
    row->loss = r->loss;
    row->best_epoch = r->best_epoch;
    row->epochs_run = r->epochs;
    row->total_s = r->total_s;
    row->build_s = r->build_s;
    row->median_epoch_ms = r->median_epoch_ms;
    row->min_epoch_ms = r->min_epoch_ms;
    row->planned_bytes = r->bytes.total;
    row->nodes = set->graph.nodes;
    row->edges = set->graph.edges;
    row->features = set->features.cols;
    row->classes = set->classes;
    TRY(lab_strings_add(&row->data_sha256, strings, set->sha256));
    TRY(lab_strings_add(&row->split, strings, set->split.name ? set->split.name : ""));
    TRY(lab_strings_add(&row->split_sha256, strings, set->split.sha256));
    TRY(lab_strings_add(&row->device, strings, device->name));
    TRY(lab_strings_add(&row->backend, strings, device->backend));
    TRY(lab_strings_add(&row->driver, strings, device->driver));
    return set_digest(row, strings);
}

/* ---- JSON ---- */

fathom_status lab_row_print(lab_text *out, const lab_row *row) {
    struct json *doc = NULL;
    char *line = NULL;
    TRY(json_new(&doc));
    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        const void *at = (const char *)row + columns[i].offset;
        const char *text = columns[i].kind == TEXT ? *(const char *const *)at : NULL;
        if (columns[i].kind == TEXT)
            json_text(doc, columns[i].name, *text ? text : NULL);
        else if (columns[i].kind == INT)
            json_int(doc, columns[i].name, *(const int64_t *)at);
        else
            json_real(doc, columns[i].name, *(const double *)at);
    }
    fathom_status status = json_print_line(doc, &line);
    json_free(doc);
    TRY(status);
    lab_add_bytes(out, line, strlen(line));
    lab_add_bytes(out, "\n", 1);
    mem_free(line);
    return out->status;
}

/* The column of that name, or COLUMN_COUNT; `next` is looked at first, since rows are written in this order. */
static size_t find_column(const char *name, size_t next) {
    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        size_t column = (next + i) % COLUMN_COUNT;
        if (strcmp(columns[column].name, name) == 0)
            return column;
    }
    return COLUMN_COUNT;
}

static fathom_status take_items(lab_row *row, lab_strings *strings, const cJSON *tree) {
    const cJSON *item;
    size_t next = 0;
    cJSON_ArrayForEach(item, tree) {
        size_t i = item->string ? find_column(item->string, next) : COLUMN_COUNT;
        if (i == COLUMN_COUNT)
            continue;
        void *at = (char *)row + columns[i].offset;
        if (columns[i].kind == TEXT && cJSON_IsString(item))
            TRY(lab_strings_add(text_at(row, i), strings, item->valuestring));
        else if (columns[i].kind == INT && cJSON_IsNumber(item) && fabs(item->valuedouble) <= WHOLE_MOST)
            *(int64_t *)at = (int64_t)item->valuedouble;
        else if (columns[i].kind == REAL && cJSON_IsNumber(item))
            *(double *)at = item->valuedouble;
        next = i + 1;
    }
    return FATHOM_OK;
}

fathom_status lab_row_read(lab_row *row, lab_strings *strings, const char *line, size_t length, const char *where) {
    struct cJSON *tree = NULL;
    *row = lab_row_empty();
    TRY(json_parse(&tree, line, length, where));
    fathom_status status = take_items(row, strings, tree);
    cJSON_Delete(tree);
    TRY(status);
    if (!row->cell[0] || !row->data[0] || !row->model[0] || !row->norm[0])
        return fail(FATHOM_DATA, "%s: a row without cell, data, model or norm", where);
    return FATHOM_OK;
}

/* ---- CSV ---- */

void lab_row_csv_head(lab_text *out) {
    for (size_t i = 0; i < COLUMN_COUNT; i++)
        lab_add(out, "%s%s", i ? "," : "", columns[i].name);
    lab_add(out, "\n");
}

/* Quoted when it must be, quotes doubled (RFC 4180). */
static void csv_text(lab_text *out, const char *text) {
    if (!strpbrk(text, ",\"\r\n")) {
        lab_add(out, "%s", text);
        return;
    }
    lab_add(out, "\"");
    for (; *text; text++)
        lab_add(out, *text == '"' ? "\"\"" : "%c", *text);
    lab_add(out, "\"");
}

void lab_row_csv(lab_text *out, const lab_row *row) {
    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        const void *at = (const char *)row + columns[i].offset;
        if (i)
            lab_add(out, ",");
        if (columns[i].kind == TEXT)
            csv_text(out, *(const char *const *)at);
        else if (columns[i].kind == INT)
            lab_add(out, "%" PRId64, *(const int64_t *)at);
        else if (isfinite(*(const double *)at))
            lab_add_real(out, "", *(const double *)at);
    }
    lab_add(out, "\n");
}
