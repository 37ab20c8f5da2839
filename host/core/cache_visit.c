/* cache_visit.c - counts or removes a folder of the cache. */
#define _XOPEN_SOURCE 700 /* nftw */
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/cache_path.h"

/* nftw passes no context. */
static _Thread_local struct {
    cache_size size;
    char failed[CACHE_PATH_MAX + 256];
} walk;

static int count_one(const char *path, const struct stat *about, int type, struct FTW *place) {
    (void)path, (void)place;
    if (type == FTW_F) {
        walk.size.bytes += (uint64_t)about->st_size;
        walk.size.files++;
    }
    return 0;
}

static int remove_one(const char *path, const struct stat *about, int type, struct FTW *place) {
    count_one(path, about, type, place);
    if (remove(path) == 0)
        return 0;
    snprintf(walk.failed, sizeof walk.failed, "%.1200s: cannot be removed: %s", path, strerror(errno));
    return 1;
}

fathom_status cache_visit(cache_size *size, const char *below, bool clear) {
    char folder[CACHE_PATH_MAX];
    memset(&walk, 0, sizeof walk);
    *size = walk.size;
    TRY(cache_path(folder, below));
    if (access(folder, F_OK) != 0)
        return FATHOM_OK;
    int failed = nftw(folder, clear ? remove_one : count_one, 16, FTW_PHYS | (clear ? FTW_DEPTH : 0));
    *size = walk.size;
    if (failed == 0)
        return FATHOM_OK;
    return fail(FATHOM_FAILURE, "%s; remove it by hand", walk.failed[0] ? walk.failed : folder);
}
