/* read_limit.h - bounds the memory taken while a file is read: at most READ_LIMIT_TIMES times the bytes on disk plus
 * READ_LIMIT_BASE, or the environment variable FATHOM_READ_LIMIT ("4G"). A file of a few bytes that declares
 * gigabytes is rejected before they are allocated.
 *
 *     TRY(read_limit_begin());
 *     fathom_status status = read_it(...);      // file_open_read adds each file, core/mem.h counts each block
 *     return read_limit_end(status, path);      // exceeding it becomes FATHOM_DATA and names `path`
 *
 * The count is per thread. Nested readers share it: the outermost end decides. */
#ifndef CORE_READ_LIMIT_H
#define CORE_READ_LIMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/status.h"

#define READ_LIMIT_TIMES 64
#define READ_LIMIT_BASE ((uint64_t)256 << 20)

/* Fails with FATHOM_USAGE when FATHOM_READ_LIMIT is not a number of bytes. */
fathom_status read_limit_begin(void);
fathom_status read_limit_end(fathom_status status, const char *path);

/* Adds an input of so many bytes on disk. */
void read_limit_add(uint64_t bytes_on_disk);

/* Checks memory that a declared count will take, such as indptr, before anything iterates over that count. */
fathom_status read_limit_claim(uint64_t count, uint64_t size, const char *what);

/* For core/mem.c: bytes taken (+) or freed (-). */
void read_limit_count(int64_t bytes);

#endif
