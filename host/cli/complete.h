/* complete.h - `fathom --complete WORDS`: candidates for the last word, for the scripts in shell/. */
#ifndef CLI_COMPLETE_H
#define CLI_COMPLETE_H

#include "cli/cli.h"

/* Prints "CANDIDATE<tab>MEANING" lines for the last of the words after "fathom" (it may be empty), and a line ":files"
 * or ":folders" where paths are candidates too, which the shell completes. */
void complete_words(int count, char *const *words);

#endif
