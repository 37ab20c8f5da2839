/* tune_cache.c - a small JSON file for each tuned device in the cache, $XDG_CACHE_HOME/fathom/tune, named by a digest
 * of device, platform, driver and version of fathom: when one of them changes, the record is no longer found. */
#include <cjson/cJSON.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/tune.h"
#include "core/cache_path.h"
#include "core/digest.h"
#include "core/file.h"
#include "core/mem.h"

#define RECORD_PATH_MAX (CACHE_PATH_MAX + 40)
#define RECORD_MAX 65536
#define GROUP_MAX 1024
#define OWN_GEMM_MAX (1 << 30)

static void device_digest(char hex[65], const be_info *info) {
    const char *parts[] = {info->name, info->platform, info->driver, fathom_version()};
    digest_state state;
    digest_begin(&state);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        digest_add(&state, parts[i], strlen(parts[i]) + 1);
    digest_end(&state, hex);
}

static bool record_path(char path[RECORD_PATH_MAX], const be_info *info) {
    char folder[CACHE_PATH_MAX], hex[65];
    if (cache_path(folder, "fathom/tune") != FATHOM_OK)
        return false;
    device_digest(hex, info);
    snprintf(path, RECORD_PATH_MAX, "%s/%.24s.json", folder, hex);
    return true;
}

/* A whole number of the record in 0..max. */
static bool read_number(int *value, const cJSON *tree, const char *key, int max) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(tree, key);
    if (!cJSON_IsNumber(item) || item->valuedouble != (double)item->valueint || item->valueint < 0 ||
        item->valueint > max)
        return false;
    *value = item->valueint;
    return true;
}

static bool has_text(const cJSON *tree, const char *key, const char *text) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(tree, key);
    return cJSON_IsString(item) && strcmp(item->valuestring, text) == 0;
}

/* The file name is a shortened digest and a file may be copied, so the record names its device itself. */
static bool read_record(be_tuning *tuning, const cJSON *tree, const be_info *info) {
    return has_text(tree, "device", info->name) && has_text(tree, "driver", info->driver) &&
           has_text(tree, "version", fathom_version()) && read_number(&tuning->group, tree, "group", GROUP_MAX) &&
           read_number(&tuning->own_gemm, tree, "own_gemm", OWN_GEMM_MAX);
}

void tune_find(void *user, be_tuning *tuning, const be_info *info) {
    const struct tune_log *log = user;
    char path[RECORD_PATH_MAX];
    uint8_t *bytes = NULL;
    size_t count;
    cJSON *tree = NULL;
    be_tuning read = {0};
    if (info->opencl_index < 0 || !record_path(path, info) || access(path, F_OK) != 0)
        return;
    if (file_load(&bytes, &count, path, RECORD_MAX) == FATHOM_OK &&
        json_parse(&tree, (const char *)bytes, count, path) == FATHOM_OK && read_record(&read, tree, info)) {
        tuning->group = read.group & (read.group - 1) ? 0 : read.group;
        tuning->own_gemm = read.own_gemm;
    } else if (log) {
        progress_report(log->message, "note: %s is not a tuning record of this device and is ignored; run fathom tune",
                        path);
    }
    cJSON_Delete(tree);
    mem_free(bytes);
}

static fathom_status make_folders(void) {
    static const char *const levels[] = {"", "fathom", "fathom/tune"};
    char folder[CACHE_PATH_MAX];
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        TRY(cache_path(folder, levels[i]));
        if (mkdir(folder, 0700) != 0 && errno != EEXIST)
            return fail(FATHOM_FAILURE, "%s: cannot be made: %s; set XDG_CACHE_HOME to a folder that can be written",
                        folder, strerror(errno));
    }
    return FATHOM_OK;
}

fathom_status tune_keep(char **path, const be_tuning *tuning, const be_info *info) {
    struct json *doc = NULL;
    char *text = NULL, name[RECORD_PATH_MAX];
    fathom_status status;
    TRY(make_folders());
    record_path(name, info);
    TRY_OUT(json_new(&doc));
    json_text(doc, "device", info->name);
    json_text(doc, "platform", info->platform);
    json_text(doc, "driver", info->driver);
    json_text(doc, "version", fathom_version());
    json_int(doc, "group", tuning->group);
    json_int(doc, "own_gemm", tuning->own_gemm);
    TRY_OUT(json_print(doc, &text));
    TRY_OUT(file_replace_private(name, &(file_piece){text, strlen(text)}, 1));
    TRY_OUT(mem_strdup(path, name));
out:
    mem_free(text);
    json_free(doc);
    return status;
}
