/* complete.c - completion of a command line, from the tables of commands and options that also make the help.
 *
 * The scripts of host/cli/shell only print its answer, so all shells offer the same. */
#include "options/complete.h"

#include <stdio.h>
#include <string.h>

#include "options/commands.h"

void opt_offer(const struct opt_typed *t, const char *candidate, const char *meaning) {
    const char *rest = t->word + t->kept;
    if (strncmp(candidate, rest, strlen(rest)) == 0)
        printf("%.*s%s\t%.*s\n", t->kept, t->word, candidate, (int)strcspn(meaning, "\n"), meaning);
}

/* ---- which part of the line the last word is ---- */

static void offer_commands(const struct opt_typed *t, const char *group) {
    char word[64], last[64] = "";
    size_t skip = group ? strlen(group) + 1 : 0;
    for (size_t i = 0; commands[i]; i++) {
        if (group && (strncmp(commands[i]->name, group, skip - 1) != 0 || commands[i]->name[skip - 1] != ' '))
            continue;
        snprintf(word, sizeof word, "%.*s", (int)strcspn(commands[i]->name + skip, " "), commands[i]->name + skip);
        if (strcmp(word, last) != 0)
            opt_offer(t, word,
                      commands[i]->name[skip + strlen(word)] ? "a group of commands: see its --help"
                                                             : commands[i]->help);
        memcpy(last, word, sizeof last);
    }
}

static void offer_options(const struct opt_typed *t, const struct command *command) {
    const struct opt_row *row;
    char word[80];
    for (size_t i = 0; (row = opt_row_at(command, i)); i++)
        if (row->name && snprintf(word, sizeof word, "--%s", row->name) > 0)
            opt_offer(t, word, row->help);
}

/* The row of an option as typed, up to its '='; NULL when there is none. */
static const struct opt_row *row_of(const struct command *command, const char *word) {
    const struct opt_row *row;
    size_t length = strcspn(word, "=");
    for (size_t i = 0; (row = opt_row_at(command, i)); i++)
        if (row->name && word[0] == '-' &&
            ((word[1] == '-' && strlen(row->name) == length - 2 && strncmp(row->name, word + 2, length - 2) == 0) ||
             (row->letter && word[1] == row->letter && !word[2])))
            return row;
    return NULL;
}

static const struct opt_row *operand_at(const struct command *command, int operand) {
    const struct opt_row *row;
    for (size_t i = 0; (row = opt_row_at(command, i)); i++)
        if (!row->name && operand-- == 0)
            return row;
    return NULL;
}

/* `words` are those after the command. */
static void complete_command(const struct command *command, int count, char *const *words, opt_value_fn *value) {
    struct opt_typed t = {words[count - 1], 0};
    const struct opt_row *row, *waiting = NULL;
    int operands = 0;
    for (int i = 0; i < count - 1; i++) {
        bool is_value = waiting != NULL;
        row = is_value ? NULL : row_of(command, words[i]);
        waiting = row && row->kind != OPT_IS_FLAG && !strchr(words[i], '=') ? row : NULL;
        operands += !is_value && words[i][0] != '-';
    }
    const char *equals = strchr(t.word, '=');
    if (waiting) {
        value(t, command, waiting);
    } else if (t.word[0] == '-' && equals && (row = row_of(command, t.word)) && row->kind != OPT_IS_FLAG) {
        t.kept = (int)(equals - t.word) + 1;
        value(t, command, row);
    } else if (t.word[0] != '-' && (row = operand_at(command, operands))) {
        value(t, command, row);
    } else {
        offer_options(&t, command);
    }
}

void opt_complete(int count, char *const *words, opt_value_fn *value) {
    static char empty[] = "";
    char *const nothing[] = {empty};
    int used = 0;
    if (count == 0) {
        words = nothing;
        count = 1;
    }
    struct opt_typed t = {words[count - 1], 0};
    if (count == 1) {
        offer_commands(&t, NULL);
        opt_offer(&t, "help", "help of a command");
        if (t.word[0] == '-') {
            opt_offer(&t, "--help", "list the commands");
            opt_offer(&t, "--version", "the version");
        }
        return;
    }
    if (strcmp(words[0], "help") == 0) {
        if (count == 2 || (count == 3 && command_is_group(words[1])))
            offer_commands(&t, count == 2 ? NULL : words[1]);
        return;
    }
    const struct command *command = command_find(&used, count - 1, words);
    if (count == 2 && command_is_group(words[0]))
        offer_commands(&t, words[0]);
    if (command)
        complete_command(command, count - used, words + used, value);
}
