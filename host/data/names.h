/* names.h - text to number: the ids of papers, the names of classes. A table that grows, in order of first appearance.
 */
#ifndef DATA_NAMES_H
#define DATA_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/status.h"
#include "data/data.h"

typedef struct data_names {
    int32_t count, room;
    size_t *starts; /* [count]: where each name begins in `text` */
    char *text;     /* names one after the other, each ended by a zero byte */
    size_t used, text_room;
    int32_t *slots; /* open addressing; number + 1, 0 = free */
    uint32_t slot_count;
} data_names;

/* The number of a name, or -1. */
int32_t data_names_find(const data_names *names, const char *text, size_t length);
/* Its number, new ones being added; *added tells. */
fathom_status data_names_add(int32_t *number, bool *added, data_names *names, const char *text, size_t length);
const char *data_names_at(const data_names *names, int32_t number);
/* rank[i] = the place of name i in alphabetical order. */
fathom_status data_names_rank(int32_t **rank, const data_names *names);
/* The names move to `list`; in the order of `rank` unless that is NULL. */
fathom_status data_names_take(data_name_list *list, data_names *names, const int32_t *rank);
void data_names_free(data_names *names);

#endif
