/* lines.c - lines of plain or gzip text through zlib, and a float parser that is exact and quick. See lines.h. */
#include "data/lines.h"

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

struct data_lines {
    gzFile file; /* NULL: memory */
    char *path;
    const char *memory;
    size_t memory_left, memory_given;
    char *buffer;
    size_t room, from, to; /* buffer[from .. to) is not given out yet */
    bool ended;
    int64_t number;
};

static fathom_status make(data_lines **lines, const char *path, size_t room) {
    data_lines *made;
    *lines = NULL;
    TRY(mem_new(&made, 1, 1, sizeof *made, "text reader"));
    made->room = room;
    fathom_status status = mem_text(&made->path, path);
    if (status == FATHOM_OK)
        status = mem_new(&made->buffer, made->room + 1, 1, 1, "text buffer");
    if (status != FATHOM_OK)
        data_lines_close(made);
    else
        *lines = made;
    return status;
}

fathom_status data_lines_open(data_lines **lines, const char *path) {
    int fd;
    uint64_t length;
    *lines = NULL;
    TRY(file_open_read(&fd, &length, path));
    gzFile file = gzdopen(fd, "rb");
    if (!file) {
        close(fd);
        return fail(FATHOM_MEMORY, "%s: cannot be opened: no memory for unpacking it", path);
    }
    gzbuffer(file, 1u << 18);
    fathom_status status = make(lines, path, BUFFER_FIRST);
    if (status != FATHOM_OK)
        gzclose(file);
    else
        (*lines)->file = file;
    return status;
}

fathom_status data_lines_open_bytes(data_lines **lines, const char *path, const void *bytes, size_t count) {
    TRY(make(lines, path, 256)); /* small, so that tests of short texts also see it grow */
    read_limit_add(count);
    (*lines)->memory = bytes;
    (*lines)->memory_left = count;
    (*lines)->memory_given = 0;
    return FATHOM_OK;
}

void data_lines_close(data_lines *lines) {
    if (!lines)
        return;
    if (lines->file)
        gzclose(lines->file);
    mem_free(lines->buffer);
    mem_free(lines->path);
    mem_free(lines);
}

const char *data_lines_path(const data_lines *lines) { return lines->path; }

fathom_status data_lines_fail(const data_lines *lines, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vfail(FATHOM_DATA, format, args);
    va_end(args);
    return fail_prefix(FATHOM_DATA, "%s: line %" PRId64 ": ", lines->path, lines->number);
}

static fathom_status stuck(const data_lines *lines) {
    int code = Z_OK;
    const char *text = gzerror(lines->file, &code);
    const char *why = code == Z_BUF_ERROR    ? "the gzip stream is cut off"
                      : code == Z_DATA_ERROR ? "the gzip stream is damaged"
                                             : text;
    return fail(FATHOM_DATA, "%s: cannot be read beyond line %" PRId64 ": %s", lines->path, lines->number, why);
}

/* More text behind buffer[to); what was given out makes room first. */
static fathom_status refill(data_lines *lines) {
    if (lines->from > 0) {
        memmove(lines->buffer, lines->buffer + lines->from, lines->to - lines->from);
        lines->to -= lines->from;
        lines->from = 0;
    }
    if (lines->to == lines->room) { /* one line fills it; a bomb of zeros is known before it grows */
        if (memchr(lines->buffer, '\0', lines->to))
            return data_lines_fail(lines, "the next line holds a zero byte, so this is not text");
        if (lines->room >= LINE_MAX_BYTES)
            return data_lines_fail(lines, "the next line is longer than %zu bytes", LINE_MAX_BYTES);
        TRY(mem_grow(&lines->buffer, lines->room + 1, lines->room * 2 + 1, 1, "text buffer"));
        lines->room *= 2;
    }
    size_t want = lines->room - lines->to, got;
    if (lines->file) {
        int read = gzread(lines->file, lines->buffer + lines->to, (unsigned)want), code = Z_OK;
        if (read < 0 || (read == 0 && !gzeof(lines->file)))
            return stuck(lines);
        if ((size_t)read < want) { /* a cut-off gzip stream is told of only here */
            gzerror(lines->file, &code);
            if (code != Z_OK && code != Z_STREAM_END)
                return stuck(lines);
        }
        got = (size_t)read;
    } else {
        got = want < lines->memory_left ? want : lines->memory_left;
        if (got > 0)
            memcpy(lines->buffer + lines->to, lines->memory, got);
        lines->memory += got;
        lines->memory_left -= got;
        lines->memory_given += got;
    }
    lines->to += got;
    lines->ended = got == 0;
    return FATHOM_OK;
}

fathom_status data_lines_rewind(data_lines *lines) {
    if (lines->file && gzrewind(lines->file) != 0)
        return fail(FATHOM_DATA, "%s: cannot be read a second time: %s", lines->path, strerror(errno));
    if (!lines->file) {
        lines->memory -= lines->memory_given;
        lines->memory_left += lines->memory_given;
        lines->memory_given = 0;
    }
    lines->from = lines->to = 0;
    lines->ended = false;
    lines->number = 0;
    return FATHOM_OK;
}

fathom_status data_lines_next(data_line *line, data_lines *lines) {
    line->text = line->end = NULL;
    size_t looked = 0;
    for (;;) {
        char *begin = lines->buffer + lines->from, *stop = lines->buffer + lines->to;
        char *end =
            looked < (size_t)(stop - begin) ? memchr(begin + looked, '\n', (size_t)(stop - begin) - looked) : NULL;
        if (!end && !lines->ended) {
            looked = (size_t)(stop - begin);
            TRY(refill(lines));
            continue;
        }
        if (!end && begin == stop)
            return FATHOM_OK;
        lines->from = end ? (size_t)(end + 1 - lines->buffer) : lines->to;
        if (!end)
            end = stop;
        lines->number++;
        looked = 0;
        if (memchr(begin, '\0', (size_t)(end - begin)))
            return data_lines_fail(lines, "holds a zero byte, so this is not text");
        while (end > begin && (end[-1] == '\r' || end[-1] == ' ' || end[-1] == '\t'))
            end--;
        while (begin < end && (*begin == ' ' || *begin == '\t'))
            begin++;
        if (begin == end)
            continue;
        *end = '\0';
        *line = (data_line){begin, end, lines->number};
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

/* Digits up to 19 are gathered in a whole number and scaled by one power of ten. With a mantissa below 2^53 and a power
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
