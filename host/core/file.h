/* file.h - whole files: read at once, or replaced at once. A replaced file is the old one or the new one, never half of
 * either, whatever is pulled out while it is written: temporary file beside it, fsync, rename, fsync of the folder. */
#ifndef CORE_FILE_H
#define CORE_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "core/status.h"

typedef struct file_piece {
    const void *bytes;
    size_t count;
} file_piece;

/* *bytes = the file's content and a 0 behind it, to be freed with mem_free. Longer than `most` is FATHOM_DATA. */
fathom_status file_load(uint8_t **bytes, size_t *count, const char *path, uint64_t most);

/* The content is the pieces one after the other. */
fathom_status file_replace(const char *path, const file_piece *pieces, size_t count);

#endif
