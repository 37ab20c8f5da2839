/* intern.c - string interning (intern.h): the strings are in blocks that never move, the slots point into them. */
#include "core/intern.h"

#include <string.h>

#include "core/mem.h"

#define BLOCK_FIRST 1024
#define BLOCK_MAX 65536
#define SLOTS_FIRST 64

typedef struct intern_entry {
    int64_t value;
    char text[];
} intern_entry;

typedef struct intern_block {
    struct intern_block *next;
    size_t used, size; /* bytes of `bytes` */
    _Alignas(8) char bytes[];
} block;

static size_t hash(const intern_table *table, const char *text) {
    uint64_t h = table->seed;
    for (; *text; text++) {
        h = (h ^ (uint8_t)*text) * UINT64_C(0xD6E8FEB86659FD93);
        h ^= h >> 32;
    }
    return (size_t)h;
}

/* The slot of the string, or the free slot for it. */
static intern_entry **slot_of(const intern_table *table, const char *text) {
    size_t at = hash(table, text) & (table->slot_count - 1);
    while (table->slots[at] && strcmp(table->slots[at]->text, text) != 0)
        at = (at + 1) & (table->slot_count - 1);
    return &table->slots[at];
}

static fathom_status grow(intern_table *table) {
    intern_table larger = *table;
    larger.slot_count = table->slot_count ? 2 * table->slot_count : SLOTS_FIRST;
    TRY(mem_new(&larger.slots, larger.slot_count, 1, sizeof *larger.slots, "string table"));
    if (!larger.seed)
        larger.seed = (uint64_t)(uintptr_t)larger.slots * UINT64_C(0x9E3779B97F4A7C15);
    intern_entry **old = table->slots;
    size_t old_count = table->slot_count;
    *table = larger;
    for (size_t i = 0; i < old_count; i++)
        if (old[i])
            *slot_of(table, old[i]->text) = old[i];
    mem_free(old);
    return FATHOM_OK;
}

static fathom_status reserve_bytes(intern_table *table, size_t bytes) {
    size_t last = table->blocks ? table->blocks->size : BLOCK_FIRST / 2;
    size_t size = last < BLOCK_MAX ? 2 * last : BLOCK_MAX;
    block *new;
    if (table->blocks && table->blocks->size - table->blocks->used >= bytes)
        return FATHOM_OK;
    size = size > bytes ? size : bytes;
    TRY(mem_new(&new, sizeof *new + size, 1, 1, "string table"));
    new->size = size;
    new->next = table->blocks;
    table->blocks = new;
    return FATHOM_OK;
}

fathom_status intern_add(const char **stored, intern_table *table, const char *text) {
    size_t length = strlen(text) + 1, bytes = (size_t)mem_round_up((int64_t)(sizeof(intern_entry) + length), 8);
    if (2 * table->count >= table->slot_count)
        TRY(grow(table));
    intern_entry **slot = slot_of(table, text);
    if (!*slot) {
        TRY(reserve_bytes(table, bytes));
        *slot = (intern_entry *)(void *)(table->blocks->bytes + table->blocks->used);
        table->blocks->used += bytes;
        memcpy((*slot)->text, text, length);
        table->count++;
    }
    *stored = (*slot)->text;
    return FATHOM_OK;
}

int64_t *intern_value(const intern_table *table, const char *text) {
    intern_entry *entry = table->slot_count ? *slot_of(table, text) : NULL;
    return entry ? &entry->value : NULL;
}

void intern_free(intern_table *table) {
    for (block *b = table->blocks, *next; b; b = next) {
        next = b->next;
        mem_free(b);
    }
    mem_free(table->slots);
    *table = (intern_table){0};
}
