/* resume.c - see resume.h. The keys of run.json's `config` are the names of the options with '_' for '-'. */
#include "cli/resume.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <string.h>

#include "core/file.h"
#include "core/mem.h"
#include "core/text.h"
#include "train/run_dir.h"

#define RECORD_MAX 16000000

static fathom_status take(struct train_options *o, const struct opt_row *row, const cJSON *config) {
    char key[64];
    void *member = (char *)o + row->offset;
    snprintf(key, sizeof key, "%s", row->name);
    for (char *c = key; *c; c++)
        *c = *c == '-' ? '_' : *c;
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(config, key);
    if (!item || cJSON_IsNull(item) || strcmp(key, "out") == 0)
        return FATHOM_OK;
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
        return FATHOM_OK;
    case OPT_IS_CHOICE:
        for (int i = 0; cJSON_IsString(item) && (word = opt_choice(row->choices, i)); i++)
            if (strcmp(word, item->valuestring) == 0) {
                *(int *)member = i;
                return FATHOM_OK;
            }
        break;
    case OPT_IS_COUNTED:
        if (!cJSON_IsString(item))
            break;
        return text_read_counted(member, key, row->choices, (int64_t)row->low, (int64_t)row->high, item->valuestring);
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

/* The record holds the lambda in use: it becomes an option only if the user gave it; otherwise it is selected
 * again, or read from the state. */
static void take_lambda(struct train_options *o, const cJSON *config) {
    const cJSON *from = cJSON_GetObjectItemCaseSensitive(config, "lambda_from");
    const char *how = cJSON_IsString(from) ? from->valuestring : "recipe";
    if (strcmp(how, "given") == 0)
        return;
    o->settings.lambda = NAN;
    o->settings.lambda_auto = strcmp(how, "auto") == 0;
}

fathom_status resume_options(struct train_options *o, struct resumed *resumed, const struct opt_row *rows,
                             size_t count) {
    char path[RUN_DIR_PATH_MAX];
    uint8_t *text = NULL;
    size_t length;
    TRY(run_dir_need_run(o->settings.out));
    snprintf(path, sizeof path, "%s/run.json", o->settings.out);
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
        if (member == &o->settings.lambda)
            take_lambda(o, config);
    }
    return FATHOM_OK;
}

void resume_free(struct resumed *resumed) {
    cJSON_Delete(resumed->record);
    resumed->record = NULL;
}
