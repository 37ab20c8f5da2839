/* rules.h - the words in which check_*.c state what an operation demands of its
 * arguments, before anything is enqueued. A broken rule is FATHOM_USAGE with the
 * operation and the field in the sentence. */
#ifndef BACKEND_RULES_H
#define BACKEND_RULES_H

#include "backend/check.h"

/* The operation under check and its first failure: checks read as a list, and
 * after the first broken rule the rest are skipped. Every view that passes is kept
 * in `seen`, as words of its buffer, for the check of overlaps at the end. */
#define RULES_VIEWS 20
typedef struct rules {
    const be_device *dev;
    const char *op;
    fathom_status status;
    int count;
    struct {
        const char *field;
        be_mat view;
    } seen[RULES_VIEWS];
} rules;

#define BEGIN(name)       \
    rules r;              \
    r.dev = dev;          \
    r.op = name;          \
    r.status = FATHOM_OK; \
    r.count = 0
#define END return r.status

void rule(rules *r, bool holds, const char *what);

/* `m` is given, of the shape rows x cols (0: any) and inside its buffer. */
void rule_mat(rules *r, const char *field, be_mat m, int64_t rows, int64_t cols);
void rule_mat_optional(rules *r, const char *field, be_mat m, int64_t rows, int64_t cols);
/* A vector whose entries lie side by side. */
void rule_vec(rules *r, const char *field, be_mat m, int64_t len);
/* A small matrix of parameters or statistics: rows lie side by side. */
void rule_packed(rules *r, const char *field, be_mat m, int64_t rows, int64_t cols);
void rule_ints(rules *r, const char *field, be_ints v, int64_t len);
void rule_csr(rules *r, const char *field, const be_csr *a);

/* The output `m`, named `field` before, shares no element with any other view named before; it may be exactly one of
 * those in `may_be` (names with blanks between, or NULL). An absent view passes. */
void rule_output(rules *r, const char *field, be_mat m, const char *may_be);
void rule_output_ints(rules *r, const char *field, be_ints v);

/* The rate is a rate, and a mask of rows x cols elements can be counted (see be_drop). */
void rule_drop(rules *r, const be_drop *drop, int64_t rows, int64_t cols);

#endif
