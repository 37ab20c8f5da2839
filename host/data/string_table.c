/* string_table.c - a hash table of names (FNV-1a, open addressing, at most half full). See string_table.h. */
#include "data/string_table.h"

#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

static uint32_t hash(const char *text, size_t length) {
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < length; i++)
        h = (h ^ (uint8_t)text[i]) * 16777619u;
    return h ^ h >> 15;
}

const char *string_table_at(const string_table *table, int32_t number) { return table->text + table->starts[number]; }

static bool same(const string_table *table, int32_t number, const char *text, size_t length) {
    const char *name = string_table_at(table, number);
    return strncmp(name, text, length) == 0 && name[length] == '\0';
}

/* The slot of the name, or the free slot to insert it. */
static uint32_t slot_of(const string_table *table, const char *text, size_t length) {
    uint32_t slot = hash(text, length) & (table->slot_count - 1);
    while (table->slots[slot] != 0 && !same(table, table->slots[slot] - 1, text, length))
        slot = (slot + 1) & (table->slot_count - 1);
    return slot;
}

int32_t string_table_find(const string_table *table, const char *text, size_t length) {
    return table->slot_count == 0 ? -1 : table->slots[slot_of(table, text, length)] - 1;
}

static fathom_status grow(string_table *table) {
    int32_t capacity = table->capacity ? table->capacity * 2 : 256;
    int32_t *slots;
    TRY(mem_grow(&table->starts, table->capacity, capacity, sizeof *table->starts, "names"));
    TRY(mem_new(&slots, (size_t)capacity * 2, 1, sizeof *slots, "names"));
    mem_free(table->slots);
    table->slots = slots;
    table->slot_count = (uint32_t)capacity * 2;
    table->capacity = capacity;
    for (int32_t i = 0; i < table->count; i++) {
        const char *name = string_table_at(table, i);
        table->slots[slot_of(table, name, strlen(name))] = i + 1;
    }
    return FATHOM_OK;
}

fathom_status string_table_add(int32_t *number, bool *added, string_table *table, const char *text, size_t length) {
    *number = string_table_find(table, text, length);
    *added = *number < 0;
    if (!*added)
        return FATHOM_OK;
    if (table->count >= INT32_MAX / 4)
        return fail(FATHOM_DATA, "more than %d names", INT32_MAX / 4);
    if (table->count == table->capacity)
        TRY(grow(table));
    TRY(mem_reserve(&table->text, &table->text_capacity, table->used + length + 1, 1, "names"));
    memcpy(table->text + table->used, text, length);
    table->text[table->used + length] = '\0';
    table->starts[table->count] = table->used;
    table->used += length + 1;
    *number = table->count++;
    table->slots[slot_of(table, text, length)] = *number + 1;
    return FATHOM_OK;
}

typedef struct ranked {
    const char *name;
    int32_t number;
} ranked;

static int by_name(const void *a, const void *b) {
    return strcmp(((const ranked *)a)->name, ((const ranked *)b)->name);
}

fathom_status string_table_rank(int32_t **rank, const string_table *table) {
    ranked *sorted;
    TRY(mem_new(rank, table->count, 1, sizeof **rank, "names in order"));
    TRY(mem_new(&sorted, table->count, 1, sizeof *sorted, "names in order"));
    for (int32_t i = 0; i < table->count; i++)
        sorted[i] = (ranked){string_table_at(table, i), i};
    qsort(sorted, (size_t)table->count, sizeof *sorted, by_name);
    for (int32_t i = 0; i < table->count; i++)
        (*rank)[sorted[i].number] = i;
    mem_free(sorted);
    return FATHOM_OK;
}

fathom_status string_table_take(data_name_list *list, string_table *table, const int32_t *rank) {
    TRY(mem_new(&list->starts, table->count, 1, sizeof *list->starts, "names"));
    for (int32_t i = 0; i < table->count; i++)
        list->starts[rank ? rank[i] : i] = table->starts[i];
    list->count = table->count;
    list->text = table->text;
    table->text = NULL;
    string_table_free(table);
    return FATHOM_OK;
}

void string_table_free(string_table *table) {
    mem_free(table->starts);
    mem_free(table->text);
    mem_free(table->slots);
    *table = (string_table){0};
}
