/* text.c - a growable string (text.h). */
#include "core/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/c_locale.h"
#include "core/escape.h"
#include "core/file.h"
#include "core/mem.h"

static bool reserve(text_buf *text, size_t more) {
    if (text->status != FATHOM_OK)
        return false;
    size_t wanted = text->count + more + 1;
    if (wanted <= text->capacity)
        return true;
    size_t capacity = text->capacity * 2 > wanted ? text->capacity * 2 : wanted + 256;
    text->status = mem_grow(&text->bytes, text->capacity, capacity, 1, "text");
    if (text->status == FATHOM_OK)
        text->capacity = capacity;
    return text->status == FATHOM_OK;
}

void text_add_bytes(text_buf *text, const char *bytes, size_t count) {
    if (!reserve(text, count))
        return;
    memcpy(text->bytes + text->count, bytes, count);
    text->count += count;
    text->bytes[text->count] = '\0';
}

void text_add(text_buf *text, const char *format, ...) {
    char line[1024];
    va_list args;
    locale_t before = c_locale_enter();
    va_start(args, format);
    int length = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    if (length >= 0 && (size_t)length < sizeof line) {
        text_add_bytes(text, line, (size_t)length);
    } else if (length >= 0 && reserve(text, (size_t)length)) {
        va_start(args, format);
        vsnprintf(text->bytes + text->count, (size_t)length + 1, format, args);
        va_end(args);
        text->count += (size_t)length;
    }
    c_locale_leave(before);
}

bool text_is_utf8(const char *text) {
    for (size_t length; *text; text += length)
        if ((length = utf8_length(text)) == 0)
            return false;
    return true;
}

void text_add_escaped(text_buf *text, const char *from) {
    for (const char *s = from; *s;) {
        size_t length = utf8_length(s);
        const char *entity = *s == '&'                  ? "&amp;"
                             : *s == '<'                ? "&lt;"
                             : *s == '>'                ? "&gt;"
                             : *s == '"'                ? "&quot;"
                             : *s == '\''               ? "&#39;"
                             : length == 0              ? "\xEF\xBF\xBD"
                             : printable_length(s) == 0 ? " "
                                                        : NULL;
        text_add_bytes(text, entity ? entity : s, entity ? strlen(entity) : length);
        s += length ? length : 1;
    }
}

void text_free(text_buf *text) {
    mem_free(text->bytes);
    *text = (text_buf){0};
}

void text_format(char *out, size_t capacity, const char *format, ...) {
    va_list args;
    locale_t before = c_locale_enter();
    va_start(args, format);
    vsnprintf(out, capacity, format, args);
    va_end(args);
    c_locale_leave(before);
}

bool text_read_number(double *value, const char *text) {
    char *end;
    locale_t before = c_locale_enter();
    *value = strtod(text, &end);
    c_locale_leave(before);
    return strchr("+-.0123456789", text[0]) && end != text && *end == '\0' && isfinite(*value);
}

/* The i-th of the words, and its length without what follows a colon; past the end the last one. */
static const char *word_at(const char *words, int64_t i, int *length) {
    for (const char *next; i > 0 && (next = strchr(words, '|')); i--)
        words = next + 1;
    *length = (int)strcspn(words, "|:");
    return words;
}

fathom_status text_read_counted(int64_t *value, const char *what, const char *words, int64_t least, int64_t most,
                                const char *text) {
    int length;
    double number = 0;
    bool needs_number = strchr(words, ':') != NULL;
    for (int64_t i = 0;; i++) {
        const char *word = word_at(words, i, &length);
        bool last = word[length] != '|', same = strncmp(word, text, (size_t)length) == 0;
        const char *rest = text + (same ? length : 0);
        *value = -i;
        if (same && !*rest && !(last && needs_number))
            return FATHOM_OK;
        if (!last)
            continue;
        const char *digits = same && *rest == ':' ? rest + 1 : "";
        if (!digits[strspn(digits, "0123456789")] && text_read_number(&number, digits) && number >= (double)least &&
            number <= (double)most) {
            *value = (int64_t)number;
            return FATHOM_OK;
        }
        return needs_number ? fail(FATHOM_USAGE, "%s '%.80s': give one of %s with N from %lld to %lld", what, text,
                                   words, (long long)least, (long long)most)
                            : fail(FATHOM_USAGE, "%s '%.80s': give one of %s, or %s:N with N from %lld to %lld", what,
                                   text, words, word, (long long)least, (long long)most);
    }
}

void text_write_counted(char *out, size_t capacity, const char *words, int64_t value) {
    int length;
    const char *word = word_at(words, value > 0 ? INT64_MAX : -value, &length);
    snprintf(out, capacity, value > 0 ? "%.*s:%lld" : "%.*s%.0lld", length, word, (long long)(value > 0 ? value : 0));
}

void text_add_real(text_buf *out, const char *before, double value) {
    char text[40];
    double back = 0;
    for (int digits = 15; digits <= 17; digits++) {
        text_format(text, sizeof text, "%.*g", digits, value);
        if (text_read_number(&back, text) && back == value)
            break;
    }
    text_add(out, "%s%s", before, text);
}

fathom_status text_save(const text_buf *text, const char *path) {
    TRY(text->status);
    return file_replace(path, &(file_piece){text->bytes ? text->bytes : "", text->count}, 1);
}
