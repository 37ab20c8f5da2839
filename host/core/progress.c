/* progress.c - see progress.h. */
#include "core/progress.h"

#include <stdarg.h>
#include <stdio.h>

void progress_report(message_fn *show, const char *format, ...) {
    char text[2 * CORE_MESSAGE_MAX];
    va_list args;
    if (!show)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    show(text);
}
