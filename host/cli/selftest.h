/* selftest.h - the cases of host/selftest on a device, operation by operation, for `fathom selftest` and for the report
 * of `fathom doctor`. A device that was lost by a case is opened anew for the next one, so that one operation that does
 * not hold takes no other along. */
#ifndef CLI_SELFTEST_H
#define CLI_SELFTEST_H

#include "backend/backend.h"
#include "cli/cli.h"

struct selftest {
    be_device *device; /* NULL when it was lost and does not open again */
    char word[24];
    be_options options;
    bool go_on; /* a case for which memory is short is left out, instead of ending the test */
    FILE *out;  /* where cases that fail are named; NULL: nowhere */
};

/* What came of the cases of one operation, or of all. */
struct tally {
    int cases, failed, left_out;
    double worst;                   /* the largest normalised mean squared error; NaN when one is */
    char operation[64], first[320]; /* of the first failure */
};

fathom_status selftest_open(struct selftest *test, const be_list *list, int row, const struct common_options *common);
void selftest_close(struct selftest *test);

/* Runs the cases of one operation. A case that cannot be run has failed, unless memory ran out: that says nothing of
 * the operation. */
fathom_status selftest_run(struct tally *tally, struct selftest *test, be_op op);

/* Adds an operation to the tally of all. */
void selftest_add(struct tally *all, const struct tally *tally);

/* "gemm   24 cases  worst error 1.2e-13  ok" */
void selftest_print(FILE *out, const char *name, const struct tally *tally);

#endif
