/* commands.h - finding a command by the words on the command line, for main. */
#ifndef OPTIONS_COMMANDS_H
#define OPTIONS_COMMANDS_H

#include "options/options.h"

/* All commands, ended by NULL; defined by the program (cli/command_list.c). */
extern const struct command *const commands[];

/* The command of the longest name (one or two words) that `words` start with, NULL when there is none. */
const struct command *command_find(int *used, int count, char *const *words);

/* Are there commands of two words that start with this one ("data list", "data info")? */
bool command_is_group(const char *word);

/* Fails with the message for words that are no command; it lists the candidates. */
fathom_status command_fail_unknown(int count, char *const *words);

/* A line for each command, or for those of one group. */
void command_print_list(FILE *file, const char *group);

/* The help of a group. */
void command_print_group(FILE *file, const char *group);

#endif
