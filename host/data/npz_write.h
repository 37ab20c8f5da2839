/* npz_write.h - the one writer of numpy's .npz archives; npz.h reads them. The file appears whole, when it is
 * committed.
 *
 *     npz_writer *w = NULL;
 *     TRY_OUT(npz_write_begin(&w, path));
 *     TRY_OUT(npz_add(w, "labels", "<i4", labels, n, -1, sizeof *labels, true));
 *     TRY_OUT(npz_write_commit(w));
 *     out:
 *     npz_write_free(w); */
#ifndef DATA_NPZ_WRITE_H
#define DATA_NPZ_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/status.h"

typedef struct npz_writer npz_writer;

fathom_status npz_write_begin(npz_writer **writer, const char *path);
/* The array NAME of rows x cols values of `size` bytes; cols -1: one dimension. Integers are deflated; dense floats and
 * large members are stored: they compress little or slowly, and load many times faster uncompressed. */
fathom_status npz_add(npz_writer *writer, const char *name, const char *type, const void *values, int64_t rows,
                      int64_t cols, size_t size, bool deflate_it);
fathom_status npz_write_commit(npz_writer *writer);
void npz_write_free(npz_writer *writer); /* removes what was not committed */

#endif
