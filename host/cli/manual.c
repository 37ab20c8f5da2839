/* manual.c - manual pages in the language of man(7): one of the command, one of each verb. */
#include "cli/manual.h"

#include <ctype.h>
#include <string.h>

#include "cli/verbs.h"

/* Text as it shall be read: a hyphen that can be copied, and no letter that man(7) would take for a request. */
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

/* "fathom-data-info" for the verb "data info". */
static const char *page_name(char name[64], const struct verb *verb) {
    snprintf(name, 64, "fathom%s%s", verb ? "-" : "", verb ? verb->name : "");
    for (char *at = name; *at; at++)
        *at = (char)(*at == ' ' ? '-' : *at);
    return name;
}

static void print_head(const struct verb *verb, const char *help) {
    char name[64], title[64];
    page_name(name, verb);
    for (size_t i = 0; i < sizeof title; i++)
        title[i] = (char)toupper((unsigned char)name[i]);
    printf(".TH %s 1 " FATHOM_DATE " \"fathom %s\" \"fathom manual\"\n.SH NAME\n", title, fathom_version());
    print_text(name);
    printf(" \\- %s\n", help);
}

static void print_row(const struct opt_row *row) {
    char title[OPT_TEXT_MOST], about[OPT_TEXT_MOST];
    opt_title(title, row);
    opt_about(about, row);
    printf(".TP\n\\fB");
    print_text(title);
    printf("\\fR\n");
    print_text(about);
    putchar('\n');
}

static void print_verb(const struct verb *verb) {
    const struct opt_row *row;
    char usage[OPT_TEXT_MOST];
    print_head(verb, verb->help);
    opt_usage(usage, verb);
    printf(".SH SYNOPSIS\n");
    print_text(usage);
    printf("\n");
    if (verb->details) {
        printf(".SH DESCRIPTION\n");
        print_block(verb->details);
    }
    printf(".SH OPTIONS\n");
    for (size_t i = 0; i < verb->row_count; i++)
        if (verb->rows[i].name || verb->rows[i].help[0])
            print_row(&verb->rows[i]);
    for (size_t i = 0; (row = opt_row_at(verb, i)) && (verb->row_count == 0 || row != verb->rows); i++)
        print_row(row);
    printf(".SH EXAMPLES\n");
    print_block(verb->example);
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

static void print_command(void) {
    static const char *const environment[] = {
        "FATHOM_DEVICE",
        "the device word that counts where --device is not given",
        "FATHOM_DATA",
        "folders, separated by colons, in which data sets are looked for by name",
        "FATHOM_ISA",
        "the instruction set of the CPU loops, where not the best is wanted",
        "FATHOM_MODULE_DIR",
        "the folder of the OpenCL module, fathom_opencl.so",
        "XDG_CACHE_HOME",
        "above the folder with data sets, compiled kernels and what tune found: see fathom cache path",
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
        ".SH SYNOPSIS\n.B fathom\n.I VERB\n[options]\n.br\n.B fathom\n\\-\\-help | \\-\\-version | "
        "\\-\\-man [VERB] | \\-\\-complete WORDS\n.SH DESCRIPTION\n"
        "fathom trains very deep graph neural networks with differentiable group normalisation on any OpenCL device or "
        "the CPU, and measures over\\-smoothing. Each verb has a page of its own, and a short one by\n"
        ".BR \"fathom VERB \\-\\-help\" .\n"
        "Errors are one sentence on standard error; with \\-\\-json exactly one JSON document stands on standard "
        "output.\n"
        "These pages are what \\-\\-man prints; \\-\\-complete is what the completion of bash, zsh and fish asks.\n"
        ".SH VERBS\n");
    for (size_t i = 0; verbs[i]; i++) {
        printf(".TP\n.BR ");
        print_text(page_name(name, verbs[i]));
        printf(" (1)\n");
        print_text(verbs[i]->help);
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
        print_command();
        return FATHOM_OK;
    }
    const struct verb *verb = verb_find(&used, count, words);
    if (!verb)
        return verb_fail(count, words);
    if (used != count)
        return fail(FATHOM_USAGE, "--man: '%.80s' is too much after %s; write fathom --man %s", words[used], verb->name,
                    verb->name);
    print_verb(verb);
    return FATHOM_OK;
}
