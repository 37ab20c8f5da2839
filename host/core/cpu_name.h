/* cpu_name.h - the name of this machine's processor. */
#ifndef CORE_CPU_NAME_H
#define CORE_CPU_NAME_H

#include <stddef.h>

/* "AMD EPYC 9R14", "Arm Neoverse-N1", the board's name ("Raspberry Pi 4 Model B"), or the architecture ("arm64 CPU").
 */
void cpu_name(char *name, size_t size);

/* The same from files in the formats of /proc/cpuinfo and of a device tree's `model`; either may be missing. */
void cpu_name_from(char *name, size_t size, const char *cpuinfo, const char *model);

#endif
