/* clock.h - seconds of the monotonic clock, for durations. Inline: the OpenCL module links nothing of the host. */
#ifndef CORE_CLOCK_H
#define CORE_CLOCK_H

#include <time.h>

static inline double clock_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#endif
