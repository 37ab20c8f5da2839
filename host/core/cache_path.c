/* cache_path.c - see cache_path.h. */
#include "core/cache_path.h"

#include <stdio.h>
#include <stdlib.h>

static const char *absolute(const char *variable) {
    const char *value = getenv(variable);
    return value && value[0] == '/' ? value : NULL;
}

fathom_status cache_path(char path[CACHE_PATH_MAX], const char *below) {
    const char *cache = absolute("XDG_CACHE_HOME"), *home = absolute("HOME");
    if (!cache && !home)
        return fail(FATHOM_FAILURE, "neither XDG_CACHE_HOME nor HOME is an absolute path; set one of them");
    int length = snprintf(path, CACHE_PATH_MAX, "%s%s%s%s", cache ? cache : home, cache ? "" : "/.cache",
                          below[0] ? "/" : "", below);
    if (length >= CACHE_PATH_MAX)
        return fail(FATHOM_FAILURE, "the path of the cache is longer than %d bytes; set XDG_CACHE_HOME",
                    CACHE_PATH_MAX - 1);
    return FATHOM_OK;
}
