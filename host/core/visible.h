/* visible.h - text of others (names in files, of devices, of paths) made safe to show: no byte of it is taken for a
 * command by a terminal. */
#ifndef CORE_VISIBLE_H
#define CORE_VISIBLE_H

#include <stdbool.h>
#include <stddef.h>

/* The bytes of the UTF-8 character that `text`, ended by a 0, starts with; 0 when it starts with none. */
size_t utf8_length(const char *text);

/* How many bytes at `text` may be shown as they are (a character, a newline, a tab); 0: the first byte is part of a
 * control character (C0, DEL, C1), of a noncharacter (U+FDD0 to U+FDEF) or not UTF-8. */
size_t visible_length(const char *text);

/* Copies `text` with \x1b and the like for what may not be shown, cut to `room` bytes; allocates nothing. Newlines and
 * tabs are escaped too unless `lines`: text of others must not look like a line of ours. */
void visible_copy(char *out, size_t room, const char *text, bool lines);

#endif
