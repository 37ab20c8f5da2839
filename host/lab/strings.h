/* strings.h - a string table: every text is stored once, at an address that stays, with a number attached to it.
 *
 *     lab_strings strings = {0};
 *     const char *stored;
 *     TRY(lab_strings_add(&stored, &strings, text));       // the same address for the same text
 *     *lab_strings_value(&strings, text) = 7;              // NULL for a text that is not in the table
 *     lab_strings_free(&strings); */
#ifndef LAB_STRINGS_H
#define LAB_STRINGS_H

#include <stddef.h>
#include <stdint.h>

#include "core/status.h"

typedef struct lab_strings {
    struct lab_string **slots; /* open addressing, at most half full */
    size_t slot_count, count;
    uint64_t seed; /* of the hash: differs between processes, so that no file can be made of texts that collide */
    struct lab_string_block *blocks; /* the newest first */
} lab_strings;

fathom_status lab_strings_add(const char **stored, lab_strings *strings, const char *text);
int64_t *lab_strings_value(const lab_strings *strings, const char *text); /* 0 until it is set */
void lab_strings_free(lab_strings *strings);

#endif
