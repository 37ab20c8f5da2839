/* cmd_selftest.c - `fathom selftest`: every operation on a device against the oracles in the binary. */
#include <string.h>

#include "bench/bench.h"
#include "cli/open_device.h"
#include "core/plural.h"
#include "core/suggest.h"
#include "selftest/run_cases.h"

struct selftest_options {
    struct common_options common;
    const char *op;
    bool all;
};

static const struct opt_row rows[] = {
    OPT_TEXT(struct selftest_options, op, "op", 0, "NAME", NULL, "only this operation"),
    OPT_FLAG(struct selftest_options, all, "all", 0,
             "every device, or those of --device A,B; continues after failures"),
};

static void add_json_operation(struct json *doc, const char *name, const struct selftest_tally *tally) {
    json_open(doc, NULL);
    json_text(doc, "name", name);
    json_int(doc, "cases", tally->cases);
    json_int(doc, "failed", tally->failed);
    json_real(doc, "worst_nmse", tally->worst);
    json_close(doc);
}

static void print_operation(const char *name, const struct selftest_tally *tally) {
    char text[SELFTEST_TEXT];
    selftest_summary(text, name, tally);
    printf("%s", text);
    selftest_verdict(text, tally);
    printf("%s%s%s\n", style(stdout, tally->failed ? STYLE_BAD : STYLE_GOOD), text, style(stdout, STYLE_PLAIN));
}

static void print_failure(void *user, const char *text) {
    (void)user;
    printf("%s\n", text);
}

/* `only`: one operation, or BE_OP_COUNT for all. */
static fathom_status run_operations(struct selftest_tally *all, struct selftest *test, int only, struct json *doc) {
    for (int op = 0; op < BE_OP_COUNT; op++) {
        struct selftest_tally tally;
        if (only != BE_OP_COUNT && only != op)
            continue;
        TRY(selftest_run_op(&tally, test, (be_op)op));
        if (doc)
            add_json_operation(doc, be_op_name((be_op)op), &tally);
        else
            print_operation(be_op_name((be_op)op), &tally);
        selftest_add(all, &tally);
    }
    return FATHOM_OK;
}

static fathom_status verdict(const struct selftest_tally *all, const be_info *info) {
    if (all->cases == 0)
        return fail(FATHOM_FAILURE, "selftest: there is no case to run; build fathom with its cases");
    if (all->failed == 0)
        return FATHOM_OK;
    return fail(
        FATHOM_NUMERIC, "selftest: %d of %d cases failed on %s (%s), first %s, %s; do not trust its results, %s",
        all->failed, all->cases, info->selector, info->name, all->operation, all->first,
        info->kind == BE_CPU ? "and report this with what fathom doctor prints" : "try another driver or --device cpu");
}

/* The operations of an open device, as text or into `doc`, then the verdict. */
static fathom_status run_device(struct selftest_tally *all, struct selftest *test, const be_info *info, int only,
                                struct json *doc) {
    if (!doc) {
        TRY(run_operations(all, test, only, NULL));
        printf("%d case%s, %d failed\n", all->cases, plural(all->cases), all->failed);
        if (all->skipped > 0)
            printf("%d more were left out for lack of memory\n", all->skipped);
        return verdict(all, info);
    }
    train_json_device(doc, info);
    json_open_array(doc, "operations");
    TRY(run_operations(all, test, only, doc));
    json_close(doc);
    json_int(doc, "cases", all->cases);
    json_int(doc, "failed", all->failed);
    if (test->skip_on_memory)
        json_int(doc, "left_out", all->skipped);
    return verdict(all, info);
}

static fathom_status run_one(const struct selftest_options *options, int only) {
    struct selftest test = {.on_failure = options->common.json ? NULL : print_failure, .progress = show_progress};
    struct selftest_tally all = {0};
    struct json *doc = NULL;
    fathom_status status;
    TRY(open_device(&test.device, &options->common));
    be_info info = *be_device_info(test.device);
    snprintf(test.selector, sizeof test.selector, "%s", info.selector);
    test.options = device_options(&options->common, false);
    if (options->common.json)
        TRY_OUT(json_new_document(&doc));
    else
        log_info("%s: %s, %s", info.selector, info.name, info.driver);
    status = run_device(&all, &test, &info, only, doc);
    if (doc && status != FATHOM_MEMORY)
        status = print_json(&doc, status);
out:
    selftest_close(&test);
    json_free(doc);
    return status;
}

/* One of several devices: its failure is reported, and the others are still tested. */
static fathom_status run_row(const struct selftest_options *options, int only, const be_list *list, int row,
                             struct json *doc) {
    struct selftest test = {
        .on_failure = doc ? NULL : print_failure, .progress = show_progress, .skip_on_memory = true};
    struct selftest_tally all = {0};
    const be_info *info = &list->info[row];
    if (doc)
        json_open(doc, NULL);
    else
        printf("%s: %s, %s\n", info->selector, printable(info->name), printable(info->driver));
    be_options open = device_options(&options->common, false);
    fathom_status status = selftest_open(&test, list, row, &open);
    if (status == FATHOM_OK)
        status = run_device(&all, &test, info, only, doc);
    else if (doc)
        train_json_device(doc, info);
    else
        printf("does not open: %s\n", fathom_last_error());
    selftest_close(&test);
    if (!doc)
        printf("\n");
    else if (status != FATHOM_OK)
        add_json_error(doc, status);
    if (doc)
        json_close(doc);
    return status;
}

/* The status is that of the first device that fails. */
static fathom_status run_all(const struct selftest_options *options, int only) {
    bool named = opt_given(&options->common, &options->common.device);
    int found[BENCH_DEVICES], count = 0;
    struct json *doc = NULL;
    fathom_status status, first = FATHOM_OK;
    char message[CORE_MESSAGE_MAX] = "";
    be_list list;
    TRY(be_list_devices(&list));
    TRY_OUT(bench_device_rows(found, &count, &list, named ? options->common.device : "all"));
    if (options->common.json) {
        TRY_OUT(json_new_document(&doc));
        json_open_array(doc, "devices");
    }
    for (int i = 0; i < count; i++) {
        status = run_row(options, only, &list, found[i], doc);
        if (first != FATHOM_OK || status == FATHOM_OK)
            continue;
        first = status;
        snprintf(message, sizeof message, "%s", fathom_last_error());
    }
    status = first == FATHOM_OK ? FATHOM_OK : fail(first, "%s", message);
    if (doc) {
        json_close(doc);
        status = print_json(&doc, status);
    }
out:
    json_free(doc);
    be_list_free(&list);
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

static fathom_status cmd_selftest(const void *given) {
    const struct selftest_options *options = given;
    int only;
    TRY(find_operation(&only, options->op));
    return options->all ? run_all(options, only) : run_one(options, only);
}

const struct command command_selftest = {
    "selftest",
    "compute every operation on a device and compare it with the oracle",
    "A line for each operation: its cases and the worst normalised mean squared\n"
    "error. Exit code 5 when a case fails. --all takes every device in turn, and\n"
    "leaves out cases for which a device has too little memory.\n",
    "fathom selftest --device cpu\nfathom selftest --op gemm --json\nfathom selftest --all\n",
    OPT_ROWS(rows),
    sizeof(struct selftest_options),
    cmd_selftest,
};
