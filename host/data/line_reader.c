/* line_reader.c - lines of plain or gzip text through zlib, and an exact, fast float parser. See line_reader.h. */
#include "data/line_reader.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "core/file.h"
#include "core/mem.h"
#include "core/read_limit.h"
#include "data/internal.h"

#define BUFFER_FIRST ((size_t)1 << 18)
#define LINE_MAX_BYTES ((size_t)1 << 28)

struct line_reader {
    gzFile file; /* NULL: memory */
    char *path;
    const char *memory;
    size_t memory_left, memory_given;
    char *buffer;
    size_t capacity, from, to; /* buffer[from .. to) is unread */
    bool ended;
    int64_t number;
};

static fathom_status make(line_reader **reader, const char *path, size_t capacity) {
    line_reader *made;
    *reader = NULL;
    TRY(mem_new(&made, 1, 1, sizeof *made, "text reader"));
    made->capacity = capacity;
    fathom_status status = mem_strdup(&made->path, path);
    if (status == FATHOM_OK)
        status = mem_new(&made->buffer, made->capacity + 1, 1, 1, "text buffer");
    if (status != FATHOM_OK)
        line_reader_close(made);
    else
        *reader = made;
    return status;
}

fathom_status line_reader_open(line_reader **reader, const char *path) {
    int fd;
    uint64_t length;
    *reader = NULL;
    TRY(file_open_read(&fd, &length, path));
    gzFile file = gzdopen(fd, "rb");
    if (!file) {
        close(fd);
        return fail(FATHOM_MEMORY, "%s: cannot be opened: no memory for unpacking it", path);
    }
    gzbuffer(file, 1u << 18);
    fathom_status status = make(reader, path, BUFFER_FIRST);
    if (status != FATHOM_OK)
        gzclose(file);
    else
        (*reader)->file = file;
    return status;
}

fathom_status line_reader_open_bytes(line_reader **reader, const char *path, const void *bytes, size_t count) {
    TRY(make(reader, path, 256)); /* small, so that tests of short texts make it grow */
    read_limit_add(count);
    (*reader)->memory = bytes;
    (*reader)->memory_left = count;
    (*reader)->memory_given = 0;
    return FATHOM_OK;
}

void line_reader_close(line_reader *reader) {
    if (!reader)
        return;
    if (reader->file)
        gzclose(reader->file);
    mem_free(reader->buffer);
    mem_free(reader->path);
    mem_free(reader);
}

const char *line_reader_path(const line_reader *reader) { return reader->path; }

fathom_status line_reader_fail(const line_reader *reader, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vfail(FATHOM_DATA, format, args);
    va_end(args);
    return fail_prefix(FATHOM_DATA, "%s: line %" PRId64 ": ", reader->path, reader->number);
}

static fathom_status fail_read(const line_reader *reader) {
    int code = Z_OK;
    const char *text = gzerror(reader->file, &code);
    const char *why = code == Z_BUF_ERROR    ? "the gzip stream is cut off"
                      : code == Z_DATA_ERROR ? "the gzip stream is damaged"
                                             : text;
    return fail(FATHOM_DATA, "%s: cannot be read beyond line %" PRId64 ": %s", reader->path, reader->number, why);
}

/* Appends text at buffer[to] after discarding what was returned. */
static fathom_status refill(line_reader *reader) {
    if (reader->from > 0) {
        memmove(reader->buffer, reader->buffer + reader->from, reader->to - reader->from);
        reader->to -= reader->from;
        reader->from = 0;
    }
    if (reader->to == reader->capacity) { /* one line fills it; a compressed run of zeros is detected before it grows */
        if (memchr(reader->buffer, '\0', reader->to))
            return line_reader_fail(reader, "the next line holds a zero byte, so this is not text");
        if (reader->capacity >= LINE_MAX_BYTES)
            return line_reader_fail(reader, "the next line is longer than %zu bytes", LINE_MAX_BYTES);
        TRY(mem_grow(&reader->buffer, reader->capacity + 1, reader->capacity * 2 + 1, 1, "text buffer"));
        reader->capacity *= 2;
    }
    size_t want = reader->capacity - reader->to, got;
    if (reader->file) {
        int read = gzread(reader->file, reader->buffer + reader->to, (unsigned)want), code = Z_OK;
        if (read < 0 || (read == 0 && !gzeof(reader->file)))
            return fail_read(reader);
        if ((size_t)read < want) { /* zlib reports a truncated stream only here */
            gzerror(reader->file, &code);
            if (code != Z_OK && code != Z_STREAM_END)
                return fail_read(reader);
        }
        got = (size_t)read;
    } else {
        got = want < reader->memory_left ? want : reader->memory_left;
        if (got > 0)
            memcpy(reader->buffer + reader->to, reader->memory, got);
        reader->memory += got;
        reader->memory_left -= got;
        reader->memory_given += got;
    }
    reader->to += got;
    reader->ended = got == 0;
    return FATHOM_OK;
}

fathom_status line_reader_rewind(line_reader *reader) {
    if (reader->file && gzrewind(reader->file) != 0)
        return fail(FATHOM_DATA, "%s: cannot be read a second time: %s", reader->path, strerror(errno));
    if (!reader->file) {
        reader->memory -= reader->memory_given;
        reader->memory_left += reader->memory_given;
        reader->memory_given = 0;
    }
    reader->from = reader->to = 0;
    reader->ended = false;
    reader->number = 0;
    return FATHOM_OK;
}

fathom_status line_reader_next(data_line *line, line_reader *reader) {
    line->text = line->end = NULL;
    size_t looked = 0;
    for (;;) {
        char *begin = reader->buffer + reader->from, *stop = reader->buffer + reader->to;
        char *end =
            looked < (size_t)(stop - begin) ? memchr(begin + looked, '\n', (size_t)(stop - begin) - looked) : NULL;
        if (!end && !reader->ended) {
            looked = (size_t)(stop - begin);
            TRY(refill(reader));
            continue;
        }
        if (!end && begin == stop)
            return FATHOM_OK;
        reader->from = end ? (size_t)(end + 1 - reader->buffer) : reader->to;
        if (!end)
            end = stop;
        reader->number++;
        looked = 0;
        if (memchr(begin, '\0', (size_t)(end - begin)))
            return line_reader_fail(reader, "holds a zero byte, so this is not text");
        while (end > begin && (end[-1] == '\r' || end[-1] == ' ' || end[-1] == '\t'))
            end--;
        while (begin < end && (*begin == ' ' || *begin == '\t'))
            begin++;
        if (begin == end)
            continue;
        *end = '\0';
        *line = (data_line){begin, end, reader->number};
        return FATHOM_OK;
    }
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool data_parse_int(int64_t *number, const char **at, const char *end) {
    const char *p = *at;
    bool minus = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+'))
        p++;
    if (p == end || !is_digit(*p))
        return false;
    int64_t value = 0;
    for (; p < end && is_digit(*p); p++) {
        if (value > (INT64_MAX - 9) / 10)
            return false;
        value = value * 10 + (*p - '0');
    }
    *number = minus ? -value : value;
    *at = p;
    return true;
}

/* Up to 19 digits are accumulated in an integer and scaled by one power of ten. With a mantissa below 2^53 and a power
 * of at most 22 both are exact doubles, so one rounding gives the nearest double (Clinger 1990); all else goes to
 * strtod. */
bool data_parse_float(float *number, const char **at, const char *end) {
    static const double ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    const char *p = *at;
    bool minus = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+'))
        p++;
    const char *digits = p;
    uint64_t mantissa = 0;
    int scale = 0, count = 0;
    for (; p < end && is_digit(*p); p++, count++)
        mantissa = mantissa * 10 + (uint64_t)(*p - '0');
    if (p < end && *p == '.') {
        const char *point = ++p;
        for (; p < end && is_digit(*p); p++, count++)
            mantissa = mantissa * 10 + (uint64_t)(*p - '0');
        scale = (int)(point - p);
    }
    if (count == 0 || digits == end)
        return false;
    if (p < end && (*p == 'e' || *p == 'E')) {
        const char *power = p + 1;
        int64_t exponent;
        if (!data_parse_int(&exponent, &power, end))
            return false;
        p = power;
        scale = exponent > 9999 ? 9999 : exponent < -9999 ? -9999 : scale + (int)exponent;
    }
    double value;
    if (count <= 19 && mantissa <= UINT64_C(9007199254740992) && scale >= -22 && scale <= 22) {
        value = scale < 0 ? (double)mantissa / ten[-scale] : (double)mantissa * ten[scale];
        value = minus ? -value : value;
    } else {
        value = strtod(*at, NULL);
    }
    *number = (float)value;
    *at = p;
    return isfinite(*number);
}

bool data_next_field(const char **at, const char *end) {
    const char *p = *at;
    while (p < end && (*p == ' ' || *p == '\t'))
        p++;
    if (p < end && (*p == ',' || *p == ';'))
        p++;
    else if (p == *at)
        return false;
    while (p < end && (*p == ' ' || *p == '\t'))
        p++;
    *at = p;
    return p < end;
}
