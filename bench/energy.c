/* energy.c - see energy.h. RAPL and energy1_input count microjoules; power1_average is in microwatts and is summed over
 * the readings; NVML counts millijoules. */
#define _GNU_SOURCE
#include "bench/energy.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"

/* A number in a file of sysfs; negative when it cannot be read. */
static double read_number(const char *root, const char *folder, const char *name) {
    char path[512], text[40] = "";
    snprintf(path, sizeof path, "%s%s/%s", root, folder, name);
    FILE *file = fopen(path, "re");
    bool read = file && fgets(text, sizeof text, file);
    if (file)
        fclose(file);
    return read ? (double)strtoull(text, NULL, 10) : -1;
}

/* ---- processor: one zone per package, whose parts are in it ---- */

static void find_rapl(struct bench_energy *e) {
    for (int i = 0; i < ENERGY_ZONES; i++) {
        snprintf(e->zone[e->zones], sizeof e->zone[0], "/sys/class/powercap/intel-rapl:%d", i);
        e->before[e->zones] = read_number(e->root, e->zone[e->zones], "energy_uj");
        if (e->before[e->zones] < 0)
            continue;
        e->range[e->zones] = read_number(e->root, e->zone[e->zones], "max_energy_range_uj");
        e->zones++;
    }
    e->source = e->zones > 0 ? ENERGY_RAPL : ENERGY_NONE;
}

static double rapl_joules(const struct bench_energy *e) {
    double sum = 0;
    for (int z = 0; z < e->zones; z++) {
        double now = read_number(e->root, e->zone[z], "energy_uj");
        if (now < 0 || (now < e->before[z] && e->range[z] <= 0))
            return 0;
        sum += now - e->before[z] + (now < e->before[z] ? e->range[z] : 0); /* the counter starts again at 0 */
    }
    return 1e-6 * sum;
}

/* ---- AMD GPU: the hwmon of its PCI device ---- */

static void find_hwmon(struct bench_energy *e, const char *pci) {
    for (int i = 0; i < 64; i++) {
        snprintf(e->zone[0], sizeof e->zone[0], "/sys/bus/pci/devices/%.20s/hwmon/hwmon%d", pci, i);
        e->before[0] = read_number(e->root, e->zone[0], "energy1_input");
        e->watts = 1e-6 * read_number(e->root, e->zone[0], "power1_average");
        if (e->before[0] >= 0 || e->watts >= 0) {
            e->source = e->before[0] >= 0 ? ENERGY_COUNTER : ENERGY_POWER;
            e->last = clock_seconds();
            return;
        }
    }
}

/* ---- NVIDIA GPU: NVML, when its library is installed ---- */

typedef int nvml_void(void);
typedef int nvml_by_pci(const char *pci, void **device);
typedef int nvml_energy(void *device, unsigned long long *millijoules);

static void *nvml_symbol(const struct bench_energy *e, const char *name) { return dlsym(e->nvml, name); }

static double nvml_joules(const struct bench_energy *e) {
    unsigned long long millijoules = 0;
    nvml_energy *total = NULL;
    *(void **)&total = nvml_symbol(e, "nvmlDeviceGetTotalEnergyConsumption");
    return total && total(e->device, &millijoules) == 0 ? 1e-3 * (double)millijoules : -1;
}

static void close_nvml(struct bench_energy *e) {
    nvml_void *shutdown = NULL;
    if (!e->nvml)
        return;
    *(void **)&shutdown = nvml_symbol(e, "nvmlShutdown");
    if (shutdown)
        shutdown();
    dlclose(e->nvml);
    e->nvml = NULL;
}

static void find_nvml(struct bench_energy *e, const char *pci) {
    nvml_void *init = NULL;
    nvml_by_pci *find = NULL;
    e->nvml = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!e->nvml)
        return;
    *(void **)&init = nvml_symbol(e, "nvmlInit_v2");
    *(void **)&find = nvml_symbol(e, "nvmlDeviceGetHandleByPciBusId_v2");
    e->before[0] = init && find && init() == 0 && find(pci, &e->device) == 0 ? nvml_joules(e) : -1;
    if (e->before[0] >= 0)
        e->source = ENERGY_NVML;
    else
        close_nvml(e);
}

void bench_energy_begin(struct bench_energy *e, const char *root, const char *pci) {
    *e = (struct bench_energy){.root = root};
    if (!pci)
        find_rapl(e);
    else if (pci[0])
        find_hwmon(e, pci);
    if (pci && pci[0] && e->source == ENERGY_NONE)
        find_nvml(e, pci);
}

void bench_energy_tick(struct bench_energy *e) {
    if (e->source != ENERGY_POWER)
        return;
    double now = clock_seconds(), watts = 1e-6 * read_number(e->root, e->zone[0], "power1_average");
    if (watts < 0)
        e->source = ENERGY_NONE;
    e->joules += 0.5 * (e->watts + watts) * (now - e->last); /* trapezoid between two readings */
    e->last = now;
    e->watts = watts;
}

double bench_energy_end(struct bench_energy *e) {
    double joules = 0, now;
    switch (e->source) {
    case ENERGY_RAPL:
        return rapl_joules(e);
    case ENERGY_COUNTER:
        now = read_number(e->root, e->zone[0], "energy1_input");
        return now >= e->before[0] ? 1e-6 * (now - e->before[0]) : 0;
    case ENERGY_POWER:
        bench_energy_tick(e);
        return e->source == ENERGY_POWER ? e->joules : 0;
    case ENERGY_NVML:
        now = nvml_joules(e);
        joules = now >= e->before[0] ? now - e->before[0] : 0;
        break;
    case ENERGY_NONE:
        break;
    }
    close_nvml(e);
    return joules;
}
