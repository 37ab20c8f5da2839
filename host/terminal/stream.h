/* stream.h - standard output and standard error, through which no control character of data reaches a terminal.
 *
 * Everything that is printed passes one filter: newlines, tabs and visible characters (core/escape.h) as they are, any
 * other byte as \x1b and the like. What the command itself wants of a terminal goes around it: colours as marks that
 * the filter knows (style() of terminal.h), the progress line with stream_put_raw. */
#ifndef TERMINAL_STREAM_H
#define TERMINAL_STREAM_H

#include <stdbool.h>
#include <stdio.h>

#include "terminal/terminal.h"

/* From here on stdout and stderr are filtered; false when memory ran out. */
bool streams_start(void);

/* Nothing that is printed from here on appears: of several ranks of one run only one prints. */
void streams_mute(void);

/* What is printed on stderr between them is one write, so that other processes print nothing inside it. */
void streams_hold(void);
void streams_release(void);

/* The descriptor of stdout, stderr or a file; -1 when it has none. */
int stream_descriptor(FILE *file);

/* The mark that a filtered stream prints as the escape sequence of a style; only for terminals. */
const char *stream_style(enum style wanted);

/* Writes past the filter and the buffer; `text` is ours or visible. */
void stream_put_raw(int fd, const char *text);

#endif
