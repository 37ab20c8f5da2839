/* cmd_cache.c - `fathom cache path` and `fathom cache clear`: where data sets and tuning records are kept, and how to
 * be rid of them. */
#define _XOPEN_SOURCE 700
#include <errno.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cache.h"
#include "cli/cli.h"

fathom_status cache_folder(char path[CACHE_PATH], const char *below) {
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    bool up = strcmp(below, "..") == 0, own = !up && below[0];
    const char *base = cache && cache[0] == '/' ? cache : home && home[0] == '/' ? home : NULL;
    if (!base)
        return fail(FATHOM_FAILURE, "neither XDG_CACHE_HOME nor HOME is a path from the root; set one of them");
    int length = snprintf(path, CACHE_PATH, "%s%s%s%s%s", base, base == cache ? "" : "/.cache", up ? "" : "/fathom",
                          own ? "/" : "", own ? below : "");
    if (length >= CACHE_PATH)
        return fail(FATHOM_FAILURE, "the path of the cache is longer than %d bytes; set XDG_CACHE_HOME", CACHE_PATH);
    return FATHOM_OK;
}

/* What the cache may hold; other programs' files beside them are not ours to touch. */
#define PARTS "data|tune"
enum { PART_COUNT = 2 };

/* nftw hands no context on. */
static struct {
    uint64_t bytes, files;
    char failed[CACHE_PATH + 256];
} walk;

static int count_one(const char *path, const struct stat *about, int type, struct FTW *place) {
    (void)path, (void)place;
    if (type == FTW_F) {
        walk.bytes += (uint64_t)about->st_size;
        walk.files++;
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

/* Counts, or removes, a part with all below it; links are not followed. A part that is not there is empty. */
static fathom_status visit(int part, bool clear) {
    char folder[CACHE_PATH];
    memset(&walk, 0, sizeof walk);
    TRY(cache_folder(folder, opt_choice(PARTS, part)));
    if (access(folder, F_OK) != 0)
        return FATHOM_OK;
    if (nftw(folder, clear ? remove_one : count_one, 16, FTW_PHYS | (clear ? FTW_DEPTH : 0)) == 0)
        return FATHOM_OK;
    return fail(FATHOM_FAILURE, "%s; remove it by hand", walk.failed[0] ? walk.failed : folder);
}

struct cache_options {
    struct common_options common;
    int part; /* -1: all */
};

static fathom_status visit_all(const struct cache_options *options, bool clear) {
    char folder[CACHE_PATH];
    struct json *doc = NULL;
    fathom_status status;
    TRY(cache_folder(folder, ""));
    if (options->common.json) {
        TRY(json_new_document(&doc));
        json_text(doc, "path", folder);
    } else if (!clear) {
        puts(shown(folder));
    }
    for (int part = 0; part < PART_COUNT; part++) {
        if (options->part >= 0 && options->part != part)
            continue;
        TRY_OUT(visit(part, clear));
        if (!doc) {
            say("%s: %s %llu file%s, %s", opt_choice(PARTS, part), clear ? "removed" : "holds",
                (unsigned long long)walk.files, walk.files == 1 ? "" : "s", bytes_text(walk.bytes));
            continue;
        }
        json_open(doc, opt_choice(PARTS, part));
        json_int(doc, clear ? "removed_files" : "files", (int64_t)walk.files);
        json_int(doc, clear ? "removed_bytes" : "bytes", (int64_t)walk.bytes);
        json_close(doc);
    }
    status = doc ? print_json(doc) : FATHOM_OK;
out:
    json_free(doc);
    return status;
}

static fathom_status run_path(const void *given) { return visit_all(given, false); }
static fathom_status run_clear(const void *given) { return visit_all(given, true); }

#define S struct cache_options
static const struct opt_row rows[] = {
    OPT_OPERAND_CHOICE(S, part, "PART", PARTS, NULL, "only the data sets, or only what tune found"),
};
#undef S

const struct verb verb_cache_path = {
    "cache path",   "show where data sets and tuning records are kept",
    NULL,           "fathom cache path\n",
    OPT_ROWS(rows), sizeof(struct cache_options),
    run_path,
};

const struct verb verb_cache_clear = {
    "cache clear",  "remove data sets and tuning records from the cache",
    NULL,           "fathom cache clear tune\n",
    OPT_ROWS(rows), sizeof(struct cache_options),
    run_clear,
};
