/* npy_file.c - whole .npy files: loading with checks, saving. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "core/file.h"
#include "core/mem.h"
#include "core/npy.h"

static fathom_status read_file(void *user, void *to, size_t count) {
    if (fread(to, 1, count, user) != count)
        return fail(FATHOM_DATA, ferror((FILE *)user) ? "cannot be read to its end" : "the file ends early");
    return FATHOM_OK;
}

static fathom_status open_file(FILE **file, npy_source *source, const char *path) {
    struct stat about;
    *file = fopen(path, "rb");
    if (!*file)
        return fail(FATHOM_DATA, "%s: cannot be opened: %s", path, strerror(errno));
    if (fstat(fileno(*file), &about) != 0 || !S_ISREG(about.st_mode)) {
        fclose(*file);
        *file = NULL;
        return fail(FATHOM_DATA, "%s: is not a file", path);
    }
    *source = (npy_source){read_file, *file, (uint64_t)about.st_size};
    return FATHOM_OK;
}

fathom_status npy_load_float(float **values, int64_t *rows, int64_t *cols, const char *path) {
    fathom_status status;
    FILE *file;
    npy_source source;
    npy_array array;
    *values = NULL;
    TRY(open_file(&file, &source, path));
    TRY_OUT(npy_read_header(&array, &source));
    TRY_OUT(mem_new(values, array.shape[0], array.shape[1], sizeof **values, path));
    TRY_OUT(npy_read_float(*values, &source, &array));
    *rows = array.shape[0];
    *cols = array.shape[1];
out:
    fclose(file);
    if (status != FATHOM_OK) {
        mem_free(*values);
        *values = NULL;
        return status == FATHOM_MEMORY ? status : fail_prefix(status, "%s: ", path);
    }
    return FATHOM_OK;
}

fathom_status npy_load_int32(int32_t **values, int64_t *count, const char *path, int64_t low, int64_t high) {
    fathom_status status;
    FILE *file;
    npy_source source;
    npy_array array;
    *values = NULL;
    TRY(open_file(&file, &source, path));
    TRY_OUT(npy_read_header(&array, &source));
    TRY_OUT(mem_new(values, array.count, 1, sizeof **values, path));
    TRY_OUT(npy_read_int32(*values, &source, &array, low, high));
    *count = array.count;
out:
    fclose(file);
    if (status != FATHOM_OK) {
        mem_free(*values);
        *values = NULL;
        return status == FATHOM_MEMORY ? status : fail_prefix(status, "%s: ", path);
    }
    return FATHOM_OK;
}

size_t npy_make_header(char text[NPY_HEADER_ROOM], const char *type, int64_t rows, int64_t cols) {
    char shape[64];
    if (cols < 0)
        snprintf(shape, sizeof shape, "(%" PRId64 ",)", rows);
    else
        snprintf(shape, sizeof shape, "(%" PRId64 ", %" PRId64 ")", rows, cols);
    memset(text, ' ', NPY_HEADER_ROOM);
    memcpy(text, "\x93NUMPY\x01\x00\x76\x00", 10);
    int used = snprintf(text + 10, NPY_HEADER_ROOM - 10, "{'descr': '%s', 'fortran_order': False, 'shape': %s, }", type,
                        shape);
    text[10 + used] = ' ';
    text[NPY_HEADER_ROOM - 1] = '\n';
    return NPY_HEADER_ROOM;
}

fathom_status npy_save_float(const char *path, const float *values, int64_t rows, int64_t cols) {
    char header[NPY_HEADER_ROOM];
    size_t length = npy_make_header(header, "<f4", rows, cols), count = (size_t)rows * (size_t)cols;
    return file_replace(path, (const file_piece[]){{header, length}, {values, count * sizeof *values}}, 2);
}
