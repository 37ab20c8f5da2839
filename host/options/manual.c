/* manual.c - manual pages in man(7) markup: fathom(1) and one page per command. */
#include "options/manual.h"

#include <ctype.h>
#include <string.h>

#include "options/commands.h"

/* Text to be shown as it is: a hyphen that can be copied, and no letter that man(7) would take for a request. */
static void print_text(const char *text) {
    bool start = true;
    for (; *text; text++) {
        if (start && (*text == '.' || *text == '\''))
            fputs("\\&", stdout);
        start = *text == '\n';
        if (*text == '\\')
            fputs("\\e", stdout);
        else if (*text == '-')
            fputs("\\-", stdout);
        else if (*text == '`')
            fputs("\\(ga", stdout);
        else if (*text == '\'')
            fputs("\\(aq", stdout);
        else
            putchar(*text);
    }
}

/* Lines that stay as they are. */
static void print_block(const char *text) {
    printf(".nf\n");
    for (; *text; text += *text == '\n') {
        size_t length = strcspn(text, "\n");
        char line[256];
        snprintf(line, sizeof line, "%.*s", (int)length, text);
        printf("%s", line[0] ? "" : "\\&");
        print_text(line);
        putchar('\n');
        text += length;
    }
    printf(".fi\n");
}

/* "fathom-data-info" for the command "data info". */
static const char *page_name(char name[64], const struct command *command) {
    snprintf(name, 64, "fathom%s%s", command ? "-" : "", command ? command->name : "");
    for (char *at = name; *at; at++)
        *at = (char)(*at == ' ' ? '-' : *at);
    return name;
}

static void print_head(const struct command *command, const char *help) {
    char name[64], title[64];
    page_name(name, command);
    for (size_t i = 0; i < sizeof title; i++)
        title[i] = (char)toupper((unsigned char)name[i]);
    printf(".TH %s 1 " FATHOM_DATE " \"fathom %s\" \"fathom manual\"\n.SH NAME\n", title, fathom_version());
    print_text(name);
    printf(" \\- %s\n", help);
}

static void print_row(const struct opt_row *row) {
    char title[OPT_TEXT_MAX], about[OPT_TEXT_MAX];
    opt_title(title, row);
    opt_description(about, row);
    printf(".TP\n\\fB");
    print_text(title);
    printf("\\fR\n");
    print_text(about);
    putchar('\n');
}

static void print_command(const struct command *command) {
    const struct opt_row *row;
    char usage[OPT_TEXT_MAX];
    print_head(command, command->help);
    opt_usage(usage, command);
    printf(".SH SYNOPSIS\n");
    print_text(usage);
    printf("\n");
    if (command->details) {
        printf(".SH DESCRIPTION\n");
        print_block(command->details);
    }
    printf(".SH OPTIONS\n");
    for (size_t i = 0; i < command->row_count; i++)
        if (command->rows[i].name || command->rows[i].help[0])
            print_row(&command->rows[i]);
    for (size_t i = 0; (row = opt_row_at(command, i)) && (command->row_count == 0 || row != command->rows); i++)
        print_row(row);
    printf(".SH EXAMPLES\n");
    print_block(command->example);
    printf(".SH SEE ALSO\n.BR fathom (1)\n");
}

/* Pairs of a name and what it means, ended by NULL. */
static void print_pairs(const char *section, const char *const *pairs) {
    printf(".SH %s\n", section);
    for (; pairs[0]; pairs += 2) {
        printf(".TP\n.B ");
        print_text(pairs[0]);
        putchar('\n');
        print_text(pairs[1]);
        putchar('\n');
    }
}

static void print_overview(void) {
    static const char *const environment[] = {
        "FATHOM_DEVICE",
        "the device selector where --device is not given",
        "FATHOM_DATA",
        "folders, separated by colons, that are searched for data sets by name",
        "FATHOM_ISA",
        "the instruction set of the CPU loops; without it the best one",
        "FATHOM_MODULE_DIR",
        "the folder of the OpenCL module, fathom_opencl.so",
        "XDG_CACHE_HOME",
        "the folder that contains the cache (data sets, tuning records): see fathom cache path",
        "NO_COLOR",
        "no colours in what is printed",
        NULL};
    static const char *const codes[] = {"0",   "done",
                                        "1",   "failure",
                                        "2",   "usage: the command line is wrong",
                                        "3",   "device",
                                        "4",   "data",
                                        "5",   "a numerical check failed",
                                        "6",   "memory",
                                        "130", "interrupted, after saving",
                                        NULL};
    char name[64];
    print_head(NULL, "train very deep graph neural networks, and measure over-smoothing");
    printf(
        ".SH SYNOPSIS\n.B fathom\n.I COMMAND\n[options]\n.br\n.B fathom\n\\-\\-help | \\-\\-version | "
        "\\-\\-man [COMMAND] | \\-\\-complete WORDS\n.SH DESCRIPTION\n"
        "fathom trains very deep graph neural networks with differentiable group normalisation on any OpenCL device or "
        "the CPU, and measures over\\-smoothing. Each command has a page of its own, and a short one by\n"
        ".BR \"fathom COMMAND \\-\\-help\" .\n"
        "Errors are one message on standard error; with \\-\\-json standard output is exactly one JSON "
        "document.\n"
        "These pages are what \\-\\-man prints; \\-\\-complete is what the completion of bash, zsh and fish asks.\n"
        ".SH COMMANDS\n");
    for (size_t i = 0; commands[i]; i++) {
        printf(".TP\n.BR ");
        print_text(page_name(name, commands[i]));
        printf(" (1)\n");
        print_text(commands[i]->help);
        putchar('\n');
    }
    print_pairs("ENVIRONMENT", environment);
    print_pairs("EXIT STATUS", codes);
    printf(".SH EXAMPLES\n");
    print_block("fathom demo\nfathom train --data cora --layers 15 --out runs/cora\nfathom report R\n");
}

fathom_status print_manual(int count, char *const *words) {
    int used;
    if (count == 0) {
        print_overview();
        return FATHOM_OK;
    }
    const struct command *command = command_find(&used, count, words);
    if (!command)
        return command_fail_unknown(count, words);
    if (used != count)
        return fail(FATHOM_USAGE, "--man: '%.80s' is unexpected after %s; write fathom --man %s", words[used],
                    command->name, command->name);
    print_command(command);
    return FATHOM_OK;
}
