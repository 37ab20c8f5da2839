/* pickle_lex.c - the bytes of a pickle: lengths, numbers, lines and quoted strings, each checked against the file's
 * end. */
#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "data/pickle_value.h"

fathom_status pickle_fail(const pickle *p, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vfail(FATHOM_DATA, format, args);
    va_end(args);
    return fail_prefix(FATHOM_DATA, "%s: byte %zu: ", p->path, p->at);
}

fathom_status pickle_take(pickle *p, const uint8_t **bytes, size_t count) {
    if (count > p->count - p->next)
        return pickle_fail(p, "the file ends in the middle of a value: %zu bytes wanted, %zu left", count,
                           p->count - p->next);
    *bytes = p->bytes + p->next;
    p->next += count;
    return FATHOM_OK;
}

/* A little-endian number of 1, 2 or 4 bytes. */
fathom_status pickle_take_number(pickle *p, uint32_t *number, size_t size) {
    const uint8_t *b = NULL;
    TRY(pickle_take(p, &b, size));
    *number = 0;
    for (size_t i = 0; i < size; i++)
        *number |= (uint32_t)b[i] << (8 * i);
    return FATHOM_OK;
}

fathom_status pickle_take_line(pickle *p, const uint8_t **line, size_t *length) {
    const uint8_t *end = memchr(p->bytes + p->next, '\n', p->count - p->next);
    if (!end)
        return pickle_fail(p, "the file ends in the middle of a line");
    *line = p->bytes + p->next;
    *length = (size_t)(end - *line);
    p->next += *length + 1;
    if (*length > 0 && (*line)[*length - 1] == '\r')
        --*length;
    return FATHOM_OK;
}

/* A decimal line; a long one may end in L. */
fathom_status pickle_take_decimal(pickle *p, int64_t *number) {
    const uint8_t *line = NULL;
    size_t length = 0, i = 0;
    TRY(pickle_take_line(p, &line, &length));
    if (length > 0 && line[length - 1] == 'L')
        length--;
    bool minus = length > 0 && line[0] == '-';
    i = minus;
    if (i == length || length > 18)
        return pickle_fail(p, "not a whole number of at most 18 digits");
    *number = 0;
    for (; i < length; i++) {
        if (!isdigit(line[i]))
            return pickle_fail(p, "not a whole number");
        *number = *number * 10 + (line[i] - '0');
    }
    if (minus)
        *number = -*number;
    return FATHOM_OK;
}

static int hex_digit(uint8_t c) {
    return isdigit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* One character of a quoted Python string from in[*i] on; -1 when the escape is wrong. */
int pickle_unescape(const uint8_t *in, size_t length, size_t *i) {
    static const char from[] = "\\'\"nrtabfv", to[] = "\\'\"\n\r\t\a\b\f\v";
    if (in[*i] != '\\')
        return in[(*i)++];
    if (*i + 1 >= length)
        return -1;
    uint8_t c = in[*i + 1];
    const char *known = c ? strchr(from, c) : NULL;
    if (known) {
        *i += 2;
        return (uint8_t)to[known - from];
    }
    if (c == 'x' && *i + 3 < length && hex_digit(in[*i + 2]) >= 0 && hex_digit(in[*i + 3]) >= 0) {
        *i += 4;
        return hex_digit(in[*i - 2]) * 16 + hex_digit(in[*i - 1]);
    }
    if (c < '0' || c > '7')
        return -1;
    int value = 0;
    for (*i += 1; *i < length && in[*i] >= '0' && in[*i] <= '7' && value < 32; ++*i)
        value = value * 8 + (in[*i] - '0');
    return value & 255;
}

/* One code point of raw-unicode-escape text (bytes as they are, \uXXXX for the rest) as UTF-8; returns its
 * bytes, 0 when the escape is wrong. */
size_t pickle_code_point(uint8_t out[3], const uint8_t *in, size_t length, size_t *i) {
    uint32_t code = in[(*i)++];
    if (code == '\\' && *i < length && in[*i] == 'u') {
        code = 0;
        if (length - *i < 5)
            return 0;
        for (size_t d = 1; d <= 4; d++) {
            int digit = hex_digit(in[*i + d]);
            if (digit < 0)
                return 0;
            code = code << 4 | (uint32_t)digit;
        }
        *i += 5;
    }
    if (code < 0x80) {
        out[0] = (uint8_t)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (uint8_t)(0xc0 | code >> 6);
        out[1] = (uint8_t)(0x80 | (code & 0x3f));
        return 2;
    }
    out[0] = (uint8_t)(0xe0 | code >> 12);
    out[1] = (uint8_t)(0x80 | (code >> 6 & 0x3f));
    out[2] = (uint8_t)(0x80 | (code & 0x3f));
    return 3;
}
