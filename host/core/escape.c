/* escape.c - see escape.h. */
#include "core/escape.h"

#include <stdio.h>
#include <string.h>

#define ESCAPE_BYTES 4 /* \x1b */

size_t utf8_length(const char *text) {
    const unsigned char *s = (const unsigned char *)text;
    size_t length = s[0] < 0x80 ? 1 : s[0] >= 0xC2 && s[0] < 0xE0 ? 2 : s[0] >= 0xE0 && s[0] < 0xF0 ? 3 : 4;
    if (s[0] >= 0x80 && (s[0] < 0xC2 || s[0] > 0xF4))
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((s[i] & 0xC0) != 0x80)
            return 0;
    if ((s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xED && s[1] > 0x9F) || (s[0] == 0xF0 && s[1] < 0x90) ||
        (s[0] == 0xF4 && s[1] > 0x8F))
        return 0;
    return length;
}

size_t printable_length(const char *text) {
    const unsigned char *s = (const unsigned char *)text;
    if ((s[0] < 0x20 && s[0] != '\n' && s[0] != '\t') || s[0] == 0x7F)
        return 0;
    if (s[0] == 0xC2 && s[1] >= 0x80 && s[1] < 0xA0) /* C1 */
        return 0;
    if (s[0] == 0xEF && s[1] == 0xB7 && s[2] >= 0x90 && s[2] < 0xB0) /* noncharacters */
        return 0;
    return utf8_length(text);
}

void escape_copy(char *out, size_t capacity, const char *text, bool lines) {
    char *end = out + capacity - 1;
    while (*text) {
        bool blank = *text == '\n' || *text == '\t';
        size_t length = blank && !lines ? 0 : printable_length(text), taken = length ? length : ESCAPE_BYTES;
        if (taken > (size_t)(end - out))
            break;
        if (length)
            memcpy(out, text, length);
        else
            snprintf(out, ESCAPE_BYTES + 1, "\\x%02x", (unsigned char)*text);
        out += taken;
        text += length ? length : 1;
    }
    *out = '\0';
}
