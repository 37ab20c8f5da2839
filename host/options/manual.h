/* manual.h - `fathom --man [COMMAND]`: the manual pages, from the tables that also make the help. */
#ifndef OPTIONS_MANUAL_H
#define OPTIONS_MANUAL_H

#include "options/options.h"

/* Prints the page of the command that `words` name, or fathom(1) when there are none, for man(1). */
fathom_status print_manual(int count, char *const *words);

#endif
