/* cpu_count.h - the cores that this process may use at full speed. */
#ifndef CORE_CPU_COUNT_H
#define CORE_CPU_COUNT_H

/* At least 1: cores of the affinity mask, of these only the fast ones where a processor has cores of two speeds, and at
 * most the CPU time that the control group allows (a container with 2 of 64 cores uses 2). */
int cpu_count(void);

/* Numbers of cores, as a bit mask. */
#define CPU_COUNT_MAX 8192
typedef struct cpu_cores {
    unsigned long bits[CPU_COUNT_MAX / (8 * sizeof(unsigned long))];
} cpu_cores;

/* The same for these cores from files below `root`, "" for this machine: proc/self/cgroup, sys/fs/cgroup, sys/devices.
 */
int cpu_count_from(const char *root, const cpu_cores *cores);

#endif
