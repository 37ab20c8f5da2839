/* escape.h - escapes untrusted text (names in files, of devices, paths) for output: a terminal must not interpret it as
 * control sequences. */
#ifndef CORE_ESCAPE_H
#define CORE_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>

/* Length in bytes of the UTF-8 character at `text` (NUL-terminated); 0: not valid UTF-8. */
size_t utf8_length(const char *text);

/* Length in bytes of the printable character at `text` (newline and tab included); 0: the first byte is part of a
 * control character (C0, DEL, C1), of a noncharacter (U+FDD0 to U+FDEF) or not UTF-8. */
size_t printable_length(const char *text);

/* Copies `text`, truncated to `capacity` bytes, with \x1b and the like for bytes that are not printable; allocates
 * nothing. Newlines and tabs are escaped too unless `lines`: untrusted text must not look like a line of the program.
 */
void escape_copy(char *out, size_t capacity, const char *text, bool lines);

#endif
