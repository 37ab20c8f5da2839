/* cache.h - where fathom keeps what it can find or measure again: $XDG_CACHE_HOME/fathom, else ~/.cache/fathom. */
#ifndef CLI_CACHE_H
#define CLI_CACHE_H

#include "core/status.h"

#define CACHE_PATH 1024

/* The folder `below` in the cache: "" is fathom's own, ".." the one all programs share, "tune" the tuning records,
 * "data" the data sets. It need not exist. Fails when neither XDG_CACHE_HOME nor HOME is a path from the root. */
fathom_status cache_folder(char path[CACHE_PATH], const char *below);

#endif
