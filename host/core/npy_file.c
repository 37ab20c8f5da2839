/* npy_file.c - whole .npy files: loading with checks, saving. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/file.h"
#include "core/mem.h"
#include "core/npy.h"
#include "core/read_limit.h"

static fathom_status read_file(void *user, void *to, size_t count) {
    if (fread(to, 1, count, user) != count)
        return fail(FATHOM_DATA, ferror((FILE *)user) ? "cannot be read to its end" : "the file ends early");
    return FATHOM_OK;
}

/* Reads the header; the source is then at the first element. */
static fathom_status open_file(FILE **file, npy_source *source, npy_array *array, const char *path) {
    uint64_t length;
    TRY(file_open_stream(file, &length, path));
    *source = (npy_source){read_file, *file, length};
    fathom_status status = npy_read_header(array, source);
    if (status != FATHOM_OK)
        fclose(*file);
    return status == FATHOM_DATA ? fail_prefix(status, "%s: ", path) : status;
}

/* The end of a load: on failure *values is freed, and the message names the file. */
static fathom_status close_file(FILE *file, void **values, fathom_status status, const char *path) {
    fclose(file);
    if (status == FATHOM_OK)
        return FATHOM_OK;
    mem_free(*values);
    *values = NULL;
    return status == FATHOM_MEMORY ? status : fail_prefix(status, "%s: ", path);
}

static fathom_status load_float(float **values, int64_t *rows, int64_t *cols, const char *path) {
    FILE *file;
    npy_source source;
    npy_array array;
    TRY(open_file(&file, &source, &array, path));
    fathom_status status = mem_new_raw(values, array.shape[0], array.shape[1], sizeof **values, path);
    if (status == FATHOM_OK)
        status = npy_read_float(*values, &source, &array);
    *rows = array.shape[0];
    *cols = array.shape[1];
    return close_file(file, (void **)values, status, path);
}

static fathom_status load_int32(int32_t **values, int64_t *count, const char *path, int64_t low, int64_t high) {
    FILE *file;
    npy_source source;
    npy_array array;
    TRY(open_file(&file, &source, &array, path));
    fathom_status status = mem_new_raw(values, array.count, 1, sizeof **values, path);
    if (status == FATHOM_OK)
        status = npy_read_int32(*values, &source, &array, low, high);
    *count = array.count;
    return close_file(file, (void **)values, status, path);
}

fathom_status npy_load_float(float **values, int64_t *rows, int64_t *cols, const char *path) {
    *values = NULL;
    TRY(read_limit_begin());
    return read_limit_end(load_float(values, rows, cols, path), path);
}

fathom_status npy_load_int32(int32_t **values, int64_t *count, const char *path, int64_t low, int64_t high) {
    *values = NULL;
    TRY(read_limit_begin());
    return read_limit_end(load_int32(values, count, path, low, high), path);
}

size_t npy_make_header(char text[NPY_HEADER_SIZE], const char *type, int64_t rows, int64_t cols) {
    char shape[64];
    if (cols < 0)
        snprintf(shape, sizeof shape, "(%" PRId64 ",)", rows);
    else
        snprintf(shape, sizeof shape, "(%" PRId64 ", %" PRId64 ")", rows, cols);
    memset(text, ' ', NPY_HEADER_SIZE);
    memcpy(text, "\x93NUMPY\x01\x00\x76\x00", 10);
    int used = snprintf(text + 10, NPY_HEADER_SIZE - 10, "{'descr': '%s', 'fortran_order': False, 'shape': %s, }", type,
                        shape);
    text[10 + used] = ' ';
    text[NPY_HEADER_SIZE - 1] = '\n';
    return NPY_HEADER_SIZE;
}

fathom_status npy_save_float(const char *path, const float *values, int64_t rows, int64_t cols) {
    char header[NPY_HEADER_SIZE];
    size_t length = npy_make_header(header, "<f4", rows, cols), count = (size_t)rows * (size_t)cols;
    return file_replace(path, (const file_piece[]){{header, length}, {values, count * sizeof *values}}, 2);
}
