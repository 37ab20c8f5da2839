/* locate.c - recognises layouts by the names of files, and finds sets by name in $FATHOM_DATA and the cache. */
#include "data/locate.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/cache_path.h"
#include "data/catalog.h"

extern const unsigned char data_bytes_embedded[], data_bytes_karate[], data_bytes_karate_2[];
extern const size_t data_size_embedded, data_size_karate, data_size_karate_2;

const void *data_embedded(size_t *count, const char *name) {
    const size_t length = strlen(name);
    if (data_same_name(name, length, "embedded"))
        return *count = data_size_embedded, data_bytes_embedded;
    if (data_same_name(name, length, "karate"))
        return *count = data_size_karate, data_bytes_karate;
    if (data_same_name(name, length, "karate-2"))
        return *count = data_size_karate_2, data_bytes_karate_2;
    return NULL;
}

void data_source_free(data_source *source) {
    mem_free(source->path);
    mem_free(source->name);
    *source = (data_source){0};
}

/* The length of `text` without `ending`, or 0 when it does not end so or nothing is left. */
static size_t before(const char *text, const char *ending) {
    size_t length = strlen(text), tail = strlen(ending);
    return length > tail && strcmp(text + length - tail, ending) == 0 ? length - tail : 0;
}

static const char *last_part(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static fathom_status set_source(data_source *source, data_layout layout, const char *folder, const char *file,
                                const char *name, size_t name_length) {
    data_source_free(source);
    source->layout = layout;
    TRY(data_text(&source->name, "%.*s", (int)name_length, name));
    return file ? data_text(&source->path, "%s/%s", folder, file) : mem_strdup(&source->path, folder);
}

/* What a file name implies about a folder's layout: its rank (0 = nothing), and the part that is the set's name. */
typedef struct layout_match {
    int rank; /* the higher wins */
    data_layout layout;
    size_t from, length; /* the name within the file's name; length 0: the folder's */
} layout_match;

static bool is_edge_list(const char *file) {
    static const char *const names[] = {"edges.csv",    "edges.csv.gz", "edges.tsv",
                                        "edges.tsv.gz", "edges.txt",    "edges.txt.gz"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(file, names[i]) == 0)
            return true;
    return false;
}

static layout_match match_layout(const char *file) {
    size_t length;
    if (strncmp(file, "ind.", 4) == 0 && (length = before(file, ".graph")) > 4)
        return (layout_match){6, DATA_PLANETOID, 4, length - 4};
    if (strcmp(file, "edge.csv") == 0 || strcmp(file, "edge.csv.gz") == 0)
        return (layout_match){5, DATA_OGB, 0, 0};
    if (is_edge_list(file))
        return (layout_match){4, DATA_CSV, 0, 0};
    if ((length = before(file, ".content")) > 0)
        return (layout_match){3, DATA_LINQS, 0, length};
    if ((length = before(file, ".npz")) > 0)
        return (layout_match){2, DATA_NPZ, 0, length};
    if ((length = before(file, ".mtx")) > 0 || (length = before(file, ".mtx.gz")) > 0)
        return (layout_match){1, DATA_MTX, 0, length};
    return (layout_match){0};
}

static fathom_status open_folder(DIR **dir, const char *folder) {
    *dir = opendir(folder);
    return *dir ? FATHOM_OK : fail(FATHOM_DATA, "%s: cannot be opened: %s", folder, strerror(errno));
}

/* The set in a folder, only NAME unless that is NULL; path stays NULL when the folder has no known layout. readdir has
 * no order: of equal rank the first by name is kept; two different sets are an error. */
static fathom_status source_in_folder(data_source *source, const char *folder, const char *name) {
    fathom_status status = FATHOM_OK;
    DIR *dir;
    layout_match best = {0};
    char kept[256] = "", other[256] = "";
    TRY(open_folder(&dir, folder));
    for (struct dirent *entry; (entry = readdir(dir));) {
        layout_match now = match_layout(entry->d_name);
        if (now.rank == 0 || strlen(entry->d_name) >= sizeof kept ||
            (name && (now.length == 0 || !data_same_name(entry->d_name + now.from, now.length, name))))
            continue;
        if (now.rank > best.rank || (now.rank == best.rank && strcmp(entry->d_name, kept) < 0)) {
            if (now.rank == best.rank)
                memcpy(other, kept, sizeof other);
            else
                other[0] = '\0';
            best = now;
            strcpy(kept, entry->d_name);
        } else if (now.rank == best.rank) {
            strcpy(other, entry->d_name);
        }
    }
    closedir(dir);
    if (best.rank == 0)
        return FATHOM_OK;
    if (other[0] && best.length > 0 && !name)
        return fail(FATHOM_DATA, "%s: holds several data sets (%s, %s, ...); name one of them", folder, kept, other);
    const char *set_name = best.length > 0 ? kept + best.from : last_part(folder);
    size_t length = best.length > 0 ? best.length : strlen(set_name);
    if (best.layout == DATA_PLANETOID || best.layout == DATA_OGB)
        status = set_source(source, best.layout, folder, NULL, set_name, length);
    else if (best.layout == DATA_LINQS)
        kept[best.length] = '\0', status = set_source(source, best.layout, folder, kept, set_name, length);
    else
        status = set_source(source, best.layout, folder, kept, set_name, length);
    return status;
}

/* A folder: its own files, or those in its raw/ (as OGB unpacks). */
static fathom_status whole_folder(data_source *source, const char *folder) {
    char *raw;
    TRY(source_in_folder(source, folder, NULL));
    if (source->path)
        return FATHOM_OK;
    TRY(data_text(&raw, "%s/raw", folder));
    fathom_status status = data_is_folder(raw) ? source_in_folder(source, raw, NULL) : FATHOM_OK;
    mem_free(raw);
    if (status == FATHOM_OK && source->path) /* named by the folder, not "raw" */
        status = data_copy_text(&source->name, last_part(folder));
    return status;
}

/* In one folder of $FATHOM_DATA: a file or a folder of that name. */
static fathom_status search_folder(data_source *source, const char *folder, const char *name, int depth) {
    fathom_status status;
    DIR *dir;
    char *below = NULL;
    if (!data_is_folder(folder))
        return FATHOM_OK;
    TRY(source_in_folder(source, folder, name));
    if (source->path)
        return FATHOM_OK;
    TRY(open_folder(&dir, folder));
    status = FATHOM_OK;
    for (struct dirent *entry; status == FATHOM_OK && !source->path && (entry = readdir(dir));) {
        if (entry->d_name[0] == '.')
            continue;
        TRY_OUT(data_text(&below, "%s/%s", folder, entry->d_name));
        if (data_is_folder(below)) {
            if (data_same_name(entry->d_name, strlen(entry->d_name), name))
                status = whole_folder(source, below);
            else if (depth > 0)
                status = search_folder(source, below, name, depth - 1);
        }
        mem_free(below);
        below = NULL;
    }
out:
    mem_free(below);
    closedir(dir);
    return status;
}

fathom_status data_source_search(data_source *source, const char *name) {
    fathom_status status = FATHOM_OK;
    char *list = NULL, *cache = NULL, *rest = NULL;
    const char *folders = getenv("FATHOM_DATA");
    TRY_OUT(mem_strdup(&list, folders ? folders : ""));
    for (char *folder = strtok_r(list, ":", &rest); folder && !source->path; folder = strtok_r(NULL, ":", &rest))
        TRY_OUT(search_folder(source, folder, name, 1));
    if (!source->path && data_cache_folder(&cache) == FATHOM_OK) {
        TRY_OUT(search_folder(source, cache, name, 1));
        source->cached = source->path != NULL;
    }
out:
    mem_free(list);
    mem_free(cache);
    return status;
}

fathom_status data_cache_folder(char **folder) {
    char path[CACHE_PATH_MAX];
    *folder = NULL;
    TRY(cache_path(path, "fathom/data"));
    return mem_strdup(folder, path);
}

static bool is_pytorch(const char *file) {
    static const char *const endings[] = {".pt", ".pth", ".ckpt", ".pkl", ".pickle"};
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++)
        if (before(file, endings[i]) > 0)
            return true;
    return false;
}

/* "folder/name" split at the last slash; the folder is "." when there is none. */
static fathom_status split_path(char **folder, const char **file, const char *path) {
    *file = last_part(path);
    if (*file == path)
        return mem_strdup(folder, ".");
    return data_text(folder, "%.*s", (int)(*file - path == 1 ? 1 : *file - path - 1), path);
}

static fathom_status one_file(data_source *source, const char *path) {
    static const struct {
        const char *ending;
        data_layout layout;
        bool cut; /* the path is the stem */
    } endings[] = {{".npz", DATA_NPZ, false},      {".mtx", DATA_MTX, false},    {".mtx.gz", DATA_MTX, false},
                   {".content", DATA_LINQS, true}, {".cites", DATA_LINQS, true}, {".csv", DATA_CSV, false},
                   {".csv.gz", DATA_CSV, false},   {".edges", DATA_CSV, false},  {".tsv", DATA_CSV, false},
                   {".tsv.gz", DATA_CSV, false},   {".txt", DATA_CSV, false},    {".txt.gz", DATA_CSV, false}};
    fathom_status status;
    char *folder;
    const char *file;
    TRY(split_path(&folder, &file, path));
    status = FATHOM_OK;
    if (strncmp(file, "ind.", 4) == 0) { /* ind.NAME, or any one of its files */
        const char *dot = strchr(file + 4, '.');
        size_t length = dot ? (size_t)(dot - file - 4) : strlen(file + 4);
        status = set_source(source, DATA_PLANETOID, folder, NULL, file + 4, length);
        goto out;
    }
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        size_t length = before(file, endings[i].ending);
        if (length == 0)
            continue;
        status = set_source(source, endings[i].layout, folder, file, file, length);
        if (status == FATHOM_OK && endings[i].cut)
            source->path[strlen(source->path) - strlen(endings[i].ending)] = '\0';
        if (status == FATHOM_OK && endings[i].layout == DATA_CSV && strcmp(source->name, "edges") == 0 && file != path)
            status = data_copy_text(&source->name, last_part(folder));
        goto out;
    }
    status = FATHOM_DATA;
    if (is_pytorch(file))
        fail(FATHOM_DATA,
             "%s: is a file of PyTorch or a pickle, which is not read: it can run any program; save the arrays from "
             "Python with numpy.savez('graph.npz', edge_index=..., x=..., y=...)",
             path);
    else
        fail(FATHOM_DATA, "%s: the layout is not known by its name; .npz, .mtx, .content, .csv and ind.NAME are", path);
out:
    mem_free(folder);
    return status;
}

static bool is_known(const char *name) {
    for (int i = 0; i < data_catalog_count(); i++)
        if (data_same_name(name, strlen(name), data_catalog_at(i)->name))
            return true;
    return false;
}

/* An existing path, or the prefix of one (folder/ind.NAME, the stem of .content). */
static fathom_status from_path(data_source *source, const char *path) {
    fathom_status status;
    char *content, *graph;
    if (data_is_folder(path)) {
        TRY(whole_folder(source, path));
        return source->path ? FATHOM_OK
                            : fail(FATHOM_DATA, "%s: this folder holds no data set in a layout fathom knows", path);
    }
    if (data_is_file(path))
        return one_file(source, path);
    TRY(data_text(&content, "%s.content", path));
    status = data_is_file(content) ? one_file(source, content) : FATHOM_OK;
    mem_free(content);
    if (status != FATHOM_OK || source->path)
        return status;
    TRY(data_text(&graph, "%s.graph", path));
    status = data_is_file(graph) && strncmp(last_part(path), "ind.", 4) == 0 ? one_file(source, path) : FATHOM_OK;
    mem_free(graph);
    return status;
}

static fathom_status find(data_source *source, const char *text) {
    size_t unused;
    if (!text || text[0] == '\0')
        text = "embedded";
    if (data_embedded(&unused, text)) {
        source->layout = DATA_EMBEDDED;
        TRY(mem_strdup(&source->name, text));
        return mem_strdup(&source->path, "inside the library");
    }
    bool known = is_known(text);
    if (!known || data_is_file(text))
        TRY(from_path(source, text));
    if (!source->path && !strchr(text, '/'))
        TRY(data_source_search(source, text));
    if (source->path)
        return FATHOM_OK;
    if (known)
        return fail(FATHOM_DATA, "%s: not in $FATHOM_DATA or the cache; get it with: fathom data get %s", text, text);
    const char *near = data_catalog_near(text);
    return fail(FATHOM_DATA, "%s: neither a file or folder nor a known data set; %s%s%sfathom data list shows those",
                text, near ? "did you mean " : "", near ? near : "", near ? "? " : "");
}

fathom_status data_source_find(data_source *source, const char *name_or_path) {
    *source = (data_source){0};
    fathom_status status = find(source, name_or_path);
    if (status != FATHOM_OK) {
        data_source_free(source);
        return status;
    }
    if (source->layout != DATA_PLANETOID) /* its name is part of file names; data_load converts it afterwards */
        for (char *c = source->name; *c; c++)
            *c = *c == '_' ? '-' : (char)tolower((unsigned char)*c);
    return FATHOM_OK;
}
