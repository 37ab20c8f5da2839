/* plural.h - "1 epoch", "2 epochs" in messages: printf("%d epoch%s", n, plural(n)). */
#ifndef CORE_PLURAL_H
#define CORE_PLURAL_H

#include <stdint.h>

static inline const char *plural(int64_t count) { return count == 1 ? "" : "s"; }
static inline const char *plural_es(int64_t count) { return count == 1 ? "" : "es"; } /* "1 class" */

#endif
