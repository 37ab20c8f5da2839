/* complete.h - what a shell may offer for the last word of a command line, a line each: the word, a tab, its meaning.
 * ":files" and ":folders" ask the shell to add names of files and folders. */
#ifndef OPTIONS_COMPLETE_H
#define OPTIONS_COMPLETE_H

#include "options/options.h"

/* The word that is typed: its first `kept` letters stay ("--model=", "cpu,"), the rest is to be completed. */
struct opt_typed {
    const char *word;
    int kept;
};

/* Prints the candidate if the typed word may become it. */
void opt_offer(const struct opt_typed *typed, const char *candidate, const char *meaning);

/* Offers the values of an option or operand, which only its command knows. */
typedef void opt_value_fn(struct opt_typed typed, const struct command *command, const struct opt_row *row);

/* `words` are those after "fathom"; the last one, which may be empty, is completed. */
void opt_complete(int count, char *const *words, opt_value_fn *value);

#endif
