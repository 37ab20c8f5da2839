/* ocl_probe.c - asks the drivers for their devices in a child process first, once a process: some end the whole process
 * where a device list was wanted (PoCL where /sys is not mounted). A plain fork: the child calls the loader, writes one
 * byte and leaves by _exit; the C library resets its own locks there, whatever threads the caller has, and a child that
 * does not come back in time says nothing of the drivers. What is Linux or POSIX alone stands in this file. */
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

#define PATIENCE_MS 20000
#define VENDORS "/etc/OpenCL/vendors"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char failure[2 * BE_TEXT];

/* What ocl_list asks, without its answers. */
static void ask_drivers(void) {
    cl_platform_id platforms[64];
    cl_device_id devices[64];
    cl_uint count = 0, here;
    char name[256];
    if (clGetPlatformIDs(64, platforms, &count) != CL_SUCCESS)
        return;
    for (cl_uint p = 0; p < count && p < 64; p++) {
        here = 0;
        if (clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, 64, devices, &here) != CL_SUCCESS)
            continue;
        for (cl_uint d = 0; d < here && d < 64; d++)
            clGetDeviceInfo(devices[d], CL_DEVICE_NAME, sizeof name, name, NULL);
    }
}

/* Silent, without a core file, and ended by the signals that a caller may handle. */
static _Noreturn void be_child(int pipe_end, const char *vendors) {
    static const int deadly[] = {SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS};
    int quiet = open("/dev/null", O_WRONLY);
    for (size_t i = 0; i < sizeof deadly / sizeof *deadly; i++)
        signal(deadly[i], SIG_DFL);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    if (quiet >= 0) {
        dup2(quiet, STDOUT_FILENO);
        dup2(quiet, STDERR_FILENO);
    }
    if (vendors)
        setenv("OCL_ICD_VENDORS", vendors, 1);
    ask_drivers();
    _exit(write(pipe_end, "", 1) == 1 ? 0 : 1);
}

/* The signal that ended the drivers' process; 0: none, or nothing is known. `vendors` NULL: all drivers. */
static int deadly_signal(const char *vendors) {
    int ends[2], state = 0;
    char byte;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return 0;
    pid_t child = fork();
    if (child == 0)
        be_child(ends[1], vendors);
    close(ends[1]);
    bool answered = child > 0 && poll(&(struct pollfd){.fd = ends[0], .events = POLLIN}, 1, PATIENCE_MS) == 1;
    bool well = answered && read(ends[0], &byte, 1) == 1;
    close(ends[0]);
    if (child < 0)
        return 0;
    if (!answered)
        kill(child, SIGKILL);
    bool known = waitpid(child, &state, 0) == child; /* not where the caller ignores SIGCHLD */
    if (well || !answered || (known && !WIFSIGNALED(state)))
        return 0;
    return known ? WTERMSIG(state) : SIGABRT;
}

/* Appends the drivers that end their process when they are alone. */
static void name_drivers(char *text, size_t size) {
    const char *given = getenv("OCL_ICD_VENDORS"), *folder = given && *given ? given : VENDORS;
    DIR *list = opendir(folder);
    if (!list && given) /* one driver alone */
        snprintf(text, size, "%.120s", given);
    for (struct dirent *entry; list && (entry = readdir(list));) {
        char path[4200];
        size_t used = strlen(text), length = strlen(entry->d_name);
        if (length < 4 || strcmp(entry->d_name + length - 4, ".icd") != 0)
            continue;
        snprintf(path, sizeof path, "%.3800s/%s", folder, entry->d_name);
        if (deadly_signal(path))
            snprintf(text + used, size - used, "%s%.60s", used ? ", " : "", entry->d_name);
    }
    if (list)
        closedir(list);
}

static void probe(void) {
    char names[128] = "";
    int number = deadly_signal(NULL);
    if (!number)
        return;
    name_drivers(names, sizeof names);
    snprintf(
        failure, sizeof failure,
        "the OpenCL driver %s ends the process that asks it for devices (signal %d, %s), so OpenCL is not used; %s",
        names[0] ? names : "of this machine", number, strsignal(number),
        access("/sys/devices/system/cpu", F_OK) == 0 ? "repair or remove it" : "PoCL needs /sys to be mounted");
}

const char *ocl_probe_failure(void) {
    pthread_once(&once, probe);
    return failure;
}
