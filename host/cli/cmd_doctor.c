/* cmd_doctor.c - `fathom doctor`: what is installed, what is missing, and the remedy. */
#include <stdarg.h>
#include <string.h>

#include "backend/backend.h"
#include "cli/cli.h"
#include "cli/doctor.h"
#include "core/mem.h"

struct doctor_options {
    struct common_options common;
    bool report;
    const char *file;
};

#define REPORT_FILE "fathom-report.txt"

static const struct opt_row rows[] = {
    OPT_FLAG(struct doctor_options, report, "report", 0, "also write a report about every device, to show to others"),
    OPT_OPERAND(struct doctor_options, file, "FILE", REPORT_FILE, "where the report goes"),
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

/* The back ends' sentences say what is so and, after a semicolon, what to do. */
static void found_sentence(struct findings *findings, enum level level, const char *subject, const char *sentence) {
    const char *remedy = strstr(sentence, "; ");
    int length = remedy ? (int)(remedy - sentence) : 390;
    found(findings, level, subject, "%.*s", length, sentence);
    if (remedy)
        advise(findings, "%.390s", remedy + 2);
}

/* False when there is no OpenCL back end. */
static bool look_at_backends(struct findings *findings) {
    char text[CORE_MESSAGE_MAX];
    be_describe("cpu", text, sizeof text);
    found(findings, LEVEL_OK, "CPU back end", "%.390s", text);
    if (be_describe("opencl", text, sizeof text)) {
        found(findings, LEVEL_OK, "OpenCL back end", "%.390s", text);
        return true;
    }
    found_sentence(findings, LEVEL_MISSING, "OpenCL back end", text);
    if (strstr(text, "libclblast"))
        advise(findings, "apt-get install libclblast1; the CPU back end works without it");
    else if (strstr(text, "libOpenCL"))
        advise(findings, "apt-get install ocl-icd-libopencl1; the CPU back end works without it");
    return false;
}

/* Drivers without a device of theirs are ordinary where another one has some. */
static void look_at_platforms(struct findings *findings, const fathom_device_list *list, bool some) {
    const char *note;
    for (int32_t i = 0; (note = fathom_device_list_note(list, i)); i++) {
        bool ordinary = some && strstr(note, " has no device ");
        found_sentence(findings, ordinary ? LEVEL_OK : LEVEL_WARN, "OpenCL platform", note);
    }
    if (!some) {
        found(findings, LEVEL_WARN, "device", "no OpenCL device");
        advise(findings, "install a driver. %s", DRIVER_PACKAGES);
    }
}

/* What --device means here; an unknown word is a finding, and the status of the command. */
static fathom_status look_at_devices(struct findings *findings, const char *word, bool module) {
    fathom_device_list *list = NULL;
    fathom_device_info info = {.size = sizeof info};
    bool some = false, is_auto = strcmp(word, "auto") == 0;
    int32_t row;
    fathom_status status;
    TRY(fathom_device_list_make(&list));
    for (int32_t i = 0; i < fathom_device_list_count(list); i++) {
        TRY_OUT(fathom_device_list_get(list, i, &info));
        found(findings, LEVEL_OK, "device", "%s: %s, %s, %d units, %s", info.word, info.name, info.type,
              info.compute_units, bytes_text((uint64_t)info.memory_bytes));
        some = some || strcmp(info.backend, "opencl") == 0;
    }
    if (module)
        look_at_platforms(findings, list, some);
    status = fathom_device_list_find(list, word, &row);
    if (status != FATHOM_OK) {
        found(findings, LEVEL_MISSING, "chosen device", "%.390s", fathom_last_error());
        goto out;
    }
    TRY_OUT(fathom_device_list_get(list, row, &info));
    found(findings, LEVEL_OK, "chosen device", "'%s' is %s%s%s", word, info.word, is_auto ? ": " : "",
          is_auto ? fathom_device_list_why(list) : "");
out:
    fathom_device_list_free(list);
    return status;
}

static void print_findings(const struct findings *findings) {
    int indent = 26, width = terminal_width(), counts[3] = {0};
    for (size_t i = 0; i < findings->count; i++) {
        const struct finding *finding = &findings->list[i];
        counts[finding->level]++;
        printf("%s%-7s%s  %-15s  ", style(stdout, level_styles[finding->level]), level_names[finding->level],
               style(stdout, STYLE_PLAIN), finding->subject);
        print_wrapped(stdout, finding->fact, indent, indent, width);
        if (finding->remedy[0]) {
            printf("%*s-> ", indent, "");
            print_wrapped(stdout, finding->remedy, indent + 3, indent + 3, width);
        }
    }
    say("\n%d ok, %d to look at, %d missing", counts[LEVEL_OK], counts[LEVEL_WARN], counts[LEVEL_MISSING]);
}

static fathom_status print_findings_json(const struct findings *findings, fathom_status result) {
    struct json *doc = NULL;
    TRY(json_new_document(&doc));
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
    if (result != FATHOM_OK)
        add_json_error(doc, result);
    fathom_status status = print_json(doc);
    json_free(doc);
    return status;
}

static fathom_status run(const void *given) {
    const struct doctor_options *options = given;
    struct findings *findings = NULL;
    fathom_status status = FATHOM_OK;
    if (!options->report && opt_given(&options->common, &options->file))
        return fail(FATHOM_USAGE, "doctor %s: a file goes with --report", options->file);
    TRY(mem_new(&findings, 1, 1, sizeof *findings, "findings"));
    found(findings, LEVEL_OK, "fathom", "version %s", fathom_version());
    bool module = look_at_backends(findings);
    doctor_loader(findings);
    doctor_vendors(findings);
    doctor_permissions(findings);
    doctor_folders(findings);
    doctor_environment(findings);
    bool several = options->report && strchr(options->common.device, ',');
    fathom_status result = look_at_devices(findings, several ? "auto" : options->common.device, module);
    if (options->common.json)
        status = print_findings_json(findings, result);
    else
        print_findings(findings);
    if (options->report && status == FATHOM_OK && result == FATHOM_OK) {
        say("testing and timing every operation for the report; this takes a minute or so");
        status = doctor_report(options->file, findings, &options->common);
        if (status == FATHOM_OK)
            say("written: %s; it has no names of users, machines or folders in it", options->file);
    }
    mem_free(findings);
    return status != FATHOM_OK ? status : result;
}

const struct verb verb_doctor = {
    "doctor",
    "look at this machine: what is there, what is missing, and the remedy",
    "With --report also what every device can do, limit by limit and operation by\n"
    "operation, into one text file without names of users, machines or folders:\n"
    "attach it when you report a problem with a device.\n",
    "fathom doctor\nfathom doctor --report card.txt --device gpu\n",
    OPT_ROWS(rows),
    sizeof(struct doctor_options),
    run,
};
