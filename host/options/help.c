/* help.c - the help of a command, made from its table. */
#include <string.h>

#include "options/options.h"
#include "terminal/terminal.h"

#define WIDTH 80
#define INDENT 28

void opt_title(char title[OPT_TEXT_MAX], const struct opt_row *row) {
    char letter[8] = "";
    if (row->letter)
        snprintf(letter, sizeof letter, "-%c, ", row->letter);
    snprintf(title, OPT_TEXT_MAX, "%s%s%s%s%s", letter, row->name ? "--" : "", row->name ? row->name : "",
             row->argument && row->name ? " " : "", row->argument ? row->argument : "");
}

void opt_description(char about[OPT_TEXT_MAX], const struct opt_row *row) {
    char range[96] = "", fallback[96] = "";
    if (row->kind == OPT_IS_INT || row->kind == OPT_IS_REAL)
        snprintf(range, sizeof range, "%s", opt_range(row));
    else if (row->kind == OPT_IS_CHOICE && !row->name)
        snprintf(range, sizeof range, "%s", row->choices);
    if (row->fallback == OPT_REQUIRED && row->name)
        snprintf(fallback, sizeof fallback, "needed");
    else if (row->fallback && row->fallback != OPT_REQUIRED)
        snprintf(fallback, sizeof fallback, "default %s", row->fallback);
    bool both = range[0] && fallback[0], any = range[0] || fallback[0];
    size_t length = strlen(row->help);
    bool joined = any && length > 0 && row->help[length - 1] == ')'; /* two remarks go into one pair of brackets */
    snprintf(about, OPT_TEXT_MAX, "%.*s%s%s%s%s%s", (int)(length - joined), row->help,
             joined ? "; "
             : any  ? " ("
                    : "",
             range, both ? "; " : "", fallback, any ? ")" : "");
}

static void print_row(FILE *file, const struct opt_row *row) {
    char title[OPT_TEXT_MAX], about[OPT_TEXT_MAX];
    opt_title(title, row);
    opt_description(about, row);
    int column = fprintf(file, "  %s", title);
    if (column > INDENT - 2)
        fprintf(file, "\n%*s", INDENT, "");
    else
        fprintf(file, "%*s", INDENT - column, "");
    print_wrapped(file, about, INDENT, INDENT, WIDTH);
}

/* Command lines or details: indented by two. */
static void print_lines(FILE *file, const char *text) {
    while (*text) {
        int length = (int)strcspn(text, "\n");
        fprintf(file, "  %.*s\n", length, text);
        text += length + (text[length] == '\n');
    }
}

void opt_usage(char usage[OPT_TEXT_MAX], const struct command *command) {
    int used = snprintf(usage, OPT_TEXT_MAX, "fathom %s", command->name);
    for (size_t i = 0; i < command->row_count; i++) {
        const struct opt_row *row = &command->rows[i];
        if (!row->name || row->fallback == OPT_REQUIRED)
            used += snprintf(usage + used, OPT_TEXT_MAX - (size_t)used,
                             row->fallback == OPT_REQUIRED ? " %s%s%s%s" : " [%s%s%s%s]", row->name ? "--" : "",
                             row->name ? row->name : "", row->name ? " " : "", row->argument);
    }
    snprintf(usage + used, OPT_TEXT_MAX - (size_t)used, " [options]");
}

void opt_print_help(FILE *file, const struct command *command) {
    const struct opt_row *row;
    char usage[OPT_TEXT_MAX];
    opt_usage(usage, command);
    fprintf(file, "usage: ");
    print_wrapped(file, usage, 7, 8, WIDTH);
    fputc('\n', file);
    print_wrapped(file, command->help, 0, 0, WIDTH);
    if (command->details)
        fprintf(file, "\n%s", command->details);
    bool first = true;
    for (size_t i = 0; i < command->row_count; i++)
        if (!command->rows[i].name && command->rows[i].help[0]) {
            fputs(first ? "\n" : "", file);
            print_row(file, &command->rows[i]);
            first = false;
        }
    fprintf(file, "\noptions:\n");
    for (size_t i = 0; i < command->row_count; i++)
        if (command->rows[i].name)
            print_row(file, &command->rows[i]);
    for (size_t i = 0; (row = opt_row_at(command, i)) && (command->row_count == 0 || row != command->rows); i++)
        print_row(file, row);
    fprintf(file, "\nexample:\n");
    print_lines(file, command->example);
}
