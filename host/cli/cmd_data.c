/* cmd_data.c - `fathom data list` and `fathom data get`: which data sets are installed, and downloading others. */
#include <string.h>

#include "cli/cli.h"
#include "core/mem.h"
#include "data/data.h"

struct list_options {
    struct common_options common;
};

struct get_options {
    struct common_options common;
    const char *name, *to;
};

static const struct opt_row get_rows[] = {
    OPT_OPERAND(struct get_options, name, "NAME", OPT_REQUIRED, "cora, citeseer, pubmed, coauthor-cs, ..."),
    OPT_PATH(struct get_options, to, "to", 0, "DIR", NULL, "where the files go (default: the cache)"),
};

/* Where a set is stored; path NULL: not installed. */
struct here {
    char *path;
    int64_t bytes;
};

static fathom_status print_list(const struct here *here, int count) {
    const char **cells = NULL;
    char(*sizes)[32] = NULL;
    fathom_status status;
    TRY_OUT(mem_new(&cells, (size_t)count + 1, 4, sizeof *cells, "table"));
    TRY_OUT(mem_new(&sizes, count, 1, sizeof *sizes, "table"));
    cells[0] = "NAME", cells[1] = "SIZE", cells[2] = "WHERE", cells[3] = "WHAT";
    for (int i = 0; i < count; i++) {
        const char **row = cells + 4 * (i + 1);
        row[0] = data_catalog_at(i)->name;
        snprintf(sizes[i], sizeof sizes[i], "%s", here[i].path ? bytes_text((uint64_t)here[i].bytes) : "-");
        row[1] = sizes[i];
        row[2] = here[i].path ? here[i].path : "not here: fathom data get";
        row[3] = data_catalog_at(i)->title;
    }
    print_table(cells, (size_t)count + 1, 4, 2, 1u << 1);
out:
    mem_free(sizes);
    mem_free(cells);
    return status;
}

static fathom_status print_list_json(const struct here *here, int count) {
    struct json *doc = NULL;
    char *cache = NULL;
    fathom_status status;
    TRY_OUT(data_cache_folder(&cache));
    TRY_OUT(json_new_document(&doc));
    json_text(doc, "cache", cache);
    json_open_array(doc, "sets");
    for (int i = 0; i < count; i++) {
        const data_catalog_entry *known = data_catalog_at(i);
        json_open(doc, NULL);
        json_text(doc, "name", known->name);
        json_text(doc, "title", known->title);
        json_text(doc, "licence", known->licence);
        json_bool(doc, "here", here[i].path != NULL);
        json_text(doc, "path", here[i].path);
        if (here[i].path)
            json_int(doc, "bytes", here[i].bytes);
        else
            json_null(doc, "bytes");
        json_bool(doc, "can_get", known->file_count > 0);
        json_close(doc);
    }
    json_close(doc);
    TRY_OUT(print_json(&doc, FATHOM_OK));
out:
    mem_free(cache);
    return status;
}

static fathom_status cmd_data_list(const void *given) {
    const struct list_options *options = given;
    const int count = data_catalog_count();
    struct here *here;
    TRY(mem_new(&here, count, 1, sizeof *here, "list"));
    fathom_status status = FATHOM_OK;
    for (int i = 0; i < count && status == FATHOM_OK; i++)
        status = data_find(&here[i].path, &here[i].bytes, data_catalog_at(i)->name);
    if (status == FATHOM_OK)
        status = options->common.json ? print_list_json(here, count) : print_list(here, count);
    for (int i = 0; i < count; i++)
        mem_free(here[i].path);
    mem_free(here);
    return status;
}

static bool show_download(void *user, const data_progress *p) {
    char left[32] = "";
    double came = (double)(p->done - p->done_before), speed = p->seconds > 0 ? came / p->seconds : 0;
    (void)user;
    if (p->total > 0 && speed > 0)
        snprintf(left, sizeof left, ", %.0f s left", (double)(p->total - p->done) / speed);
    if (p->total > 0) {
        int filled = (int)(20 * p->done / p->total);
        progress("%d/%d %s [%.*s%.*s] %3d %%, %s/s%s", p->file_number, p->file_count, p->file, filled,
                 "====================", 20 - filled, "                    ", (int)(100 * p->done / p->total),
                 bytes_text((uint64_t)speed), left);
    } else {
        progress("%d/%d %s %s, %s/s", p->file_number, p->file_count, p->file, bytes_text((uint64_t)p->done),
                 bytes_text((uint64_t)speed));
    }
    return true;
}

static fathom_status cmd_data_get(const void *given) {
    const struct get_options *options = given;
    struct json *doc = NULL;
    char *path = NULL;
    int64_t bytes = 0;
    fathom_status status = data_get(options->name, options->to, show_download, NULL);
    progress_end();
    TRY(status);
    if (!options->to)
        TRY(data_find(&path, &bytes, options->name));
    const char *where = options->to ? options->to : path ? path : "the cache";
    if (!options->common.json) {
        printf("%s: complete and verified, in %s\n", options->name, printable(where));
    } else if ((status = json_new_document(&doc)) == FATHOM_OK) {
        json_text(doc, "name", options->name);
        json_text(doc, "path", where);
        status = print_json(&doc, FATHOM_OK);
    }
    mem_free(path);
    return status;
}

const struct command command_data_list = {
    "data list",
    "the data sets known by name: which are here, where, how large",
    "Names are looked for in the folders of FATHOM_DATA (colon separated), then in\nthe cache.\n",
    "fathom data list\n",
    NULL,
    0,
    sizeof(struct list_options),
    cmd_data_list,
};

const struct command command_data_get = {
    "data get",
    "download a data set from its public source; checked and resumable",
    "FATHOM_MIRROR (a base URL or a folder) replaces the public sources;\nproxies are those of the "
    "environment.\n",
    "fathom data get cora\nfathom data get coauthor-cs --to data\n",
    OPT_ROWS(get_rows),
    sizeof(struct get_options),
    cmd_data_get,
};
