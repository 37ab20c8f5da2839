/* doctor_system.c - checks of the system: OpenCL loader and drivers, permissions, folders,
 * environment. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <glob.h>
#include <grp.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/cache_path.h"
#include "doctor/doctor.h"

static const char *environment(const char *name) {
    const char *value = getenv(name);
    return value && value[0] ? value : NULL;
}

void doctor_loader(struct findings *findings) {
    void *loader = dlopen("libOpenCL.so.1", RTLD_LAZY | RTLD_LOCAL);
    if (loader) {
        finding_add(findings, LEVEL_OK, "OpenCL loader", "libOpenCL.so.1 loads");
        dlclose(loader);
    } else {
        finding_add(findings, LEVEL_MISSING, "OpenCL loader", "libOpenCL.so.1 does not load (%.200s)", dlerror());
        finding_remedy(findings, "apt-get install ocl-icd-libopencl1; the CPU back end works without it");
    }
}

/* Reads the library named on the first line of a vendor file. */
static bool read_vendor(char *library, size_t size, const char *path) {
    FILE *file = fopen(path, "r");
    bool got = file && fgets(library, (int)size, file);
    if (got)
        library[strcspn(library, " \t\r\n")] = '\0';
    if (file)
        fclose(file);
    return got && library[0];
}

static void check_vendor(struct findings *findings, const char *path) {
    char library[256];
    const char *name = strrchr(path, '/') + 1;
    if (!read_vendor(library, sizeof library, path)) {
        finding_add(findings, LEVEL_WARN, "OpenCL driver", "%s: cannot be read or names no library", path);
        finding_remedy(findings, "install its package again, or remove the file");
        return;
    }
    void *driver = dlopen(library, RTLD_LAZY | RTLD_LOCAL); /* never closed: unloading crashes some drivers */
    if (driver) {
        finding_add(findings, LEVEL_OK, "OpenCL driver", "%s: %s loads", name, library);
    } else {
        finding_add(findings, LEVEL_MISSING, "OpenCL driver", "%s: %.300s", name, dlerror());
        finding_remedy(findings, "install the package that contains %s, or remove %s", library, path);
    }
}

void doctor_vendors(struct findings *findings) {
    const char *vendors = environment("OCL_ICD_VENDORS");
    char pattern[PATH_MAX];
    struct stat info;
    glob_t files;
    bool single = vendors && stat(vendors, &info) == 0 && S_ISREG(info.st_mode);
    snprintf(pattern, sizeof pattern, single ? "%s" : "%s/*.icd", vendors ? vendors : "/etc/OpenCL/vendors");
    if (glob(pattern, 0, NULL, &files) != 0) {
        finding_add(findings, LEVEL_MISSING, "OpenCL driver", "no vendor file matches %.200s", pattern);
        finding_remedy(findings, "%s%s",
                       vendors ? "check OCL_ICD_VENDORS; " : "apt-get install a driver: ", DRIVER_PACKAGES);
        return;
    }
    for (size_t i = 0; i < files.gl_pathc; i++)
        check_vendor(findings, files.gl_pathv[i]);
    globfree(&files);
}

/* Is this process a member of the group, or root? */
static bool in_group(gid_t group) {
    gid_t groups[256];
    int count = getgroups(256, groups);
    for (int i = 0; i < count; i++)
        if (groups[i] == group)
            return true;
    return getegid() == group || geteuid() == 0;
}

static void check_node(struct findings *findings, const char *path) {
    struct stat info;
    if (access(path, R_OK | W_OK) == 0) {
        finding_add(findings, LEVEL_OK, "permission", "%s can be opened", path);
        return;
    }
    int reason = errno;
    finding_add(findings, LEVEL_MISSING, "permission", "%s: %s", path, strerror(reason));
    struct group *group = stat(path, &info) == 0 ? getgrgid(info.st_gid) : NULL;
    if (group && !in_group(info.st_gid))
        finding_remedy(findings, "sudo usermod -aG %s \"$USER\", then log in again", group->gr_name);
    else
        finding_remedy(findings, "let your user read and write it, for example with a udev rule");
}

void doctor_permissions(struct findings *findings) {
    static const char *const patterns[] = {"/dev/dri/render*", "/dev/kfd", "/dev/nvidiactl"};
    glob_t files;
    size_t nodes = 0;
    for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++) {
        if (glob(patterns[i], 0, NULL, &files) != 0)
            continue;
        for (size_t j = 0; j < files.gl_pathc; j++)
            check_node(findings, files.gl_pathv[j]);
        nodes += files.gl_pathc;
        globfree(&files);
    }
    if (nodes == 0) {
        finding_add(findings, LEVEL_WARN, "permission", "no GPU node (/dev/dri/render*, /dev/kfd, /dev/nvidiactl)");
        finding_remedy(findings,
                       "right without a GPU; with one, load its kernel driver, and in a container pass /dev/dri on");
    }
}

/* Can a file be made in `path`, or in the nearest folder above it that exists? Tested by writing: access() is
 * wrong for root and on read-only file systems. */
static bool can_write(const char *path) {
    char probe[PATH_MAX];
    snprintf(probe, sizeof probe - 16, "%s", path);
    while (access(probe, F_OK) != 0 && errno == ENOENT) {
        char *slash = strrchr(probe, '/');
        if (!slash)
            return false;
        slash[slash == probe] = '\0';
    }
    strcat(probe, "/.fathom-XXXXXX");
    int file = mkstemp(probe);
    if (file < 0)
        return false;
    close(file);
    unlink(probe);
    return true;
}

static void check_folder(struct findings *findings, const char *subject, const char *path, const char *variable) {
    bool fine = can_write(path);
    finding_add(findings, fine ? LEVEL_OK : LEVEL_WARN, subject, "%.300s %s", path,
                fine ? "can be written" : "cannot be written");
    if (!fine)
        finding_remedy(findings, "make it writable, or set %s to a folder that is", variable);
}

void doctor_folders(struct findings *findings) {
    char path[CACHE_PATH_MAX];
    if (cache_path(path, "fathom") == FATHOM_OK)
        check_folder(findings, "fathom's cache", path, "XDG_CACHE_HOME");
    else {
        finding_add(findings, LEVEL_WARN, "fathom's cache", "neither XDG_CACHE_HOME nor HOME is an absolute path");
        finding_remedy(findings, "set XDG_CACHE_HOME to a folder that can be written");
    }
    const char *pocl = environment("POCL_CACHE_DIR");
    if (pocl || cache_path(path, "pocl") == FATHOM_OK)
        check_folder(findings, "PoCL's cache", pocl ? pocl : path, "POCL_CACHE_DIR");
    const char *data = environment("FATHOM_DATA");
    while (data && *data) {
        int length = (int)strcspn(data, ":");
        snprintf(path, sizeof path, "%.*s", length, data);
        bool there = length > 0 && access(path, R_OK | X_OK) == 0;
        finding_add(findings, there ? LEVEL_OK : LEVEL_WARN, "data folder", "%.300s %s", path,
                    there ? "is there" : "cannot be read");
        if (!there)
            finding_remedy(findings, "correct FATHOM_DATA (folders with a colon between)");
        data += length + (data[length] == ':');
    }
}

void doctor_environment(struct findings *findings) {
    static const struct {
        const char *name, *meaning;
        enum level level;
        const char *remedy;
    } known[] = {
        {"FATHOM_DEVICE", "the device when --device is not given", LEVEL_OK, ""},
        {"FATHOM_DATA", "where data sets are looked for", LEVEL_OK, ""},
        {"FATHOM_ISA", "forces the instruction set of the CPU back end", LEVEL_WARN, "unset FATHOM_ISA for full speed"},
        {"FATHOM_FAIL_ALLOC", "makes an allocation fail, for tests", LEVEL_WARN, "unset FATHOM_FAIL_ALLOC"},
        {"FATHOM_MODULE_DIR", "where the OpenCL module is looked for", LEVEL_OK, ""},
        {"OCL_ICD_VENDORS", "where the OpenCL loader looks for drivers", LEVEL_OK, ""},
        {"OCL_ICD_FILENAMES", "more drivers for the OpenCL loader", LEVEL_OK, ""},
        {"OPENCL_LAYERS", "puts layers between fathom and the driver", LEVEL_WARN,
         "unset OPENCL_LAYERS unless you want them"},
        {"POCL_DEVICES", "which devices PoCL shows", LEVEL_OK, ""},
        {"POCL_CACHE_DIR", "where PoCL keeps compiled kernels", LEVEL_OK, ""},
        {"POCL_KERNEL_CACHE", "0 makes PoCL compile in every run", LEVEL_OK, ""},
        {"POCL_MAX_PTHREAD_COUNT", "threads of PoCL", LEVEL_OK, ""},
        {"POCL_MEMORY_LIMIT", "memory PoCL shows, in GiB", LEVEL_OK, ""},
        {"POCL_DEBUG", "PoCL prints messages", LEVEL_OK, ""},
        {"RUSTICL_ENABLE", "which devices Mesa's rusticl shows", LEVEL_OK, ""},
        {"OMP_NUM_THREADS", "threads of the CPU back end when --threads is not given", LEVEL_OK, ""},
        {"OMP_PROC_BIND", "ties threads to cores", LEVEL_OK, ""},
        {"OPENBLAS_NUM_THREADS", "no effect: fathom runs OpenBLAS with one thread per call", LEVEL_OK, ""},
        {"OPENBLAS_CORETYPE", "forces OpenBLAS's kernels", LEVEL_WARN, "unset OPENBLAS_CORETYPE unless you compare"},
        {"LD_PRELOAD", "libraries loaded before fathom's", LEVEL_WARN,
         "unset LD_PRELOAD when something fails strangely"},
        {"LD_LIBRARY_PATH", "where libraries are looked for first", LEVEL_OK, ""},
    };
    size_t set = 0;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        const char *value = environment(known[i].name);
        if (!value)
            continue;
        finding_add(findings, known[i].level, "environment", "%s=%.120s: %s", known[i].name, value, known[i].meaning);
        finding_remedy(findings, "%s", known[i].remedy);
        set++;
    }
    if (set == 0)
        finding_add(findings, LEVEL_OK, "environment", "no variable that matters to fathom is set");
}
