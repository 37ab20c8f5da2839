/* run_cases.h - runs the cases on a device, operation by operation, for `fathom selftest` and the report of `fathom
 * doctor`. A device that a case lost is reopened for the next one, so that one broken operation does not fail the
 * others. */
#ifndef SELFTEST_RUN_CASES_H
#define SELFTEST_RUN_CASES_H

#include "core/progress.h"
#include "selftest/cases.h"

struct selftest {
    be_device *device; /* NULL after it was lost and could not be reopened */
    char selector[24];
    be_options options;
    bool skip_on_memory;  /* skip a case that does not fit in memory, instead of ending the test */
    message_fn *progress; /* or NULL */
    void (*on_failure)(void *user, const char *text); /* per failed case; or NULL */
    void *user;
};

/* The results of one operation, or of all. */
struct selftest_tally {
    int cases, failed, skipped;
    double worst;                   /* largest normalised mean squared error; NaN when one is NaN */
    char operation[64], first[320]; /* of the first failure */
};

fathom_status selftest_open(struct selftest *test, const be_list *list, int row, const be_options *options);
void selftest_close(struct selftest *test);

/* Runs the cases of one operation. A case that cannot be run has failed, except for lack of memory, which proves
 * nothing about the operation. */
fathom_status selftest_run_op(struct selftest_tally *tally, struct selftest *test, be_op op);

/* Adds an operation to the tally of all. */
void selftest_add(struct selftest_tally *all, const struct selftest_tally *tally);

/* "gemm   24 cases  worst error 1.2e-13  ", and its verdict: "ok" or "2 FAILED". */
#define SELFTEST_TEXT 160
void selftest_summary(char text[SELFTEST_TEXT], const char *name, const struct selftest_tally *tally);
void selftest_verdict(char text[SELFTEST_TEXT], const struct selftest_tally *tally);

#endif
