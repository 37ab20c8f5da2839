/* launch.c - runs the work-groups of a launch on the host. Each work-item is a fiber that runs to its next barrier; as
 * many work-groups are in flight as the GPU holds, in turns, so that they share its caches. The k-th execution of
 * one load or store by the items of a warp is one access of the warp. x86-64 only. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "meter.h"

#define STACK_BYTES ((size_t)16 << 10)
#define RESIDENT (CORES * GROUPS_PER_CORE)
#define MAX_SITES (1 << 14)
#define MAX_ARGUMENTS 64

/* Saves the callee's registers on the stack, stores the stack pointer in *from and continues at `to`. */
void meter_switch(void **from, void *to);
__asm__(".text\n.globl meter_switch\n.hidden meter_switch\n.type meter_switch, @function\n"
        "meter_switch:\n"
        "push %rbp\npush %rbx\npush %r12\npush %r13\npush %r14\npush %r15\n"
        "mov %rsp, (%rdi)\nmov %rsi, %rsp\n"
        "pop %r15\npop %r14\npop %r13\npop %r12\npop %rbx\npop %rbp\nret\n");

typedef struct fiber {
    void *stack_pointer;
    char *stack;
    bool done;
    uint64_t loads;
} fiber;

typedef struct slot { /* a work-group on its way */
    fiber item[MAX_GROUP];
    char *local;
    size_t group;
    uint64_t barriers;
    bool busy;
} slot;

static struct {
    const kernel_code *code;
    void *argument[MAX_ARGUMENTS]; /* addresses of the caller's values */
    size_t local_offset[MAX_ARGUMENTS], local_bytes;
    size_t global[2], groups_x, group_size;
    slot *here;
    fiber *item;
    void *scheduler;
} run;

static slot *slots;

/* ---- what kernels call ---- */

METER_EXPORT uint64_t meter_id(uint32_t what, uint32_t dimension);
METER_EXPORT void meter_barrier(void);

uint64_t meter_id(uint32_t what, uint32_t dimension) {
    bool x = dimension == 0;
    size_t me = (size_t)(run.item - run.here->item);
    size_t group = dimension > 1 ? 0 : x ? run.here->group % run.groups_x : run.here->group / run.groups_x;
    size_t size = x ? run.group_size : 1;
    switch (what) {
    case 0:
        return group * size + (x ? me : 0);
    case 1:
        return x ? me : 0;
    case 2:
        return group;
    case 3:
        return dimension > 1 ? 1 : run.global[dimension];
    case 4:
        return size;
    default:
        return dimension > 1 ? 1 : run.global[dimension] / size;
    }
}

void meter_barrier(void) {
    run.here->barriers += run.item == run.here->item;
    meter_switch(&run.item->stack_pointer, run.scheduler);
}

/* ---- accesses of the warp that runs ---- */

typedef struct site { /* a load or store in the code */
    uintptr_t address;
    uint64_t item_serial; /* the item that `turn` belongs to */
    uint64_t warp_serial; /* the warp, and the part up to a barrier, that `count` belongs to */
    uint32_t turn, count, capacity;
    uint32_t *access; /* the access of its 1st, 2nd, ... execution */
} site;

static site sites[MAX_SITES]; /* hash table */
static warp_access *accesses;
static const warp_access **ordered;
static uint32_t access_count, access_capacity;
static uint64_t item_serial, warp_serial;
static uint32_t position;

static _Noreturn void stop(const char *why) {
    fprintf(stderr, "gpu_meter: %s\n", why);
    _Exit(1);
}

static void *grow(void *memory, size_t count, size_t size) {
    void *grown = realloc(memory, count * size);
    if (!grown)
        stop("out of memory");
    return grown;
}

static site *site_at(uintptr_t address) {
    size_t i = (address * 0x9E3779B97F4A7C15u >> 40) % MAX_SITES;
    for (size_t tried = 0; sites[i].address && sites[i].address != address; tried++, i = (i + 1) % MAX_SITES)
        if (tried == MAX_SITES)
            stop("too many loads and stores in the kernels");
    sites[i].address = address;
    return &sites[i];
}

static warp_access *new_access(site *s, uint8_t words, bool store) {
    if (s->count == s->capacity) {
        s->capacity = s->capacity ? 2 * s->capacity : 8;
        s->access = grow(s->access, s->capacity, sizeof *s->access);
    }
    if (access_count == access_capacity) {
        access_capacity = access_capacity ? 2 * access_capacity : 4096;
        accesses = grow(accesses, access_capacity, sizeof *accesses);
        ordered = grow((void *)ordered, access_capacity, sizeof *ordered);
    }
    s->access[s->count++] = access_count;
    warp_access *a = &accesses[access_count++];
    a->position = position;
    a->lanes = 0;
    a->words = words;
    a->store = store;
    return a;
}

static void record(const void *memory, size_t bytes, bool store, void *code) {
    size_t offset = (size_t)((const char *)memory - meter_memory);
    if (offset >= MEMORY_BYTES || !count_started())
        return;
    site *s = site_at((uintptr_t)code);
    if (s->warp_serial != warp_serial) {
        s->warp_serial = warp_serial;
        s->count = 0;
    }
    if (s->item_serial != item_serial) {
        s->item_serial = item_serial;
        s->turn = 0;
    }
    uint32_t turn = s->turn++;
    warp_access *a = turn < s->count ? &accesses[s->access[turn]] : new_access(s, (uint8_t)((bytes + 3) / 4), store);
    a->word[a->lanes++] = (uint32_t)(offset / 4);
    position++;
    run.item->loads += !store;
}

#define HOOKS(bytes)                                                                                          \
    METER_EXPORT void __sanitizer_cov_load##bytes(const void *p);                                             \
    METER_EXPORT void __sanitizer_cov_store##bytes(const void *p);                                            \
    void __sanitizer_cov_load##bytes(const void *p) { record(p, bytes, false, __builtin_return_address(0)); } \
    void __sanitizer_cov_store##bytes(const void *p) { record(p, bytes, true, __builtin_return_address(0)); }
HOOKS(1)
HOOKS(2)
HOOKS(4)
HOOKS(8)
HOOKS(16)

/* ---- fibers ---- */

/* Arguments are the same for all items, but for local memory, which is that of the group. */
static void run_item(void) {
    void *values[MAX_ARGUMENTS];
    char *local[MAX_ARGUMENTS];
    for (size_t i = 0; run.code->kinds[i]; i++) {
        local[i] = run.here->local + run.local_offset[i];
        values[i] = run.code->kinds[i] == 'l' ? (void *)&local[i] : run.argument[i];
    }
    run.code->call(values);
    run.item->done = true;
    meter_switch(&run.item->stack_pointer, run.scheduler);
    abort();
}

static void start_item(fiber *f) {
    if (!f->stack) {
        f->stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (f->stack == MAP_FAILED)
            stop("no memory for the stack of a work-item");
    }
    uintptr_t *top = (uintptr_t *)(void *)(f->stack + STACK_BYTES);
    *--top = 0; /* the return address that run_item never uses; aligns the stack as a call does */
    void (*entry)(void) = run_item;
    memcpy(--top, &entry, sizeof entry);
    for (int i = 0; i < 6; i++)
        *--top = 0;
    f->stack_pointer = top;
    f->done = false;
    f->loads = 0;
}

static int by_position(const void *a, const void *b) {
    const warp_access *const *x = a, *const *y = b;
    return ((*x)->position > (*y)->position) - ((*x)->position < (*y)->position);
}

/* Hands the accesses of a warp to count.c, in the order of the code that it ran. */
static void report_warp(int at, int warp) {
    bool sorted = true;
    for (uint32_t i = 0; i < access_count; i++) {
        ordered[i] = &accesses[i];
        sorted = sorted && (i == 0 || accesses[i].position >= accesses[i - 1].position);
    }
    if (!sorted)
        qsort((void *)ordered, access_count, sizeof *ordered, by_position);
    count_warp(at, warp, ordered, (int)access_count);
}

/* Runs every item of a group to its next barrier; true at the end of the group. */
static bool run_to_barrier(int at) {
    slot *s = &slots[at];
    size_t done = 0;
    run.here = s;
    for (size_t first = 0; first < run.group_size; first += WARP) {
        warp_serial++;
        access_count = 0;
        for (size_t i = first; i < first + WARP && i < run.group_size; i++) {
            run.item = &s->item[i];
            item_serial++;
            position = 0;
            if (!run.item->done)
                meter_switch(&run.scheduler, run.item->stack_pointer);
            done += run.item->done;
        }
        if (count_started())
            report_warp(at, (int)(first / WARP));
    }
    return done == run.group_size;
}

static void start_group(int at, size_t group) {
    slot *s = &slots[at];
    if (!s->local)
        s->local = grow(NULL, LOCAL_BYTES, 1);
    s->group = group;
    s->busy = true;
    s->barriers = 0;
    for (size_t i = 0; i < run.group_size; i++)
        start_item(&s->item[i]);
}

static void end_group(int at) {
    slot *s = &slots[at];
    uint64_t most = 0;
    for (size_t i = 0; i < run.group_size; i++)
        most = s->item[i].loads > most ? s->item[i].loads : most;
    count_group(at, most, s->barriers);
    s->busy = false;
}

static bool bind_arguments(const kernel_code *code, const argument *arguments) {
    run.local_bytes = 0;
    for (size_t i = 0; code->kinds[i]; i++) {
        const argument *a = &arguments[i];
        if (a->size == 0 || i >= MAX_ARGUMENTS)
            return false;
        if (code->kinds[i] == 'l') {
            run.local_offset[i] = run.local_bytes;
            run.local_bytes += (a->size + 15) / 16 * 16;
        } else {
            run.argument[i] = (void *)(uintptr_t)&a->as;
        }
    }
    return run.local_bytes <= LOCAL_BYTES;
}

bool meter_launch(const kernel_code *code, const argument *arguments, const size_t global[2], size_t group_size) {
    if (group_size == 0 || group_size > MAX_GROUP || global[0] % group_size || !bind_arguments(code, arguments))
        return false;
    if (!slots)
        slots = mmap(NULL, RESIDENT * sizeof *slots, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    run.code = code;
    run.global[0] = global[0];
    run.global[1] = global[1];
    run.group_size = group_size;
    run.groups_x = global[0] / group_size;
    size_t groups = run.groups_x * global[1], next = 0, ended = 0;
    int resident = groups < RESIDENT ? (int)groups : RESIDENT;
    count_begin(code->name, groups, group_size, resident);
    while (ended < groups)
        for (int at = 0; at < resident; at++) {
            if (!slots[at].busy && next < groups)
                start_group(at, next++);
            if (slots[at].busy && run_to_barrier(at)) {
                end_group(at);
                ended++;
            }
        }
    count_end();
    return true;
}
