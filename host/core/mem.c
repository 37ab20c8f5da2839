/* mem.c - checked, zeroed, aligned memory with a failure hook and counters. */
#define _GNU_SOURCE
#include "core/mem.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#if defined(__linux__)
#include <malloc.h>
#endif

#include "core/read_limit.h"

#define CAPACITY_MIN 64 /* elements of an array that grows */

static atomic_int_fast64_t requested, live, fail_nth;
static atomic_bool fail_for_ever;

bool mem_mul(size_t *out, size_t a, size_t b) {
    if (b != 0 && a > SIZE_MAX / b)
        return false;
    *out = a * b;
    return true;
}

bool mem_add(size_t *out, size_t a, size_t b) {
    if (a > SIZE_MAX - b)
        return false;
    *out = a + b;
    return true;
}

void mem_fail_at(int64_t nth, bool for_ever) {
    atomic_store(&fail_for_ever, for_ever);
    atomic_store(&fail_nth, nth > 0 ? atomic_load(&requested) + nth : 0);
}

int64_t mem_requested(void) { return atomic_load(&requested); }
int64_t mem_live(void) { return atomic_load(&live); }

static bool should_fail(void) {
    int64_t number = atomic_fetch_add(&requested, 1) + 1;
    int64_t nth = atomic_load(&fail_nth);
    return nth != 0 && (number == nth || (atomic_load(&fail_for_ever) && number > nth));
}

/* Huge pages for large blocks: fewer TLB misses on gathers. */
#define HUGE_PAGE ((size_t)2 << 20)
static void *aligned_block(size_t capacity) {
#if defined(MADV_HUGEPAGE)
    if (capacity >= 2 * HUGE_PAGE) {
        void *block = aligned_alloc(HUGE_PAGE, (capacity + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE);
        if (block)
            (void)madvise(block, capacity / HUGE_PAGE * HUGE_PAGE, MADV_HUGEPAGE); /* only a hint */
        return block;
    }
#endif
    return aligned_alloc(MEM_ALIGN, capacity);
}

/* Bytes a block takes including the allocator's overhead; 0 where the C library does not report it: then frees are not
 * subtracted from the read limit's count. */
static int64_t cost(void *block) {
#if defined(__linux__)
    return (int64_t)malloc_usable_size(block) + MEM_ALIGN;
#else
    (void)block;
    return 0;
#endif
}

/* Counts a new block, or reports that there is none. */
static fathom_status record_block(void **pointer, void *block, size_t capacity, const char *what) {
    if (!block)
        return fail(FATHOM_MEMORY, "%s: cannot get %zu bytes of memory; free some or make the job smaller", what,
                    capacity);
    int64_t bytes = cost(block);
    read_limit_count(bytes ? bytes : (int64_t)capacity);
    atomic_fetch_add(&live, 1);
    *pointer = block;
    return FATHOM_OK;
}

static fathom_status new_block(void **pointer, size_t *capacity, size_t rows, size_t cols, size_t size,
                               const char *what) {
    size_t count, bytes;
    *pointer = NULL;
    if (!mem_mul(&count, rows, cols) || !mem_mul(&bytes, count, size) || !mem_add(capacity, bytes, MEM_ALIGN - 1))
        return fail(FATHOM_MEMORY, "%s: %zu x %zu x %zu bytes do not fit in an address", what, rows, cols, size);
    *capacity = bytes == 0 ? MEM_ALIGN : *capacity / MEM_ALIGN * MEM_ALIGN;
    TRY(read_limit_claim(*capacity, 1, what));
    return record_block(pointer, should_fail() ? NULL : aligned_block(*capacity), *capacity, what);
}

fathom_status mem_new_small(void **pointer, size_t bytes, const char *what) {
    *pointer = NULL;
    TRY(read_limit_claim(bytes, 1, what));
    return record_block(pointer, should_fail() ? NULL : malloc(bytes ? bytes : 1), bytes, what);
}

fathom_status mem_new_bytes(void **pointer, size_t rows, size_t cols, size_t size, const char *what) {
    size_t capacity;
    TRY(new_block(pointer, &capacity, rows, cols, size, what));
    memset(*pointer, 0, capacity);
    return FATHOM_OK;
}

fathom_status mem_new_bytes_raw(void **pointer, size_t rows, size_t cols, size_t size, const char *what) {
    size_t capacity;
    return new_block(pointer, &capacity, rows, cols, size, what);
}

fathom_status mem_grow_bytes(void **pointer, size_t old_count, size_t count, size_t size, const char *what) {
    if (*pointer && count <= old_count)
        return FATHOM_OK;
    void *larger;
    TRY(mem_new_bytes(&larger, count, 1, size, what));
    if (*pointer)
        memcpy(larger, *pointer, old_count * size);
    mem_free(*pointer);
    *pointer = larger;
    return FATHOM_OK;
}

fathom_status mem_reserve_bytes(void **pointer, int64_t *capacity, int64_t count, size_t size, const char *what) {
    int64_t wanted = 2 * *capacity > CAPACITY_MIN ? 2 * *capacity : CAPACITY_MIN;
    if (*pointer && count <= *capacity)
        return FATHOM_OK;
    if (wanted < count)
        wanted = count;
    TRY(mem_grow_bytes(pointer, (size_t)*capacity, (size_t)wanted, size, what));
    *capacity = wanted;
    return FATHOM_OK;
}

void mem_free(void *pointer) {
    if (!pointer)
        return;
    atomic_fetch_sub(&live, 1);
    read_limit_count(-cost(pointer));
    free(pointer);
}

fathom_status mem_strdup(char **copy, const char *text) {
    size_t length = strlen(text) + 1;
    TRY(mem_new(copy, length, 1, 1, "text"));
    memcpy(*copy, text, length);
    return FATHOM_OK;
}
