/* doctor_devices.c - what the back ends and drivers report: devices, platforms, the chosen device. */
#include <stdio.h>
#include <string.h>

#include "backend/backend.h"
#include "core/quantity.h"
#include "doctor/doctor.h"

/* A message of a back end states the fact and, after a semicolon, the remedy. */
static void add_message(struct findings *findings, enum level level, const char *subject, const char *message) {
    const char *remedy = strstr(message, "; ");
    int length = remedy ? (int)(remedy - message) : 390;
    finding_add(findings, level, subject, "%.*s", length, message);
    if (remedy)
        finding_remedy(findings, "%.390s", remedy + 2);
}

/* False when there is no OpenCL back end. */
static bool check_backends(struct findings *findings) {
    char text[CORE_MESSAGE_MAX];
    be_describe("cpu", text, sizeof text);
    finding_add(findings, LEVEL_OK, "CPU back end", "%.390s", text);
    if (be_describe("opencl", text, sizeof text)) {
        finding_add(findings, LEVEL_OK, "OpenCL back end", "%.390s", text);
        return true;
    }
    add_message(findings, LEVEL_MISSING, "OpenCL back end", text);
    if (strstr(text, "libclblast"))
        finding_remedy(findings, "apt-get install libclblast1; the CPU back end works without it");
    else if (strstr(text, "libOpenCL"))
        finding_remedy(findings, "apt-get install ocl-icd-libopencl1; the CPU back end works without it");
    return false;
}

/* A driver without devices is normal where another driver has some. */
static void check_platforms(struct findings *findings, const fathom_device_list *list, bool some) {
    const char *note;
    for (int32_t i = 0; (note = fathom_device_list_note(list, i)); i++) {
        bool normal = some && strstr(note, " has no device ");
        add_message(findings, normal ? LEVEL_OK : LEVEL_WARN, "OpenCL platform", note);
    }
    if (!some) {
        finding_add(findings, LEVEL_WARN, "device", "no OpenCL device");
        finding_remedy(findings, "install a driver. %s", DRIVER_PACKAGES);
    }
}

/* The devices, and the one `selector` names; an unknown selector is a finding and the status. */
static fathom_status check_devices(struct findings *findings, const char *selector, bool module) {
    fathom_device_list *list = NULL;
    fathom_device_info info = {.size = sizeof info};
    bool some = false, is_auto = strcmp(selector, "auto") == 0;
    int32_t row;
    fathom_status status;
    TRY(fathom_device_list_make(&list));
    for (int32_t i = 0; i < fathom_device_list_count(list); i++) {
        TRY_OUT(fathom_device_list_get(list, i, &info));
        finding_add(findings, LEVEL_OK, "device", "%s: %s, %s, %d units, %s", info.selector, info.name, info.type,
                    info.compute_units, bytes_text((uint64_t)info.memory_bytes));
        some = some || strcmp(info.backend, "opencl") == 0;
    }
    if (module)
        check_platforms(findings, list, some);
    status = fathom_device_list_find(list, selector, &row);
    if (status != FATHOM_OK) {
        finding_add(findings, LEVEL_MISSING, "chosen device", "%.390s", fathom_last_error());
        goto out;
    }
    TRY_OUT(fathom_device_list_get(list, row, &info));
    finding_add(findings, LEVEL_OK, "chosen device", "'%s' is %s%s%s", selector, info.selector, is_auto ? ": " : "",
                is_auto ? fathom_device_list_why(list) : "");
out:
    fathom_device_list_free(list);
    return status;
}

fathom_status doctor_examine(struct findings *findings, const char *selector) {
    finding_add(findings, LEVEL_OK, "fathom", "version %s", fathom_version());
    bool module = check_backends(findings);
    doctor_loader(findings);
    doctor_vendors(findings);
    doctor_permissions(findings);
    doctor_folders(findings);
    doctor_environment(findings);
    return check_devices(findings, selector, module);
}
