/* stop.h - a request to stop, set by a signal handler or by another thread: atomic, so that both may set it while a
 * thread that computes reads it. */
#ifndef CORE_STOP_H
#define CORE_STOP_H

#include <stdatomic.h>

#if ATOMIC_INT_LOCK_FREE != 2
#error "a signal handler may set lock-free atomics only"
#endif

typedef atomic_int stop_flag; /* not 0: stop */

#endif
