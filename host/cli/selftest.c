/* selftest.c - see selftest.h. */
#include "cli/selftest.h"

#include <math.h>
#include <string.h>

#include "cli/device.h"
#include "selftest/cases.h"

fathom_status selftest_open(struct selftest *test, const be_list *list, int row, const struct common_options *common) {
    test->options = device_options(common, false);
    snprintf(test->word, sizeof test->word, "%s", list->info[row].word);
    return be_open_row(&test->device, list, row, &test->options);
}

void selftest_close(struct selftest *test) {
    be_close(test->device);
    test->device = NULL;
}

/* After a failure of the device itself (not a wrong result) its context may be dead. */
static void open_again(struct selftest *test) {
    selftest_close(test);
    if (be_open(&test->device, test->word, &test->options) != FATHOM_OK)
        test->device = NULL;
}

static fathom_status run_case(case_result *result, struct selftest *test, const op_case *c) {
    if (test->device)
        return case_run(test->device, c, result);
    *result = (case_result){.nmse = NAN};
    snprintf(result->detail, sizeof result->detail, "the device does not open again after a failure");
    return FATHOM_DEVICE;
}

static void add_case(struct tally *tally, const case_result *result) {
    tally->cases++;
    tally->failed += !result->passed;
    if (!(result->nmse <= tally->worst) && !isnan(tally->worst))
        tally->worst = result->nmse;
}

static void note_failure(struct tally *tally, const struct selftest *test, const op_case *c,
                         const case_result *result) {
    progress_end();
    if (test->out)
        fprintf(test->out, "%s, case %s: %s\n", be_op_name(c->op), c->name, result->detail);
    if (tally->first[0])
        return;
    snprintf(tally->operation, sizeof tally->operation, "%s", be_op_name(c->op));
    snprintf(tally->first, sizeof tally->first, "case %s: %s", c->name, result->detail);
}

fathom_status selftest_run(struct tally *tally, struct selftest *test, be_op op) {
    int count;
    const op_case *cases = cases_all(&count);
    *tally = (struct tally){0};
    for (int i = 0; i < count; i++) {
        case_result result;
        if (cases[i].op != op)
            continue;
        progress("%s: %s", be_op_name(op), cases[i].name);
        fathom_status status = run_case(&result, test, &cases[i]);
        if (status == FATHOM_MEMORY && !test->go_on)
            return fail_prefix(FATHOM_MEMORY, "%s, case %s: ", be_op_name(op), cases[i].name);
        if (status == FATHOM_MEMORY) {
            tally->left_out++;
            continue;
        }
        add_case(tally, &result);
        if (!result.passed)
            note_failure(tally, test, &cases[i], &result);
        if (status == FATHOM_DEVICE && test->device)
            open_again(test);
    }
    progress_end();
    return FATHOM_OK;
}

void selftest_add(struct tally *all, const struct tally *tally) {
    all->cases += tally->cases;
    all->failed += tally->failed;
    all->left_out += tally->left_out;
    if (all->first[0])
        return;
    memcpy(all->operation, tally->operation, sizeof all->operation);
    memcpy(all->first, tally->first, sizeof all->first);
}

void selftest_print(FILE *out, const char *name, const struct tally *tally) {
    char worst[32] = "none";
    if (tally->worst != 0)
        snprintf(worst, sizeof worst, "%.1e", tally->worst);
    fprintf(out, "%-20s  %4d cases  worst error %-8s ", name, tally->cases, worst);
    if (tally->left_out > 0)
        fprintf(out, "%d left out (memory) ", tally->left_out);
    if (tally->failed > 0)
        fprintf(out, "%s%d FAILED%s\n", style(out, STYLE_BAD), tally->failed, style(out, STYLE_PLAIN));
    else
        fprintf(out, "%sok%s\n", style(out, STYLE_GOOD), style(out, STYLE_PLAIN));
}
