/* npy.h - numpy's .npy arrays: reading from any stream of bytes, loading and saving files.
 *
 * Accepted: bool, integers of 1 to 8 bytes, float16, float32 and float64, either byte order, C and Fortran order, at
 * most two dimensions (leading ones of length 1 do not count). Python objects and records are rejected, never
 * interpreted. Messages do not name the file; a caller that knows it adds it with fail_prefix. */
#ifndef CORE_NPY_H
#define CORE_NPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/status.h"

typedef struct npy_type {
    char kind; /* 'b' bool, 'i' signed, 'u' unsigned, 'f' float */
    int size;  /* bytes of an element */
    bool swap; /* the file's byte order is not this machine's */
} npy_type;

typedef struct npy_array {
    npy_type type;
    bool fortran;
    int dims;         /* 0, 1 or 2 */
    int64_t shape[2]; /* a missing dimension is 1 */
    int64_t count;    /* shape[0] * shape[1] */
} npy_array;

/* A byte stream: `read` delivers exactly `count` bytes or fails; `left` is how many remain. */
typedef struct npy_source {
    fathom_status (*read)(void *user, void *to, size_t count);
    void *user;
    uint64_t left;
} npy_source;

/* "<f4", "|b1", ">i8": a type string of numpy. */
fathom_status npy_read_type(npy_type *type, const char *text, size_t length);

/* Reads the header; afterwards exactly count * size bytes are left in the source (checked). */
fathom_status npy_read_header(npy_array *array, npy_source *source);

/* Reads all elements, in C order, as one type. Integers are checked against low..high (a float array is taken when
 * every value is whole), floats must be finite. The message names the element. */
fathom_status npy_read_int32(int32_t *out, npy_source *source, const npy_array *array, int64_t low, int64_t high);
fathom_status npy_read_int64(int64_t *out, npy_source *source, const npy_array *array, int64_t low, int64_t high);
fathom_status npy_read_float(float *out, npy_source *source, const npy_array *array);

/* A source over memory; `cursor` belongs to the caller and must live as long. */
typedef struct npy_memory {
    const uint8_t *next;
    size_t left;
} npy_memory;
npy_source npy_from_memory(npy_memory *cursor);

/* Whole files. *values is to be freed with mem_free; a 1-d array is one column. */
fathom_status npy_load_float(float **values, int64_t *rows, int64_t *cols, const char *path);
fathom_status npy_load_int32(int32_t **values, int64_t *count, const char *path, int64_t low, int64_t high);

/* The header of a little-endian C-order array in `text`; returns its length, a multiple of 64.
 * cols < 0 gives a 1-d array. `type` is "<f4", "<i4", "<i8" or "|u1". */
#define NPY_HEADER_SIZE 128
size_t npy_make_header(char text[NPY_HEADER_SIZE], const char *type, int64_t rows, int64_t cols);

/* Saves rows x cols floats through a temporary file and a rename. */
fathom_status npy_save_float(const char *path, const float *values, int64_t rows, int64_t cols);

#endif
