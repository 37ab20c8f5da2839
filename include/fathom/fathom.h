/* fathom.h - the one installed header of libfathom.
 *
 * fathom trains very deep graph neural networks with differentiable group
 * normalisation on any OpenCL device and on the CPU, and measures how
 * over-smoothed their representations are.
 *
 *     if (do_something(...) != FATHOM_OK)
 *         fprintf(stderr, "fathom: %s\n", fathom_last_error());
 *
 * Nothing in the library prints, exits or aborts: a function returns a status,
 * and the sentence that goes with the last failure belongs to the calling
 * thread until its next call. */
#ifndef FATHOM_H
#define FATHOM_H

#ifdef __cplusplus
extern "C" {
#endif

#define FATHOM_VERSION_MAJOR 0
#define FATHOM_VERSION_MINOR 1
#define FATHOM_VERSION_PATCH 0
#define FATHOM_VERSION_STRING "0.1.0"

#if defined(_WIN32)
#define FATHOM_API
#else
#define FATHOM_API __attribute__((visibility("default")))
#endif

/* Status codes; each number is also the exit code of the command.
 *   X(name, number, text) */
#define FATHOM_STATUS_LIST(X)                                \
    X(OK, 0, "ok")                                           \
    X(FAILURE, 1, "failure")                                 \
    X(USAGE, 2, "wrong use of the command or of a function") \
    X(DEVICE, 3, "device not found or lost")                 \
    X(DATA, 4, "data that cannot be used")                   \
    X(NUMERIC, 5, "numerical check failed")                  \
    X(MEMORY, 6, "out of memory")                            \
    X(INTERRUPTED, 130, "interrupted after saving")

typedef enum fathom_status {
#define X(name, number, text) FATHOM_##name = (number),
    FATHOM_STATUS_LIST(X)
#undef X
} fathom_status;

/* "0.1.0": the version of the library at run time. */
FATHOM_API const char *fathom_version(void);

/* The name of a status ("MEMORY"), and what it means in general. */
FATHOM_API const char *fathom_status_name(fathom_status status);
FATHOM_API const char *fathom_status_text(fathom_status status);

/* The sentence written by the innermost failure in this thread: what failed,
 * where, and what to do. Empty when nothing failed yet. */
FATHOM_API const char *fathom_last_error(void);

#ifdef __cplusplus
}
#endif
#endif
