/* cmd_doctor.c - `fathom doctor`: what is installed, what is missing, and the remedy. */
#include <stdarg.h>

#include "cli/cli.h"
#include "cli/doctor.h"
#include "core/mem.h"

struct doctor_options {
    struct common_options common;
};

static const char *const level_names[] = {"ok", "warn", "missing"};
static const enum style level_styles[] = {STYLE_GOOD, STYLE_WARN, STYLE_BAD};

void found(struct findings *findings, enum level level, const char *subject, const char *format, ...) {
    va_list args;
    if (findings->count == FINDINGS_MAX)
        return;
    struct finding *finding = &findings->list[findings->count++];
    finding->level = level;
    snprintf(finding->subject, sizeof finding->subject, "%s", subject);
    va_start(args, format);
    vsnprintf(finding->fact, sizeof finding->fact, format, args);
    va_end(args);
}

void advise(struct findings *findings, const char *format, ...) {
    va_list args;
    struct finding *finding = &findings->list[findings->count - 1];
    va_start(args, format);
    vsnprintf(finding->remedy, sizeof finding->remedy, format, args);
    va_end(args);
}

static void print_findings(const struct findings *findings) {
    for (size_t i = 0; i < findings->count; i++) {
        const struct finding *finding = &findings->list[i];
        printf("%s%-7s%s  %-15s  %s\n", style(stdout, level_styles[finding->level]), level_names[finding->level],
               style(stdout, STYLE_PLAIN), finding->subject, finding->fact);
        if (finding->remedy[0])
            printf("%24s   -> %s\n", "", finding->remedy);
    }
}

static fathom_status print_findings_json(const struct findings *findings) {
    struct json *doc = NULL;
    TRY(json_new(&doc));
    json_text(doc, "version", fathom_version());
    json_open_array(doc, "findings");
    for (size_t i = 0; i < findings->count; i++) {
        const struct finding *finding = &findings->list[i];
        json_open(doc, NULL);
        json_text(doc, "level", level_names[finding->level]);
        json_text(doc, "subject", finding->subject);
        json_text(doc, "fact", finding->fact);
        json_text(doc, "remedy", finding->remedy[0] ? finding->remedy : NULL);
        json_close(doc);
    }
    json_close(doc);
    fathom_status status = print_json(doc);
    json_free(doc);
    return status;
}

static fathom_status run(const void *given) {
    const struct doctor_options *options = given;
    struct findings *findings = NULL;
    fathom_status status = FATHOM_OK;
    TRY(mem_new(&findings, 1, 1, sizeof *findings, "findings"));
    found(findings, LEVEL_OK, "fathom", "version %s", fathom_version());
    doctor_loader(findings);
    doctor_vendors(findings);
    doctor_permissions(findings);
    doctor_folders(findings);
    doctor_environment(findings);
    if (options->common.json)
        status = print_findings_json(findings);
    else
        print_findings(findings);
    mem_free(findings);
    return status;
}

const struct verb verb_doctor = {
    "doctor",
    "look at this machine: what is installed, what is missing, and the remedy",
    NULL,
    "fathom doctor\n",
    NULL,
    0,
    sizeof(struct doctor_options),
    run,
};
