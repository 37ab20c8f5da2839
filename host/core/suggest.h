/* suggest.h - the message for an unknown name: the nearest candidates first.
 *
 *     return fail_unknown(FATHOM_USAGE, "operation", "gem", names, count);
 *     -> unknown operation 'gem'; did you mean gemm? (all: gemm, spmm, ...)          */
#ifndef CORE_SUGGEST_H
#define CORE_SUGGEST_H

#include <stddef.h>

#include "core/status.h"

/* Edit distance with transpositions; ignores case and '-' against '_'. */
int suggest_distance(const char *a, const char *b);

/* The name nearest to `given` if it is near enough to be a typo of it; else NULL. */
const char *suggest_nearest(const char *given, const char *const *names, size_t count);

/* Fails with "unknown KIND 'GIVEN'" and the candidates, nearest first. */
fathom_status fail_unknown(fathom_status status, const char *kind, const char *given, const char *const *names,
                           size_t count);

#endif
