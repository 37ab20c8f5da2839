/* lines.h - text files (plain or gzip) read line by line in a stream, and numbers parsed out of them.
 *
 *     TRY(data_lines_open(&lines, path));
 *     while ((status = data_lines_next(&line, lines)) == FATHOM_OK && line.text)
 *         ...
 *     data_lines_close(lines); */
#ifndef DATA_LINES_H
#define DATA_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/status.h"

typedef struct data_lines data_lines;

/* One line without its end, up to `end` and followed by a zero byte; valid until the next call. text NULL: no more. */
typedef struct data_line {
    const char *text, *end;
    int64_t number; /* from 1 */
} data_line;

fathom_status data_lines_open(data_lines **lines, const char *path);
/* The same over memory (plain text), which must live as long. */
fathom_status data_lines_open_bytes(data_lines **lines, const char *path, const void *bytes, size_t count);
void data_lines_close(data_lines *lines);

/* The next line that is not blank, its surrounding blanks and carriage return cut off. */
fathom_status data_lines_next(data_line *line, data_lines *lines);

/* Back to line 1. */
fathom_status data_lines_rewind(data_lines *lines);

/* "PATH: line N: ..." with FATHOM_DATA, N being the line given last. */
fathom_status data_lines_fail(const data_lines *lines, const char *format, ...) CORE_PRINTF(2, 3);
const char *data_lines_path(const data_lines *lines);

/* A number at *at, which moves behind it; false when there is none or it does not fit (floats: also when not finite).
 */
bool data_parse_int(int64_t *number, const char **at, const char *end);
bool data_parse_float(float *number, const char **at, const char *end);

/* Moves over blanks and at most one comma, semicolon or tab: true when another field follows. */
bool data_next_field(const char **at, const char *end);

#endif
