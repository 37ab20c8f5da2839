/* verbs.h - finding a verb by the words on the command line, for main. */
#ifndef CLI_VERBS_H
#define CLI_VERBS_H

#include "cli/cli.h"

/* The verb of the longest name (one or two words) that `words` start with, NULL when there is none. */
const struct verb *verb_find(int *used, int count, char *const *words);

/* Are there verbs of two words that start with this one ("data list", "data info")? */
bool verb_is_family(const char *word);

/* The sentence for words that are no verb; the candidates stand in it. */
fathom_status verb_fail(int count, char *const *words);

/* A line for each verb, or for those of one family. */
void verb_print_list(FILE *file, const char *family);

/* The help of a family. */
void verb_print_family(FILE *file, const char *family);

#endif
