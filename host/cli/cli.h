/* cli.h - what a verb (cmd_*.c) sees of the command: its options, and how to speak.
 *
 * Results go to standard output with printf, or as one JSON document with print_json; talk goes to standard error with
 * say and progress. A verb returns a status; main prints the sentence of a failure and makes the status the exit code.
 *
 *     static fathom_status run(const void *given) {
 *         const struct count_options *options = given;
 *         if (opt_given(&options->common, &options->to)) ...
 *         return FATHOM_OK;
 *     }
 *     const struct verb verb_count = {
 *         "count", "count to a number", NULL, "fathom count --to 3\n", OPT_ROWS(rows), sizeof(struct count_options),
 * run,
 *     };
 *
 * A new verb: its cmd_*.c, a line in VERBS below. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <stdio.h>

#include "cli/options.h"
#include "core/json.h"
#include "core/status.h"

/* Every verb, in the order of `fathom --help`: X(devices) stands for `const struct verb verb_devices`. */
#define VERBS(X)     \
    X(devices)       \
    X(doctor)        \
    X(selftest)      \
    X(data_list)     \
    X(data_info)     \
    X(data_get)      \
    X(data_convert)  \
    X(data_make)     \
    X(train)         \
    X(eval)          \
    X(metrics)       \
    X(demo)          \
    X(bench)         \
    X(bench_compare) \
    X(tune)          \
    X(cache_path)    \
    X(cache_clear)   \
    X(sweep)         \
    X(report)

#define X(name) extern const struct verb verb_##name;
VERBS(X)
#undef X

extern const struct verb *const verbs[]; /* ended by NULL */

/* Talk: a line (the newline is added) on standard error; nothing with --quiet. */
void say(const char *format, ...) CORE_PRINTF(1, 2);

/* Talk while working: on a terminal one line that is written over, ten times a second at most; elsewhere a plain line
 * every ten seconds at most. progress_end clears it; say does so by itself. */
void progress(const char *format, ...) CORE_PRINTF(1, 2);
void progress_end(void);

/* Prints the document on standard output; the only thing a verb prints there with --json. A verb that prints its
 * results and then fails puts the error into the document first. */
fathom_status print_json(struct json *doc);
void print_json_text(const char *text); /* the same of a document that the library wrote */
void add_json_error(struct json *doc, fathom_status status);

/* Escape sequences, empty where colours are not wanted: print_style(stdout, STYLE_GOOD) ... STYLE_PLAIN. */
enum style { STYLE_PLAIN, STYLE_BOLD, STYLE_DIM, STYLE_GOOD, STYLE_WARN, STYLE_BAD };
const char *style(FILE *file, enum style wanted);

/* The columns of the terminal behind standard output, 0 when it is none. */
int terminal_width(void);

/* Text of others (names, paths) on one line: control characters, newlines and tabs as \x1b and the like. The streams
 * escape all but newlines and tabs by themselves, say and print_table these too; printf of a name needs this. The text
 * lives until the next call in this thread but three. */
const char *shown(const char *text);

/* "16.0 GiB", "640 B"; the text lives until the next call in this thread but three. */
const char *bytes_text(uint64_t bytes);

/* "2 h 05 min", "3 min 20 s", "12 s", "0.4 s"; lives until the next call in this thread. */
const char *time_text(double seconds);

/* A table: cells[row * columns + column], the first row the heads; columns as wide as their widest cell. On a terminal
 * too narrow for it, cells of column `shrink` are cut with "...", then those of the widest columns. `right` has a bit
 * for each column flushed right. */
void print_table(const char *const *cells, size_t rows, size_t columns, size_t shrink, unsigned right);

/* Prints `text` from column `column` on and ends the line; lines are broken at spaces to `width` columns (0: not), and
 * those after the first are indented. */
void print_wrapped(FILE *file, const char *text, int column, int indent, int width);

/* For main: what the common options say, the sentence of a failure, and the end of standard output. */
void output_start(bool json, bool quiet);
void output_failure(fathom_status status);
fathom_status output_end(void);

#endif
