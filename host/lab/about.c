/* about.c - see about.h. */
#include "lab/about.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "backend/backend.h"
#include "core/file.h"
#include "core/json.h"
#include "core/mem.h"
#include "core/processor.h"

void lab_about_free(lab_about *about) {
    char *texts[] = {about->name, about->recipe, about->version, about->system, about->processor, about->libraries};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        mem_free(texts[i]);
    for (int i = 0; i < about->commands; i++) {
        mem_free(about->command[i]);
        mem_free(about->started[i]);
    }
    *about = (lab_about){0};
}

fathom_status lab_about_here(lab_about *about, bool opencl) {
    struct utsname system;
    char text[600], cpu[256], devices[256] = "OpenCL not in use";
    fathom_status status;
    *about = (lab_about){.format = LAB_FORMAT, .cores = (int64_t)sysconf(_SC_NPROCESSORS_ONLN)};
    TRY_OUT(mem_text(&about->version, fathom_version()));
    uname(&system);
    snprintf(text, sizeof text, "%s %s %s", system.sysname, system.release, system.machine);
    TRY_OUT(mem_text(&about->system, text));
    processor_name(text, sizeof text);
    TRY_OUT(mem_text(&about->processor, text));
    be_describe("cpu", cpu, sizeof cpu);
    if (opencl)
        be_describe("opencl", devices, sizeof devices);
    snprintf(text, sizeof text, "%s; %s", cpu, devices);
    TRY_OUT(mem_text(&about->libraries, text));
    return FATHOM_OK;
out:
    lab_about_free(about);
    return status;
}

fathom_status lab_about_add_command(lab_about *about, const char *command) {
    char now[64] = "", *copy = NULL, *when = NULL;
    time_t seconds = time(NULL);
    struct tm utc;
    if (gmtime_r(&seconds, &utc))
        strftime(now, sizeof now, "%Y-%m-%dT%H:%M:%SZ", &utc);
    TRY(mem_text(&copy, command));
    fathom_status status = mem_text(&when, now);
    if (status != FATHOM_OK) {
        mem_free(copy);
        return status;
    }
    if (about->commands == LAB_COMMANDS) { /* the first one stays: it began the sweep */
        mem_free(about->command[1]);
        mem_free(about->started[1]);
        memmove(&about->command[1], &about->command[2], (LAB_COMMANDS - 2) * sizeof *about->command);
        memmove(&about->started[1], &about->started[2], (LAB_COMMANDS - 2) * sizeof *about->started);
        about->commands--;
    }
    about->command[about->commands] = copy;
    about->started[about->commands++] = when;
    return FATHOM_OK;
}

fathom_status lab_about_save(const lab_about *about, const char *path) {
    struct json *doc = NULL;
    char *text = NULL;
    TRY(json_new(&doc));
    json_int(doc, "format", about->format);
    json_text(doc, "recipe_name", about->name);
    json_text(doc, "recipe", about->recipe);
    json_text(doc, "version", about->version);
    json_text(doc, "system", about->system);
    json_text(doc, "processor", about->processor);
    json_int(doc, "cores", about->cores);
    json_text(doc, "libraries", about->libraries);
    json_open_array(doc, "commands");
    for (int i = 0; i < about->commands; i++) {
        json_open(doc, NULL);
        json_text(doc, "command", about->command[i]);
        json_text(doc, "started", about->started[i]);
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

static fathom_status take(char **to, const cJSON *tree, const char *key) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(tree, key);
    return mem_text(to, cJSON_IsString(item) ? item->valuestring : "");
}

/* A folder without a format is of format 1. */
static fathom_status take_format(lab_about *about, const cJSON *tree, const char *path) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(tree, "format");
    double format = item ? item->valuedouble : 1;
    if ((item && !cJSON_IsNumber(item)) || !(format == 1 || format == LAB_FORMAT))
        return fail(FATHOM_DATA, "%s: 'format' is not 1 or %d, so it was written by another fathom; use that one", path,
                    LAB_FORMAT);
    about->format = (int64_t)format;
    return FATHOM_OK;
}

static fathom_status take_all(lab_about *about, const cJSON *tree, const char *path) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(tree, "cores");
    TRY(take_format(about, tree, path));
    TRY(take(&about->name, tree, "recipe_name"));
    TRY(take(&about->recipe, tree, "recipe"));
    TRY(take(&about->version, tree, "version"));
    TRY(take(&about->system, tree, "system"));
    TRY(take(&about->processor, tree, "processor"));
    TRY(take(&about->libraries, tree, "libraries"));
    about->cores = cJSON_IsNumber(item) && fabs(item->valuedouble) < 1e9 ? (int64_t)item->valuedouble : 0;
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(tree, "commands")) {
        if (about->commands == LAB_COMMANDS)
            break;
        TRY(take(&about->command[about->commands], item, "command"));
        fathom_status status = take(&about->started[about->commands], item, "started");
        about->commands++; /* whichever of the two is there is freed */
        TRY(status);
    }
    return FATHOM_OK;
}

fathom_status lab_about_load(lab_about *about, const char *path) {
    uint8_t *bytes = NULL;
    size_t count;
    struct cJSON *tree = NULL;
    *about = (lab_about){0};
    TRY(file_load(&bytes, &count, path, 1 << 24));
    fathom_status status = json_parse(&tree, (const char *)bytes, count, path);
    if (status == FATHOM_OK)
        status = take_all(about, tree, path);
    cJSON_Delete(tree);
    mem_free(bytes);
    if (status != FATHOM_OK)
        lab_about_free(about);
    return status;
}
