/* energy.h - the energy of timed work where it can be read without root: RAPL for the processor, the counter or the
 * power meter of an AMD GPU, NVML for an NVIDIA GPU. Where nothing is readable the result is 0, and no figure is given.
 */
#ifndef BENCH_ENERGY_H
#define BENCH_ENERGY_H

#include <stdbool.h>

#define ENERGY_ZONES 16

struct bench_energy {
    const char *root; /* "" for this machine; tests give a folder with sys/ */
    enum { ENERGY_NONE, ENERGY_RAPL, ENERGY_COUNTER, ENERGY_POWER, ENERGY_NVML } source;
    int zones;
    char zone[ENERGY_ZONES][96]; /* folders of RAPL packages; of the GPU's hwmon */
    double before[ENERGY_ZONES], range[ENERGY_ZONES];
    double joules, last, watts; /* of a power meter: energy so far, time and power of the last reading */
    void *nvml, *device;        /* library and device of NVML */
};

/* `pci`: the GPU that works ("0000:03:00.0"), NULL: the processor. */
void bench_energy_begin(struct bench_energy *energy, const char *root, const char *pci);
void bench_energy_tick(struct bench_energy *energy);  /* reads a power meter: between samples */
double bench_energy_end(struct bench_energy *energy); /* joules since begin, 0: unknown */

#endif
