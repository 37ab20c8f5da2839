/* suggest.c - see suggest.h. */
#include "core/suggest.h"

#include <ctype.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define NAME_MAX_LETTERS 64
#define CANDIDATES_MAX 128

static int letter(char c) { return c == '_' ? '-' : tolower((unsigned char)c); }

static int smaller(int a, int b) { return a < b ? a : b; }

/* Damerau-Levenshtein: d[i][j] = distance of the first i letters of a and the first j of b; three rows are kept. */
int suggest_distance(const char *a, const char *b) {
    int d[3][NAME_MAX_LETTERS + 1];
    size_t n = strlen(a), m = strlen(b);
    if (n > NAME_MAX_LETTERS || m > NAME_MAX_LETTERS)
        return INT_MAX;
    for (size_t j = 0; j <= m; j++)
        d[0][j] = (int)j;
    for (size_t i = 1; i <= n; i++) {
        int *row = d[i % 3], *above = d[(i - 1) % 3], *before = d[(i + 1) % 3];
        row[0] = (int)i;
        for (size_t j = 1; j <= m; j++) {
            bool same = letter(a[i - 1]) == letter(b[j - 1]);
            row[j] = smaller(above[j - 1] + !same, smaller(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && letter(a[i - 1]) == letter(b[j - 2]) && letter(a[i - 2]) == letter(b[j - 1]))
                row[j] = smaller(row[j], before[j - 2] + 1);
        }
    }
    return d[n % 3][m];
}

/* At most a third of its letters differ, or one is a prefix of the other. */
static bool is_near(const char *given, const char *name, int distance) {
    size_t n = strlen(given), m = strlen(name);
    return distance <= (int)((n > m ? n : m) + 2) / 3 || (n >= 2 && strncmp(given, name, n < m ? n : m) == 0);
}

const char *suggest_nearest(const char *given, const char *const *names, size_t count) {
    const char *best = NULL;
    int least = INT_MAX;
    for (size_t i = 0; i < count; i++) {
        int distance = suggest_distance(given, names[i]);
        if (distance < least && is_near(given, names[i], distance)) {
            best = names[i];
            least = distance;
        }
    }
    return best;
}

static void append(char *text, size_t capacity, const char *piece) {
    size_t used = strlen(text);
    snprintf(text + used, capacity - used, "%s", piece);
}

fathom_status fail_unknown(fathom_status status, const char *kind, const char *given, const char *const *names,
                           size_t count) {
    int distance[CANDIDATES_MAX];
    size_t order[CANDIDATES_MAX];
    char list[CORE_MESSAGE_MAX - 256] = "";
    count = count < CANDIDATES_MAX ? count : CANDIDATES_MAX;
    for (size_t i = 0; i < count; i++) { /* sorted by distance, equals in the order given */
        size_t at = i;
        distance[i] = suggest_distance(given, names[i]);
        for (; at > 0 && distance[order[at - 1]] > distance[i]; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    for (size_t i = 0; i < count; i++) {
        append(list, sizeof list, i ? ", " : "");
        append(list, sizeof list, names[order[i]]);
    }
    if (count == 0)
        return fail(status, "unknown %s '%.80s', and there is none to choose from", kind, given);
    if (count > 1 && is_near(given, names[order[0]], distance[order[0]]))
        return fail(status, "unknown %s '%.80s'; did you mean %s? (all: %s)", kind, given, names[order[0]], list);
    return fail(status, "unknown %s '%.80s'; choose %s%s", kind, given, count > 1 ? "one of " : "", list);
}
