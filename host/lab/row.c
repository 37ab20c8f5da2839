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

lab_row lab_row_empty(void) {
    lab_row row;
    memset(&row, 0, sizeof row);
    for (size_t i = 0; i < COLUMN_COUNT; i++)
        if (columns[i].kind == REAL)
            *(double *)(void *)((char *)&row + columns[i].offset) = NAN;
    return row;
}

static void put(char to[LAB_TEXT_ROOM], const char *from) { snprintf(to, LAB_TEXT_ROOM, "%s", from ? from : ""); }

void lab_row_set_cell(lab_row *row, const lab_cell *cell, const lab_recipe *recipe) {
    put(row->cell, cell->id);
    put(row->data, cell->data);
    put(row->model, nn_conv_name(cell->model));
    put(row->norm, nn_norm_name(cell->norm));
    put(row->recipe, recipe->name);
    put(row->version, fathom_version());
    row->layers = cell->layers;
    row->missing_rate = cell->missing;
    row->seed = (int64_t)cell->seed;
    row->groups = cell->groups;
    row->lambda = cell->lambda;
}

void lab_row_set_time(lab_row *row) {
    time_t now = time(NULL);
    struct tm utc;
    if (gmtime_r(&now, &utc))
        strftime(row->finished, sizeof row->finished, "%Y-%m-%dT%H:%M:%SZ", &utc);
}

static void set_config(lab_row *row, const train_config *c) {
    static const char *const from[] = {"preset", "given", "auto"};
    row->epochs = c->epochs;
    row->patience = c->patience;
    row->hidden = c->net.hidden;
    row->groups = c->net.norm == NN_GROUP ? c->net.groups : 0;
    row->lambda = c->net.norm == NN_GROUP ? c->net.lambda : (double)NAN;
    put(row->lambda_from, c->net.norm == NN_GROUP ? from[c->lambda] : "");
    row->dropout = c->net.dropout;
    row->lr = c->lr;
    row->weight_decay = c->weight_decay;
    row->alpha = c->net.model == NN_GCNII ? c->net.alpha : (double)NAN;
    row->theta = c->net.model == NN_GCNII ? c->net.theta : (double)NAN;
    row->momentum = c->net.momentum;
    put(row->preset, train_preset_name(c->preset));
    put(row->feature_norm, data_norm_name(c->feature_norm));
}

/* Everything that decides the numbers, apart from the device. */
static void set_digest(lab_row *row) {
    lab_text text = {0};
    char hex[65] = "";
    digest_state state;
    lab_add(&text, "%s %s %s %lld %.17g %lld", row->data_sha256, row->model, row->norm, (long long)row->layers,
            row->missing_rate, (long long)row->seed);
    lab_add(&text, " %lld %lld %lld %lld %.17g %s", (long long)row->epochs, (long long)row->patience,
            (long long)row->hidden, (long long)row->groups, row->lambda, row->lambda_from);
    lab_add(&text, " %.17g %.17g %.17g %.17g %.17g %.17g %s %s %s", row->dropout, row->lr, row->weight_decay,
            row->alpha, row->theta, row->momentum, row->preset, row->feature_norm, row->split);
    if (text.status == FATHOM_OK) {
        digest_begin(&state);
        digest_add(&state, text.bytes, text.count);
        digest_end(&state, hex);
    }
    put(row->config_sha256, hex);
    lab_text_free(&text);
}

void lab_row_set_result(lab_row *row, const train_result *r, const data_set *set, const be_info *device) {
    put(row->status, "ok");
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
    put(row->data_sha256, set->sha256);
    put(row->split, set->split.name);
    put(row->device, device->name);
    put(row->backend, device->backend);
    put(row->driver, device->driver);
    set_digest(row);
}

/* ---- JSON ---- */

fathom_status lab_row_print(lab_text *out, const lab_row *row) {
    struct json *doc = NULL;
    char *line = NULL;
    TRY(json_new(&doc));
    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        const void *at = (const char *)row + columns[i].offset;
        if (columns[i].kind == TEXT)
            json_text(doc, columns[i].name, *(const char *)at ? at : NULL);
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

fathom_status lab_row_read(lab_row *row, const char *line, size_t length, const char *where) {
    struct cJSON *tree = NULL;
    *row = lab_row_empty();
    TRY(json_parse(&tree, line, length, where));
    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        void *at = (char *)row + columns[i].offset;
        const cJSON *item = cJSON_GetObjectItemCaseSensitive(tree, columns[i].name);
        if (columns[i].kind == TEXT && cJSON_IsString(item))
            put(at, item->valuestring);
        else if (columns[i].kind == INT && cJSON_IsNumber(item) && fabs(item->valuedouble) <= WHOLE_MOST)
            *(int64_t *)at = (int64_t)item->valuedouble;
        else if (columns[i].kind == REAL && cJSON_IsNumber(item))
            *(double *)at = item->valuedouble;
    }
    cJSON_Delete(tree);
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

/* As few digits as read back to the same bits. */
static void csv_real(lab_text *out, double value) {
    char text[40];
    double back = 0;
    for (int digits = 15; digits <= 17; digits++) {
        lab_format(text, sizeof text, "%.*g", digits, value);
        if (lab_read_number(&back, text) && back == value)
            break;
    }
    lab_add(out, "%s", text);
}

void lab_row_csv(lab_text *out, const lab_row *row) {
    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        const void *at = (const char *)row + columns[i].offset;
        if (i)
            lab_add(out, ",");
        if (columns[i].kind == TEXT)
            csv_text(out, at);
        else if (columns[i].kind == INT)
            lab_add(out, "%" PRId64, *(const int64_t *)at);
        else if (isfinite(*(const double *)at))
            csv_real(out, *(const double *)at);
    }
    lab_add(out, "\n");
}
