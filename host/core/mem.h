/* mem.h - checked allocation, used for all of fathom's memory: sizes are
 * products checked for overflow, memory is zeroed and starts on a cache line,
 * and tests can make the n-th allocation fail.
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

/* `count` rounded up to a multiple of `step`. */
static inline int64_t mem_round_up(int64_t count, int64_t step) { return (count + step - 1) / step * step; }
/* The same for 4-byte words (float, int32_t) and MEM_ALIGN: what follows them starts on a cache line again. */
static inline int64_t mem_pad_words(int64_t words) { return mem_round_up(words, MEM_ALIGN / 4); }

/* out = a * b (or a + b); false when it does not fit. */
bool mem_mul(size_t *out, size_t a, size_t b);
bool mem_add(size_t *out, size_t a, size_t b);

/* *pointer = rows * cols * size zeroed bytes, aligned to MEM_ALIGN (an empty
 * product still gives a valid pointer). `what` names the object in the message
 * of a failure. `pointer` is the address of any object pointer. */
#define mem_new(pointer, rows, cols, size, what) \
    mem_new_bytes((void **)(pointer), (size_t)(rows), (size_t)(cols), (size_t)(size), (what))
fathom_status mem_new_bytes(void **pointer, size_t rows, size_t cols, size_t size, const char *what);

/* Not zeroed: for large memory that is written before it is read. */
#define mem_new_raw(pointer, rows, cols, size, what) \
    mem_new_bytes_raw((void **)(pointer), (size_t)(rows), (size_t)(cols), (size_t)(size), (what))
fathom_status mem_new_bytes_raw(void **pointer, size_t rows, size_t cols, size_t size, const char *what);

/* Upper bound of an array's elements: 2^47 bytes of floats are the user address space. Sizes from files are checked
 * against it before they are multiplied. */
#define MEM_ELEMENTS_MAX ((int64_t)1 << 45)
/* Both at least 0, and their product at most MEM_ELEMENTS_MAX. */
static inline bool mem_fits(int64_t rows, int64_t cols) {
    return rows >= 0 && cols >= 0 && (cols == 0 || rows <= MEM_ELEMENTS_MAX / cols);
}

/* For many small objects: malloc, neither zeroed nor on a cache line. */
fathom_status mem_new_small(void **pointer, size_t bytes, const char *what);

/* Grows *pointer from `old_count` to at least `count` elements of `size` bytes, keeping its
 * content and zeroing the rest; on failure *pointer is unchanged and still owned. */
#define mem_grow(pointer, old_count, count, size, what) \
    mem_grow_bytes((void **)(pointer), (size_t)(old_count), (size_t)(count), (size_t)(size), (what))
fathom_status mem_grow_bytes(void **pointer, size_t old_count, size_t count, size_t size, const char *what);

/* Makes *pointer hold at least `count` elements; *capacity, 0 at first, doubles or more when it is too small. */
#define mem_reserve(pointer, capacity, count, size, what) \
    mem_reserve_bytes((void **)(pointer), (capacity), (int64_t)(count), (size_t)(size), (what))
fathom_status mem_reserve_bytes(void **pointer, int64_t *capacity, int64_t count, size_t size, const char *what);

void mem_free(void *pointer);

/* A copy of `text`, to be freed with mem_free. */
fathom_status mem_strdup(char **copy, const char *text);

/* Tests: make the n-th allocation from now on fail (1 is the next one), that one
 * only or, with for_ever, every later one too; 0 disables it. The command sets it from
 * the environment variable FATHOM_FAIL_ALLOC ("12", or "12+" for every later one). */
void mem_fail_at(int64_t nth, bool for_ever);

/* Number of allocations requested so far, and of those still live. */
int64_t mem_requested(void);
int64_t mem_live(void);

#endif
