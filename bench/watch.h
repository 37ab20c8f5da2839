/* watch.h - what else happens on the machine while something is timed: other programs, a hypervisor, the clock
 * frequency, the distance of the cores.
 *
 *     struct bench_watch watch;
 *     bench_watch_begin(&watch, "", true);
 *     ... timed work, bench_watch_tick(&watch) between its samples ...
 *     bench_watch_end(&watch);
 *     if (bench_watch_disturbed(why, &watch)) ... */
#ifndef BENCH_WATCH_H
#define BENCH_WATCH_H

#include <stdbool.h>
#include <stddef.h>

#define WATCH_TEXT 160

/* Seconds since some moment, NaN where the system does not say. */
struct bench_load {
    double wall, own, busy, stolen;     /* own: of this process; busy: of all processes; stolen: by a hypervisor */
    double waiting_cpu, waiting_memory; /* in which some thread waited (pressure stall information) */
    double average;                     /* load average of a minute */
};

struct bench_watch {
    const char *root; /* "" for this machine; tests give a folder with proc/ and sys/ */
    bool on_cpu;      /* the device computes on the cores: their frequency and distance matter */
    int cores;
    struct bench_load before, after;
    double core_ns[2];       /* between two cores, before and after; NaN: one core */
    double slowest, fastest; /* clock of the fastest core, in Hz, over the ticks; NaN: unknown */
    double last_tick;
};

void bench_watch_begin(struct bench_watch *watch, const char *root, bool on_cpu);
void bench_watch_tick(struct bench_watch *watch);
void bench_watch_end(struct bench_watch *watch);

/* Cores that other programs used; NaN: unknown. */
double bench_watch_others(const struct bench_watch *watch);

/* Was the work between begin and end disturbed? `why` is the first reason found, "" when there is none. */
bool bench_watch_disturbed(char why[WATCH_TEXT], const struct bench_watch *watch);

/* Reads the counters once. */
void bench_load_read(struct bench_load *load, const char *root);

/* Waits at most `seconds` until other programs use less than WATCH_OTHERS of the cores; the cores they use at last. */
double bench_wait_for_idle(double seconds);

#endif
