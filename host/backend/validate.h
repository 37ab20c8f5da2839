/* validate.h - argument-validation helpers for be_validate_*, called before anything is
 * enqueued. An invalid argument is FATHOM_USAGE with the operation and the field in
 * the message. */
#ifndef BACKEND_VALIDATE_H
#define BACKEND_VALIDATE_H

#include "backend/validate_ops.h"

/* The operation being validated and its first failure, after which all checks are
 * skipped. Views that pass are recorded in `seen`, in 32-bit words of their buffer,
 * for the overlap checks at the end. */
#define VALIDATE_MAX_VIEWS 20
typedef struct validation {
    const be_device *dev;
    const char *op;
    fathom_status status;
    int count;
    struct {
        const char *field;
        be_mat view;
    } seen[VALIDATE_MAX_VIEWS];
} validation;

#define BEGIN(name)         \
    validation ctx;         \
    ctx.dev = dev;          \
    ctx.op = name;          \
    ctx.status = FATHOM_OK; \
    ctx.count = 0
#define END return ctx.status

void validate(validation *ctx, bool holds, const char *what);

/* `m` is given, of the shape rows x cols (0: any) and inside its buffer. */
void validate_mat(validation *ctx, const char *field, be_mat m, int64_t rows, int64_t cols);
void validate_mat_optional(validation *ctx, const char *field, be_mat m, int64_t rows, int64_t cols);
/* A contiguous vector. */
void validate_vec(validation *ctx, const char *field, be_mat m, int64_t len);
/* A small matrix of parameters or statistics with contiguous rows (ld = cols). */
void validate_packed(validation *ctx, const char *field, be_mat m, int64_t rows, int64_t cols);
void validate_ints(validation *ctx, const char *field, be_ints v, int64_t len);
void validate_csr(validation *ctx, const char *field, const be_csr *a);

/* The output `m`, named `field` before, shares no element with any other view validated before; it may be exactly one
 * of those in `may_be` (names with blanks between, or NULL). An absent view passes. */
void validate_output(validation *ctx, const char *field, be_mat m, const char *may_be);
void validate_output_ints(validation *ctx, const char *field, be_ints v);

/* The rate is in [0, 1), and the counter covers rows x cols elements from drop->first on (see be_drop). */
void validate_drop(validation *ctx, const be_drop *drop, int64_t rows, int64_t cols);

#endif
