/* run_cases.c - see run_cases.h. */
#include "selftest/run_cases.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

fathom_status selftest_open(struct selftest *test, const be_list *list, int row, const be_options *options) {
    test->options = *options;
    snprintf(test->selector, sizeof test->selector, "%s", list->info[row].selector);
    return be_open_row(&test->device, list, row, &test->options);
}

void selftest_close(struct selftest *test) {
    be_close(test->device);
    test->device = NULL;
}

/* After a failure of the device itself (not a wrong result) its context may be dead. */
static void reopen(struct selftest *test) {
    selftest_close(test);
    if (be_open(&test->device, test->selector, &test->options) != FATHOM_OK)
        test->device = NULL;
}

static fathom_status run_case(case_result *result, struct selftest *test, const op_case *c) {
    if (test->device)
        return case_run(test->device, c, result);
    *result = (case_result){.nmse = NAN};
    snprintf(result->detail, sizeof result->detail, "the device does not open again after a failure");
    return FATHOM_DEVICE;
}

static void add_case(struct selftest_tally *tally, const case_result *result) {
    tally->cases++;
    tally->failed += !result->passed;
    if (!(result->nmse <= tally->worst) && !isnan(tally->worst))
        tally->worst = result->nmse;
}

static void note_failure(struct selftest_tally *tally, const struct selftest *test, const op_case *c,
                         const case_result *result) {
    char text[512];
    progress_clear(test->progress);
    snprintf(text, sizeof text, "%s, case %s: %s", be_op_name(c->op), c->name, result->detail);
    if (test->on_failure)
        test->on_failure(test->user, text);
    if (tally->first[0])
        return;
    snprintf(tally->operation, sizeof tally->operation, "%s", be_op_name(c->op));
    snprintf(tally->first, sizeof tally->first, "case %s: %s", c->name, result->detail);
}

fathom_status selftest_run_op(struct selftest_tally *tally, struct selftest *test, be_op op) {
    int count;
    const op_case *cases = cases_all(&count);
    *tally = (struct selftest_tally){0};
    for (int i = 0; i < count; i++) {
        case_result result;
        if (cases[i].op != op)
            continue;
        progress_report(test->progress, "%s: %s", be_op_name(op), cases[i].name);
        fathom_status status = run_case(&result, test, &cases[i]);
        if (status == FATHOM_MEMORY && !test->skip_on_memory)
            return fail_prefix(FATHOM_MEMORY, "%s, case %s: ", be_op_name(op), cases[i].name);
        if (status == FATHOM_MEMORY) {
            tally->skipped++;
            continue;
        }
        add_case(tally, &result);
        if (!result.passed)
            note_failure(tally, test, &cases[i], &result);
        if (status == FATHOM_DEVICE && test->device)
            reopen(test);
    }
    progress_clear(test->progress);
    return FATHOM_OK;
}

void selftest_add(struct selftest_tally *all, const struct selftest_tally *tally) {
    all->cases += tally->cases;
    all->failed += tally->failed;
    all->skipped += tally->skipped;
    if (all->first[0])
        return;
    memcpy(all->operation, tally->operation, sizeof all->operation);
    memcpy(all->first, tally->first, sizeof all->first);
}

void selftest_summary(char text[SELFTEST_TEXT], const char *name, const struct selftest_tally *tally) {
    char worst[32] = "none", skipped[48] = "";
    if (tally->worst != 0)
        snprintf(worst, sizeof worst, "%.1e", tally->worst);
    if (tally->skipped > 0)
        snprintf(skipped, sizeof skipped, "%d left out (memory) ", tally->skipped);
    snprintf(text, SELFTEST_TEXT, "%-20s  %4d cases  worst error %-8s %s", name, tally->cases, worst, skipped);
}

void selftest_verdict(char text[SELFTEST_TEXT], const struct selftest_tally *tally) {
    if (tally->failed > 0)
        snprintf(text, SELFTEST_TEXT, "%d FAILED", tally->failed);
    else
        snprintf(text, SELFTEST_TEXT, "ok");
}
