/* ocl_probe.c - lists devices in a child process first, once per process: some drivers terminate the process when
 * devices are listed (PoCL without /sys). A plain fork: the child calls the loader, writes one byte and leaves by
 * _exit. The C library resets its own locks in the child, whatever threads the caller has; a child that does not answer
 * in time says nothing about the drivers. Everything specific to Linux or POSIX is in this file. */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend/opencl/ocl.h"

#define PROBE_TIMEOUT_MS 20000
#define VENDORS "/etc/OpenCL/vendors"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char failure[2 * BE_TEXT];

/* The calls of ocl_list; answers are ignored. */
static void list_devices(void) {
    cl_platform_id platforms[64];
    cl_device_id devices[64];
    cl_uint count = 0, device_count;
    char name[256];
    if (clGetPlatformIDs(64, platforms, &count) != CL_SUCCESS)
        return;
    for (cl_uint p = 0; p < count && p < 64; p++) {
        device_count = 0;
        if (clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, 64, devices, &device_count) != CL_SUCCESS)
            continue;
        for (cl_uint d = 0; d < device_count && d < 64; d++)
            clGetDeviceInfo(devices[d], CL_DEVICE_NAME, sizeof name, name, NULL);
    }
}

/* No output, no core file, and default handlers for fatal signals. */
static _Noreturn void probe_child(int pipe_end, const char *vendors) {
    static const int fatal_signals[] = {SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS};
    int null_fd = open("/dev/null", O_WRONLY);
    for (size_t i = 0; i < sizeof fatal_signals / sizeof *fatal_signals; i++)
        signal(fatal_signals[i], SIG_DFL);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    if (null_fd >= 0) {
        dup2(null_fd, STDOUT_FILENO);
        dup2(null_fd, STDERR_FILENO);
    }
    if (vendors)
        setenv("OCL_ICD_VENDORS", vendors, 1);
    list_devices();
    _exit(write(pipe_end, "", 1) == 1 ? 0 : 1);
}

/* The signal that terminated the child; 0: none, or unknown. `vendors` overrides OCL_ICD_VENDORS; NULL: all drivers. */
static int probe_signal(const char *vendors) {
    int ends[2], child_status = 0;
    char byte;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return 0;
    pid_t child = fork();
    if (child == 0)
        probe_child(ends[1], vendors);
    close(ends[1]);
    bool answered = child > 0 && poll(&(struct pollfd){.fd = ends[0], .events = POLLIN}, 1, PROBE_TIMEOUT_MS) == 1;
    bool finished = answered && read(ends[0], &byte, 1) == 1;
    close(ends[0]);
    if (child < 0)
        return 0;
    if (!answered)
        kill(child, SIGKILL);
    bool known = waitpid(child, &child_status, 0) == child; /* fails where the caller ignores SIGCHLD */
    if (finished || !answered || (known && !WIFSIGNALED(child_status)))
        return 0;
    return known ? WTERMSIG(child_status) : SIGABRT;
}

/* Appends the drivers that crash when loaded alone. */
static void name_failing_drivers(char *text, size_t size) {
    const char *given = getenv("OCL_ICD_VENDORS"), *folder = given && *given ? given : VENDORS;
    DIR *list = opendir(folder);
    if (!list && given) /* a single driver */
        snprintf(text, size, "%.120s", given);
    for (struct dirent *entry; list && (entry = readdir(list));) {
        char path[4200];
        size_t used = strlen(text), length = strlen(entry->d_name);
        if (length < 4 || strcmp(entry->d_name + length - 4, ".icd") != 0)
            continue;
        snprintf(path, sizeof path, "%.3800s/%s", folder, entry->d_name);
        if (probe_signal(path))
            snprintf(text + used, size - used, "%s%.60s", used ? ", " : "", entry->d_name);
    }
    if (list)
        closedir(list);
}

static void probe(void) {
    char names[128] = "";
    int number = probe_signal(NULL);
    if (!number)
        return;
    name_failing_drivers(names, sizeof names);
    snprintf(failure, sizeof failure,
             "the OpenCL driver %s crashes when it lists its devices (signal %d, %s); OpenCL is disabled; %s",
             names[0] ? names : "of this machine", number, strsignal(number),
             access("/sys/devices/system/cpu", F_OK) == 0 ? "repair or remove it" : "PoCL needs /sys to be mounted");
}

const char *ocl_probe_failure(void) {
    pthread_once(&once, probe);
    return failure;
}
