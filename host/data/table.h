/* table.h - tables in text: what separates their fields, whether line 1 is a header, and whether they hold words.
 *
 * Line 1 is a header when none of its fields is a number and the line below is all numbers, or is missing; in tables
 * with words below it, when its fields are usual names of columns, or one of them stands above nothing but numbers, and
 * not all of them stand again in their columns. So a class called "label" is a class. */
#ifndef DATA_TABLE_H
#define DATA_TABLE_H

#include "data/lines.h"

/* Text without the blanks and the double quotes around it. */
typedef struct data_field {
    const char *text;
    size_t length;
} data_field;

typedef struct data_table {
    char separator; /* a tab, ',' or ';' when line 1 has one, in this order; else ' ' for blanks */
    bool header;
    int columns;  /* of the first line below the header; 0: there is none */
    bool word[2]; /* there: the field is not a number */
} data_table;

/* Finds out, and goes back to line 1. */
fathom_status data_table_look(data_table *table, data_lines *lines);
fathom_status data_table_look_at(data_table *table, const char *path);

/* The field at *at, which moves to the next one, or to NULL after the last. False: there is none. Doubled quotes in a
 * quoted field become one, in place. */
bool data_field_next(data_field *field, const char **at, const char *end, char separator);
bool data_field_is_number(const data_field *field); /* also nan */

#endif
