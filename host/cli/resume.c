/* resume.c - see resume.h. The keys of run.json's `config` are the names of the options with '_' for '-'. */
#include "cli/resume.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "core/file.h"
#include "core/mem.h"

#define RECORD_MAX 16000000

/* Members whose default is "whatever the preset says": whether they are set must be known. */
static int bit_of(const struct train_options *o, const void *member) {
    const void *members[] = {&o->lambda, &o->lr, &o->weight_decay};
    for (int i = 0; i < 3; i++)
        if (members[i] == member)
            return i;
    return -1;
}

bool option_set(const struct train_options *o, const void *member) {
    int bit = bit_of(o, member);
    return opt_given(&o->common, member) || (bit >= 0 && (o->taken >> bit & 1));
}

static fathom_status take(struct train_options *o, const struct opt_row *row, const cJSON *config) {
    char key[64];
    void *member = (char *)o + row->offset;
    snprintf(key, sizeof key, "%s", row->name);
    for (char *c = key; *c; c++)
        *c = *c == '-' ? '_' : *c;
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(config, key);
    if (!item || cJSON_IsNull(item) || strcmp(key, "out") == 0)
        return FATHOM_OK;
    int bit = bit_of(o, member);
    const char *word;
    switch (row->kind) {
    case OPT_IS_INT:
        if (!cJSON_IsNumber(item) || !(item->valuedouble >= row->low && item->valuedouble <= row->high))
            break;
        *(int64_t *)member = (int64_t)item->valuedouble;
        return FATHOM_OK;
    case OPT_IS_REAL:
        if (!cJSON_IsNumber(item) || !(item->valuedouble >= row->low && item->valuedouble <= row->high))
            break;
        *(double *)member = item->valuedouble;
        if (bit >= 0)
            o->taken |= UINT64_C(1) << bit;
        return FATHOM_OK;
    case OPT_IS_CHOICE:
        for (int i = 0; cJSON_IsString(item) && (word = opt_choice(row->choices, i)); i++)
            if (strcmp(word, item->valuestring) == 0) {
                *(int *)member = i;
                return FATHOM_OK;
            }
        break;
    case OPT_IS_TEXT:
    case OPT_IS_PATH:
        if (!cJSON_IsString(item))
            break;
        *(const char **)member = item->valuestring;
        return FATHOM_OK;
    case OPT_IS_FLAG:
        return FATHOM_OK;
    }
    return fail(FATHOM_DATA, "the value of %s in its config cannot be used", key);
}

/* The record holds the lambda in use: only one the user gave is an option again, a chosen one is chosen again (or
 * taken from the state). */
static void take_lambda(struct train_options *o, const cJSON *config) {
    const cJSON *from = cJSON_GetObjectItemCaseSensitive(config, "lambda_from");
    const char *how = cJSON_IsString(from) ? from->valuestring : "recipe";
    uint64_t bit = UINT64_C(1) << bit_of(o, &o->lambda);
    if (strcmp(how, "given") == 0)
        return;
    o->lambda = NAN;
    o->taken = strcmp(how, "auto") == 0 ? o->taken | bit : o->taken & ~bit;
}

fathom_status resume_options(struct train_options *o, struct resumed *resumed, const struct opt_row *rows,
                             size_t count) {
    char path[4096];
    uint8_t *text = NULL;
    size_t length;
    if (!o->out)
        return fail(FATHOM_USAGE, "--resume needs --out DIR, the folder of the run to go on with");
    snprintf(path, sizeof path, "%s/run.json", o->out);
    if (access(path, F_OK) != 0)
        return fail(FATHOM_USAGE, "--out %s: there is no run to resume; leave --resume out to start one there", o->out);
    TRY(file_load(&text, &length, path, RECORD_MAX));
    fathom_status status = json_parse(&resumed->record, (const char *)text, length, path);
    mem_free(text);
    TRY(status);
    const cJSON *config = cJSON_GetObjectItemCaseSensitive(resumed->record, "config");
    for (size_t i = 0; i < count && config; i++) {
        const void *member = (const char *)o + rows[i].offset;
        if (opt_given(&o->common, member))
            continue;
        status = take(o, &rows[i], config);
        if (status != FATHOM_OK)
            return fail_prefix(status, "%s: ", path);
        if (member == &o->lambda)
            take_lambda(o, config);
    }
    return FATHOM_OK;
}

void resume_free(struct resumed *resumed) {
    cJSON_Delete(resumed->record);
    resumed->record = NULL;
}
