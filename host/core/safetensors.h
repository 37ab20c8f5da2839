/* safetensors.h - the checkpoint format: 8 bytes with the length of a JSON header, the header, then the tensors'
 * bytes. Only valid files are accepted: a header of at most 100 MB, offsets inside the file, no gap, no overlap, no
 * duplicate name, sizes that match the shapes.
 *
 *     st_file *file = NULL;
 *     TRY(st_load(&file, "model.safetensors"));
 *     const st_tensor *w = st_find(file, "convs.0.lin.weight");     // NULL when absent
 *     const char *model = st_meta(file, "model");                   // NULL when absent
 *     st_free(file);                                                // accepts NULL */
#ifndef CORE_SAFETENSORS_H
#define CORE_SAFETENSORS_H

#include <stddef.h>
#include <stdint.h>

#include "core/status.h"

#define ST_DIMS 8
#define ST_HEADER_MAX (100 * 1000 * 1000)
/* The metadata entries that st_save adds: SHA-256 of tensors and other metadata, which must match when present, and
 * the writer: a file written by fathom must have the digest, so that a flipped bit in its key is detected as well. */
#define ST_DIGEST "sha256"
#define ST_WRITER "writer"
#define ST_WRITER_NAME "fathom"

typedef enum st_type { ST_F32, ST_F64, ST_I64, ST_I32, ST_OTHER } st_type;

typedef struct st_tensor {
    const char *name;
    st_type type; /* ST_OTHER: a type of the format that is not read */
    int dims;
    int64_t shape[ST_DIMS];
    int64_t count;    /* elements */
    const void *data; /* little-endian, perhaps unaligned */
    size_t bytes;
} st_tensor;

typedef struct st_meta_entry {
    const char *key, *value;
} st_meta_entry;

typedef struct st_file st_file;

fathom_status st_load(st_file **file, const char *path);
fathom_status st_parse(st_file **file, const uint8_t *bytes, size_t count, const char *where); /* bytes are copied */
void st_free(st_file *file);

size_t st_count(const st_file *file);
const st_tensor *st_at(const st_file *file, size_t index); /* in the order of names */
const st_tensor *st_find(const st_file *file, const char *name);
const char *st_meta(const st_file *file, const char *key);

/* The elements of a float tensor (F32 or F64) as float. */
fathom_status st_floats(float *out, const st_tensor *tensor);

/* Replaces `path` by these tensors (F32, F64, I64 or I32) and metadata; see core/file.h. */
fathom_status st_save(const char *path, const st_tensor *tensors, size_t count, const st_meta_entry *meta,
                      size_t meta_count);

#endif
