/* text_table.h - tables in text: what separates their fields, whether line 1 is a header, and whether they hold words.
 *
 * Line 1 is a header when none of its fields is a number and the line below is all numbers, or is missing; in tables
 * with words below it, when its fields are common column names, or one of them is above numbers only, and not all of
 * them appear again in their columns. So a class called "label" is a class. */
#ifndef DATA_TEXT_TABLE_H
#define DATA_TEXT_TABLE_H

#include "data/line_reader.h"

/* Text without the blanks and the double quotes around it. */
typedef struct data_field {
    const char *text;
    size_t length;
} data_field;

typedef struct data_table {
    char separator; /* a tab, ',' or ';' when line 1 has one, in this order; else ' ' for blanks */
    bool header;
    int columns;  /* of the first line below the header; 0: there is none */
    bool word[2]; /* of that line: the field is not a number */
} data_table;

/* Detects the format, then rewinds. */
fathom_status data_table_detect(data_table *table, line_reader *reader);
fathom_status data_table_detect_file(data_table *table, const char *path);

/* The field at *at, which moves to the next one, or to NULL after the last. False: there is none. Doubled quotes in a
 * quoted field become one, in place. */
bool data_field_next(data_field *field, const char **at, const char *end, char separator);
bool data_field_is_number(const data_field *field); /* also nan */

#endif
