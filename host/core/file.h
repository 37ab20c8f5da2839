/* file.h - whole files: read at once, or replaced at once. A replaced file is the old one or the new one, never half of
 * either, whatever is pulled out while it is written: temporary file beside it, fsync, rename, fsync of the folder. */
#ifndef CORE_FILE_H
#define CORE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/status.h"

typedef struct file_piece {
    const void *bytes;
    size_t count;
} file_piece;

/* *bytes = the file's content and a 0 behind it, to be freed with mem_free. Longer than `most` is FATHOM_DATA. */
fathom_status file_load(uint8_t **bytes, size_t *count, const char *path, uint64_t most);

/* The content is the pieces one after the other. Whatever `path` is, a link too, the new file takes its place: nothing
 * is written through a link. */
fathom_status file_replace(const char *path, const file_piece *pieces, size_t count);
/* For what is kept for the user alone, as in the cache: mode 0600. */
fathom_status file_replace_private(const char *path, const file_piece *pieces, size_t count);

/* A descriptor of a new, empty file in place of whatever was there, or -1 with errno; 0600 or as the umask has it. */
int file_open_new(const char *path, bool for_user_alone);

#endif
