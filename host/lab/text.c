/* text.c - see text.h. */
#include "lab/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/file.h"
#include "core/mem.h"
#include "core/plain.h"
#include "core/visible.h"

static bool make_room(lab_text *text, size_t more) {
    if (text->status != FATHOM_OK)
        return false;
    size_t wanted = text->count + more + 1;
    if (wanted <= text->room)
        return true;
    size_t room = text->room * 2 > wanted ? text->room * 2 : wanted + 256;
    text->status = mem_grow(&text->bytes, text->room, room, 1, "text of a report");
    if (text->status == FATHOM_OK)
        text->room = room;
    return text->status == FATHOM_OK;
}

void lab_add_bytes(lab_text *text, const char *bytes, size_t count) {
    if (!make_room(text, count))
        return;
    memcpy(text->bytes + text->count, bytes, count);
    text->count += count;
    text->bytes[text->count] = '\0';
}

void lab_add(lab_text *text, const char *format, ...) {
    char line[1024];
    va_list args;
    locale_t before = plain_enter();
    va_start(args, format);
    int length = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    if (length >= 0 && (size_t)length < sizeof line) {
        lab_add_bytes(text, line, (size_t)length);
    } else if (length >= 0 && make_room(text, (size_t)length)) {
        va_start(args, format);
        vsnprintf(text->bytes + text->count, (size_t)length + 1, format, args);
        va_end(args);
        text->count += (size_t)length;
    }
    plain_leave(before);
}

bool lab_is_utf8(const char *text) {
    for (size_t length; *text; text += length)
        if ((length = utf8_length(text)) == 0)
            return false;
    return true;
}

void lab_add_escaped(lab_text *text, const char *from) {
    for (const char *s = from; *s;) {
        size_t length = utf8_length(s);
        const char *instead = *s == '&'                ? "&amp;"
                              : *s == '<'              ? "&lt;"
                              : *s == '>'              ? "&gt;"
                              : *s == '"'              ? "&quot;"
                              : *s == '\''             ? "&#39;"
                              : length == 0            ? "\xEF\xBF\xBD"
                              : visible_length(s) == 0 ? " "
                                                       : NULL;
        lab_add_bytes(text, instead ? instead : s, instead ? strlen(instead) : length);
        s += length ? length : 1;
    }
}

void lab_text_free(lab_text *text) {
    mem_free(text->bytes);
    *text = (lab_text){0};
}

void lab_format(char *out, size_t room, const char *format, ...) {
    va_list args;
    locale_t before = plain_enter();
    va_start(args, format);
    vsnprintf(out, room, format, args);
    va_end(args);
    plain_leave(before);
}

bool lab_read_number(double *value, const char *word) {
    char *end;
    locale_t before = plain_enter();
    *value = strtod(word, &end);
    plain_leave(before);
    return strchr("+-.0123456789", word[0]) && end != word && *end == '\0' && isfinite(*value);
}

void lab_add_real(lab_text *out, const char *before, double value) {
    char text[40];
    double back = 0;
    for (int digits = 15; digits <= 17; digits++) {
        lab_format(text, sizeof text, "%.*g", digits, value);
        if (lab_read_number(&back, text) && back == value)
            break;
    }
    lab_add(out, "%s%s", before, text);
}

fathom_status lab_text_save(const lab_text *text, const char *path) {
    TRY(text->status);
    return file_replace(path, &(file_piece){text->bytes ? text->bytes : "", text->count}, 1);
}
