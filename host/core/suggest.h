/* suggest.h - the sentence for a name that does not exist: the nearest candidates first.
 *
 *     return fail_unknown(FATHOM_USAGE, "operation", "gem", names, count);
 *     -> unknown operation 'gem'; did you mean gemm? (all: gemm, spmm, ...)          */
#ifndef CORE_SUGGEST_H
#define CORE_SUGGEST_H

#include <stddef.h>

#include "core/status.h"

/* The number of letters to change, add, leave out or swap between two names; case, '-' and '_' make no difference. */
int suggest_distance(const char *a, const char *b);

/* The name that `given` is most like, when it is near enough to be meant; else NULL. */
const char *suggest_nearest(const char *given, const char *const *names, size_t count);

/* Fails with "unknown KIND 'GIVEN'" and the candidates, nearest first. */
fathom_status fail_unknown(fathom_status status, const char *kind, const char *given, const char *const *names,
                           size_t count);

#endif
