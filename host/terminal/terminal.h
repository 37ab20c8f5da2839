/* terminal.h - what a command prints: results, one JSON document, messages, progress, tables. Standard output and error
 * are filtered (stream.h): text from files and drivers cannot send escape sequences to a terminal. */
#ifndef TERMINAL_TERMINAL_H
#define TERMINAL_TERMINAL_H

#include <stdio.h>

#include "core/json.h"
#include "core/progress.h"
#include "core/status.h"
#include "core/stop.h"

/* A line (the newline is added) on standard error; nothing with --quiet. */
void log_info(const char *format, ...) CORE_PRINTF(1, 2);

/* Progress: on a terminal one line that is overwritten, at most ten times a second; elsewhere a plain line at most
 * every ten seconds. progress_end and log_info clear it. */
void progress(const char *format, ...) CORE_PRINTF(1, 2);
void progress_end(void);

/* The same as callbacks of the modules below (core/progress.h). */
message_fn show_progress, show_message;

/* Prints the document on standard output, the only thing a command prints there with --json, frees it and makes
 * *doc NULL. A command that has results and then failed gives its status: the error is added. Returns that status, or
 * why printing failed. */
fathom_status print_json(struct json **doc, fathom_status status);
void print_json_text(const char *text); /* for a document that the library wrote */
void add_json_error(struct json *doc, fathom_status status);

/* Catches Ctrl-C, SIGTERM and SIGHUP from now on: once sets the flag, a second Ctrl-C ends the process immediately. */
const stop_flag *watch_signals(void);

/* Escape sequences, empty where colours are not wanted: print_style(stdout, STYLE_GOOD) ... STYLE_PLAIN. */
enum style { STYLE_PLAIN, STYLE_BOLD, STYLE_DIM, STYLE_GOOD, STYLE_WARN, STYLE_BAD };
const char *style(FILE *file, enum style wanted);

/* Columns of the terminal of standard output; 0: not a terminal. */
int terminal_width(void);

/* Untrusted text (names, paths) on one line: control characters, newlines and tabs as \x1b and the like. The streams
 * escape all but newlines and tabs by themselves, log_info and print_table these too; printf of a name needs this. The
 * text is valid until the fourth call after this one in the thread. */
const char *printable(const char *text);

/* A table: cells[row * columns + column], the first row the heads; columns as wide as their widest cell. On a terminal
 * too narrow for it, cells of column `shrink` are cut with "...", then those of the widest columns. `right` has a bit
 * for each column flushed right. */
void print_table(const char *const *cells, size_t rows, size_t columns, size_t shrink, unsigned right);

/* Prints `text` from column `column` on and ends the line; lines are broken at spaces to `width` columns (0: not), and
 * those after the first are indented. */
void print_wrapped(FILE *file, const char *text, int column, int indent, int width);

/* For main: applies --json and --quiet, prints the message of a failure, flushes standard output. */
void output_start(bool json, bool quiet);
void output_failure(fathom_status status);
fathom_status output_end(void);

#endif
