/* doctor_report.c - `fathom doctor --report`: a redacted text file about the devices: findings, limits, self-test and
 * time of every operation, memory of standard runs. Each line is written immediately, so that a driver that ends the
 * process leaves the report up to there. */
#include <errno.h>
#include <string.h>

#include "bench/bench.h"
#include "core/mem.h"
#include "core/redact.h"
#include "doctor/doctor.h"
#include "nn/nn.h"
#include "selftest/run_cases.h"

#define SECONDS_EACH 0.02 /* of timing an operation */
#define LIMITS_MAX 16384

static void put_system(FILE *out, struct bench_record *record) {
    fprintf(out, "fathom report, format 1\n\n");
    fprintf(out, "fathom: %s\nwhen: %s\nsystem: %s\nprocessor: %s, %lld cores\n", record->version, record->when,
            record->system, record->cpu, (long long)record->cores);
    fprintf(out, "CPU back end: %s\nOpenCL back end: %s\n", record->libraries[0], record->libraries[1]);
}

static void put_findings(FILE *out, const struct findings *findings) {
    static const char *const levels[] = {"ok", "warn", "missing"};
    fprintf(out, "\n== what doctor finds\n");
    for (size_t i = 0; i < findings->count; i++) {
        const struct finding *f = &findings->list[i];
        /* Values may be private paths; only the name is written. */
        const char *value = strcmp(f->subject, "environment") == 0 ? strchr(f->fact, '=') : NULL;
        const char *meaning = value ? strstr(value, ": ") : NULL;
        if (meaning)
            fprintf(out, "%-7s  %s: %.*s is set%s\n", levels[f->level], f->subject, (int)(value - f->fact), f->fact,
                    meaning);
        else
            fprintf(out, "%-7s  %s: %s\n", levels[f->level], f->subject, f->fact);
        if (f->remedy[0])
            fprintf(out, "         -> %s\n", f->remedy);
    }
}

/* ---- a device ---- */

static fathom_status put_limits(FILE *out, const be_info *info, const char *auto_selector) {
    char *text = NULL;
    TRY(mem_new(&text, LIMITS_MAX, 1, 1, "limits of a device"));
    be_limits(info, text, LIMITS_MAX);
    fprintf(out, "\n== %s: %s\ntype: %s\nplatform: %s\ndriver: %s\n%s", info->selector, info->name,
            be_kind_name(info->kind), info->platform, info->driver, text);
    if (text[0] && text[strlen(text) - 1] != '\n')
        fputc('\n', out);
    if (info->alias[0])
        fprintf(out, "also: %s\n", info->alias);
    if (strcmp(info->selector, auto_selector) == 0)
        fprintf(out, "chosen by auto\n");
    mem_free(text);
    return FATHOM_OK;
}

static void put_failure(void *user, const char *text) { fprintf(user, "%s\n", text); }

static fathom_status put_selftest(FILE *out, struct selftest *test) {
    struct selftest_tally all = {0};
    char text[SELFTEST_TEXT], verdict[SELFTEST_TEXT];
    fprintf(out, "\n-- self-test of %s\n", test->selector);
    for (int op = 0; op < BE_OP_COUNT; op++) {
        struct selftest_tally tally;
        TRY(selftest_run_op(&tally, test, (be_op)op));
        selftest_summary(text, be_op_name((be_op)op), &tally);
        selftest_verdict(verdict, &tally);
        fprintf(out, "%s%s\n", text, verdict);
        selftest_add(&all, &tally);
    }
    fprintf(out, "%d cases, %d failed, %d left out for lack of memory\n", all.cases, all.failed, all.skipped);
    return FATHOM_OK;
}

/* An operation that fails its check is not timed. */
static void put_times(FILE *out, be_device *device, const char *selector, message_fn *progress) {
    const char *name;
    fprintf(out, "\n-- time of an operation of %s, as training on Cora calls it (n=2708, d=16)\n", selector);
    for (size_t i = 0; device && (name = bench_case_name(i)) != NULL; i++) {
        struct bench_times times;
        op_case c;
        progress_report(progress, "%s: %s", selector, name);
        if (bench_case(&c, name) && bench_time_case(&times, device, &c, SECONDS_EACH) == FATHOM_OK)
            fprintf(out, "%-22s %10s   quartiles %s to %s\n", name, bench_time_text(times.median),
                    bench_time_text(times.q1), bench_time_text(times.q3));
        else
            fprintf(out, "%-22s not timed: %.300s\n", name, fathom_last_error());
    }
    progress_clear(progress);
}

/* ---- what runs need ---- */

static const struct standard {
    const char *name;
    nn_shape shape;
    int64_t layers, hidden;
} standards[] = {
    {"Cora's size, 15 layers of 16",
     {.nodes = 2708, .features = 1433, .classes = 7, .entries = 13264, .feature_entries = 49216},
     15,
     16},
    {"CoauthorCS's size, 30 layers of 16",
     {.nodes = 18333, .features = 6805, .classes = 15, .entries = 182121, .feature_entries = 1107256},
     30,
     16},
    {"169343 nodes, 2.5 million entries, 32 layers of 128",
     {.nodes = 169343, .features = 128, .classes = 40, .entries = 2501829, .dense = true},
     32,
     128},
};

static void put_plans(FILE *out, const be_info *info) {
    fprintf(out, "\n-- memory of standard runs on %s (gcn, group norm of 10 groups)\n", info->selector);
    for (size_t i = 0; i < sizeof standards / sizeof *standards; i++) {
        const struct standard *s = &standards[i];
        const nn_config config = {.norm = NN_GROUP,
                                  .layers = s->layers,
                                  .hidden = s->hidden,
                                  .groups = 10,
                                  .lambda = 0.005,
                                  .dropout = 0.6,
                                  .momentum = 0.3,
                                  .assign_bias = true,
                                  .heads = 1,
                                  .last_norm = NN_ON,
                                  .last_act = NN_ON};
        nn_bytes bytes = {0};
        fathom_status status = nn_plan_bytes(&bytes, &config, &s->shape);
        if (status == FATHOM_OK)
            status = nn_plan_check(&bytes, &config, &s->shape, info);
        fprintf(out, "%s: %lld bytes, largest piece %lld: %s\n", s->name, (long long)bytes.total,
                (long long)bytes.largest, status == FATHOM_OK ? "fits" : fathom_last_error());
        for (int part = 0; part < NN_MEM_COUNT; part++)
            fprintf(out, "    %-12s %lld\n", nn_memory_name((nn_memory)part), (long long)bytes.part[part]);
    }
}

static fathom_status put_device(FILE *out, const be_list *list, int row, const struct doctor_report_options *options) {
    const be_info *info = &list->info[row];
    struct selftest test = {
        .skip_on_memory = true, .progress = options->progress, .on_failure = put_failure, .user = out};
    TRY(put_limits(out, info, list->info[list->chosen].selector));
    put_plans(out, info);
    if (selftest_open(&test, list, row, &options->open) != FATHOM_OK) {
        fprintf(out, "\n-- %s does not open: %s\n", info->selector, fathom_last_error());
        return FATHOM_OK;
    }
    fathom_status status = put_selftest(out, &test);
    if (status == FATHOM_OK)
        put_times(out, test.device, info->selector, options->progress);
    selftest_close(&test);
    return status;
}

static fathom_status put_devices(FILE *out, const struct doctor_report_options *options) {
    int rows[BENCH_DEVICES], count = 0;
    be_list list;
    fathom_status status;
    TRY(be_list_devices(&list));
    TRY_OUT(bench_device_rows(rows, &count, &list, options->selectors));
    for (int i = 0; i < count && !ferror(out); i++)
        TRY_OUT(put_device(out, &list, rows[i], options));
out:
    be_list_free(&list);
    return status;
}

fathom_status doctor_report(const char *path, const struct findings *findings,
                            const struct doctor_report_options *options) {
    struct bench_record *record = NULL;
    FILE *out = NULL;
    fathom_status status;
    TRY_OUT(mem_new(&record, 1, 1, sizeof *record, "report"));
    TRY_OUT(redact_open(&out, path));
    TRY_OUT(bench_describe(record, "report", SECONDS_EACH));
    put_system(out, record);
    put_findings(out, findings);
    TRY_OUT(put_devices(out, options));
    fprintf(out, "\n== end\n");
out:
    if (out && (fclose(out) != 0) && status == FATHOM_OK)
        status = fail(FATHOM_FAILURE, "%s: cannot be written: %s; name another file", path, strerror(errno));
    mem_free(record);
    return status;
}
