/* text.h - text that grows: reports, charts and tables are written into one of these without checking every line. The
 * first failure is remembered and asked for at the end, as in core/json.h.
 *
 *     lab_text out = {0};
 *     lab_add(&out, "<p>%s: %.1f", name, value);     // a decimal point whatever the locale is
 *     lab_add_escaped(&out, from_a_file);            // for HTML, XML and their attributes
 *     TRY_OUT(out.status);
 *     ... lab_text_free(&out); */
#ifndef LAB_TEXT_H
#define LAB_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "core/status.h"

typedef struct lab_text {
    char *bytes; /* ended by 0; NULL while empty */
    size_t count, room;
    fathom_status status;
} lab_text;

void lab_add(lab_text *text, const char *format, ...) CORE_PRINTF(2, 3);
void lab_add_bytes(lab_text *text, const char *bytes, size_t count);
void lab_add_escaped(lab_text *text, const char *from);
/* `before`, and the number with as few digits as read back to the same bits. */
void lab_add_real(lab_text *text, const char *before, double value);
void lab_text_free(lab_text *text);

/* snprintf with a decimal point. */
void lab_format(char *out, size_t room, const char *format, ...) CORE_PRINTF(3, 4);

/* Is it UTF-8? JSON can hold no other text. */
bool lab_is_utf8(const char *text);

/* Reads a whole word as a number with a decimal point; false when it is none. */
bool lab_read_number(double *value, const char *word);

/* Writes the text to a file, whole or not at all; fails with what failed before, too. */
fathom_status lab_text_save(const lab_text *text, const char *path);

#endif
