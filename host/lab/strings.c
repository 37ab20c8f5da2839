/* strings.c - see strings.h. Texts are stored in blocks that never move; the slots point into them. */
#include "lab/strings.h"

#include <string.h>

#include "core/mem.h"

#define BLOCK_FIRST 1024
#define BLOCK_MOST 65536
#define SLOTS_FIRST 64

typedef struct lab_string {
    int64_t value;
    char text[];
} lab_string;

typedef struct lab_string_block {
    struct lab_string_block *next;
    size_t used, size; /* bytes of `bytes` */
    _Alignas(8) char bytes[];
} block;

static size_t hash(const lab_strings *strings, const char *text) {
    uint64_t h = strings->seed;
    for (; *text; text++) {
        h = (h ^ (uint8_t)*text) * UINT64_C(0xD6E8FEB86659FD93);
        h ^= h >> 32;
    }
    return (size_t)h;
}

/* The slot of the text, or the free one where it belongs. */
static lab_string **slot_of(const lab_strings *strings, const char *text) {
    size_t at = hash(strings, text) & (strings->slot_count - 1);
    while (strings->slots[at] && strcmp(strings->slots[at]->text, text) != 0)
        at = (at + 1) & (strings->slot_count - 1);
    return &strings->slots[at];
}

static fathom_status grow(lab_strings *strings) {
    lab_strings larger = *strings;
    larger.slot_count = strings->slot_count ? 2 * strings->slot_count : SLOTS_FIRST;
    TRY(mem_new(&larger.slots, larger.slot_count, 1, sizeof *larger.slots, "string table"));
    if (!larger.seed)
        larger.seed = (uint64_t)(uintptr_t)larger.slots * UINT64_C(0x9E3779B97F4A7C15);
    lab_string **old = strings->slots;
    size_t old_count = strings->slot_count;
    *strings = larger;
    for (size_t i = 0; i < old_count; i++)
        if (old[i])
            *slot_of(strings, old[i]->text) = old[i];
    mem_free(old);
    return FATHOM_OK;
}

static fathom_status reserve(lab_strings *strings, size_t bytes) {
    size_t last = strings->blocks ? strings->blocks->size : BLOCK_FIRST / 2;
    size_t size = last < BLOCK_MOST ? 2 * last : BLOCK_MOST;
    block *new;
    if (strings->blocks && strings->blocks->size - strings->blocks->used >= bytes)
        return FATHOM_OK;
    size = size > bytes ? size : bytes;
    TRY(mem_new(&new, sizeof *new + size, 1, 1, "string table"));
    new->size = size;
    new->next = strings->blocks;
    strings->blocks = new;
    return FATHOM_OK;
}

fathom_status lab_strings_add(const char **stored, lab_strings *strings, const char *text) {
    size_t length = strlen(text) + 1, bytes = (sizeof(lab_string) + length + 7) & ~(size_t)7;
    if (2 * strings->count >= strings->slot_count)
        TRY(grow(strings));
    lab_string **slot = slot_of(strings, text);
    if (!*slot) {
        TRY(reserve(strings, bytes));
        *slot = (lab_string *)(void *)(strings->blocks->bytes + strings->blocks->used);
        strings->blocks->used += bytes;
        memcpy((*slot)->text, text, length);
        strings->count++;
    }
    *stored = (*slot)->text;
    return FATHOM_OK;
}

int64_t *lab_strings_value(const lab_strings *strings, const char *text) {
    lab_string *string = strings->slot_count ? *slot_of(strings, text) : NULL;
    return string ? &string->value : NULL;
}

void lab_strings_free(lab_strings *strings) {
    for (block *b = strings->blocks, *next; b; b = next) {
        next = b->next;
        mem_free(b);
    }
    mem_free(strings->slots);
    *strings = (lab_strings){0};
}
