/* complete.h - `fathom --complete WORDS`: what may stand in the place of the last word, for the scripts of shell/. */
#ifndef CLI_COMPLETE_H
#define CLI_COMPLETE_H

#include "cli/cli.h"

/* Prints "CANDIDATE<tab>MEANING" lines for the last of the words after "fathom" (it may be empty), and a line ":files"
 * or ":folders" where paths may stand too, which the shell knows best how to offer. */
void complete_words(int count, char *const *words);

#endif
