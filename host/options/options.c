/* options.c - parses the arguments of a command into its options struct, by its table. */
#include "options/options.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/suggest.h"
#include "core/text.h"

#define ROWS_MAX 64 /* the bits of common_options.given */

const char OPT_REQUIRED[] = "";

#define C struct common_options
static const struct opt_row common_rows[] = {
    OPT_TEXT(C, device, "device", 0, "D", "auto",
             "auto, cpu, gpu, a row number of `fathom devices`, opencl:N, opencl:P:D or part of a name; "
             "FATHOM_DEVICE replaces the default"),
    OPT_INT(C, threads, "threads", 0, "N", "0", 0, 1024, "threads of the CPU back end; 0: one for each core"),
    OPT_FLAG(C, no_tune, "no-tune", 0, "ignore the records of fathom tune"),
    OPT_FLAG(C, trust_device, "trust-device", 0, "use an OpenCL device whose results fail the check before a run"),
    OPT_FLAG(C, json, "json", 0, "one JSON document on standard output"),
    OPT_FLAG(C, quiet, "quiet", 'q', "print only results and errors"),
    OPT_FLAG(C, help, "help", 'h', "this text"),
};
#undef C

#define COMMON_COUNT (sizeof common_rows / sizeof common_rows[0])

const struct opt_row *opt_row_at(const struct command *command, size_t i) {
    if (i < COMMON_COUNT)
        return &common_rows[i];
    return i - COMMON_COUNT < command->row_count ? &command->rows[i - COMMON_COUNT] : NULL;
}

bool opt_given(const struct common_options *common, const void *member) {
    size_t offset = (size_t)((const char *)member - (const char *)common);
    const struct opt_row *row;
    for (size_t i = 0; (row = opt_row_at(common->command, i)); i++)
        if (row->offset == offset)
            return common->given >> i & 1;
    return false;
}

const char *opt_choice(const char *choices, int n) {
    static _Thread_local char word[64];
    for (; n > 0 && choices; n--) {
        choices = strchr(choices, '|');
        choices = choices ? choices + 1 : NULL;
    }
    if (n < 0 || !choices)
        return NULL;
    size_t length = strcspn(choices, "|");
    length = length < sizeof word ? length : sizeof word - 1;
    memcpy(word, choices, length);
    word[length] = '\0';
    return word;
}

/* The name of a row in messages: "--layers", or "DATA" for an operand. */
static const char *title(const struct opt_row *row) {
    static _Thread_local char text[64];
    snprintf(text, sizeof text, "%s%s", row->name ? "--" : "", row->name ? row->name : row->argument);
    return text;
}

const char *opt_range(const struct opt_row *row) {
    static _Thread_local char text[160];
    const char *form = row->kind == OPT_IS_INT ? "%.0f" : "%.15g";
    char low[64], high[64];
    snprintf(low, sizeof low, form, row->low);
    snprintf(high, sizeof high, form, row->high);
    snprintf(text, sizeof text, isinf(row->high) ? "at least %s%.0s%s%s" : "%s to %s%s%s", low, high,
             row->choices ? " or " : "", row->choices ? row->choices : "");
    return text;
}

static fathom_status fail_number(const struct opt_row *row, const char *value) {
    return fail(FATHOM_USAGE, "%s '%.80s': give %s %s%s", title(row), value,
                row->kind == OPT_IS_INT ? "a whole number" : "a number", isinf(row->high) ? "of " : "from ",
                opt_range(row));
}

static fathom_status read_int(int64_t *out, const struct opt_row *row, const char *value) {
    char *end;
    errno = 0;
    long long number = strtoll(value, &end, 10);
    if (!strchr("+-0123456789", value[0]) || end == value || *end || errno || (double)number < row->low ||
        (double)number > row->high)
        return fail_number(row, value);
    *out = number;
    return FATHOM_OK;
}

static fathom_status read_real(double *out, const struct opt_row *row, const char *value) {
    char *end;
    *out = NAN;
    if (row->choices && strcmp(value, row->choices) == 0)
        return FATHOM_OK;
    double number = strtod(value, &end);
    if (!strchr("+-.0123456789", value[0]) || end == value || *end || !isfinite(number) || number < row->low ||
        number > row->high)
        return fail_number(row, value);
    *out = number;
    return FATHOM_OK;
}

static fathom_status read_choice(int *out, const struct opt_row *row, const char *value) {
    char words[ROWS_MAX][64];
    const char *names[ROWS_MAX], *word;
    size_t count = 0;
    for (; count < ROWS_MAX && (word = opt_choice(row->choices, (int)count)); count++) {
        if (strcmp(word, value) == 0) {
            *out = (int)count;
            return FATHOM_OK;
        }
        names[count] = strcpy(words[count], word);
    }
    fail_unknown(FATHOM_USAGE, "value", value, names, count);
    return fail_prefix(FATHOM_USAGE, "%s: ", title(row));
}

/* A choice of "off|on" may be given without a value: on. */
static bool is_switch(const struct opt_row *row) { return row->choices && strcmp(row->choices, "off|on") == 0; }

static fathom_status read_value(char *options, const struct opt_row *row, const char *value) {
    void *member = options + row->offset;
    if (row->kind == OPT_IS_FLAG) {
        *(bool *)member = true;
        return FATHOM_OK;
    }
    if (value[0] == '\0')
        return fail(FATHOM_USAGE, "%s needs a value: %s", title(row), row->argument);
    switch (row->kind) {
    case OPT_IS_INT:
        return read_int(member, row, value);
    case OPT_IS_REAL:
        return read_real(member, row, value);
    case OPT_IS_CHOICE:
        return read_choice(member, row, value);
    case OPT_IS_COUNTED:
        return text_read_counted(member, title(row), row->choices, (int64_t)row->low, (int64_t)row->high, value);
    default:
        *(const char **)member = value;
        return FATHOM_OK;
    }
}

static fathom_status set_defaults(char *options, const struct command *command) {
    const struct opt_row *row;
    memset(options, 0, command->options_size);
    ((struct common_options *)(void *)options)->command = command;
    for (size_t i = 0; (row = opt_row_at(command, i)); i++) {
        if (i == ROWS_MAX)
            return fail(FATHOM_FAILURE, "fathom %s: more than %d options in its table", command->name, ROWS_MAX);
        if (row->fallback && row->fallback != OPT_REQUIRED)
            TRY(read_value(options, row, row->fallback));
        else if (row->kind == OPT_IS_CHOICE)
            *(int *)(void *)(options + row->offset) = -1;
    }
    return FATHOM_OK;
}

/* The row called `name` (`length` letters), or the one with the letter when `length` is 1 and `is_short`. */
static bool find_row(size_t *index, const struct command *command, const char *name, size_t length, bool is_short) {
    const struct opt_row *row;
    for (size_t i = 0; (row = opt_row_at(command, i)); i++) {
        bool same = is_short ? row->letter && row->letter == name[0]
                             : row->name && strlen(row->name) == length && strncmp(row->name, name, length) == 0;
        if (same) {
            *index = i;
            return true;
        }
    }
    return false;
}

static fathom_status fail_option(const struct command *command, const char *word) {
    const char *names[ROWS_MAX];
    char text[ROWS_MAX][64], given[96];
    const struct opt_row *row;
    size_t count = 0;
    for (size_t i = 0; (row = opt_row_at(command, i)); i++) {
        if (row->name) {
            snprintf(text[count], sizeof text[count], "--%s", row->name);
            names[count] = text[count];
            count++;
        }
    }
    snprintf(given, sizeof given, "%.*s", (int)strcspn(word, "="), word);
    fail_unknown(FATHOM_USAGE, "option", given, names, count);
    return fail_prefix(FATHOM_USAGE, "%s: ", command->name);
}

/* Reads the option at words[*at] and its value, which may be the next word. */
static fathom_status read_option(char *options, const struct command *command, int count, char *const *words, int *at) {
    const char *word = words[*at];
    bool is_short = word[1] != '-';
    const char *name = word + (is_short ? 1 : 2);
    const char *equals = is_short ? NULL : strchr(name, '=');
    size_t length = equals ? (size_t)(equals - name) : strlen(name), index;
    if (!find_row(&index, command, name, length, is_short))
        return fail_option(command, word);
    const struct opt_row *row = opt_row_at(command, index);
    const char *value = equals ? equals + 1 : is_short && name[1] ? name + 1 : NULL;
    if (row->kind == OPT_IS_FLAG && value)
        return fail(FATHOM_USAGE, "--%s takes no value, but '%.80s' was given", row->name, value);
    if (row->kind != OPT_IS_FLAG && !value) {
        bool ends = *at + 1 >= count || strncmp(words[*at + 1], "--", 2) == 0;
        if (is_switch(row) && (ends || words[*at + 1][0] == '-')) {
            ((struct common_options *)(void *)options)->given |= UINT64_C(1) << index;
            return read_value(options, row, "on");
        }
        if (ends)
            return fail(FATHOM_USAGE, "--%s needs a value: --%s %s", row->name, row->name, row->argument);
        value = words[++*at];
    }
    ((struct common_options *)(void *)options)->given |= UINT64_C(1) << index;
    return read_value(options, row, value ? value : "");
}

static bool is_choice(const struct opt_row *row, const char *word) {
    const char *choice;
    for (int i = 0; (choice = opt_choice(row->choices, i)); i++)
        if (strcmp(choice, word) == 0)
            return true;
    return false;
}

/* The option that a word without one may belong to: --device, a data set, or the input of a command, its first option;
 * or NULL. A word without dot and slash is no file, but may name a set. */
static const struct opt_row *likely_option(const struct command *command, const char *word) {
    static const struct opt_row devices = {.choices = "auto|cpu|gpu|opencl"};
    const struct opt_row *input = opt_row_at(command, COMMON_COUNT), *row;
    if (is_choice(&devices, word) || strncmp(word, "opencl:", 7) == 0)
        return &common_rows[0];
    if (word[0] == '\0' || word[0] == '-')
        return NULL;
    for (size_t i = 0; !strpbrk(word, "./") && (row = opt_row_at(command, i)); i++)
        if (row->name && row->argument && strcmp(row->argument, "DATA") == 0)
            return row;
    if (!input || input->kind == OPT_IS_FLAG || (input->kind == OPT_IS_CHOICE && !is_choice(input, word)))
        return NULL;
    return input;
}

/* Gives an operand to the first operand row that has none yet. */
static fathom_status read_operand(char *options, const struct command *command, const char *word) {
    struct common_options *common = (void *)options;
    const struct opt_row *row;
    bool takes_words = false;
    for (size_t i = 0; (row = opt_row_at(command, i)); i++) {
        takes_words = takes_words || !row->name;
        if (!row->name && !(common->given >> i & 1)) {
            common->given |= UINT64_C(1) << i;
            return read_value(options, row, word);
        }
    }
    row = likely_option(command, word);
    if (row && !takes_words && !opt_given(common, (const char *)options + row->offset))
        return fail(FATHOM_USAGE, "%s: '%.80s' has no option; did you mean --%s %.80s? See fathom %s --help",
                    command->name, word, row->name, word, command->name);
    return fail(FATHOM_USAGE, "%s: '%.80s' is one word too many; see fathom %s --help", command->name, word,
                command->name);
}

fathom_status opt_parse(void *options, const struct command *command, int count, char *const *words) {
    struct common_options *common = options;
    const struct opt_row *row;
    bool only_operands = false;
    TRY(set_defaults(options, command));
    for (int at = 0; at < count; at++) {
        if (!only_operands && strcmp(words[at], "--") == 0)
            only_operands = true;
        else if (!only_operands && words[at][0] == '-' && words[at][1])
            TRY(read_option(options, command, count, words, &at));
        else
            TRY(read_operand(options, command, words[at]));
    }
    for (size_t i = 0; !common->help && (row = opt_row_at(command, i)); i++)
        if (row->fallback == OPT_REQUIRED && !(common->given >> i & 1))
            return fail(FATHOM_USAGE, "%s needs %s%s%s; see fathom %s --help", command->name, title(row),
                        row->name ? " " : "", row->name ? row->argument : "", command->name);
    return FATHOM_OK;
}
