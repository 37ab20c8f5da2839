/* file.h - whole files: loaded, or replaced atomically. After a crash or power failure the path holds the old or the
 * new content, never a part of it: temporary file in the same folder, fsync, rename, fsync of the folder. */
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

/* Opens every input: a descriptor for reading and the file's length; its bytes on disk are reported to
 * core/read_limit.h. Only regular files: a folder, a FIFO or a device is FATHOM_DATA, and opening one never blocks. */
fathom_status file_open_read(int *fd, uint64_t *length, const char *path);
/* The same as a stream. */
fathom_status file_open_stream(FILE **file, uint64_t *length, const char *path);

/* *bytes = the file's content followed by a zero byte; free with mem_free. Longer than `most` is FATHOM_DATA. */
fathom_status file_load(uint8_t **bytes, size_t *count, const char *path, uint64_t most);

/* Writes every output. file_commit replaces the file atomically: until then, and after file_abort, the path holds the
 * old file.
 *
 *     file_writer w;
 *     TRY(file_begin(&w, path, false));
 *     status = file_write(&w, bytes, count);      // any number of times; or write to w.fd
 *     if (status == FATHOM_OK)
 *         return file_commit(&w);
 *     file_abort(&w);
 *
 * If `path` is a symbolic link, its target is replaced and the link stays. A device or a pipe is written to directly, a
 * folder is an error. Concurrent writers of one path do not interfere: the last one to commit wins. */
#define FILE_PATH_MAX 4096

typedef struct file_writer {
    int fd;
    const char *given;                  /* the path as the caller has it, for messages */
    char path[FILE_PATH_MAX];           /* what is replaced */
    char temporary[FILE_PATH_MAX + 32]; /* empty when the file is written to directly */
} file_writer;

/* for_user_alone (files of the cache): mode 0600, and a symbolic link is replaced instead of followed. */
fathom_status file_begin(file_writer *w, const char *path, bool for_user_alone);
fathom_status file_write(file_writer *w, const void *bytes, size_t count);
fathom_status file_commit(file_writer *w);
void file_abort(file_writer *w);

/* Begin, write the pieces in order, commit. */
fathom_status file_replace(const char *path, const file_piece *pieces, size_t count);
fathom_status file_replace_private(const char *path, const file_piece *pieces, size_t count); /* for the user alone */

/* Removes what `path` names and creates an empty file: its descriptor, or -1 with errno. Mode 0600 or by the umask. */
int file_open_new(const char *path, bool for_user_alone);

#endif
