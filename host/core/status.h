/* status.h - failures: a status code and one message per thread. Depends on
 * nothing.
 *
 *     if (n < 1)
 *         return fail(FATHOM_DATA, "%s: row %d has no columns", path, row);
 *     TRY(read_header(&h, file));            // returns a failure
 *
 * The innermost failure writes the message; callers return the code, and may add
 * context with `fail_prefix` or `fail_suffix`. */
#ifndef CORE_STATUS_H
#define CORE_STATUS_H

#include <stdarg.h>

#include "fathom/fathom.h"

#if defined(__GNUC__)
#define CORE_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define CORE_PRINTF(fmt, args)
#endif

#define CORE_MESSAGE_MAX 2048

/* X(name, text): every status of the public header. */
#define STATUS_LIST(X)                                    \
    X(OK, "ok")                                           \
    X(FAILURE, "failure")                                 \
    X(USAGE, "wrong use of the command or of a function") \
    X(DEVICE, "device not found or lost")                 \
    X(DATA, "data that cannot be used")                   \
    X(NUMERIC, "numerical check failed")                  \
    X(MEMORY, "out of memory")                            \
    X(INTERRUPTED, "interrupted after saving")

/* Sets the message of this thread and returns `status`. */
fathom_status fail(fathom_status status, const char *format, ...) CORE_PRINTF(2, 3);
fathom_status vfail(fathom_status status, const char *format, va_list args) CORE_PRINTF(2, 0);

/* Puts text in front of the message already written: "cora.npz: " + "...". */
fathom_status fail_prefix(fathom_status status, const char *format, ...) CORE_PRINTF(2, 3);

/* Appends text to the message already written, which is cut where both do not fit: what to do next stays readable. */
fathom_status fail_suffix(fathom_status status, const char *format, ...) CORE_PRINTF(2, 3);

/* Returns from the calling function when `call` fails. */
#define TRY(call)                           \
    do {                                    \
        fathom_status try_status_ = (call); \
        if (try_status_ != FATHOM_OK)       \
            return try_status_;             \
    } while (0)

/* With cleanup: stores the status in `status` and jumps to `out`. */
#define TRY_OUT(call)            \
    do {                         \
        status = (call);         \
        if (status != FATHOM_OK) \
            goto out;            \
    } while (0)

#endif
