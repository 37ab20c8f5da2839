/* cmd_selftest.c - `fathom selftest`: every operation on the user's own device against the oracle in the binary. */
#include <math.h>
#include <string.h>

#include "cases/cases.h"
#include "cli/device.h"
#include "core/suggest.h"

struct selftest_options {
    struct common_options common;
    const char *op;
};

static const struct opt_row rows[] = {
    OPT_TEXT(struct selftest_options, op, "op", 0, "NAME", NULL, "only this operation"),
};

/* What came of the cases of one operation, or of all. */
struct tally {
    int cases, failed;
    double worst; /* the largest normalised mean squared error; NaN when one is */
};

/* The first failure, for the sentence at the end. */
struct failure {
    char operation[64], text[320];
};

static void add_case(struct tally *tally, const case_result *result) {
    tally->cases++;
    tally->failed += !result->passed;
    if (!(result->nmse <= tally->worst) && !isnan(tally->worst))
        tally->worst = result->nmse;
}

static void print_operation(const char *name, const struct tally *tally) {
    char worst[32] = "none";
    if (tally->worst != 0)
        snprintf(worst, sizeof worst, "%.1e", tally->worst);
    printf("%-20s  %4d cases  worst error %-8s ", name, tally->cases, worst);
    if (tally->failed > 0)
        printf("%s%d FAILED%s\n", style(stdout, STYLE_BAD), tally->failed, style(stdout, STYLE_PLAIN));
    else
        printf("%sok%s\n", style(stdout, STYLE_GOOD), style(stdout, STYLE_PLAIN));
}

/* Runs the cases of one operation. A case that cannot be run has failed, unless memory ran out: that says nothing of
 * the operation. */
static fathom_status run_operation(struct tally *tally, struct failure *first, be_device *device, be_op op, bool json) {
    int count;
    const op_case *cases = cases_all(&count);
    for (int i = 0; i < count; i++) {
        case_result result;
        if (cases[i].op != op)
            continue;
        progress("%s: %s", be_op_name(op), cases[i].name);
        if (case_run(device, &cases[i], &result) == FATHOM_MEMORY)
            return fail_prefix(FATHOM_MEMORY, "%s, case %s: ", be_op_name(op), cases[i].name);
        add_case(tally, &result);
        if (result.passed)
            continue;
        progress_end();
        if (!json)
            printf("%s, case %s: %s\n", be_op_name(op), cases[i].name, result.detail);
        if (!first->text[0]) {
            snprintf(first->operation, sizeof first->operation, "%s", be_op_name(op));
            snprintf(first->text, sizeof first->text, "case %s: %s", cases[i].name, result.detail);
        }
    }
    progress_end();
    return FATHOM_OK;
}

static void add_json_operation(struct json *doc, const char *name, const struct tally *tally) {
    json_open(doc, NULL);
    json_text(doc, "name", name);
    json_int(doc, "cases", tally->cases);
    json_int(doc, "failed", tally->failed);
    json_real(doc, "worst_nmse", tally->worst);
    json_close(doc);
}

/* `only`: one operation, or BE_OP_COUNT for all. */
static fathom_status run_all(struct tally *all, struct failure *first, be_device *device, int only, struct json *doc) {
    for (int op = 0; op < BE_OP_COUNT; op++) {
        struct tally tally = {0};
        if (only != BE_OP_COUNT && only != op)
            continue;
        TRY(run_operation(&tally, first, device, (be_op)op, doc != NULL));
        if (doc)
            add_json_operation(doc, be_op_name((be_op)op), &tally);
        else
            print_operation(be_op_name((be_op)op), &tally);
        all->cases += tally.cases;
        all->failed += tally.failed;
    }
    return FATHOM_OK;
}

static fathom_status verdict(const struct tally *all, const struct failure *first, const be_info *info) {
    if (all->cases == 0)
        return fail(FATHOM_FAILURE, "selftest: there is no case to run; build fathom with its cases");
    if (all->failed == 0)
        return FATHOM_OK;
    return fail(
        FATHOM_NUMERIC, "selftest: %d of %d cases failed on %s (%s), first %s, %s; do not trust its results, %s",
        all->failed, all->cases, info->word, info->name, first->operation, first->text,
        info->kind == BE_CPU ? "and report this with what fathom doctor prints" : "try another driver or --device cpu");
}

static fathom_status run_on(be_device *device, int only, bool as_json) {
    const be_info *info = be_device_info(device);
    struct tally all = {0};
    struct failure first = {0};
    struct json *doc = NULL;
    fathom_status status;
    if (!as_json) {
        say("%s: %s, %s", info->word, info->name, info->driver);
        TRY(run_all(&all, &first, device, only, NULL));
        printf("%d cases, %d failed\n", all.cases, all.failed);
        return verdict(&all, &first, info);
    }
    TRY(json_new(&doc));
    add_json_device(doc, info);
    json_open_array(doc, "operations");
    TRY_OUT(run_all(&all, &first, device, only, doc));
    json_close(doc);
    json_int(doc, "cases", all.cases);
    json_int(doc, "failed", all.failed);
    fathom_status judged = verdict(&all, &first, info);
    if (judged != FATHOM_OK)
        add_json_error(doc, judged);
    TRY_OUT(print_json(doc));
    status = judged;
out:
    json_free(doc);
    return status;
}

/* BE_OP_COUNT without a name. */
static fathom_status find_operation(int *op, const char *name) {
    const char *names[BE_OP_COUNT];
    *op = BE_OP_COUNT;
    for (int i = 0; i < BE_OP_COUNT; i++) {
        names[i] = be_op_name((be_op)i);
        if (name && strcmp(name, names[i]) == 0)
            *op = i;
    }
    if (name && *op == BE_OP_COUNT)
        return fail_unknown(FATHOM_USAGE, "operation", name, names, BE_OP_COUNT);
    return FATHOM_OK;
}

static fathom_status run(const void *given) {
    const struct selftest_options *options = given;
    be_device *device = NULL;
    int only;
    TRY(find_operation(&only, options->op));
    TRY(open_device(&device, &options->common));
    fathom_status status = run_on(device, only, options->common.json);
    be_close(device);
    return status;
}

const struct verb verb_selftest = {
    "selftest",
    "compute every operation on a device and compare it with the oracle",
    "A line for each operation: its cases and the worst normalised mean squared\n"
    "error. Exit code 5 when a case fails.\n",
    "fathom selftest --device cpu\nfathom selftest --op gemm --json\n",
    OPT_ROWS(rows),
    sizeof(struct selftest_options),
    run,
};
