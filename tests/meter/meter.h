/* meter.h - the modelled GPU of tests/gpu_meter: its sizes, device memory, and what the three files share.
 *
 *   opencl.c   an OpenCL implementation of one device, preloaded in front of the loader; kernels are built by ./compile
 *   launch.c   runs a launch on the host, work-items as fibers, and reports the accesses of each warp
 *   count.c    sectors, caches, chains and the time model; writes the totals per kernel
 *
 * It is an RTX 3060 by its data sheet and published measurements of latencies; no GPU has confirmed a figure. */
#ifndef METER_METER_H
#define METER_METER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    WARP = 32,            /* work-items in lockstep */
    CORES = 28,           /* with a first-level cache each */
    GROUPS_PER_CORE = 16, /* work-groups that share a core */
    WARPS_PER_CORE = 48,
    L1_BYTES = 100 << 10, /* per core */
    L2_BYTES = 3 << 20,
    LINE_BYTES = 128, /* a line of a cache has four sectors */
    SECTOR_WORDS = 8, /* 32 bytes: the unit of transfers */
    MAX_GROUP = 1024,
    LOCAL_BYTES = 48 << 10 /* of a work-group */
};
#define METER_EXPORT __attribute__((visibility("default")))
#define MEMORY_BYTES ((size_t)12 << 30)

/* Device memory: reserved once, so that an address tells that an access is global. */
extern char *meter_memory;

/* What a warp does in one instruction: the first word of each active lane, and words per lane. */
typedef struct warp_access {
    uint32_t word[WARP];
    uint32_t position; /* in the order of its first lane's accesses */
    uint8_t lanes, words;
    bool store;
} warp_access;

typedef struct kernel_code {
    void (*call)(void **arguments);
    const char *kinds; /* of its arguments, see ./compile */
    char name[64];
} kernel_code;

typedef struct argument {
    size_t size; /* of local memory, or of the value */
    union {
        char *memory;
        char value[256];
    } as;
} argument;

/* ---- launch.c ---- */

/* Returns false where the launch is not possible on the GPU (sizes, missing arguments). */
bool meter_launch(const kernel_code *code, const argument *arguments, const size_t global[2], size_t group_size);

/* ---- count.c ---- */

void count_begin(const char *kernel, size_t groups, size_t group_size, int resident);
/* A warp of the work-group in `slot` runs to its next barrier or end, after these accesses in order. */
void count_warp(int slot, int warp, const warp_access *const *accesses, int count);
/* A work-group ends: per item the most loads, and its barriers. */
void count_group(int slot, uint64_t most_loads, uint64_t barriers);
void count_end(void);

/* Counting starts (epochs.c, before its last epoch). The totals are written at exit, to the file METER_OUT. */
METER_EXPORT void gpu_meter_start(void);
bool count_started(void);

#endif
