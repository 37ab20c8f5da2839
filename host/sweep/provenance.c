/* provenance.c - collects, saves and loads the provenance of a sweep (provenance.h). */
#include "sweep/provenance.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "backend/backend.h"
#include "core/cpu_name.h"
#include "core/file.h"
#include "core/json.h"
#include "core/mem.h"

void provenance_free(sweep_provenance *provenance) {
    char *strings[] = {provenance->name,   provenance->recipe,    provenance->version,
                       provenance->system, provenance->processor, provenance->libraries};
    for (size_t i = 0; i < sizeof strings / sizeof *strings; i++)
        mem_free(strings[i]);
    for (int i = 0; i < provenance->commands; i++) {
        mem_free(provenance->command[i]);
        mem_free(provenance->started[i]);
    }
    *provenance = (sweep_provenance){0};
}

fathom_status provenance_collect(sweep_provenance *provenance, bool opencl) {
    struct utsname system;
    char text[600], cpu[256], devices[256] = "OpenCL not in use";
    fathom_status status;
    *provenance = (sweep_provenance){.cores = (int64_t)sysconf(_SC_NPROCESSORS_ONLN)};
    TRY_OUT(mem_strdup(&provenance->version, fathom_version()));
    uname(&system);
    snprintf(text, sizeof text, "%s %s %s", system.sysname, system.release, system.machine);
    TRY_OUT(mem_strdup(&provenance->system, text));
    cpu_name(text, sizeof text);
    TRY_OUT(mem_strdup(&provenance->processor, text));
    be_describe("cpu", cpu, sizeof cpu);
    if (opencl)
        be_describe("opencl", devices, sizeof devices);
    snprintf(text, sizeof text, "%s; %s", cpu, devices);
    TRY_OUT(mem_strdup(&provenance->libraries, text));
    return FATHOM_OK;
out:
    provenance_free(provenance);
    return status;
}

fathom_status provenance_add_command(sweep_provenance *provenance, const char *command) {
    char now[64] = "", *copy = NULL, *when = NULL;
    time_t seconds = time(NULL);
    struct tm utc;
    if (gmtime_r(&seconds, &utc))
        strftime(now, sizeof now, "%Y-%m-%dT%H:%M:%SZ", &utc);
    TRY(mem_strdup(&copy, command));
    fathom_status status = mem_strdup(&when, now);
    if (status != FATHOM_OK) {
        mem_free(copy);
        return status;
    }
    if (provenance->commands == PROVENANCE_COMMANDS) { /* drop the second: the first one started the sweep */
        mem_free(provenance->command[1]);
        mem_free(provenance->started[1]);
        memmove(&provenance->command[1], &provenance->command[2],
                (PROVENANCE_COMMANDS - 2) * sizeof *provenance->command);
        memmove(&provenance->started[1], &provenance->started[2],
                (PROVENANCE_COMMANDS - 2) * sizeof *provenance->started);
        provenance->commands--;
    }
    provenance->command[provenance->commands] = copy;
    provenance->started[provenance->commands++] = when;
    return FATHOM_OK;
}

fathom_status provenance_save(const sweep_provenance *provenance, const char *path) {
    struct json *doc = NULL;
    char *text = NULL;
    TRY(json_new(&doc));
    json_int(doc, "format", SWEEP_FORMAT);
    json_text(doc, "recipe_name", provenance->name);
    json_text(doc, "recipe", provenance->recipe);
    json_text(doc, "version", provenance->version);
    json_text(doc, "system", provenance->system);
    json_text(doc, "processor", provenance->processor);
    json_int(doc, "cores", provenance->cores);
    json_text(doc, "libraries", provenance->libraries);
    json_open_array(doc, "commands");
    for (int i = 0; i < provenance->commands; i++) {
        json_open(doc, NULL);
        json_text(doc, "command", provenance->command[i]);
        json_text(doc, "started", provenance->started[i]);
        json_close(doc);
    }
    json_close(doc);
    fathom_status status = json_print(doc, &text);
    json_free(doc);
    TRY(status);
    status = file_replace(path, (file_piece[]){{text, strlen(text)}, {"\n", 1}}, 2);
    mem_free(text);
    return status;
}

static fathom_status load_text(char **to, const cJSON *tree, const char *key) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(tree, key);
    return mem_strdup(to, cJSON_IsString(item) ? item->valuestring : "");
}

static fathom_status check_format(const cJSON *tree, const char *path) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(tree, "format");
    if (!cJSON_IsNumber(item) || item->valuedouble != SWEEP_FORMAT)
        return fail(FATHOM_DATA, "%s: 'format' is not %d: another version of fathom wrote it; use that one", path,
                    SWEEP_FORMAT);
    return FATHOM_OK;
}

static fathom_status load_all(sweep_provenance *provenance, const cJSON *tree, const char *path) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(tree, "cores");
    TRY(check_format(tree, path));
    TRY(load_text(&provenance->name, tree, "recipe_name"));
    TRY(load_text(&provenance->recipe, tree, "recipe"));
    TRY(load_text(&provenance->version, tree, "version"));
    TRY(load_text(&provenance->system, tree, "system"));
    TRY(load_text(&provenance->processor, tree, "processor"));
    TRY(load_text(&provenance->libraries, tree, "libraries"));
    provenance->cores = cJSON_IsNumber(item) && fabs(item->valuedouble) < 1e9 ? (int64_t)item->valuedouble : 0;
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(tree, "commands")) {
        if (provenance->commands == PROVENANCE_COMMANDS)
            break;
        TRY(load_text(&provenance->command[provenance->commands], item, "command"));
        fathom_status status = load_text(&provenance->started[provenance->commands], item, "started");
        provenance->commands++; /* provenance_free frees either of the two */
        TRY(status);
    }
    return FATHOM_OK;
}

fathom_status provenance_load(sweep_provenance *provenance, const char *path) {
    uint8_t *bytes = NULL;
    size_t count;
    struct cJSON *tree = NULL;
    *provenance = (sweep_provenance){0};
    TRY(file_load(&bytes, &count, path, 1 << 24));
    fathom_status status = json_parse(&tree, (const char *)bytes, count, path);
    if (status == FATHOM_OK)
        status = load_all(provenance, tree, path);
    cJSON_Delete(tree);
    mem_free(bytes);
    if (status != FATHOM_OK)
        provenance_free(provenance);
    return status;
}
