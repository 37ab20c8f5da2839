/* npz_write.c - see npz_write.h.
 *
 * An .npz is a zip archive. It is written sequentially, so that it can go into a pipe, and always with zip64
 * fields: one form for every size. */
#include "data/npz_write.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "core/file.h"
#include "core/mem.h"
#include "core/npy.h"

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

struct npz_writer {
    file_writer file;
    uint64_t place; /* bytes written so far */
    int64_t count, capacity;
    npz_member *members;
    bool committed;
};

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
    for (int64_t i = 0; i < w->count; i++)
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

fathom_status npz_add(npz_writer *w, const char *name, const char *type, const void *values, int64_t rows, int64_t cols,
                      size_t size, bool deflate_it) {
    char header[NPY_HEADER_SIZE];
    size_t length = npy_make_header(header, type, rows, cols), count = (size_t)rows * (size_t)(cols < 0 ? 1 : cols);
    file_piece pieces[2] = {{header, length}, {values, count * size}};
    uint8_t *packed = NULL;
    size_t bytes = 0;
    fathom_status status;
    if (w->count == w->capacity) {
        int64_t capacity = w->capacity ? 2 * w->capacity : 16;
        TRY(mem_grow(&w->members, w->capacity, capacity, sizeof *w->members, "archive"));
        w->capacity = capacity;
    }
    npz_member *m = &w->members[w->count++];
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

fathom_status npz_write_begin(npz_writer **w, const char *path) {
    *w = NULL;
    TRY(mem_new(w, 1, 1, sizeof **w, "archive"));
    return file_begin(&(*w)->file, path, false);
}

fathom_status npz_write_commit(npz_writer *w) {
    TRY(write_directory(w));
    TRY(file_commit(&w->file));
    w->committed = true;
    return FATHOM_OK;
}

void npz_write_free(npz_writer *w) {
    if (!w)
        return;
    if (!w->committed)
        file_abort(&w->file);
    mem_free(w->members);
    mem_free(w);
}
