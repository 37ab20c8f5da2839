/* count.c - what the accesses of warps cost on the GPU of meter.h: sectors, caches (least recently used), words
 * touched once or more, chains of loads, and from them a time:
 *
 *   t = max(bytes from memory / bandwidth, bytes from the second level / bandwidth, requests / rate of the first level,
 *           longest chain of a warp, sum of all chains / warps at once)
 *
 * Loads of a warp wait for the farthest level that one of their sectors is in; IN_FLIGHT of them wait together. Not
 * modelled: arithmetic, instruction issue, local memory, DRAM pages. Compare kernels and versions; do not quote times.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "meter.h"

#define MEMORY_GB_S 360.0
#define L2_GB_S 900.0
#define CLOCK_GHZ 1.78
#define REQUEST_SECTORS 4.0 /* of one request to the first level in a clock */
#define IN_FLIGHT 2.0
#define MAX_KERNELS 256
#define WAYS 8
#define PAGE_WORDS 1024

static const double level_ns[] = {20, 125, 280}; /* first level, second level, memory */

/* ---- caches ---- */

typedef struct line {
    uint32_t tag, used, serial; /* serial: of the contents of the cache; others are empty */
    uint8_t sectors;            /* those that are there, as bits */
} line;

typedef struct cache {
    line *lines;
    uint32_t sets, clock, serial;
} cache;

/* Is the sector there? It is after this. */
static bool look_up(cache *c, uint32_t sector) {
    uint32_t tag = sector / 4;
    uint8_t bit = (uint8_t)(1 << sector % 4);
    line *set = c->lines + (size_t)((tag ^ tag >> 11) % c->sets) * WAYS, *oldest = set;
    c->clock++;
    for (line *l = set; l < set + WAYS; l++) {
        bool valid = l->serial == c->serial;
        if (valid && l->tag == tag) {
            bool hit = l->sectors & bit;
            l->sectors |= bit;
            l->used = c->clock;
            return hit;
        }
        if (!valid || (oldest->serial == c->serial && l->used < oldest->used))
            oldest = l;
    }
    *oldest = (line){.tag = tag, .used = c->clock, .serial = c->serial, .sectors = bit};
    return false;
}

static line l1_lines[CORES * GROUPS_PER_CORE][L1_BYTES / LINE_BYTES], l2_lines[L2_BYTES / LINE_BYTES];
static cache l1[CORES * GROUPS_PER_CORE], l2 = {.lines = l2_lines, .sets = L2_BYTES / LINE_BYTES / WAYS, .serial = 1};

/* ---- totals ---- */

typedef struct total { /* of a kernel */
    char name[64];
    uint64_t launches, sectors, words, lanes, accesses, most_loads, barriers;
    double us;
} total;

static total totals[MAX_KERNELS];
static int total_count;
static bool started;

static struct {
    total *kernel;
    size_t groups, group_size;
    uint32_t serial;
    uint64_t sectors, requests, l2_sectors, memory_sectors, written;
    double longest_ns, sum_ns;
} launch;

static double chain_ns[CORES * GROUPS_PER_CORE][MAX_GROUP / WARP];

void gpu_meter_start(void) { started = true; }
bool count_started(void) { return started; }

static total *total_of(const char *name) {
    for (int i = 0; i < total_count; i++)
        if (strcmp(totals[i].name, name) == 0)
            return &totals[i];
    if (total_count == MAX_KERNELS)
        abort();
    snprintf(totals[total_count].name, sizeof totals->name, "%s", name);
    return &totals[total_count++];
}

static void empty_l1(int slot) {
    l1[slot].serial++;
    memset(chain_ns[slot], 0, sizeof chain_ns[slot]);
}

void count_begin(const char *kernel, size_t groups, size_t group_size, int resident) {
    if (!started)
        return;
    uint32_t serial = launch.serial + 1;
    memset(&launch, 0, sizeof launch);
    launch.kernel = total_of(kernel);
    launch.groups = groups;
    launch.group_size = group_size;
    launch.serial = serial;
    uint32_t sharing = (uint32_t)((resident + CORES - 1) / CORES); /* work-groups on a core */
    for (int i = 0; i < resident; i++) {
        l1[i].lines = l1_lines[i];
        l1[i].sets = L1_BYTES / LINE_BYTES / WAYS / sharing;
        empty_l1(i);
    }
}

/* ---- words ---- */

static uint64_t *read_words, *written_words;
static uint32_t *page_serial;

static void *reserve(size_t bytes) {
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        abort();
    return memory;
}

/* Counts a word once per launch and direction; what the launch itself wrote is not counted as read. */
static void touch(uint32_t word, bool store) {
    if (!page_serial) {
        page_serial = reserve(MEMORY_BYTES / 4 / PAGE_WORDS * sizeof *page_serial);
        read_words = reserve(MEMORY_BYTES / 4 / 8);
        written_words = reserve(MEMORY_BYTES / 4 / 8);
    }
    uint32_t page = word / PAGE_WORDS;
    if (page_serial[page] != launch.serial) {
        page_serial[page] = launch.serial;
        memset(read_words + page * (PAGE_WORDS / 64), 0, PAGE_WORDS / 8);
        memset(written_words + page * (PAGE_WORDS / 64), 0, PAGE_WORDS / 8);
    }
    uint64_t bit = UINT64_C(1) << word % 64, *written = &written_words[word / 64], *loaded = &read_words[word / 64];
    bool first = store ? !(*written & bit) : !((*written | *loaded) & bit);
    *(store ? written : loaded) |= bit;
    launch.kernel->words += first;
    launch.written += first && store;
}

/* ---- accesses ---- */

static int ascending(const void *a, const void *b) {
    const uint32_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* The distinct sectors of an access. */
static int sectors_of(uint32_t *sector, const warp_access *a) {
    int count = 0, distinct = 0;
    bool sorted = true;
    for (int i = 0; i < a->lanes; i++)
        for (uint32_t s = a->word[i] / SECTOR_WORDS; s <= (a->word[i] + a->words - 1) / SECTOR_WORDS; s++)
            if (count == 0 || sector[count - 1] != s) {
                sorted = sorted && (count == 0 || sector[count - 1] < s);
                sector[count++] = s;
            }
    if (!sorted)
        qsort(sector, (size_t)count, sizeof *sector, ascending);
    for (int i = 0; i < count; i++)
        if (distinct == 0 || sector[distinct - 1] != sector[i])
            sector[distinct++] = sector[i];
    return distinct;
}

/* Stores go through the first level to the second, which writes to memory what is replaced. */
static void count_access(int slot, int warp, const warp_access *a) {
    uint32_t sector[2 * WARP];
    int count = sectors_of(sector, a), level = 0;
    for (int i = 0; i < a->lanes; i++)
        for (uint32_t w = 0; w < a->words; w++)
            touch(a->word[i] + w, a->store);
    for (int i = 0; i < count; i++) {
        if (!a->store && look_up(&l1[slot], sector[i]))
            continue;
        launch.l2_sectors++;
        bool hit = look_up(&l2, sector[i]);
        launch.memory_sectors += !hit && !a->store;
        level = !hit ? 2 : level == 2 ? 2 : 1;
    }
    if (!a->store)
        chain_ns[slot][warp] += level_ns[level] / IN_FLIGHT;
    launch.sectors += (uint64_t)count;
    launch.requests++;
    launch.kernel->lanes += a->lanes;
}

void count_warp(int slot, int warp, const warp_access *const *accesses, int count) {
    for (int i = 0; i < count; i++)
        count_access(slot, warp, accesses[i]);
}

static double larger(double a, double b) { return a > b ? a : b; }

void count_group(int slot, uint64_t most_loads, uint64_t barriers) {
    if (!started)
        return;
    total *t = launch.kernel;
    for (size_t w = 0; w * WARP < launch.group_size; w++) {
        double ns = chain_ns[slot][w] + (double)barriers * level_ns[1];
        launch.longest_ns = larger(launch.longest_ns, ns);
        launch.sum_ns += chain_ns[slot][w];
    }
    t->most_loads = most_loads > t->most_loads ? most_loads : t->most_loads;
    t->barriers = barriers > t->barriers ? barriers : t->barriers;
    empty_l1(slot);
}

void count_end(void) {
    if (!started)
        return;
    total *t = launch.kernel;
    double cores = (double)(launch.groups < CORES ? launch.groups : CORES), sector = 4.0 * SECTOR_WORDS;
    double warps = (double)(launch.groups * ((launch.group_size + WARP - 1) / WARP)) / cores; /* for each core */
    double at_once = cores * (warps < WARPS_PER_CORE ? warps : WARPS_PER_CORE);
    double memory = ((double)launch.memory_sectors * sector + 4.0 * (double)launch.written) / MEMORY_GB_S;
    double requests = larger((double)launch.requests, (double)launch.sectors / REQUEST_SECTORS);
    double ns = larger(memory, (double)launch.l2_sectors * sector / L2_GB_S);
    ns = larger(ns, requests / cores / CLOCK_GHZ);
    ns = larger(ns, larger(launch.longest_ns, launch.sum_ns / at_once));
    t->launches++;
    t->sectors += launch.sectors;
    t->accesses += launch.requests;
    t->us += ns / 1e3;
}

/* kernel, launches, sectors / unique, active lanes in %, most loads of an item, barriers, us */
__attribute__((destructor)) static void write_totals(void) {
    const char *path = getenv("METER_OUT");
    FILE *file = started && path ? fopen(path, "w") : NULL;
    if (!file)
        return;
    for (const total *t = totals; t < totals + total_count; t++)
        fprintf(file, "%s\t%llu\t%.2f\t%.1f\t%llu\t%llu\t%.1f\n", t->name, (unsigned long long)t->launches,
                t->words ? (double)t->sectors * SECTOR_WORDS / (double)t->words : 0.0,
                t->accesses ? 100.0 * (double)t->lanes / (WARP * (double)t->accesses) : 0.0,
                (unsigned long long)t->most_loads, (unsigned long long)t->barriers, t->us);
    fclose(file);
}
