/* sentinel.h - the words between the tensors of a case: quiet NaNs that encode their position, so that a copied
 * sentinel is detected too. */
#ifndef SELFTEST_SENTINEL_H
#define SELFTEST_SENTINEL_H

#include <stdint.h>

static inline uint32_t sentinel(int64_t word) {
    return 0x7fc00000u | (((uint32_t)word * 2654435761u) >> 12 & 0xfffffu);
}

#endif
