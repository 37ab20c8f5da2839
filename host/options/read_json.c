/* read_json.c - values of options from a record in JSON. */
#include <cjson/cJSON.h>
#include <string.h>

#include "options/options.h"

fathom_status opt_read_json(void *options, const struct opt_row *row, const cJSON *object) {
    char key[64];
    void *member = (char *)options + row->offset;
    snprintf(key, sizeof key, "%s", row->name);
    for (char *c = key; *c; c++)
        *c = *c == '-' ? '_' : *c;
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    if (!item || cJSON_IsNull(item))
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
    return fail(FATHOM_DATA, "the value of %s cannot be used", key);
}
