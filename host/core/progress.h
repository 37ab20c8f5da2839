/* progress.h - messages of a long computation, handed to the caller: modules below host/cli print nothing.
 *
 *     progress_report(test->progress, "%s: %s", op, name);
 *     ...
 *     progress_clear(test->progress); */
#ifndef CORE_PROGRESS_H
#define CORE_PROGRESS_H

#include "core/status.h"

/* Shows one line of text; NULL clears the progress line. A callback that is NULL ignores the message. */
typedef void message_fn(const char *text);

void progress_report(message_fn *show, const char *format, ...) CORE_PRINTF(2, 3);

static inline void progress_clear(message_fn *show) {
    if (show)
        show(NULL);
}

#endif
