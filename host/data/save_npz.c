/* save_npz.c - a set as one .npz in fathom's layout: the members read_npz.c reads, loadable by numpy without pickles.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zip.h>

#include "core/json.h"
#include "core/npy.h"
#include "data/internal.h"

/* Headers must live until the archive is written, which libzip does at its end. */
#define MEMBERS_MAX 16

typedef struct npz_writer {
    zip_t *zip;
    const char *path;
    int members;
    char headers[MEMBERS_MAX][NPY_HEADER_ROOM];
} npz_writer;

#define DEFLATE_MAX ((size_t)8 << 20)
#define DEFLATE_BEST_MAX ((size_t)1 << 18)

/* Integers are deflated; dense floats and large members are stored: they shrink little or slowly, and load many times
 * faster so. */
static fathom_status add_member(npz_writer *w, const char *name, const char *type, const void *values, int64_t rows,
                                int64_t cols, size_t size, bool deflate) {
    char member[64];
    char *header = w->headers[w->members++];
    size_t length = npy_make_header(header, type, rows, cols), count = (size_t)rows * (size_t)(cols < 0 ? 1 : cols);
    zip_buffer_fragment_t parts[2] = {{(zip_uint8_t *)header, length},
                                      {(zip_uint8_t *)(uintptr_t)values, count * size}};
    snprintf(member, sizeof member, "%s.npy", name);
    zip_source_t *source = zip_source_buffer_fragment(w->zip, parts, 2, 0);
    zip_int64_t index = source ? zip_file_add(w->zip, member, source, ZIP_FL_ENC_UTF_8) : -1;
    if (index < 0) {
        zip_source_free(source);
        return fail(FATHOM_FAILURE, "%s: member %s cannot be made (%s)", w->path, name, zip_strerror(w->zip));
    }
    zip_set_file_compression(w->zip, (zip_uint64_t)index,
                             deflate && count * size < DEFLATE_MAX ? ZIP_CM_DEFLATE : ZIP_CM_STORE,
                             count * size < DEFLATE_BEST_MAX ? 6 : 1); /* row starts take seconds at level 6 */
    zip_file_set_dostime(w->zip, (zip_uint64_t)index, 0, 0x21, 0); /* 1980-01-01: the same content, the same bytes */
    return FATHOM_OK;
}

static fathom_status add_features(npz_writer *w, const data_features *f, const int64_t shape[2]) {
    if (f->dense)
        return add_member(w, "attr_matrix", "<f4", f->values, f->rows, f->cols, sizeof(float), false);
    TRY(add_member(w, "attr_indptr", "<i8", f->offsets, (int64_t)f->rows + 1, -1, sizeof(int64_t), true));
    TRY(add_member(w, "attr_indices", "<i4", f->columns, f->nonzeros, -1, sizeof(int32_t), true));
    TRY(add_member(w, "attr_data", "<f4", f->values, f->nonzeros, -1, sizeof(float), true));
    return add_member(w, "attr_shape", "<i8", shape, 2, -1, sizeof(int64_t), true);
}

/* What every member points into, kept until the archive is closed. */
typedef struct pieces {
    int64_t adj_shape[2], attr_shape[2];
    char *about;
} pieces;

static fathom_status add_all(npz_writer *w, const data_set *set, const pieces *p) {
    const data_graph *g = &set->graph;
    const data_split *split = set->split.name ? &set->split : &set->own_split;
    TRY(add_member(w, "about", "|u1", p->about, (int64_t)strlen(p->about), -1, 1, true));
    TRY(add_member(w, "adj_indptr", "<i8", g->offsets, (int64_t)g->nodes + 1, -1, sizeof(int64_t), true));
    TRY(add_member(w, "adj_indices", "<i4", g->columns, 2 * g->edges, -1, sizeof(int32_t), true));
    TRY(add_member(w, "adj_shape", "<i8", p->adj_shape, 2, -1, sizeof(int64_t), true));
    TRY(add_features(w, &set->features, p->attr_shape));
    TRY(add_member(w, "labels", "<i4", set->labels, g->nodes, -1, sizeof(int32_t), true));
    TRY(add_member(w, "classes", "<i4", &set->classes, 1, -1, sizeof(int32_t), true));
    if (!split->name)
        return FATHOM_OK;
    TRY(add_member(w, "train", "<i4", split->train, split->train_count, -1, sizeof(int32_t), true));
    TRY(add_member(w, "val", "<i4", split->val, split->val_count, -1, sizeof(int32_t), true));
    return add_member(w, "test", "<i4", split->test, split->test_count, -1, sizeof(int32_t), true);
}

static fathom_status make_about(char **about, const data_set *set) {
    struct json *doc = NULL;
    if (set->about)
        return mem_text(about, set->about);
    TRY(json_new(&doc));
    json_text(doc, "name", set->name);
    json_text(doc, "from", set->layout);
    fathom_status status = json_print(doc, about);
    json_free(doc);
    return status;
}

/* The finished file is forced to disk before it takes its name. */
static fathom_status settle(const char *temporary, const char *path) {
    int file = open(temporary, O_RDONLY | O_CLOEXEC);
    bool good = file >= 0 && fsync(file) == 0;
    if (file >= 0)
        close(file);
    if (good && rename(temporary, path) == 0)
        return FATHOM_OK;
    return fail(FATHOM_FAILURE, "%s: cannot be written: %s", path, strerror(errno));
}

static fathom_status write_archive(npz_writer *w, const data_set *set, const pieces *p, const char *temporary) {
    int error = 0;
    unlink(temporary);
    w->zip = zip_open(temporary, ZIP_CREATE | ZIP_TRUNCATE, &error);
    if (!w->zip)
        return fail(FATHOM_FAILURE, "%s: cannot be written: %s", w->path, strerror(errno));
    fathom_status status = add_all(w, set, p);
    if (status != FATHOM_OK) {
        zip_discard(w->zip);
        return status;
    }
    if (zip_close(w->zip) != 0) {
        status = fail(FATHOM_FAILURE, "%s: cannot be written (%s)", w->path, zip_strerror(w->zip));
        zip_discard(w->zip);
    }
    return status;
}

fathom_status data_save(const data_set *set, const char *path) {
    fathom_status status;
    char *temporary = NULL;
    npz_writer writer = {.path = path};
    pieces p = {{set->graph.nodes, set->graph.nodes}, {set->features.rows, set->features.cols}, NULL};
    if (data_is_folder(path))
        return fail(FATHOM_FAILURE, "%s: is a folder, a file's name is wanted", path);
    TRY_OUT(data_text(&temporary, "%s.part", path));
    TRY_OUT(make_about(&p.about, set));
    TRY_OUT(write_archive(&writer, set, &p, temporary));
    TRY_OUT(settle(temporary, path));
out:
    if (status != FATHOM_OK && temporary)
        unlink(temporary);
    mem_free(temporary);
    mem_free(p.about);
    return status;
}
