/* names.c - a hash table of names (FNV-1a, open addressing, at most half full). See names.h. */
#include "data/names.h"

#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

static uint32_t hash(const char *text, size_t length) {
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < length; i++)
        h = (h ^ (uint8_t)text[i]) * 16777619u;
    return h ^ h >> 15;
}

const char *data_names_at(const data_names *names, int32_t number) { return names->text + names->starts[number]; }

static bool same(const data_names *names, int32_t number, const char *text, size_t length) {
    const char *name = data_names_at(names, number);
    return strncmp(name, text, length) == 0 && name[length] == '\0';
}

/* The slot that holds the name, or the free one where it belongs. */
static uint32_t slot_of(const data_names *names, const char *text, size_t length) {
    uint32_t slot = hash(text, length) & (names->slot_count - 1);
    while (names->slots[slot] != 0 && !same(names, names->slots[slot] - 1, text, length))
        slot = (slot + 1) & (names->slot_count - 1);
    return slot;
}

int32_t data_names_find(const data_names *names, const char *text, size_t length) {
    return names->slot_count == 0 ? -1 : names->slots[slot_of(names, text, length)] - 1;
}

static fathom_status grow(data_names *names) {
    int32_t room = names->room ? names->room * 2 : 256;
    int32_t *slots;
    TRY(mem_grow(&names->starts, names->room, room, sizeof *names->starts, "names"));
    TRY(mem_new(&slots, (size_t)room * 2, 1, sizeof *slots, "names"));
    mem_free(names->slots);
    names->slots = slots;
    names->slot_count = (uint32_t)room * 2;
    names->room = room;
    for (int32_t i = 0; i < names->count; i++) {
        const char *name = data_names_at(names, i);
        names->slots[slot_of(names, name, strlen(name))] = i + 1;
    }
    return FATHOM_OK;
}

fathom_status data_names_add(int32_t *number, bool *added, data_names *names, const char *text, size_t length) {
    *number = data_names_find(names, text, length);
    *added = *number < 0;
    if (!*added)
        return FATHOM_OK;
    if (names->count >= INT32_MAX / 4)
        return fail(FATHOM_DATA, "more than %d names", INT32_MAX / 4);
    if (names->count == names->room)
        TRY(grow(names));
    if (names->text_room - names->used < length + 1) {
        size_t room =
            names->text_room * 2 > names->used + length + 1 ? names->text_room * 2 : names->used + length + 4096;
        TRY(mem_grow(&names->text, names->text_room, room, 1, "names"));
        names->text_room = room;
    }
    memcpy(names->text + names->used, text, length);
    names->text[names->used + length] = '\0';
    names->starts[names->count] = names->used;
    names->used += length + 1;
    *number = names->count++;
    names->slots[slot_of(names, text, length)] = *number + 1;
    return FATHOM_OK;
}

typedef struct ranked {
    const char *name;
    int32_t number;
} ranked;

static int by_name(const void *a, const void *b) {
    return strcmp(((const ranked *)a)->name, ((const ranked *)b)->name);
}

fathom_status data_names_rank(int32_t **rank, const data_names *names) {
    ranked *sorted;
    TRY(mem_new(rank, names->count, 1, sizeof **rank, "names in order"));
    TRY(mem_new(&sorted, names->count, 1, sizeof *sorted, "names in order"));
    for (int32_t i = 0; i < names->count; i++)
        sorted[i] = (ranked){data_names_at(names, i), i};
    qsort(sorted, (size_t)names->count, sizeof *sorted, by_name);
    for (int32_t i = 0; i < names->count; i++)
        (*rank)[sorted[i].number] = i;
    mem_free(sorted);
    return FATHOM_OK;
}

fathom_status data_names_take(data_name_list *list, data_names *names, const int32_t *rank) {
    TRY(mem_new(&list->starts, names->count, 1, sizeof *list->starts, "names"));
    for (int32_t i = 0; i < names->count; i++)
        list->starts[rank ? rank[i] : i] = names->starts[i];
    list->count = names->count;
    list->text = names->text;
    names->text = NULL;
    data_names_free(names);
    return FATHOM_OK;
}

void data_names_free(data_names *names) {
    mem_free(names->starts);
    mem_free(names->text);
    mem_free(names->slots);
    *names = (data_names){0};
}
