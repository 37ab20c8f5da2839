/* tune_cache.c - a small JSON file for each tuned device in the cache, $XDG_CACHE_HOME/fathom/tune, named by a digest
 * of device, platform, driver and version of fathom: whatever of them changes, the record is no longer found. */
#include <cjson/cJSON.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/cache.h"
#include "cli/cli.h"
#include "cli/tune.h"
#include "core/digest.h"
#include "core/file.h"
#include "core/mem.h"

#define FILE_ROOM (CACHE_PATH + 40)
#define RECORD_MOST 65536
#define GROUP_MOST 1024

static void name_of(char hex[65], const be_info *info) {
    const char *parts[] = {info->name, info->platform, info->driver, fathom_version()};
    digest_state state;
    digest_begin(&state);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        digest_add(&state, parts[i], strlen(parts[i]) + 1);
    digest_end(&state, hex);
}

static bool file_of(char path[FILE_ROOM], const be_info *info) {
    char folder[CACHE_PATH], hex[65];
    if (cache_folder(folder, "tune") != FATHOM_OK)
        return false;
    name_of(hex, info);
    snprintf(path, FILE_ROOM, "%s/%.24s.json", folder, hex);
    return true;
}

/* A whole number of the record in 1..most, else 0. */
static int number_of(const cJSON *tree, const char *key, int most) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(tree, key);
    bool whole = cJSON_IsNumber(item) && item->valuedouble == (double)item->valueint;
    return whole && item->valueint >= 1 && item->valueint <= most ? item->valueint : 0;
}

/* A digest may be cut and a file copied: the record says itself whose it is. */
static bool is_of(const cJSON *tree, const char *key, const char *text) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(tree, key);
    return cJSON_IsString(item) && strcmp(item->valuestring, text) == 0;
}

/* What the record says, as one digest: a record that was changed or cut is not used. */
static void digest_of(char hex[65], const be_tuning *tuning, const be_info *info) {
    const char *parts[] = {info->name, info->platform, info->driver, fathom_version()};
    char numbers[64];
    digest_state state;
    digest_begin(&state);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        digest_add(&state, parts[i], strlen(parts[i]) + 1);
    snprintf(numbers, sizeof numbers, "group %d columns %d own_gemm %d", tuning->group, tuning->columns,
             tuning->own_gemm);
    digest_add(&state, numbers, strlen(numbers));
    digest_end(&state, hex);
}

void tune_find(void *user, be_tuning *tuning, const be_info *info) {
    (void)user;
    char path[FILE_ROOM], hex[65];
    uint8_t *bytes = NULL;
    size_t count;
    cJSON *tree = NULL;
    if (info->opencl_index < 0 || !file_of(path, info))
        return;
    if (file_load(&bytes, &count, path, RECORD_MOST) == FATHOM_OK &&
        json_parse(&tree, (const char *)bytes, count, path) == FATHOM_OK && is_of(tree, "device", info->name) &&
        is_of(tree, "driver", info->driver) && is_of(tree, "version", fathom_version())) {
        int group = number_of(tree, "group", GROUP_MOST);
        be_tuning told = {.group = group,
                          .columns = number_of(tree, "columns", 16),
                          .own_gemm = number_of(tree, "own_gemm", 1 << 30)};
        digest_of(hex, &told, info);
        if (is_of(tree, "sha256", hex)) {
            tuning->group = group & (group - 1) ? 0 : group;
            tuning->columns = told.columns == 4 || told.columns == 16 ? told.columns : 0;
            tuning->own_gemm = told.own_gemm;
        }
    }
    cJSON_Delete(tree);
    mem_free(bytes);
}

static fathom_status make_folders(void) {
    static const char *const levels[] = {"..", "", "tune"};
    char folder[CACHE_PATH];
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        TRY(cache_folder(folder, levels[i]));
        if (mkdir(folder, 0700) != 0 && errno != EEXIST)
            return fail(FATHOM_FAILURE, "%s: cannot be made: %s; set XDG_CACHE_HOME to a folder that can be written",
                        folder, strerror(errno));
    }
    return FATHOM_OK;
}

fathom_status tune_keep(char **path, const be_tuning *tuning, const be_info *info) {
    struct json *doc = NULL;
    char *text = NULL, name[FILE_ROOM], hex[65];
    fathom_status status;
    TRY(make_folders());
    file_of(name, info);
    TRY_OUT(json_new(&doc));
    json_text(doc, "device", info->name);
    json_text(doc, "platform", info->platform);
    json_text(doc, "driver", info->driver);
    json_text(doc, "version", fathom_version());
    json_int(doc, "group", tuning->group);
    json_int(doc, "columns", tuning->columns);
    json_int(doc, "own_gemm", tuning->own_gemm);
    digest_of(hex, tuning, info);
    json_text(doc, "sha256", hex);
    TRY_OUT(json_print(doc, &text));
    TRY_OUT(file_replace_private(name, &(file_piece){text, strlen(text)}, 1));
    TRY_OUT(mem_text(path, name));
out:
    mem_free(text);
    json_free(doc);
    return status;
}
