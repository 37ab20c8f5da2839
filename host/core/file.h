/* file.h - whole files: read at once, or replaced at once. A replaced file is the old one or the new one, never half of
 * either, whatever is pulled out while it is written: temporary file beside it, fsync, rename, fsync of the folder. */
#ifndef CORE_FILE_H
#define CORE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "core/status.h"

typedef struct file_piece {
    const void *bytes;
    size_t count;
} file_piece;

/* The one way to open an input: a descriptor for reading, the file's length, and its bytes on disk told to
 * core/read_limit.h. Only regular files are taken: a folder, a FIFO or a device is FATHOM_DATA at once, and opening one
 * never waits. */
fathom_status file_open_read(int *fd, uint64_t *length, const char *path);
/* The same as a stream. */
fathom_status file_open_stream(FILE **file, uint64_t *length, const char *path);

/* *bytes = the file's content and a 0 behind it, to be freed with mem_free. Longer than `most` is FATHOM_DATA. */
fathom_status file_load(uint8_t **bytes, size_t *count, const char *path, uint64_t most);

/* The writer of every output. What is written takes its place at once with file_commit: until then, and after
 * file_abort, the old file is there.
 *
 *     file_writer w;
 *     TRY(file_begin(&w, path, false));
 *     status = file_write(&w, bytes, count);      // any number of times; or write to w.fd
 *     if (status == FATHOM_OK)
 *         return file_commit(&w);
 *     file_abort(&w);
 *
 * Where `path` is a link, the file it points to is replaced and the link stays. What exists and is no regular file (a
 * device, a pipe) is written to, a folder is refused. Processes that write one path at the same time do not disturb
 * each other: the last one to commit wins. */
#define FILE_PATH_MAX 4096

typedef struct file_writer {
    int fd;
    const char *given;                  /* the path as the caller has it, for messages */
    char path[FILE_PATH_MAX];           /* what is replaced */
    char temporary[FILE_PATH_MAX + 32]; /* empty when the file is written to as it is */
} file_writer;

/* for_user_alone: as in the cache, mode 0600, and a link is replaced instead of followed. */
fathom_status file_begin(file_writer *w, const char *path, bool for_user_alone);
fathom_status file_write(file_writer *w, const void *bytes, size_t count);
fathom_status file_commit(file_writer *w);
void file_abort(file_writer *w);

/* All at once: the content is the pieces one after the other. */
fathom_status file_replace(const char *path, const file_piece *pieces, size_t count);
fathom_status file_replace_private(const char *path, const file_piece *pieces, size_t count); /* for the user alone */

/* A descriptor of a new, empty file in place of whatever was there, or -1 with errno; 0600 or as the umask has it. */
int file_open_new(const char *path, bool for_user_alone);

#endif
