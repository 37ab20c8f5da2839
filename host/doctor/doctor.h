/* doctor.h - the findings of `fathom doctor`: each a level, a subject, a fact and a remedy. */
#ifndef DOCTOR_DOCTOR_H
#define DOCTOR_DOCTOR_H

#include "backend/backend.h"
#include "core/progress.h"

enum level { LEVEL_OK, LEVEL_WARN, LEVEL_MISSING };

struct finding {
    enum level level;
    char subject[32];
    char fact[400];
    char remedy[400]; /* empty when there is nothing to do */
};

#define FINDINGS_MAX 96

struct findings {
    struct finding list[FINDINGS_MAX];
    size_t count;
};

/* Adds a finding; finding_remedy sets the remedy of the last one. A finding past FINDINGS_MAX is dropped. */
void finding_add(struct findings *findings, enum level level, const char *subject, const char *format, ...)
    CORE_PRINTF(4, 5);
void finding_remedy(struct findings *findings, const char *format, ...) CORE_PRINTF(2, 3);
const char *level_name(enum level level); /* "ok", "warn", "missing" */
struct json;
void findings_to_json(struct json *doc, const struct findings *findings);

/* All checks. The status is that of finding the device that `selector` names; the findings are complete either way. */
fathom_status doctor_examine(struct findings *findings, const char *selector);

struct doctor_report_options {
    const char *selectors; /* "cpu,opencl:0", or "all" */
    be_options open;       /* how each device is opened */
    message_fn *progress;  /* or NULL */
};

/* Writes the findings, and limits, self-test and timings of the devices, as redacted text. */
fathom_status doctor_report(const char *path, const struct findings *findings,
                            const struct doctor_report_options *options);

#define DRIVER_PACKAGES                                                            \
    "CPUs: pocl-opencl-icd; AMD: mesa-opencl-icd (with RUSTICL_ENABLE=radeonsi); " \
    "Intel: intel-opencl-icd; NVIDIA: nvidia-opencl-icd or the one of NVIDIA's own driver"

/* doctor_system.c: checks that need no back end. */
void doctor_loader(struct findings *findings);
void doctor_vendors(struct findings *findings);
void doctor_permissions(struct findings *findings);
void doctor_folders(struct findings *findings);
void doctor_environment(struct findings *findings);

#endif
