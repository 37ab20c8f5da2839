/* forked.c - see forked.h. */
#include "core/forked.h"

bool forked_from_threads(void) {
    static _Atomic long user;
    return forked_since(&user);
}
