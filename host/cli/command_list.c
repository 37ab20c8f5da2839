/* command_list.c - the commands, in the order of `fathom --help`. */
#include "cli/cli.h"
#include "options/commands.h"

#define X(name) &command_##name,
const struct command *const commands[] = {COMMANDS(X) NULL};
