/* verbs.c - the table of verbs, and finding one by its words. */
#include <string.h>

#include "cli/verbs.h"
#include "core/suggest.h"

#define VERBS_MAX 64

#define X(name) &verb_##name,
const struct verb *const verbs[] = {VERBS(X) NULL};
#undef X

/* The first word of a verb's name, in `word`. */
static const char *first_word(char word[64], const struct verb *verb) {
    snprintf(word, 64, "%.*s", (int)strcspn(verb->name, " "), verb->name);
    return word;
}

const struct verb *verb_find(int *used, int count, char *const *words) {
    const struct verb *found = NULL;
    char two[160];
    *used = 0;
    for (size_t i = 0; count > 0 && verbs[i]; i++) {
        snprintf(two, sizeof two, "%.64s %.64s", words[0], count > 1 ? words[1] : "");
        if (*used < 2 && strcmp(verbs[i]->name, words[0]) == 0) {
            found = verbs[i];
            *used = 1;
        } else if (count > 1 && strcmp(verbs[i]->name, two) == 0) {
            found = verbs[i];
            *used = 2;
        }
    }
    return found;
}

static bool is_member(const struct verb *verb, const char *family) {
    size_t length = strlen(family);
    return strncmp(verb->name, family, length) == 0 && verb->name[length] == ' ';
}

bool verb_is_family(const char *word) {
    for (size_t i = 0; verbs[i]; i++)
        if (is_member(verbs[i], word))
            return true;
    return false;
}

/* Unknown second word of a family: its members are the candidates. */
static fathom_status fail_member(const char *family, const char *word) {
    const char *names[VERBS_MAX];
    char list[512] = "", kind[96];
    size_t count = 0;
    for (size_t i = 0; verbs[i] && count < VERBS_MAX; i++) {
        if (!is_member(verbs[i], family))
            continue;
        names[count] = verbs[i]->name + strlen(family) + 1;
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", count ? ", " : "", names[count]);
        count++;
    }
    if (!word)
        return fail(FATHOM_USAGE, "%s needs one of %s; see fathom %s --help", family, list, family);
    snprintf(kind, sizeof kind, "word after fathom %.64s", family);
    return fail_unknown(FATHOM_USAGE, kind, word, names, count);
}

fathom_status verb_fail(int count, char *const *words) {
    const char *names[VERBS_MAX];
    char text[VERBS_MAX][64];
    size_t n = 0;
    if (words[0][0] == '-')
        return fail(FATHOM_USAGE, "'%.80s' stands before the verb; write fathom VERB %.80s, and see fathom --help",
                    words[0], words[0]);
    if (verb_is_family(words[0]))
        return fail_member(words[0], count > 1 ? words[1] : NULL);
    for (size_t i = 0; verbs[i] && n < VERBS_MAX; i++) {
        first_word(text[n], verbs[i]);
        if (n > 0 && strcmp(text[n], text[n - 1]) == 0)
            continue;
        names[n] = text[n];
        n++;
    }
    return fail_unknown(FATHOM_USAGE, "verb", words[0], names, n);
}

void verb_print_list(FILE *file, const char *family) {
    int width = 0;
    for (size_t i = 0; verbs[i]; i++)
        width = (int)strlen(verbs[i]->name) > width ? (int)strlen(verbs[i]->name) : width;
    for (size_t i = 0; verbs[i]; i++) {
        if (family && !is_member(verbs[i], family))
            continue;
        fprintf(file, "  %-*s  ", width, verbs[i]->name);
        print_wrapped(file, verbs[i]->help, width + 4, width + 4, 80);
    }
}

void verb_print_family(FILE *file, const char *family) {
    fprintf(file, "usage: fathom %s WORD [options]\n\n", family);
    verb_print_list(file, family);
    fprintf(file, "\nexamples:\n");
    for (size_t i = 0; verbs[i]; i++)
        if (is_member(verbs[i], family))
            fprintf(file, "  %.*s\n", (int)strcspn(verbs[i]->example, "\n"), verbs[i]->example);
}
