/* options.h - one table of options per command: parsing and help come from its rows.
 *
 *     struct selftest_options {
 *         struct common_options common;       // always first: --help, --json, --quiet, --device, --threads
 *         const char *op;
 *     };
 *     static const struct opt_row rows[] = {
 *         OPT_TEXT(struct selftest_options, op, "op", 0, "NAME", NULL, "only this operation"),
 *     };
 *
 * The parser fills the command's own struct: int64_t for OPT_INT, double for OPT_REAL, bool for OPT_FLAG, an int with
 * the place in the list for OPT_CHOICE, int64_t for OPT_COUNTED (a word, or the last one with a number: core/text.h),
 * const char * for the others (the macros check the member's type). A default is the text a user would type; NULL means
 * none (0, NULL, choice -1) and OPT_REQUIRED that the user must give it. */
#ifndef OPTIONS_OPTIONS_H
#define OPTIONS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "core/status.h"
#include "core/text.h"

enum opt_kind { OPT_IS_FLAG, OPT_IS_INT, OPT_IS_REAL, OPT_IS_CHOICE, OPT_IS_COUNTED, OPT_IS_TEXT, OPT_IS_PATH };

struct opt_row {
    const char *name;     /* "layers" for --layers; NULL: an operand, taken in the order of the table */
    char letter;          /* 'o' for -o, or 0 */
    const char *argument; /* what help calls the value: "K" */
    enum opt_kind kind;
    const char *fallback; /* the default as the user would type it */
    const char *help;     /* what it is, without full stop */
    size_t offset;        /* of the member in the command's options */
    double low, high;     /* the range of a number, both ends allowed */
    const char *choices;  /* "gcn|gat|sgc"; for a real number one word in its place ("auto", read as NaN) */
};

extern const char OPT_REQUIRED[];

/* offsetof, refusing a member of another type. */
#define OPT_AT(type, S, member) (offsetof(S, member) + 0 * sizeof((type *)0 == &((S *)0)->member))

#define OPT_FLAG(S, member, name, letter, help) \
    { name, letter, NULL, OPT_IS_FLAG, NULL, help, OPT_AT(bool, S, member), 0, 0, NULL }
#define OPT_INT(S, member, name, letter, argument, fallback, low, high, help) \
    { name, letter, argument, OPT_IS_INT, fallback, help, OPT_AT(int64_t, S, member), low, high, NULL }
#define OPT_REAL(S, member, name, letter, argument, fallback, low, high, word, help) \
    { name, letter, argument, OPT_IS_REAL, fallback, help, OPT_AT(double, S, member), low, high, word }
#define OPT_CHOICE(S, member, name, letter, choices, fallback, help) \
    { name, letter, choices, OPT_IS_CHOICE, fallback, help, OPT_AT(int, S, member), 0, 0, choices }
#define OPT_COUNTED(S, member, name, letter, argument, choices, fallback, least, most, help) \
    { name, letter, argument, OPT_IS_COUNTED, fallback, help, OPT_AT(int64_t, S, member), least, most, choices }
#define OPT_TEXT(S, member, name, letter, argument, fallback, help) \
    { name, letter, argument, OPT_IS_TEXT, fallback, help, OPT_AT(const char *, S, member), 0, 0, NULL }
#define OPT_PATH(S, member, name, letter, argument, fallback, help) \
    { name, letter, argument, OPT_IS_PATH, fallback, help, OPT_AT(const char *, S, member), 0, 0, NULL }

/* Operands: arguments without a name, "fathom data info DATA". */
#define OPT_OPERAND(S, member, argument, fallback, help) OPT_PATH(S, member, NULL, 0, argument, fallback, help)
#define OPT_OPERAND_CHOICE(S, member, argument, choices, fallback, help) \
    { NULL, 0, argument, OPT_IS_CHOICE, fallback, help, OPT_AT(int, S, member), 0, 0, choices }

#define OPT_ROWS(table) (table), sizeof(table) / sizeof(table)[0]

struct command {
    const char *name;    /* "devices", or two words: "data info" */
    const char *help;    /* one line, without full stop */
    const char *details; /* more for --help: short lines, each ended; or NULL */
    const char *example; /* command lines, each ended */
    const struct opt_row *rows;
    size_t row_count;
    size_t options_size;
    fathom_status (*run)(const void *options); /* the command's own struct */
};

struct common_options {
    bool help, json, quiet, no_tune, trust_device;
    const char *device; /* a device selector: the option, else FATHOM_DEVICE, else "auto" */
    int64_t threads;    /* 0: as many as the machine has cores */
    const struct command *command;
    uint64_t given; /* a bit per row of the table, common rows first */
};

/* Did the user give the option that fills `member` (&options->layers)? */
bool opt_given(const struct common_options *common, const void *member);

/* The n-th word of a "a|b|c" list, in static storage of the thread; NULL past the end. */
const char *opt_choice(const char *choices, int n);

/* The range of a number as text, "1 to 1024" or "at least 0 or auto", in static storage of the thread. */
const char *opt_range(const struct opt_row *row);

/* Fills `options` (command->options_size bytes) with the defaults, then from the words after the command. */
fathom_status opt_parse(void *options, const struct command *command, int count, char *const *words);

/* Takes the value of a row, which need not be there, from an object of JSON whose keys are the names of options with
 * '_' for '-'. Texts stay those of the object. */
struct cJSON;
fathom_status opt_read_json(void *options, const struct opt_row *row, const struct cJSON *object);

/* The command and its given options as a line that a shell reads the same: flags, whole numbers, texts. */
void opt_print_line(text_buf *out, const void *options);

/* Prints "[--op NAME] ..." help of a command: synopsis, options, example. */
void opt_print_help(FILE *file, const struct command *command);

/* The pieces of the help, for the manual too: "-k, --layers K", what it means with its range and default, and
 * "fathom eval --checkpoint FILE [options]". */
#define OPT_TEXT_MAX 640
void opt_title(char title[OPT_TEXT_MAX], const struct opt_row *row);
void opt_description(char about[OPT_TEXT_MAX], const struct opt_row *row);
void opt_usage(char usage[OPT_TEXT_MAX], const struct command *command);

/* The rows every command has, and the rows of a command after them: i from 0, NULL past the end. */
const struct opt_row *opt_row_at(const struct command *command, size_t i);

#endif
