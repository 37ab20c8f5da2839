/* cmd_doctor.c - `fathom doctor`: what is installed, what is missing, and the remedy. */
#include <string.h>

#include "cli/open_device.h"
#include "core/mem.h"
#include "doctor/doctor.h"

struct doctor_options {
    struct common_options common;
    bool report;
    const char *file;
};

#define REPORT_FILE "fathom-report.txt"

static const struct opt_row rows[] = {
    OPT_FLAG(struct doctor_options, report, "report", 0, "also write a report about every device, to share"),
    OPT_OPERAND(struct doctor_options, file, "FILE", REPORT_FILE, "where the report goes"),
};

static const enum style level_styles[] = {STYLE_GOOD, STYLE_WARN, STYLE_BAD};

static void print_findings(const struct findings *findings) {
    int indent = 26, width = terminal_width(), counts[3] = {0};
    for (size_t i = 0; i < findings->count; i++) {
        const struct finding *finding = &findings->list[i];
        counts[finding->level]++;
        printf("%s%-7s%s  %-15s  ", style(stdout, level_styles[finding->level]), level_name(finding->level),
               style(stdout, STYLE_PLAIN), finding->subject);
        print_wrapped(stdout, finding->fact, indent, indent, width);
        if (finding->remedy[0]) {
            printf("%*s-> ", indent, "");
            print_wrapped(stdout, finding->remedy, indent + 3, indent + 3, width);
        }
    }
    log_info("\n%d ok, %d to look at, %d missing", counts[LEVEL_OK], counts[LEVEL_WARN], counts[LEVEL_MISSING]);
}

static fathom_status print_findings_json(const struct findings *findings, fathom_status result) {
    struct json *doc = NULL;
    TRY(json_new_document(&doc));
    json_text(doc, "version", fathom_version());
    findings_to_json(doc, findings);
    return print_json(&doc, result);
}

static fathom_status cmd_doctor(const void *given) {
    const struct doctor_options *options = given;
    struct findings *findings = NULL;
    fathom_status status = FATHOM_OK;
    if (!options->report && opt_given(&options->common, &options->file))
        return fail(FATHOM_USAGE, "doctor %s: a file goes with --report", options->file);
    TRY(mem_new(&findings, 1, 1, sizeof *findings, "findings"));
    bool several = options->report && strchr(options->common.device, ',');
    fathom_status result = doctor_examine(findings, several ? "auto" : options->common.device);
    if (options->common.json)
        status = print_findings_json(findings, result);
    else
        print_findings(findings);
    if (options->report && status == FATHOM_OK && result == FATHOM_OK) {
        log_info("testing and timing every operation for the report; this takes a minute or so");
        const struct doctor_report_options report = {
            .selectors = opt_given(&options->common, &options->common.device) ? options->common.device : "all",
            .open = device_options(&options->common, false),
            .progress = show_progress,
        };
        status = doctor_report(options->file, findings, &report);
        if (status == FATHOM_OK)
            log_info("written: %s; it has no names of users, machines or folders in it", options->file);
    }
    mem_free(findings);
    return status != FATHOM_OK ? status : result;
}

const struct command command_doctor = {
    "doctor",
    "check this machine: what is installed, what is missing, and the remedy",
    "--report also writes limits, self-test and timings of every device to one text\n"
    "file without names of users, machines or folders: attach it when you report a\n"
    "problem with a device.\n",
    "fathom doctor\nfathom doctor --report gpu.txt --device gpu\n",
    OPT_ROWS(rows),
    sizeof(struct doctor_options),
    cmd_doctor,
};
