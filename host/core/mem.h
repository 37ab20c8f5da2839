/* mem.h - every allocation of fathom's own goes through here: sizes are
 * products checked for overflow, memory is zeroed and starts on a cache line,
 * and a hook can make the n-th allocation fail (for tests).
 *
 *     float *h = NULL;
 *     TRY(mem_new(&h, n, d, sizeof *h, "hidden activations"));
 *     ...
 *     mem_free(h);                           // accepts NULL
 *
 * While a file is read, core/read_limit.h bounds what is taken.               */
#ifndef CORE_MEM_H
#define CORE_MEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/status.h"

#define MEM_ALIGN 64

/* out = a * b (or a + b); false when it does not fit. */
bool mem_mul(size_t *out, size_t a, size_t b);
bool mem_add(size_t *out, size_t a, size_t b);

/* *pointer = rows * cols * size zeroed bytes, aligned to MEM_ALIGN (an empty
 * product still gives a valid pointer). `what` names the object in the sentence
 * of a failure. `pointer` is the address of any object pointer. */
#define mem_new(pointer, rows, cols, size, what) \
    mem_new_bytes((void **)(pointer), (size_t)(rows), (size_t)(cols), (size_t)(size), (what))
fathom_status mem_new_bytes(void **pointer, size_t rows, size_t cols, size_t size, const char *what);

/* The same without the zeros, for large memory that is written before it is read. */
#define mem_new_raw(pointer, rows, cols, size, what) \
    mem_new_bytes_raw((void **)(pointer), (size_t)(rows), (size_t)(cols), (size_t)(size), (what))
fathom_status mem_new_bytes_raw(void **pointer, size_t rows, size_t cols, size_t size, const char *what);

/* More elements than this many no array has: 2^47 bytes of floats are what processors address. Sizes from outside are
 * checked against it before they are multiplied. */
#define MEM_ELEMENTS_MAX ((int64_t)1 << 45)
/* Are both at least 0, and their product at most that? */
static inline bool mem_fits(int64_t rows, int64_t cols) {
    return rows >= 0 && cols >= 0 && (cols == 0 || rows <= MEM_ELEMENTS_MAX / cols);
}

/* For the many small pieces of a tree: as malloc gives them, neither zeroed nor on a cache line. */
fathom_status mem_new_small(void **pointer, size_t bytes, const char *what);

/* Grows *pointer from `old_count` to at least `count` elements of `size` bytes, keeping what
 * it holds and zeroing what is new; on failure *pointer is untouched and still owned. */
#define mem_grow(pointer, old_count, count, size, what) \
    mem_grow_bytes((void **)(pointer), (size_t)(old_count), (size_t)(count), (size_t)(size), (what))
fathom_status mem_grow_bytes(void **pointer, size_t old_count, size_t count, size_t size, const char *what);

void mem_free(void *pointer);

/* A copy of `text`, to be freed with mem_free. */
fathom_status mem_text(char **copy, const char *text);

/* Tests: let the n-th allocation from now on fail (1 is the next one), that one
 * only or every later one too; 0 switches it off. Also set from the environment
 * variable FATHOM_FAIL_ALLOC ("12" or "12+" for ever) by the command. */
void mem_fail_at(int64_t nth, bool for_ever);

/* How many allocations were asked for, and how many are still live. */
int64_t mem_asked(void);
int64_t mem_live(void);

#endif
