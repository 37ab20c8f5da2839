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

static atomic_int_fast64_t asked, live, fail_nth;
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
    atomic_store(&fail_nth, nth > 0 ? atomic_load(&asked) + nth : 0);
}

int64_t mem_asked(void) { return atomic_load(&asked); }
int64_t mem_live(void) { return atomic_load(&live); }

static bool told_to_fail(void) {
    int64_t number = atomic_fetch_add(&asked, 1) + 1;
    int64_t nth = atomic_load(&fail_nth);
    return nth != 0 && (number == nth || (atomic_load(&fail_for_ever) && number > nth));
}

/* Large blocks lie in large pages where the system has them: rows that are gathered from all over a matrix then need
 * few entries of the table that turns addresses into places. */
#define LARGE_PAGE ((size_t)2 << 20)
static void *aligned_block(size_t room) {
#if defined(MADV_HUGEPAGE)
    if (room >= 2 * LARGE_PAGE) {
        void *block = aligned_alloc(LARGE_PAGE, (room + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE);
        if (block)
            (void)madvise(block, room / LARGE_PAGE * LARGE_PAGE,
                          MADV_HUGEPAGE); /* a hint: without it all is as before */
        return block;
    }
#endif
    return aligned_alloc(MEM_ALIGN, room);
}

/* What a block costs, its surroundings included; 0 where the system cannot tell, so that what is given back does not
 * count. */
static int64_t cost(void *block) {
#if defined(__linux__)
    return (int64_t)malloc_usable_size(block) + MEM_ALIGN;
#else
    (void)block;
    return 0;
#endif
}

/* Counts a block that was taken. */
static fathom_status taken(void **pointer, void *block, size_t room, const char *what) {
    if (!block)
        return fail(FATHOM_MEMORY, "%s: cannot get %zu bytes of memory; free some or make the job smaller", what, room);
    int64_t bytes = cost(block);
    read_limit_count(bytes ? bytes : (int64_t)room);
    atomic_fetch_add(&live, 1);
    *pointer = block;
    return FATHOM_OK;
}

static fathom_status new_block(void **pointer, size_t *room, size_t rows, size_t cols, size_t size, const char *what) {
    size_t count, bytes;
    *pointer = NULL;
    if (!mem_mul(&count, rows, cols) || !mem_mul(&bytes, count, size) || !mem_add(room, bytes, MEM_ALIGN - 1))
        return fail(FATHOM_MEMORY, "%s: %zu x %zu x %zu bytes do not fit in an address", what, rows, cols, size);
    *room = bytes == 0 ? MEM_ALIGN : *room / MEM_ALIGN * MEM_ALIGN;
    TRY(read_limit_claim(*room, 1, what));
    return taken(pointer, told_to_fail() ? NULL : aligned_block(*room), *room, what);
}

fathom_status mem_new_small(void **pointer, size_t bytes, const char *what) {
    *pointer = NULL;
    TRY(read_limit_claim(bytes, 1, what));
    return taken(pointer, told_to_fail() ? NULL : malloc(bytes ? bytes : 1), bytes, what);
}

fathom_status mem_new_bytes(void **pointer, size_t rows, size_t cols, size_t size, const char *what) {
    size_t room;
    TRY(new_block(pointer, &room, rows, cols, size, what));
    memset(*pointer, 0, room);
    return FATHOM_OK;
}

fathom_status mem_new_bytes_raw(void **pointer, size_t rows, size_t cols, size_t size, const char *what) {
    size_t room;
    return new_block(pointer, &room, rows, cols, size, what);
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

void mem_free(void *pointer) {
    if (!pointer)
        return;
    atomic_fetch_sub(&live, 1);
    read_limit_count(-cost(pointer));
    free(pointer);
}

fathom_status mem_text(char **copy, const char *text) {
    size_t length = strlen(text) + 1;
    TRY(mem_new(copy, length, 1, 1, "text"));
    memcpy(*copy, text, length);
    return FATHOM_OK;
}
