/* text_table.c - fields of a line of text, and the detection of a header. See text_table.h. */
#include "data/text_table.h"

#include <string.h>

#include "data/internal.h"

#define COLUMNS_LOOKED_AT 64 /* columns that decide about a header */

/* ---- fields ---- */

static bool is_blank(char c, char separator) { return c == ' ' || (c == '\t' && separator != '\t'); }

static bool ends_field(char c, char separator) { return separator == ' ' ? c == ' ' || c == '\t' : c == separator; }

/* A quoted field from the quote at `p` on; its end, or NULL when something else than the next field follows. */
static const char *quoted(data_field *field, const char *p, const char *end, char separator) {
    char *to = (char *)(uintptr_t)(p + 1); /* points into the reader's buffer, which is writable */
    const char *from = p + 1, *stop = from;
    while (stop < end && (*stop != '"' || (stop + 1 < end && stop[1] == '"')))
        stop += *stop == '"' ? 2 : 1;
    const char *after = stop + 1;
    while (after < end && is_blank(*after, separator))
        after++;
    if (stop >= end || (after < end && !ends_field(*after, separator) && separator != ' '))
        return NULL;
    field->text = from;
    for (; from < stop; from += *from == '"' ? 2 : 1)
        *to++ = *from;
    field->length = (size_t)(to - field->text);
    return after;
}

bool data_field_next(data_field *field, const char **at, const char *end, char separator) {
    const char *p = *at, *stop = NULL;
    if (!p)
        return false;
    while (p < end && is_blank(*p, separator))
        p++;
    if (p < end && *p == '"')
        stop = quoted(field, p, end, separator);
    if (!stop) {
        for (stop = p; stop < end && !ends_field(*stop, separator);)
            stop++;
        const char *last = stop;
        while (last > p && is_blank(last[-1], separator))
            last--;
        *field = (data_field){p, (size_t)(last - p)};
    }
    if (separator != ' ')
        *at = stop < end ? stop + 1 : NULL;
    else {
        while (stop < end && is_blank(*stop, separator))
            stop++;
        *at = stop < end ? stop : NULL;
    }
    return true;
}

bool data_field_is_number(const data_field *field) {
    const char *at = field->text, *end = at + field->length;
    float number;
    if (field->length == 3 && (strncmp(at, "nan", 3) == 0 || strncmp(at, "NaN", 3) == 0))
        return true;
    return data_parse_float(&number, &at, end) && at == end;
}

/* ---- the header ---- */

static bool is_usual(const data_field *field) {
    static const char *const names[] = {
        "node",   "nodes",  "id",    "ids",         "node-id", "nodeid",  "name",  "from",     "to",     "source",
        "target", "src",    "dst",   "destination", "u",       "v",       "node1", "node2",    "id1",    "id2",
        "cited",  "citing", "label", "labels",      "class",   "classes", "y",     "category", "weight", "type"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (data_same_name(field->text, field->length, names[i]))
            return true;
    return false;
}

/* What decides whether line 1 is a header. */
typedef struct first_line {
    int columns;
    data_field field[COLUMNS_LOOKED_AT];
    bool above_numbers[COLUMNS_LOOKED_AT]; /* all lines below read so far have a number there */
    bool again[COLUMNS_LOOKED_AT];         /* a line below has the same field there */
    bool has_number, usual;
} first_line;

static void cut(first_line *first, const char *text, const char *end, char separator) {
    first->usual = true;
    for (const char *at = text; first->columns < COLUMNS_LOOKED_AT;) {
        data_field *field = &first->field[first->columns];
        if (!data_field_next(field, &at, end, separator))
            break;
        first->above_numbers[first->columns++] = true;
        first->has_number = first->has_number || data_field_is_number(field);
        first->usual = first->usual && is_usual(field);
    }
}

static void compare(first_line *first, const data_line *line, char separator) {
    const char *at = line->text;
    data_field field;
    for (int c = 0; c < first->columns && data_field_next(&field, &at, line->end, separator); c++) {
        const data_field *above = &first->field[c];
        first->above_numbers[c] = first->above_numbers[c] && (field.length == 0 || data_field_is_number(&field));
        first->again[c] =
            first->again[c] || (field.length == above->length && memcmp(field.text, above->text, field.length) == 0);
    }
}

static bool may_be_header(const first_line *first) {
    bool above = false, again = true;
    for (int c = 0; c < first->columns; c++) {
        above = above || first->above_numbers[c];
        again = again && first->again[c];
    }
    return !again && (first->usual || above);
}

static char separator_of(const data_line *line) {
    static const char separators[] = "\t,;";
    for (const char *s = separators; *s; s++) {
        bool inside = false; /* quotes */
        for (const char *p = line->text; p < line->end; p++) {
            inside ^= *p == '"';
            if (*p == *s && !inside)
                return *s;
        }
    }
    return ' ';
}

/* Only numbers, with any separators. */
static bool is_numbers(const data_line *line) {
    const char *at = line->text;
    float number;
    for (bool more = true; more; more = data_next_field(&at, line->end)) {
        if (line->end - at >= 3 && (strncmp(at, "nan", 3) == 0 || strncmp(at, "NaN", 3) == 0))
            at += 3;
        else if (!data_parse_float(&number, &at, line->end))
            return false;
    }
    return at == line->end;
}

static void describe(data_table *table, const data_line *line) {
    const char *at = line->text;
    data_field field;
    table->columns = 0;
    if (is_numbers(line)) { /* read as numbers, where all separators are equal */
        table->word[0] = table->word[1] = false;
        for (bool more = true; more; more = data_next_field(&at, line->end), table->columns++)
            while (at < line->end && !strchr(" \t,;", *at))
                at++;
        return;
    }
    for (; data_field_next(&field, &at, line->end, table->separator); table->columns++)
        if (table->columns < 2)
            table->word[table->columns] = !data_field_is_number(&field);
}

/* Line 1 was read into `text`; the lines below it decide. */
static fathom_status decide(data_table *table, const data_line *one, line_reader *reader) {
    first_line first = {0};
    data_line line;
    cut(&first, one->text, one->end, table->separator);
    TRY(line_reader_next(&line, reader));
    table->header = !first.has_number;
    if (!first.has_number && line.text && !is_numbers(&line)) {
        data_table below = *table;
        describe(&below, &line);
        for (; line.text && may_be_header(&first);) {
            compare(&first, &line, table->separator);
            TRY(line_reader_next(&line, reader));
        }
        below.header = table->header = may_be_header(&first);
        *table = below;
    } else if (table->header && line.text) {
        describe(table, &line);
    }
    if (!table->header)
        describe(table, one);
    return FATHOM_OK;
}

fathom_status data_table_detect(data_table *table, line_reader *reader) {
    data_line line;
    char *text;
    *table = (data_table){.separator = ' '};
    TRY(line_reader_next(&line, reader));
    if (!line.text)
        return line_reader_rewind(reader);
    table->separator = separator_of(&line);
    size_t length = (size_t)(line.end - line.text);
    TRY(mem_strdup(&text, line.text)); /* lines hold no zero byte */
    fathom_status status = decide(table, &(data_line){text, text + length, 1}, reader);
    mem_free(text);
    TRY(status);
    return line_reader_rewind(reader);
}

fathom_status data_table_detect_file(data_table *table, const char *path) {
    line_reader *reader;
    TRY(line_reader_open(&reader, path));
    fathom_status status = data_table_detect(table, reader);
    line_reader_close(reader);
    return status;
}
