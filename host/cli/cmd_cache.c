/* cmd_cache.c - `fathom cache path` and `fathom cache clear`: where data sets and tuning records are stored, and
 * removing them. */
#define _XOPEN_SOURCE 700
#include <errno.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "core/cache_path.h"
#include "core/plural.h"

/* What the cache may hold; files of other programs are not touched. */
#define PARTS "data|tune"
static const char *const part_folders[] = {"fathom/data", "fathom/tune"};
enum { PART_COUNT = 2 };

/* nftw passes no context. */
static struct {
    uint64_t bytes, files;
    char failed[CACHE_PATH_MAX + 256];
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

/* Counts, or removes, a part with all below it; links are not followed. A missing part is empty. */
static fathom_status visit(int part, bool clear) {
    char folder[CACHE_PATH_MAX];
    memset(&walk, 0, sizeof walk);
    TRY(cache_path(folder, part_folders[part]));
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
    char folder[CACHE_PATH_MAX];
    struct json *doc = NULL;
    fathom_status status;
    TRY(cache_path(folder, "fathom"));
    if (options->common.json) {
        TRY(json_new_document(&doc));
        json_text(doc, "path", folder);
    } else if (!clear) {
        puts(printable(folder));
    }
    for (int part = 0; part < PART_COUNT; part++) {
        if (options->part >= 0 && options->part != part)
            continue;
        TRY_OUT(visit(part, clear));
        if (!doc) {
            log_info("%s: %s %llu file%s, %s", opt_choice(PARTS, part), clear ? "removed" : "holds",
                     (unsigned long long)walk.files, plural((int64_t)walk.files), bytes_text(walk.bytes));
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

static fathom_status cmd_cache_path(const void *given) { return visit_all(given, false); }
static fathom_status cmd_cache_clear(const void *given) { return visit_all(given, true); }

#define S struct cache_options
static const struct opt_row rows[] = {
    OPT_OPERAND_CHOICE(S, part, "PART", PARTS, NULL, "only data sets, or only tuning records"),
};
#undef S

const struct command command_cache_path = {
    "cache path",   "print where data sets and tuning records are stored",
    NULL,           "fathom cache path\n",
    OPT_ROWS(rows), sizeof(struct cache_options),
    cmd_cache_path,
};

const struct command command_cache_clear = {
    "cache clear",
    "remove data sets and tuning records from the cache",
    NULL,
    "fathom cache clear tune\n",
    OPT_ROWS(rows),
    sizeof(struct cache_options),
    cmd_cache_clear,
};
