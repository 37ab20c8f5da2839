/* cpu_count.c - see cpu_count.h. Linux: where a file is missing, it limits nothing. */
#define _GNU_SOURCE
#include "core/cpu_count.h"

#include <math.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_MAX_HERE = 4096 };

/* The first line of a file below root, without its end; false where there is none. */
static bool read_line(char *line, size_t size, const char *root, const char *path) {
    char name[PATH_MAX_HERE];
    int length = snprintf(name, sizeof name, "%s/%s", root, path);
    FILE *file = length > 0 && (size_t)length < sizeof name ? fopen(name, "r") : NULL;
    bool read = file && fgets(line, (int)size, file);
    if (read)
        line[strcspn(line, "\n")] = '\0';
    if (file)
        fclose(file);
    return read;
}

/* ---- control groups ---- */

static double quota_of(double quota, double period) { return quota > 0 && period > 0 ? quota / period : INFINITY; }

/* Version 2: cpu.max is "max 100000" or "QUOTA PERIOD" in the group and in each of its parents. */
static double cpus_of_group(const char *root, char *group) {
    char path[PATH_MAX_HERE], line[128];
    double least = INFINITY;
    for (;;) {
        double quota, period;
        snprintf(path, sizeof path, "sys/fs/cgroup%s/cpu.max", group);
        if (read_line(line, sizeof line, root, path) && sscanf(line, "%lf %lf", &quota, &period) == 2)
            least = fmin(least, quota_of(quota, period));
        char *slash = strrchr(group, '/');
        if (!slash)
            return least;
        *slash = '\0';
    }
}

/* Version 1: two files, -1 for no limit; a container sees its own group at the top. */
static double cpus_of_version_1(const char *root) {
    char quota[64], period[64];
    if (!read_line(quota, sizeof quota, root, "sys/fs/cgroup/cpu/cpu.cfs_quota_us") ||
        !read_line(period, sizeof period, root, "sys/fs/cgroup/cpu/cpu.cfs_period_us"))
        return INFINITY;
    return quota_of(strtod(quota, NULL), strtod(period, NULL));
}

static double cpus_allowed(const char *root) {
    char line[PATH_MAX_HERE / 2];
    if (read_line(line, sizeof line, root, "proc/self/cgroup") && strncmp(line, "0::/", 4) == 0)
        return cpus_of_group(root, strcmp(line + 3, "/") == 0 ? line + 4 : line + 3);
    return cpus_of_version_1(root);
}

/* ---- cores of two speeds ---- */

/* Is `core` in a list such as "0-7,16"? */
static bool in_list(const char *list, int core) {
    for (const char *at = list; *at;) {
        char *end;
        long first = strtol(at, &end, 10), last = first;
        if (end == at)
            return false;
        if (*end == '-')
            last = strtol(end + 1, &end, 10);
        if (core >= first && core <= last)
            return true;
        at = *end == ',' ? end + 1 : end + strlen(end);
    }
    return false;
}

/* Capacity of a core of Arm processors, 1024 for the fastest kind; 0: not known. */
static long capacity(const char *root, int core) {
    char path[128], line[64];
    snprintf(path, sizeof path, "sys/devices/system/cpu/cpu%d/cpu_capacity", core);
    return read_line(line, sizeof line, root, path) ? strtol(line, NULL, 10) : 0;
}

static bool has(const cpu_cores *cores, int core) {
    const int bits = 8 * (int)sizeof(unsigned long);
    return cores->bits[core / bits] >> core % bits & 1;
}

/* A loop ends with its slowest thread, so that slow cores are left out: E-cores of Intel, which lists the others, and
 * cores of less than two thirds of the largest capacity on Arm. */
static int fast_cores(const char *root, const cpu_cores *cores) {
    char list[1024] = "";
    bool listed = read_line(list, sizeof list, root, "sys/devices/cpu_core/cpus");
    int all = 0, fast = 0;
    long largest = 0;
    for (int i = 0; i < CPU_COUNT_MAX; i++) {
        if (!has(cores, i))
            continue;
        all++;
        if (listed)
            fast += in_list(list, i);
        else if (all == 1 || largest > 0)
            largest = capacity(root, i) > largest ? capacity(root, i) : largest;
    }
    for (int i = 0; i < CPU_COUNT_MAX && largest > 0; i++)
        fast += has(cores, i) && 3 * capacity(root, i) >= 2 * largest;
    return fast > 0 ? fast : all;
}

int cpu_count_from(const char *root, const cpu_cores *cores) {
    double allowed = ceil(cpus_allowed(root));
    int fast = fast_cores(root, cores);
    fast = allowed < fast ? (int)allowed : fast;
    return fast > 1 ? fast : 1;
}

int cpu_count(void) {
    cpu_cores cores = {{0}};
    if (sched_getaffinity(0, sizeof cores, (cpu_set_t *)(void *)&cores) == 0)
        return cpu_count_from("", &cores);
    return (int)sysconf(_SC_NPROCESSORS_ONLN);
}
