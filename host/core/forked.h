/* forked.h - detects fork(): a child has none of its parent's threads, so using a thread pool that the parent started
 * would deadlock. Checked before a pool is used. */
#ifndef CORE_FORKED_H
#define CORE_FORKED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>

/* *user, initially 0, records the process of the first call; true in a child forked since. */
static inline bool forked_since(_Atomic long *user) {
    long none = 0, me = (long)getpid();
    return !atomic_compare_exchange_strong(user, &none, me) && none != me;
}

/* For OpenMP's pool, one per process: a forked child runs with one thread and computes the same bits. */
bool forked_from_threads(void);

#endif
