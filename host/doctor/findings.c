/* findings.c - the list of findings (doctor.h). */
#include <stdarg.h>
#include <stdio.h>

#include "doctor/doctor.h"

void finding_add(struct findings *findings, enum level level, const char *subject, const char *format, ...) {
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

void finding_remedy(struct findings *findings, const char *format, ...) {
    va_list args;
    struct finding *finding = &findings->list[findings->count - 1];
    va_start(args, format);
    vsnprintf(finding->remedy, sizeof finding->remedy, format, args);
    va_end(args);
}
