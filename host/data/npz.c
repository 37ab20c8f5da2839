/* npz.c - members of a .npz archive through libzip, with checks against archives that declare more than they hold. */
#include "data/npz.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>
#include <zip.h>

#include "core/file.h"
#include "core/mem.h"
#include "core/read_limit.h"
#include "data/internal.h"

#define DEFLATE_BEST 1032 /* upper bound of the expansion of deflate */
#define MEMBERS_MAX 65536

#define UNUSED_SHOWN 40

struct npz_file {
    zip_t *zip;
    char *path;
    uint8_t *used; /* [members]: whether it was read */
};

typedef struct npz_member {
    zip_file_t *stream;
    npy_source source;
    npy_array array;
    zip_int64_t index;
} npz_member;

static fathom_status find_repeats(npz_file *file) {
    zip_int64_t count = zip_get_num_entries(file->zip, 0);
    if (count > MEMBERS_MAX)
        return fail(FATHOM_DATA, "%s: %" PRId64 " members are more than any data set has", file->path, (int64_t)count);
    for (zip_int64_t i = 0; i < count; i++) {
        const char *name = zip_get_name(file->zip, (zip_uint64_t)i, 0);
        if (name && zip_name_locate(file->zip, name, 0) != i)
            return fail(FATHOM_DATA, "%s: two members are named %s", file->path, name);
    }
    return mem_new(&file->used, count, 1, 1, "archive");
}

static fathom_status begin(npz_file **file, const char *path) {
    npz_file *made;
    *file = NULL;
    TRY(mem_new(&made, 1, 1, sizeof *made, "archive"));
    fathom_status status = mem_strdup(&made->path, path);
    if (status != FATHOM_OK)
        mem_free(made);
    else
        *file = made;
    return status;
}

fathom_status npz_open(npz_file **file, const char *path) {
    int error = 0, fd;
    uint64_t length;
    TRY(begin(file, path));
    fathom_status status = file_open_read(&fd, &length, path);
    if (status == FATHOM_OK && !((*file)->zip = zip_fdopen(fd, 0, &error))) {
        zip_error_t about;
        close(fd);
        zip_error_init_with_code(&about, error);
        status = fail(FATHOM_DATA, "%s: not a whole zip archive (%s)", path, zip_error_strerror(&about));
        zip_error_fini(&about);
    }
    if (status == FATHOM_OK)
        status = find_repeats(*file);
    if (status != FATHOM_OK) {
        npz_close(*file);
        *file = NULL;
    }
    return status;
}

fathom_status npz_open_bytes(npz_file **file, const char *path, const void *bytes, size_t count) {
    zip_error_t about;
    TRY(begin(file, path));
    read_limit_add(count);
    fathom_status status;
    zip_error_init(&about);
    zip_source_t *source = zip_source_buffer_create(bytes, count, 0, &about);
    (*file)->zip = source ? zip_open_from_source(source, ZIP_RDONLY, &about) : NULL;
    if (!(*file)->zip) {
        zip_source_free(source);
        status = fail(FATHOM_DATA, "%s: not a whole zip archive (%s)", path, zip_error_strerror(&about));
    } else {
        status = find_repeats(*file);
    }
    zip_error_fini(&about);
    if (status != FATHOM_OK) {
        npz_close(*file);
        *file = NULL;
    }
    return status;
}

void npz_close(npz_file *file) {
    if (!file)
        return;
    if (file->zip)
        zip_discard(file->zip);
    mem_free(file->used);
    mem_free(file->path);
    mem_free(file);
}

const char *npz_path(const npz_file *file) { return file->path; }

static zip_int64_t locate(npz_file *file, const char *name) {
    char member[256];
    snprintf(member, sizeof member, "%s.npy", name);
    return zip_name_locate(file->zip, member, 0);
}

bool npz_has(npz_file *file, const char *name) { return locate(file, name) >= 0; }

/* The next member from *at on that was not read, without ".npy"; NULL: no more. */
static const char *next_unused(npz_file *file, zip_int64_t *at, int *length) {
    for (zip_int64_t count = zip_get_num_entries(file->zip, 0); *at < count;) {
        const char *name = zip_get_name(file->zip, (zip_uint64_t)*at, 0);
        if (file->used[(*at)++] || !name)
            continue;
        size_t all = strlen(name), tail = all > 4 && strcmp(name + all - 4, ".npy") == 0 ? 4 : 0;
        *length = (int)(all - tail);
        return name;
    }
    return NULL;
}

fathom_status npz_unused_text(char **text, npz_file *file) {
    zip_int64_t at = 0, count = 0;
    int length;
    *text = NULL;
    for (const char *name; (name = next_unused(file, &at, &length)); count++) {
        char *longer = NULL;
        if (count >= UNUSED_SHOWN)
            continue;
        fathom_status status =
            *text ? data_text(&longer, "%s, %.*s", *text, length, name)
                  : data_text(&longer, "%s: members that are not used: %.*s", file->path, length, name);
        mem_free(*text);
        *text = longer;
        TRY(status);
    }
    if (count <= UNUSED_SHOWN)
        return FATHOM_OK;
    char *shown = *text;
    fathom_status status = data_text(text, "%s and %" PRId64 " more", shown, (int64_t)(count - UNUSED_SHOWN));
    mem_free(shown);
    return status;
}

static fathom_status read_member(void *user, void *to, size_t count) {
    zip_file_t *stream = user;
    for (char *next = to; count > 0;) {
        zip_int64_t got = zip_fread(stream, next, count);
        if (got < 0)
            return fail(FATHOM_DATA, "cannot be unpacked (%s)", zip_file_strerror(stream));
        if (got == 0)
            return fail(FATHOM_DATA, "ends before its declared size");
        next += got;
        count -= (size_t)got;
    }
    return FATHOM_OK;
}

static fathom_status check_size(const zip_stat_t *about) {
    const zip_uint64_t all = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD | ZIP_STAT_ENCRYPTION_METHOD;
    if ((about->valid & all) != all)
        return fail(FATHOM_DATA, "has no size in the archive's directory");
    if (about->encryption_method != ZIP_EM_NONE)
        return fail(FATHOM_DATA, "is encrypted");
    if (about->comp_method != ZIP_CM_STORE && about->comp_method != ZIP_CM_DEFLATE)
        return fail(FATHOM_DATA, "is compressed by method %d; only stored and deflated members are read",
                    about->comp_method);
    if (about->comp_method == ZIP_CM_STORE && about->size != about->comp_size)
        return fail(FATHOM_DATA, "is stored in %" PRIu64 " bytes, but declares %" PRIu64, (uint64_t)about->comp_size,
                    (uint64_t)about->size);
    if (about->size / DEFLATE_BEST > about->comp_size)
        return fail(FATHOM_DATA, "declares %" PRIu64 " bytes out of %" PRIu64 " compressed ones: a zip bomb",
                    (uint64_t)about->size, (uint64_t)about->comp_size);
    return FATHOM_OK;
}

static fathom_status named(npz_file *file, const char *name, fathom_status status) {
    return status == FATHOM_DATA ? fail_prefix(status, "%s: member %s: ", file->path, name) : status;
}

static fathom_status start(npz_member *member, npz_file *file, const char *name) {
    zip_stat_t about;
    zip_int64_t index = locate(file, name);
    member->stream = NULL;
    if (index < 0)
        return fail(FATHOM_DATA, "is missing");
    if (zip_stat_index(file->zip, (zip_uint64_t)index, 0, &about) != 0)
        return fail(FATHOM_DATA, "is not in the archive's directory (%s)", zip_strerror(file->zip));
    TRY(check_size(&about));
    member->stream = zip_fopen_index(file->zip, (zip_uint64_t)index, 0);
    if (!member->stream)
        return fail(FATHOM_DATA, "cannot be opened (%s)", zip_strerror(file->zip));
    member->source = (npy_source){read_member, member->stream, about.size};
    member->index = index;
    return npy_read_header(&member->array, &member->source);
}

/* Verifies the checksum; a byte more than declared is an error too. */
static fathom_status finish(npz_member *member) {
    char extra;
    zip_int64_t got = zip_fread(member->stream, &extra, 1);
    if (got < 0)
        return fail(FATHOM_DATA, "is damaged (%s)", zip_file_strerror(member->stream));
    return got == 0 ? FATHOM_OK : fail(FATHOM_DATA, "holds more than its declared size");
}

static void stop(npz_member *member) {
    if (member->stream)
        zip_fclose(member->stream);
}

/* Element type of the result. */
enum element { INT32, INT64, FLOAT };

/* A whole member into new memory; integers must be in low..high. *array is its header; all zero after a failure. */
static fathom_status read_whole(void **values, npy_array *array, npz_file *file, const char *name, enum element element,
                                int64_t low, int64_t high) {
    npz_member member = {0};
    fathom_status status;
    *values = NULL;
    *array = (npy_array){0};
    TRY_OUT(start(&member, file, name));
    TRY_OUT(mem_new(values, member.array.count, 1, element == INT64 ? sizeof(int64_t) : sizeof(float), name));
    if (element == INT32)
        TRY_OUT(npy_read_int32(*values, &member.source, &member.array, low, high));
    else if (element == INT64)
        TRY_OUT(npy_read_int64(*values, &member.source, &member.array, low, high));
    else
        TRY_OUT(npy_read_float(*values, &member.source, &member.array));
    TRY_OUT(finish(&member));
    file->used[member.index] = 1;
    *array = member.array;
out:
    stop(&member);
    if (status != FATHOM_OK) {
        mem_free(*values);
        *values = NULL;
    }
    return named(file, name, status);
}

fathom_status npz_header(npy_array *array, npz_file *file, const char *name) {
    npz_member member = {0};
    fathom_status status = start(&member, file, name);
    *array = member.array;
    stop(&member);
    return named(file, name, status);
}

fathom_status npz_int32_table(int32_t **values, int64_t *rows, int64_t *cols, npz_file *file, const char *name,
                              int64_t low, int64_t high) {
    void *memory;
    npy_array array;
    fathom_status status = read_whole(&memory, &array, file, name, INT32, low, high);
    *values = memory;
    *rows = array.shape[0];
    *cols = array.shape[1];
    return status;
}

fathom_status npz_int32(int32_t **values, int64_t *count, npz_file *file, const char *name, int64_t low, int64_t high) {
    int64_t rows, cols;
    fathom_status status = npz_int32_table(values, &rows, &cols, file, name, low, high);
    *count = rows * cols;
    return status;
}

fathom_status npz_int64(int64_t **values, int64_t *count, npz_file *file, const char *name, int64_t low, int64_t high) {
    void *memory;
    npy_array array;
    fathom_status status = read_whole(&memory, &array, file, name, INT64, low, high);
    *values = memory;
    *count = array.count;
    return status;
}

fathom_status npz_float(float **values, int64_t *rows, int64_t *cols, npz_file *file, const char *name) {
    void *memory;
    npy_array array;
    fathom_status status = read_whole(&memory, &array, file, name, FLOAT, 0, 0);
    *values = memory;
    *rows = array.shape[0];
    *cols = array.shape[1];
    return status;
}

fathom_status npz_text(char **text, npz_file *file, const char *name) {
    int32_t *bytes;
    int64_t count = 0;
    TRY(npz_int32(&bytes, &count, file, name, 1, 255));
    fathom_status status = mem_new(text, (size_t)count + 1, 1, 1, name);
    if (status == FATHOM_OK)
        for (int64_t i = 0; i < count; i++)
            (*text)[i] = (char)bytes[i];
    mem_free(bytes);
    return status;
}
