/* findings.c - the list of findings (doctor.h). */
#include <stdarg.h>
#include <stdio.h>

#include "core/json.h"
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

const char *level_name(enum level level) {
    static const char *const names[] = {"ok", "warn", "missing"};
    return names[level];
}

void findings_to_json(struct json *doc, const struct findings *findings) {
    json_open_array(doc, "findings");
    for (size_t i = 0; i < findings->count; i++) {
        const struct finding *finding = &findings->list[i];
        json_open(doc, NULL);
        json_text(doc, "level", level_name(finding->level));
        json_text(doc, "subject", finding->subject);
        json_text(doc, "fact", finding->fact);
        json_text(doc, "remedy", finding->remedy[0] ? finding->remedy : NULL);
        json_close(doc);
    }
    json_close(doc);
}
