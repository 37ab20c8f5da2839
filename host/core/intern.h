/* intern.h - string interning: each distinct string is stored once, at a stable address, with an integer attached.
 *
 *     intern_table strings = {0};
 *     const char *stored;
 *     TRY(intern_add(&stored, &strings, text));       // the same address for equal strings
 *     *intern_value(&strings, text) = 7;              // NULL for a string that is not in the table
 *     intern_free(&strings); */
#ifndef CORE_INTERN_H
#define CORE_INTERN_H

#include <stddef.h>
#include <stdint.h>

#include "core/status.h"

typedef struct intern_table {
    struct intern_entry **slots; /* open addressing, at most half full */
    size_t slot_count, count;
    uint64_t seed;               /* of the hash; differs between processes, so that no file can provoke collisions */
    struct intern_block *blocks; /* newest first */
} intern_table;

fathom_status intern_add(const char **stored, intern_table *table, const char *text);
int64_t *intern_value(const intern_table *table, const char *text); /* initially 0 */
void intern_free(intern_table *table);

#endif
