/* split_file.c - a split from a file: JSON {"train":[...],"val":[...],"test":[...]} or a .npz with those arrays. */
#include <cjson/cJSON.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "core/json.h"
#include "data/internal.h"
#include "data/npz.h"

#define JSON_MAX ((size_t)1 << 30)

static fathom_status take_list(int32_t **list, int32_t *count, const cJSON *json, const char *key, const char *path,
                               int32_t nodes) {
    const cJSON *array = cJSON_GetObjectItemCaseSensitive(json, key), *item;
    if (!cJSON_IsArray(array))
        return fail(FATHOM_DATA, "%s: has no list named %s", path, key);
    TRY(mem_new(list, cJSON_GetArraySize(array), 1, sizeof **list, "split"));
    cJSON_ArrayForEach(item, array) {
        double value = cJSON_IsNumber(item) ? item->valuedouble : -1;
        if (!(value >= 0 && value < nodes && floor(value) == value))
            return fail(FATHOM_DATA, "%s: entry %" PRId32 " of %s is not a node number in 0..%" PRId32, path, *count,
                        key, nodes - 1);
        (*list)[(*count)++] = (int32_t)value;
    }
    return FATHOM_OK;
}

static fathom_status read_json(data_split *split, const char *path, int32_t nodes) {
    uint8_t *bytes;
    size_t count;
    TRY(data_slurp(&bytes, &count, path, JSON_MAX));
    const char *end;
    cJSON *json;
    fathom_status status = json_read(&json, &end, (const char *)bytes, count);
    if (status == FATHOM_OK && !cJSON_IsObject(json))
        status = fail(FATHOM_DATA, "%s: byte %td: is not a JSON object", path, end - (const char *)bytes);
    if (status == FATHOM_OK)
        status = take_list(&split->train, &split->train_count, json, "train", path, nodes);
    if (status == FATHOM_OK)
        status = take_list(&split->val, &split->val_count, json, "val", path, nodes);
    if (status == FATHOM_OK)
        status = take_list(&split->test, &split->test_count, json, "test", path, nodes);
    cJSON_Delete(json);
    mem_free(bytes);
    return status;
}

static fathom_status read_npz(data_split *split, const char *path, int32_t nodes) {
    fathom_status status;
    npz_file *file;
    int64_t train = 0, val = 0, test = 0;
    TRY(npz_open(&file, path));
    TRY_OUT(npz_int32(&split->train, &train, file, "train", 0, nodes - 1));
    TRY_OUT(npz_int32(&split->val, &val, file, "val", 0, nodes - 1));
    TRY_OUT(npz_int32(&split->test, &test, file, "test", 0, nodes - 1));
    if (train > nodes || val > nodes || test > nodes)
        status = fail(FATHOM_DATA, "%s: has more entries than the %" PRId32 " nodes", path, nodes);
out:
    npz_close(file);
    split->train_count = (int32_t)train;
    split->val_count = (int32_t)val;
    split->test_count = (int32_t)test;
    return status;
}

fathom_status data_split_read(data_split *split, const char *path, int32_t nodes, const int32_t *labels) {
    size_t length = strlen(path);
    bool npz = length > 4 && strcmp(path + length - 4, ".npz") == 0;
    if (!npz && !data_is_file(path) && !data_is_folder(path))
        return fail(FATHOM_DATA, "--split %s: is neither public, random:T,V, fraction:T,V nor a file", path);
    TRY(npz ? read_npz(split, path, nodes) : read_json(split, path, nodes));
    TRY(mem_text(&split->name, path));
    return data_split_check(split, path, nodes, labels);
}
