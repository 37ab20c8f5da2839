/* line_reader.h - text files (plain or gzip) read line by line in a stream, and numbers parsed out of them.
 *
 *     TRY(line_reader_open(&lines, path));
 *     while ((status = line_reader_next(&line, lines)) == FATHOM_OK && line.text)
 *         ...
 *     line_reader_close(lines); */
#ifndef DATA_LINE_READER_H
#define DATA_LINE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/status.h"

typedef struct line_reader line_reader;

/* One line without its end, up to `end` and followed by a zero byte; valid until the next call. text NULL: no more. */
typedef struct data_line {
    const char *text, *end;
    int64_t number; /* from 1 */
} data_line;

fathom_status line_reader_open(line_reader **reader, const char *path);
/* Over memory (uncompressed text), which must live as long. */
fathom_status line_reader_open_bytes(line_reader **reader, const char *path, const void *bytes, size_t count);
void line_reader_close(line_reader *reader);

/* The next line that is not blank, trimmed. */
fathom_status line_reader_next(data_line *line, line_reader *reader);

/* Back to line 1. */
fathom_status line_reader_rewind(line_reader *reader);

/* "PATH: line N: ..." with FATHOM_DATA, N being the line returned last. */
fathom_status line_reader_fail(const line_reader *reader, const char *format, ...) CORE_PRINTF(2, 3);
const char *line_reader_path(const line_reader *reader);

/* A number at *at, which moves past it; false when there is none or it does not fit (floats: also when not finite).
 */
bool data_parse_int(int64_t *number, const char **at, const char *end);
bool data_parse_float(float *number, const char **at, const char *end);

/* Moves over blanks and at most one comma, semicolon or tab: true when another field follows. */
bool data_next_field(const char **at, const char *end);

#endif
