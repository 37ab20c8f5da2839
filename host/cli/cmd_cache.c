/* cmd_cache.c - `fathom cache path` and `fathom cache clear`: where data sets, tuning records and orders of nodes
 * are stored, and removing them. */
#include <stdio.h>

#include "cli/cli.h"
#include "core/cache_path.h"
#include "core/plural.h"

/* What the cache may hold; files of other programs are not touched. */
#define PARTS "data|tune|order"
static const char *const part_folders[] = {"fathom/data", "fathom/tune", "fathom/order"};
enum { PART_COUNT = 3 };

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
        cache_size size;
        if (options->part >= 0 && options->part != part)
            continue;
        TRY_OUT(cache_visit(&size, part_folders[part], clear));
        if (!doc) {
            log_info("%s: %s %llu file%s, %s", opt_choice(PARTS, part), clear ? "removed" : "holds",
                     (unsigned long long)size.files, plural((int64_t)size.files), bytes_text(size.bytes));
            continue;
        }
        json_open(doc, opt_choice(PARTS, part));
        json_int(doc, clear ? "removed_files" : "files", (int64_t)size.files);
        json_int(doc, clear ? "removed_bytes" : "bytes", (int64_t)size.bytes);
        json_close(doc);
    }
    status = doc ? print_json(&doc, FATHOM_OK) : FATHOM_OK;
out:
    json_free(doc);
    return status;
}

static fathom_status cmd_cache_path(const void *given) { return visit_all(given, false); }
static fathom_status cmd_cache_clear(const void *given) { return visit_all(given, true); }

#define S struct cache_options
static const struct opt_row rows[] = {
    OPT_OPERAND_CHOICE(S, part, "PART", PARTS, NULL,
                       "only data sets, only tuning records, or only orders of nodes for ranks"),
};
#undef S

const struct command command_cache_path = {
    "cache path",   "print where data sets, tuning records and orders of nodes are stored",
    NULL,           "fathom cache path\n",
    OPT_ROWS(rows), sizeof(struct cache_options),
    cmd_cache_path,
};

const struct command command_cache_clear = {
    "cache clear",
    "remove data sets, tuning records and orders of nodes from the cache",
    NULL,
    "fathom cache clear tune\n",
    OPT_ROWS(rows),
    sizeof(struct cache_options),
    cmd_cache_clear,
};
