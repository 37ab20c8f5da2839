/* read_limit.h - the one rule on memory while a file is read: at most READ_LIMIT_TIMES times the bytes on disk plus
 * READ_LIMIT_BASE, or what the environment variable FATHOM_READ_LIMIT says ("4G"). A file of a few bytes that declares
 * gigabytes is refused before they are allocated.
 *
 *     TRY(read_limit_begin());
 *     fathom_status status = read_it(...);      // file_open_read adds each file, core/mem.h counts each block
 *     return read_limit_end(status, path);      // a refusal becomes FATHOM_DATA and names `path`
 *
 * The count belongs to the thread. A reader inside another one counts with it: the outermost end decides. */
#ifndef CORE_READ_LIMIT_H
#define CORE_READ_LIMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/status.h"

#define READ_LIMIT_TIMES 64
#define READ_LIMIT_BASE ((uint64_t)256 << 20)

/* Fails with FATHOM_USAGE, and begins nothing, when FATHOM_READ_LIMIT is no number of bytes. */
fathom_status read_limit_begin(void);
fathom_status read_limit_end(fathom_status status, const char *path);

/* One more input of so many bytes on disk. */
void read_limit_add(uint64_t bytes_on_disk);

/* Memory that a declared count costs later, such as row starts: counted now, before anything walks over it. */
fathom_status read_limit_claim(uint64_t count, uint64_t size, const char *what);

/* For core/mem.c: may this thread take so many bytes more; and what it took (+) or gave back (-). */
bool read_limit_allows(uint64_t bytes, const char *what);
void read_limit_count(int64_t bytes);

#endif
