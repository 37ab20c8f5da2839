/* support.c - end of a test program, paths and switches for tests. */
#include "support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/json.h"

#define EXIT_SKIPPED 77 /* ctest's SKIP_RETURN_CODE in tests/CMakeLists.txt */

/* Allocations of cJSON can fail in tests, and count as live. */
__attribute__((constructor)) static void hook_json(void) { json_hook_memory(); }

int support_end(void) {
    int failures = UNITY_END();
    if (failures > 0 || Unity.NumberOfTests == 0)
        return 1;
    return Unity.TestIgnores == Unity.NumberOfTests ? EXIT_SKIPPED : 0;
}

static const char *source_dir(void) {
    const char *given = getenv("SOURCE_DIR");
    return given ? given : TEST_SOURCE_DIR;
}

const char *support_source(const char *relative) {
    static char path[4096];
    snprintf(path, sizeof path, "%s/%s", source_dir(), relative);
    return path;
}

const char *support_shared(const char *relative) {
    static char path[4096];
    const char *given = getenv("FATHOM_SHARED");
    if (given)
        snprintf(path, sizeof path, "%s/%s", given, relative);
    else
        snprintf(path, sizeof path, "%s/../shared/%s", source_dir(), relative);
    return access(path, R_OK) == 0 ? path : NULL;
}

static bool variable_is(const char *name, const char *wanted) {
    const char *value = getenv(name);
    return value && strcmp(value, wanted) == 0;
}

bool support_long(void) { return variable_is("FATHOM_TEST_LONG", "1"); }
bool support_all_devices(void) { return variable_is("FATHOM_TEST_DEVICES", "all"); }
