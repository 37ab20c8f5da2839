/* commands.c - finding a command by its words, and lists of commands. */
#include <string.h>

#include "core/suggest.h"
#include "options/commands.h"
#include "terminal/terminal.h"

#define COMMANDS_MAX 64

/* The first word of a command's name, in `word`. */
static const char *first_word(char word[64], const struct command *command) {
    snprintf(word, 64, "%.*s", (int)strcspn(command->name, " "), command->name);
    return word;
}

const struct command *command_find(int *used, int count, char *const *words) {
    const struct command *found = NULL;
    char two[160];
    *used = 0;
    for (size_t i = 0; count > 0 && commands[i]; i++) {
        snprintf(two, sizeof two, "%.64s %.64s", words[0], count > 1 ? words[1] : "");
        if (*used < 2 && strcmp(commands[i]->name, words[0]) == 0) {
            found = commands[i];
            *used = 1;
        } else if (count > 1 && strcmp(commands[i]->name, two) == 0) {
            found = commands[i];
            *used = 2;
        }
    }
    return found;
}

static bool is_subcommand(const struct command *command, const char *group) {
    size_t length = strlen(group);
    return strncmp(command->name, group, length) == 0 && command->name[length] == ' ';
}

bool command_is_group(const char *word) {
    for (size_t i = 0; commands[i]; i++)
        if (is_subcommand(commands[i], word))
            return true;
    return false;
}

/* An unknown or missing subcommand: the subcommands of the group are the candidates. */
static fathom_status fail_subcommand(const char *group, const char *word) {
    const char *names[COMMANDS_MAX];
    char list[512] = "", kind[96];
    size_t count = 0;
    for (size_t i = 0; commands[i] && count < COMMANDS_MAX; i++) {
        if (!is_subcommand(commands[i], group))
            continue;
        names[count] = commands[i]->name + strlen(group) + 1;
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", count ? ", " : "", names[count]);
        count++;
    }
    if (!word)
        return fail(FATHOM_USAGE, "%s needs one of %s; see fathom %s --help", group, list, group);
    snprintf(kind, sizeof kind, "subcommand of fathom %.64s", group);
    return fail_unknown(FATHOM_USAGE, kind, word, names, count);
}

fathom_status command_fail_unknown(int count, char *const *words) {
    const char *names[COMMANDS_MAX];
    char text[COMMANDS_MAX][64];
    size_t n = 0;
    if (words[0][0] == '-')
        return fail(FATHOM_USAGE, "'%.80s' precedes the command; write fathom COMMAND %.80s, see fathom --help",
                    words[0], words[0]);
    if (command_is_group(words[0]))
        return fail_subcommand(words[0], count > 1 ? words[1] : NULL);
    for (size_t i = 0; commands[i] && n < COMMANDS_MAX; i++) {
        first_word(text[n], commands[i]);
        if (n > 0 && strcmp(text[n], text[n - 1]) == 0)
            continue;
        names[n] = text[n];
        n++;
    }
    return fail_unknown(FATHOM_USAGE, "command", words[0], names, n);
}

void command_print_list(FILE *file, const char *group) {
    int width = 0;
    for (size_t i = 0; commands[i]; i++)
        width = (int)strlen(commands[i]->name) > width ? (int)strlen(commands[i]->name) : width;
    for (size_t i = 0; commands[i]; i++) {
        if (group && !is_subcommand(commands[i], group))
            continue;
        fprintf(file, "  %-*s  ", width, commands[i]->name);
        print_wrapped(file, commands[i]->help, width + 4, width + 4, 80);
    }
}

void command_print_group(FILE *file, const char *group) {
    fprintf(file, "usage: fathom %s SUBCOMMAND [options]\n\n", group);
    command_print_list(file, group);
    fprintf(file, "\nexamples:\n");
    for (size_t i = 0; commands[i]; i++)
        if (is_subcommand(commands[i], group))
            fprintf(file, "  %.*s\n", (int)strcspn(commands[i]->example, "\n"), commands[i]->example);
}
