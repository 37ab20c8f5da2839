/* gpu_probe.c - whether this machine can have a GPU or accelerator at all, found without loading an OpenCL driver: a
 * driver takes 50 to 100 MB and a tenth of a second, which `auto` saves where it would take the native CPU anyway. In
 * doubt the answer is yes, and the drivers are loaded. */
#include "backend/registry.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(list) (sizeof(list) / sizeof *(list))

/* Variables that select other drivers, layers or devices. */
static bool environment_selects_drivers(void) {
    static const char *const names[] = {"OCL_ICD_VENDORS",      "OCL_ICD_FILENAMES", "OPENCL_VENDOR_PATH",
                                        "OPENCL_LAYERS",        "OPENCL_LAYER_PATH", "POCL_DEVICES",
                                        "OCL_ICD_PLATFORM_SORT"};
    for (size_t i = 0; i < COUNT(names); i++)
        if (getenv(names[i]))
            return true;
    return false;
}

/* The kernel driver of a GPU creates a device file. */
static bool has_device_file(void) {
    static const char *const patterns[] = {"/dev/dri/*",  "/dev/kfd",   "/dev/nvidia*", "/dev/dxg",
                                           "/dev/mali*",  "/dev/kgsl*", "/dev/pvr*",    "/dev/xrt*",
                                           "/dev/accel*", "/dev/vpu*",  "/dev/apex*"};
    bool there = false;
    for (size_t i = 0; i < COUNT(patterns) && !there; i++) {
        glob_t found;
        int result = glob(patterns[i], 0, NULL, &found);
        there = result != GLOB_NOMATCH;
        if (result == 0)
            globfree(&found);
    }
    return there;
}

/* These drivers find no GPU without one of the files above; nothing is known of others. */
static bool driver_is_known(const char *file) {
    static const char *const drivers[] = {"libpocl",   "libRusticlOpenCL", "libMesaOpenCL", "libintelocl",
                                          "libigdrcl", "libnvidia-opencl", "libamdocl"};
    char text[1024] = "";
    FILE *stream = fopen(file, "re");
    if (!stream)
        return false;
    text[fread(text, 1, sizeof text - 1, stream)] = '\0';
    fclose(stream);
    for (size_t i = 0; i < COUNT(drivers); i++)
        if (strstr(text, drivers[i]))
            return true;
    return false;
}

static bool has_unknown_driver(void) {
    glob_t found;
    int result = glob("/etc/OpenCL/vendors/*.icd", 0, NULL, &found);
    bool unknown = result != 0 && result != GLOB_NOMATCH;
    if (result == 0) {
        for (size_t i = 0; i < found.gl_pathc && !unknown; i++)
            unknown = !driver_is_known(found.gl_pathv[i]);
        globfree(&found);
    }
    return unknown;
}

bool be_gpu_possible(void) {
#ifdef __linux__
    return environment_selects_drivers() || has_device_file() || has_unknown_driver();
#else
    return true;
#endif
}
