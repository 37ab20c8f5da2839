/* quantity.h - bytes, durations and counts as text for people. */
#ifndef CORE_QUANTITY_H
#define CORE_QUANTITY_H

#include <stdint.h>

/* "16.0 GiB", "640 B"; valid until the fourth call after this one in the thread. */
const char *bytes_text(uint64_t bytes);

/* "2 h 05 min", "3 min 20 s", "12 s", "0.4 s"; valid until the next call in the thread. */
const char *time_text(double seconds);

/* "2,708"; valid until the eighth call after this one in the thread. */
const char *count_text(int64_t count);

#endif
