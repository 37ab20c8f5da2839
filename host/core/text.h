/* text.h - a growable string. Writers of pages, charts and tables append without checking every call: the first failure
 * is kept in `status` and checked at the end, as in core/json.h.
 *
 *     text_buf out = {0};
 *     text_add(&out, "<p>%s: %.1f", name, value);     // a decimal point in every locale
 *     text_add_escaped(&out, from_a_file);           // for HTML, XML and their attributes
 *     TRY_OUT(out.status);
 *     ... text_free(&out); */
#ifndef CORE_TEXT_H
#define CORE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/status.h"

typedef struct text_buf {
    char *bytes; /* NUL-terminated; NULL while empty */
    size_t count, capacity;
    fathom_status status;
} text_buf;

void text_add(text_buf *text, const char *format, ...) CORE_PRINTF(2, 3);
void text_add_bytes(text_buf *text, const char *bytes, size_t count);
void text_add_escaped(text_buf *text, const char *from);
/* `before`, then the number with the fewest digits that read back to the same bits. */
void text_add_real(text_buf *text, const char *before, double value);
void text_free(text_buf *text);

/* snprintf in the C locale. */
void text_format(char *out, size_t capacity, const char *format, ...) CORE_PRINTF(3, 4);

/* Whether it is valid UTF-8, as JSON requires. */
bool text_is_utf8(const char *text);

/* Parses the whole string as a finite number in the C locale; false when it is not one. */
bool text_read_number(double *value, const char *text);

/* One of the words "a|b|c", or "c:N", the last one with a number of `least` to `most`: -i for the i-th word, or N. In
 * "a|b|c:N" the last word takes a number always. `what` names the option in the message. */
fathom_status text_read_counted(int64_t *value, const char *what, const char *words, int64_t least, int64_t most,
                                const char *text);
void text_write_counted(char *out, size_t capacity, const char *words, int64_t value);

/* Replaces the file atomically (core/file.h). Fails when an earlier call on this text failed. */
fathom_status text_save(const text_buf *text, const char *path);

#endif
