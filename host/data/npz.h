/* npz.h - numpy's .npz archives (a zip of .npy arrays), read member by member in a stream; stored or deflated, zip64.
 *
 *     npz_file *file = NULL;
 *     TRY(npz_open(&file, path));
 *     TRY(npz_int32(&labels, &count, file, "labels", -1, 65535));
 *     npz_close(file);
 *
 * A member's declared size is checked against its compressed size before anything is allocated (deflate expands
 * at most 1032 to 1; core/read_limit.h bounds the allocation), against the shape in its header, and against the
 * inflated bytes; its checksum too. */
#ifndef DATA_NPZ_H
#define DATA_NPZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/npy.h"
#include "core/status.h"

typedef struct npz_file npz_file;

fathom_status npz_open(npz_file **file, const char *path);
/* `bytes` must live until npz_close; `path` is for messages. */
fathom_status npz_open_bytes(npz_file **file, const char *path, const void *bytes, size_t count);
void npz_close(npz_file *file);
const char *npz_path(const npz_file *file);

/* Is there a member NAME.npy? */
bool npz_has(npz_file *file, const char *name);
/* Its type and shape. Does not count as use. */
fathom_status npz_header(npy_array *array, npz_file *file, const char *name);
/* *text = one message that names the members none of the functions below has read, or NULL; to be freed. */
fathom_status npz_unused_text(char **text, npz_file *file);

/* A whole member, checked; *values is to be freed with mem_free. */
fathom_status npz_int32(int32_t **values, int64_t *count, npz_file *file, const char *name, int64_t low, int64_t high);
fathom_status npz_int32_table(int32_t **values, int64_t *rows, int64_t *cols, npz_file *file, const char *name,
                              int64_t low, int64_t high);
fathom_status npz_int64(int64_t **values, int64_t *count, npz_file *file, const char *name, int64_t low, int64_t high);
fathom_status npz_float(float **values, int64_t *rows, int64_t *cols, npz_file *file, const char *name);
/* A member of bytes as text. */
fathom_status npz_text(char **text, npz_file *file, const char *name);

#endif
