/* cache_path.h - the user's cache folder: $XDG_CACHE_HOME, else ~/.cache. A variable that is not an absolute path is
 * ignored, as the XDG base directory specification asks. */
#ifndef CORE_CACHE_PATH_H
#define CORE_CACHE_PATH_H

#include <stdbool.h>
#include <stdint.h>

#include "core/status.h"

#define CACHE_PATH_MAX 4096 /* PATH_MAX of Linux */

/* path = the folder `below` in the cache: "" the cache itself, "fathom/data" the data sets, "fathom/tune" the tuning
 * records. It need not exist. */
fathom_status cache_path(char path[CACHE_PATH_MAX], const char *below);

typedef struct cache_size {
    uint64_t bytes, files;
} cache_size;

/* Counts the files of a folder in the cache, or removes it with all below it; links are not followed. A missing folder
 * is empty. */
fathom_status cache_visit(cache_size *size, const char *below, bool clear);

#endif
