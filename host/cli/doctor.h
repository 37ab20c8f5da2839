/* doctor.h - the findings of `fathom doctor`: each a level, a subject, a fact and a remedy. */
#ifndef CLI_DOCTOR_H
#define CLI_DOCTOR_H

#include "core/status.h"

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

/* Adds a finding; the caller may write its remedy with `advise`. */
void found(struct findings *findings, enum level level, const char *subject, const char *format, ...) CORE_PRINTF(4, 5);
void advise(struct findings *findings, const char *format, ...) CORE_PRINTF(2, 3);

struct common_options;
/* doctor_report.c: the findings and a look at every device (or those of --device A,B), into a file. */
fathom_status doctor_report(const char *path, const struct findings *findings, const struct common_options *common);

#define DRIVER_PACKAGES                                                            \
    "CPUs: pocl-opencl-icd; AMD: mesa-opencl-icd (with RUSTICL_ENABLE=radeonsi); " \
    "Intel: intel-opencl-icd; NVIDIA: nvidia-opencl-icd or the one of NVIDIA's own driver"

/* doctor_system.c: what can be told without any back end. */
void doctor_loader(struct findings *findings);
void doctor_vendors(struct findings *findings);
void doctor_permissions(struct findings *findings);
void doctor_folders(struct findings *findings);
void doctor_environment(struct findings *findings);

#endif
