/* pickle.h - reads Python pickles (protocols 0 to 2) as data: an interpreter of an allow-list of opcodes and of names.
 * Nothing is imported or called: a global is a tag, and "calling" it creates an object that stores the tag, its
 * arguments and its state. Enough for scipy CSR matrices, numpy arrays and dicts of lists.
 *
 *     pickle *p = NULL;
 *     TRY(pickle_read(&p, path, bytes, count));
 *     TRY(pickle_array(&array, p, pickle_top(p)));
 *     pickle_free(p); */
#ifndef DATA_PICKLE_H
#define DATA_PICKLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/npy.h"
#include "core/status.h"

typedef struct pickle pickle;

/* `bytes` must live as long as the pickle: long strings are not copied. `path` names it in messages. */
fathom_status pickle_read(pickle **out, const char *path, const uint8_t *bytes, size_t count);
void pickle_free(pickle *p);

/* Values are indices of a table; the top one is the pickled object. */
typedef int32_t pickle_id;
pickle_id pickle_top(const pickle *p);

/* A numpy array: its type and shape, and its raw bytes (count * type.size of them, checked). */
typedef struct pickle_ndarray {
    npy_array array;
    const uint8_t *bytes;
} pickle_ndarray;
fathom_status pickle_array(pickle_ndarray *out, const pickle *p, pickle_id id);

/* A scipy CSR matrix: its shape and its three arrays. */
typedef struct pickle_matrix {
    int64_t rows, cols;
    pickle_ndarray indptr, indices, values;
} pickle_matrix;
fathom_status pickle_csr(pickle_matrix *out, const pickle *p, pickle_id id);

/* A dict (or defaultdict) of lists of whole numbers, visited entry by entry: `key` with `item`, in file order; a key
 * with an empty list is visited once with PICKLE_NO_ITEM. The visitor stops the walk by failing. */
#define PICKLE_NO_ITEM INT64_MIN
typedef fathom_status (*pickle_visit)(void *user, int64_t key, int64_t item);
fathom_status pickle_each(const pickle *p, pickle_id id, pickle_visit visit, void *user);

#endif
