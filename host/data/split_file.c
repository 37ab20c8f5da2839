/* split_file.c - a split from a file: JSON {"train":[...],"val":[...],"test":[...]} or a .npz with those arrays; node
 * numbers or masks, in JSON also the names of nodes. */
#include <cjson/cJSON.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/file.h"
#include "core/json.h"
#include "core/read_limit.h"
#include "data/internal.h"
#include "data/npz.h"
#include "data/string_table.h"

#define JSON_MAX ((size_t)1 << 30)

/* A JSON file that is being read. */
typedef struct split_json {
    const char *path;
    const data_set *set;
    string_table names; /* of the nodes of `set`; filled when the first name is read */
} split_json;

/* Booleans, or any list named *_mask: one entry for each node, true or false, 1 or 0. */
static fathom_status take_mask(int32_t **list, int32_t *count, const cJSON *array, const char *key,
                               const split_json *from) {
    const cJSON *item;
    int32_t *mask, at = 0, length = cJSON_GetArraySize(array), nodes = from->set->graph.nodes;
    if (length != nodes)
        return fail(FATHOM_DATA, "%s: %s: a mask of length %" PRId32 " for %" PRId32 " nodes", from->path, key, length,
                    nodes);
    TRY(mem_new(&mask, nodes, 1, sizeof *mask, "split"));
    fathom_status status = FATHOM_OK;
    cJSON_ArrayForEach(item, array) {
        bool one = cJSON_IsTrue(item) || (cJSON_IsNumber(item) && item->valuedouble == 1),
             zero = cJSON_IsFalse(item) || (cJSON_IsNumber(item) && item->valuedouble == 0);
        if (status == FATHOM_OK && !one && !zero)
            status = fail(FATHOM_DATA, "%s: entry %" PRId32 " of the mask %s is neither true nor false", from->path, at,
                          key);
        mask[at++] = one;
    }
    if (status == FATHOM_OK)
        status = data_split_from_mask(list, count, mask, nodes);
    mem_free(mask);
    return status;
}

/* The node of this name; `at` is its place in the list. */
static fathom_status find_name(int32_t *node, const char *name, int32_t at, const char *key, split_json *from) {
    const data_name_list *names = &from->set->node_names;
    int32_t number;
    bool added;
    if (names->count == 0)
        return fail(FATHOM_DATA,
                    "%s: entry %" PRId32 " of %s is a name, '%.60s', but the nodes of %s have no names; give node "
                    "numbers",
                    from->path, at, key, name, from->set->name);
    for (int32_t i = from->names.count; i < names->count; i++) {
        const char *text = names->text + names->starts[i];
        TRY(string_table_add(&number, &added, &from->names, text, strlen(text)));
    }
    *node = string_table_find(&from->names, name, strlen(name));
    return *node >= 0
               ? FATHOM_OK
               : fail(FATHOM_DATA, "%s: entry %" PRId32 " of %s: no node is named '%.60s'", from->path, at, key, name);
}

/* Node numbers, or names of nodes: 12 is a number and "12" a name. */
static fathom_status take_list(int32_t **list, int32_t *count, const cJSON *array, const char *key, split_json *from) {
    const cJSON *item;
    const int32_t nodes = from->set->graph.nodes;
    TRY(mem_new(list, cJSON_GetArraySize(array), 1, sizeof **list, "split"));
    cJSON_ArrayForEach(item, array) {
        double value = cJSON_IsNumber(item) ? item->valuedouble : -1;
        int32_t node = -1;
        if (cJSON_IsString(item))
            TRY(find_name(&node, item->valuestring, *count, key, from));
        else if (value >= 0 && value < nodes && floor(value) == value)
            node = (int32_t)value;
        else
            return fail(FATHOM_DATA, "%s: entry %" PRId32 " of %s is not a node number in 0..%" PRId32, from->path,
                        *count, key, nodes - 1);
        (*list)[(*count)++] = node;
    }
    return FATHOM_OK;
}

/* KEY, else KEY_mask; both are an error, since one would be ignored. */
static fathom_status take_part(int32_t **list, int32_t *count, const cJSON *json, const char *key, split_json *from) {
    char mask_key[16];
    snprintf(mask_key, sizeof mask_key, "%s_mask", key);
    const cJSON *array = cJSON_GetObjectItemCaseSensitive(json, key),
                *mask = cJSON_GetObjectItemCaseSensitive(json, mask_key);
    if (array && mask)
        return fail(FATHOM_DATA, "%s: has both %s and %s; keep one of them", from->path, key, mask_key);
    if (!cJSON_IsArray(array) && !cJSON_IsArray(mask))
        return fail(FATHOM_DATA, "%s: has no list named %s", from->path, key);
    if (mask)
        return take_mask(list, count, mask, mask_key, from);
    return cJSON_IsBool(array->child) ? take_mask(list, count, array, key, from)
                                      : take_list(list, count, array, key, from);
}

static fathom_status read_json(data_split *split, const data_set *set, const char *path) {
    split_json from = {.path = path, .set = set};
    uint8_t *bytes;
    size_t count;
    TRY(file_load(&bytes, &count, path, JSON_MAX));
    const char *end;
    cJSON *json;
    fathom_status status = json_read(&json, &end, (const char *)bytes, count);
    if (status == FATHOM_OK && !cJSON_IsObject(json))
        status = fail(FATHOM_DATA, "%s: byte %td: is not a JSON object", path, end - (const char *)bytes);
    if (status == FATHOM_OK)
        status = take_part(&split->train, &split->train_count, json, "train", &from);
    if (status == FATHOM_OK)
        status = take_part(&split->val, &split->val_count, json, "val", &from);
    if (status == FATHOM_OK)
        status = take_part(&split->test, &split->test_count, json, "test", &from);
    string_table_free(&from.names);
    cJSON_Delete(json);
    mem_free(bytes);
    return status;
}

static fathom_status read_npz(data_split *split, data_set *set, const char *path) {
    npz_file *file;
    bool found;
    TRY(npz_open(&file, path));
    fathom_status status = data_split_from_npz(split, &found, file, set->graph.nodes);
    if (status == FATHOM_OK && !found)
        status = fail(FATHOM_DATA,
                      "%s: holds no split: members train, val and test, or train_mask, val_mask and "
                      "test_mask, are wanted",
                      path);
    if (status == FATHOM_OK)
        status = data_note_unused(set, file);
    npz_close(file);
    return status;
}

fathom_status data_split_read(data_split *split, data_set *set, const char *path) {
    size_t length = strlen(path);
    bool npz = length > 4 && strcmp(path + length - 4, ".npz") == 0;
    if (!npz && !data_is_file(path) && !data_is_folder(path))
        return fail(FATHOM_DATA, "--split %s: is neither public, random:T,V, fraction:T,V nor a file", path);
    TRY(read_limit_begin());
    TRY(read_limit_end(npz ? read_npz(split, set, path) : read_json(split, set, path), path));
    TRY(mem_strdup(&split->name, path));
    return data_split_check(split, path, set->graph.nodes, set->labels);
}
