/* forked.h - a child of fork() has none of its parent's threads: a pool of them that the parent used would be waited
 * for for ever. Who is about to use a pool asks here first. */
#ifndef CORE_FORKED_H
#define CORE_FORKED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>

/* *user, 0 at first, becomes this process at the first call. Is this a later one: a child, forked since? */
static inline bool forked_since(_Atomic long *user) {
    long nobody = 0, me = (long)getpid();
    return !atomic_compare_exchange_strong(user, &nobody, me) && nobody != me;
}

/* Of OpenMP's threads, which are one pool for all of us: a child goes on with one thread, and the same bits. */
bool forked_from_threads(void);

#endif
