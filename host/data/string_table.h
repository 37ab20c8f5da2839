/* string_table.h - maps strings (ids of papers, names of classes) to numbers in order of first appearance. */
#ifndef DATA_STRING_TABLE_H
#define DATA_STRING_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/status.h"
#include "data/data.h"

typedef struct string_table {
    int32_t count, capacity;
    size_t *starts; /* [count]: where each name begins in `text` */
    char *text;     /* names one after the other, each ended by a zero byte */
    size_t used;
    int64_t text_capacity;
    int32_t *slots; /* open addressing; number + 1, 0 = free */
    uint32_t slot_count;
} string_table;

/* The number of a name, or -1. */
int32_t string_table_find(const string_table *table, const char *text, size_t length);
/* Its number; *added: it is new. */
fathom_status string_table_add(int32_t *number, bool *added, string_table *table, const char *text, size_t length);
const char *string_table_at(const string_table *table, int32_t number);
/* rank[i] = the position of name i in alphabetical order. */
fathom_status string_table_rank(int32_t **rank, const string_table *table);
/* The names move to `list`; in the order of `rank` unless that is NULL. */
fathom_status string_table_take(data_name_list *list, string_table *table, const int32_t *rank);
void string_table_free(string_table *table);

#endif
