/* save_npz.c - a set as one .npz in fathom's layout: the members read_npz.c reads, loadable by numpy without pickles.
 *
 * An .npz is a zip archive. It is written sequentially, so that it can go into a pipe, and always with zip64
 * fields: one form for every size. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "core/file.h"
#include "core/json.h"
#include "core/npy.h"
#include "data/internal.h"

#define MEMBERS_MAX 16
#define RECORD_MAX 256 /* bytes of a record of the archive, with its name and zip64 fields */
#define VERSION 45     /* of the format: the first with zip64 */
#define DATE 0x21      /* 1980-01-01: the same content, the same bytes */
#define IN_64 0xFFFFFFFF
#define STORED 0
#define DEFLATED 8

typedef struct npz_member {
    char name[64];
    unsigned method;
    uint32_t crc;
    uint64_t bytes, packed, place;
} npz_member;

typedef struct npz_writer {
    file_writer file;
    uint64_t place; /* bytes written so far */
    int count;
    npz_member members[MEMBERS_MAX];
} npz_writer;

static fathom_status write_bytes(npz_writer *w, const void *bytes, size_t count) {
    w->place += count;
    return file_write(&w->file, bytes, count);
}

/* Appends `value` in `size` bytes, little-endian. */
static uint8_t *put(uint8_t *to, uint64_t value, int bytes) {
    for (int i = 0; i < bytes; i++)
        *to++ = (uint8_t)(value >> 8 * i);
    return to;
}

/* Fields shared by the local header of a member and its entry in the central directory. */
static uint8_t *put_member(uint8_t *to, const npz_member *m, unsigned extra) {
    to = put(to, VERSION, 2);
    to = put(to, 0, 2); /* flags */
    to = put(to, m->method, 2);
    to = put(to, 0, 2); /* time */
    to = put(to, DATE, 2);
    to = put(to, m->crc, 4);
    to = put(to, IN_64, 4);
    to = put(to, IN_64, 4);
    to = put(to, strlen(m->name), 2);
    return put(to, extra, 2);
}

static uint8_t *put_name(uint8_t *to, const npz_member *m) {
    memcpy(to, m->name, strlen(m->name));
    return to + strlen(m->name);
}

static fathom_status write_head(npz_writer *w, npz_member *m) {
    uint8_t record[RECORD_MAX], *end = put(record, 0x04034b50, 4);
    m->place = w->place;
    end = put_name(put_member(end, m, 20), m);
    end = put(put(end, 1, 2), 16, 2); /* zip64 */
    end = put(put(end, m->bytes, 8), m->packed, 8);
    return write_bytes(w, record, (size_t)(end - record));
}

static fathom_status write_entry(npz_writer *w, const npz_member *m) {
    uint8_t record[RECORD_MAX], *end = put(record, 0x02014b50, 4);
    end = put_member(put(end, VERSION, 2), m, 28);
    end = put(put(end, 0, 8), 0, 2); /* comment, disk, attributes */
    end = put_name(put(end, IN_64, 4), m);
    end = put(put(end, 1, 2), 24, 2);
    end = put(put(put(end, m->bytes, 8), m->packed, 8), m->place, 8);
    return write_bytes(w, record, (size_t)(end - record));
}

/* The central directory and its end records, zip64 and classic. */
static fathom_status write_directory(npz_writer *w) {
    uint8_t record[RECORD_MAX], *end;
    uint64_t place = w->place;
    for (int i = 0; i < w->count; i++)
        TRY(write_entry(w, &w->members[i]));
    uint64_t bytes = w->place - place, count = (uint64_t)w->count;
    end = put(put(record, 0x06064b50, 4), 44, 8);
    end = put(put(put(end, VERSION, 2), VERSION, 2), 0, 8);
    end = put(put(put(put(end, count, 8), count, 8), bytes, 8), place, 8);
    end = put(put(put(put(end, 0x07064b50, 4), 0, 4), place + bytes, 8), 1, 4);
    end = put(put(put(put(end, 0x06054b50, 4), 0, 4), count, 2), count, 2);
    end = put(put(put(end, bytes, 4), place < IN_64 ? place : IN_64, 4), 0, 2);
    return write_bytes(w, record, (size_t)(end - record));
}

#define DEFLATE_MAX ((size_t)8 << 20)
#define DEFLATE_BEST_MAX ((size_t)1 << 18)

/* *packed = both pieces deflated, to be freed; *bytes of them. */
static fathom_status deflate_pieces(uint8_t **packed, size_t *bytes, file_piece pieces[2]) {
    z_stream z = {0};
    size_t count = pieces[0].count + pieces[1].count;
    int level = count < DEFLATE_BEST_MAX ? 6 : 1; /* indptr of large graphs takes seconds at level 6 */
    *packed = NULL;
    if (deflateInit2(&z, level, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return fail(FATHOM_MEMORY, "zlib cannot be started");
    size_t most = deflateBound(&z, (uLong)count);
    fathom_status status = mem_new(packed, most, 1, 1, "deflated member");
    z.next_out = *packed;
    z.avail_out = (uInt)most;
    for (int i = 0; i < 2 && status == FATHOM_OK; i++) {
        z.next_in = (Bytef *)(uintptr_t)pieces[i].bytes;
        z.avail_in = (uInt)pieces[i].count;
        if (deflate(&z, i == 0 ? Z_NO_FLUSH : Z_FINISH) != (i == 0 ? Z_OK : Z_STREAM_END))
            status = fail(FATHOM_FAILURE, "zlib cannot deflate a member");
    }
    *bytes = z.total_out;
    deflateEnd(&z);
    return status;
}

/* Integers are deflated; dense floats and large members are stored: they compress little or slowly, and load many times
 * faster uncompressed. */
static fathom_status add_member(npz_writer *w, const char *name, const char *type, const void *values, int64_t rows,
                                int64_t cols, size_t size, bool deflate_it) {
    char header[NPY_HEADER_SIZE];
    size_t length = npy_make_header(header, type, rows, cols), count = (size_t)rows * (size_t)(cols < 0 ? 1 : cols);
    file_piece pieces[2] = {{header, length}, {values, count * size}};
    npz_member *m = &w->members[w->count++];
    uint8_t *packed = NULL;
    size_t bytes = 0;
    fathom_status status;
    snprintf(m->name, sizeof m->name, "%s.npy", name);
    m->bytes = m->packed = length + count * size;
    m->crc = (uint32_t)crc32_z(0, (const Bytef *)header, length);
    if (count * size > 0)
        m->crc = (uint32_t)crc32_z(m->crc, values, count * size);
    if (deflate_it && count * size < DEFLATE_MAX) {
        TRY_OUT(deflate_pieces(&packed, &bytes, pieces));
        m->method = DEFLATED;
        m->packed = bytes;
        pieces[0] = (file_piece){packed, bytes};
        pieces[1].count = 0;
    }
    TRY_OUT(write_head(w, m));
    TRY_OUT(write_bytes(w, pieces[0].bytes, pieces[0].count));
    TRY_OUT(write_bytes(w, pieces[1].bytes, pieces[1].count));
out:
    mem_free(packed);
    return status;
}

static fathom_status add_features(npz_writer *w, const data_features *f, const int64_t shape[2]) {
    if (f->dense)
        return add_member(w, "attr_matrix", "<f4", f->values, f->rows, f->cols, sizeof(float), false);
    TRY(add_member(w, "attr_indptr", "<i8", f->indptr, (int64_t)f->rows + 1, -1, sizeof(int64_t), true));
    TRY(add_member(w, "attr_indices", "<i4", f->indices, f->nonzeros, -1, sizeof(int32_t), true));
    TRY(add_member(w, "attr_data", "<f4", f->values, f->nonzeros, -1, sizeof(float), true));
    return add_member(w, "attr_shape", "<i8", shape, 2, -1, sizeof(int64_t), true);
}

typedef struct pieces {
    int64_t adj_shape[2], attr_shape[2];
    char *about;
} pieces;

static fathom_status add_all(npz_writer *w, const data_set *set, const pieces *p) {
    const data_graph *g = &set->graph;
    const data_split *split = set->split.name ? &set->split : &set->own_split;
    TRY(add_member(w, "about", "|u1", p->about, (int64_t)strlen(p->about), -1, 1, true));
    TRY(add_member(w, "adj_indptr", "<i8", g->indptr, (int64_t)g->nodes + 1, -1, sizeof(int64_t), true));
    TRY(add_member(w, "adj_indices", "<i4", g->indices, 2 * g->edges, -1, sizeof(int32_t), true));
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
        return mem_strdup(about, set->about);
    TRY(json_new(&doc));
    json_text(doc, "name", set->name);
    json_text(doc, "from", set->layout);
    fathom_status status = json_print(doc, about);
    json_free(doc);
    return status;
}

fathom_status data_save(const data_set *set, const char *path) {
    fathom_status status;
    npz_writer w = {.count = 0};
    pieces p = {{set->graph.nodes, set->graph.nodes}, {set->features.rows, set->features.cols}, NULL};
    TRY(make_about(&p.about, set));
    TRY_OUT(file_begin(&w.file, path, false));
    TRY_OUT(add_all(&w, set, &p));
    TRY_OUT(write_directory(&w));
    TRY_OUT(file_commit(&w.file));
out:
    if (status != FATHOM_OK)
        file_abort(&w.file);
    mem_free(p.about);
    return status;
}
