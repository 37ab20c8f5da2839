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
        if (opt_given(&o->common, member) || member == &o->settings.out)
            continue;
        status = opt_read_json(o, &rows[i], config);
        if (status != FATHOM_OK)
            return fail_prefix(status, "%s, config: ", path);
        if (member == &o->settings.lambda)
            take_lambda(o, config);
    }
    return FATHOM_OK;
}

void resume_free(struct resumed *resumed) {
    cJSON_Delete(resumed->record);
    resumed->record = NULL;
}
