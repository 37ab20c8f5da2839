/* watch.c - reads /proc/stat, /proc/pressure, /proc/loadavg and cpufreq around timed work (watch.h). */
#include "bench/watch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench/bench.h"
#include "core/clock.h"
#include "core/text.h"

/* What counts as a disturbance. A desktop at rest takes 1 to 3 % of a core; a busy process takes a whole one. */
#define OTHERS_CORES 0.1     /* of one core, on a machine of few, */
#define OTHERS_SHARE 0.02    /* or of all cores */
#define OTHERS_SECONDS 0.05  /* at least: the counters move in steps of 1/100 s per core */
#define STOLEN_SHARE 0.02    /* of all cores */
#define MEMORY_SHARE 0.02    /* of the time: a thread waited for memory, which is swapping */
#define FREQUENCY_RATIO 1.15 /* fastest to slowest: thermal or power limits */
#define CORE_RATIO 1.6       /* distance of two cores: the hypervisor moved them between caches */
#define TICK_SECONDS 0.1

static bool read_text(char *text, size_t size, const char *root, const char *path) {
    char full[512];
    snprintf(full, sizeof full, "%s%s", root, path);
    FILE *file = fopen(full, "re");
    size_t count = file ? fread(text, 1, size - 1, file) : 0;
    if (file)
        fclose(file);
    text[count] = 0;
    return count > 0;
}

/* "cpu  user nice system idle iowait irq softirq steal ...", in ticks; guest time is in user. */
static void read_stat(struct bench_load *load, const char *root) {
    char text[256];
    unsigned long long t[8];
    const double tick = 1.0 / (double)sysconf(_SC_CLK_TCK);
    load->busy = load->stolen = NAN;
    if (!read_text(text, sizeof text, root, "/proc/stat") ||
        sscanf(text, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &t[0], &t[1], &t[2], &t[3], &t[4], &t[5], &t[6],
               &t[7]) != 8)
        return;
    load->busy = tick * (double)(t[0] + t[1] + t[2] + t[5] + t[6]);
    load->stolen = tick * (double)t[7];
}

/* "some avg10=0.00 avg60=0.00 avg300=0.00 total=MICROSECONDS" */
static double read_pressure(const char *root, const char *path) {
    char text[256];
    const char *total = read_text(text, sizeof text, root, path) ? strstr(text, "total=") : NULL;
    return total ? 1e-6 * (double)strtoull(total + 6, NULL, 10) : (double)NAN;
}

void bench_load_read(struct bench_load *load, const char *root) {
    char text[64];
    struct timespec own = {0};
    read_stat(load, root);
    load->waiting_cpu = read_pressure(root, "/proc/pressure/cpu");
    load->waiting_memory = read_pressure(root, "/proc/pressure/memory");
    load->average = NAN;
    if (read_text(text, sizeof text, root, "/proc/loadavg")) {
        text[strcspn(text, " \n")] = 0;
        if (!text_read_number(&load->average, text))
            load->average = NAN;
    }
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &own);
    load->own = (double)own.tv_sec + 1e-9 * (double)own.tv_nsec;
    load->wall = clock_seconds();
}

/* Of the fastest core, in Hz; NaN where the kernel does not say, as in most virtual machines. */
static double read_frequency(const char *root, int cores) {
    char path[96], text[32];
    double fastest = NAN;
    for (int core = 0; core < cores; core++) {
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_cur_freq", core);
        if (!read_text(text, sizeof text, root, path))
            break;
        fastest = fmax(isnan(fastest) ? 0 : fastest, 1e3 * strtod(text, NULL));
    }
    return fastest;
}

void bench_watch_begin(struct bench_watch *watch, const char *root, bool on_cpu) {
    *watch = (struct bench_watch){.root = root, .on_cpu = on_cpu, .cores = (int)sysconf(_SC_NPROCESSORS_ONLN)};
    watch->core_ns[0] = watch->core_ns[1] = on_cpu ? bench_ping_pong() : (double)NAN;
    watch->slowest = watch->fastest = NAN;
    bench_load_read(&watch->before, root);
    watch->after = watch->before;
    watch->last_tick = watch->before.wall;
}

void bench_watch_tick(struct bench_watch *watch) {
    double now = clock_seconds();
    if (!watch->on_cpu || now - watch->last_tick < TICK_SECONDS)
        return;
    watch->last_tick = now;
    double hertz = read_frequency(watch->root, watch->cores);
    watch->slowest = isnan(watch->slowest) ? hertz : fmin(watch->slowest, hertz);
    watch->fastest = isnan(watch->fastest) ? hertz : fmax(watch->fastest, hertz);
}

void bench_watch_end(struct bench_watch *watch) {
    bench_load_read(&watch->after, watch->root);
    if (watch->on_cpu)
        watch->core_ns[1] = bench_ping_pong();
}

/* Seconds of other programs. */
static double others_seconds(const struct bench_watch *w) {
    return fmax(0, (w->after.busy - w->before.busy) - (w->after.own - w->before.own));
}

double bench_watch_others(const struct bench_watch *w) {
    double wall = w->after.wall - w->before.wall;
    return isnan(w->before.busy) || isnan(w->after.busy) || !(wall > 0) ? (double)NAN : others_seconds(w) / wall;
}

bool bench_watch_disturbed(char why[WATCH_TEXT], const struct bench_watch *w) {
    const double wall = w->after.wall - w->before.wall, others = bench_watch_others(w);
    const double stolen = w->after.stolen - w->before.stolen;
    const double waiting = w->after.waiting_memory - w->before.waiting_memory;
    const double near = fmin(w->core_ns[0], w->core_ns[1]), far = fmax(w->core_ns[0], w->core_ns[1]);
    why[0] = 0;
    if (others > fmax(OTHERS_CORES, OTHERS_SHARE * w->cores) && others_seconds(w) > OTHERS_SECONDS)
        text_format(why, WATCH_TEXT, "other programs used %.1f cores", others);
    else if (stolen > STOLEN_SHARE * wall * w->cores && stolen > OTHERS_SECONDS)
        text_format(why, WATCH_TEXT, "the hypervisor took %.0f %% of the cores", 100 * stolen / (wall * w->cores));
    else if (waiting > MEMORY_SHARE * wall && waiting > OTHERS_SECONDS)
        text_format(why, WATCH_TEXT, "threads waited for memory %.0f %% of the time", 100 * waiting / wall);
    else if (w->fastest > FREQUENCY_RATIO * w->slowest)
        text_format(why, WATCH_TEXT, "the clock changed between %.2f and %.2f GHz", 1e-9 * w->slowest,
                    1e-9 * w->fastest);
    else if (far > CORE_RATIO * near)
        text_format(why, WATCH_TEXT, "two cores moved: %.0f, then %.0f ns apart", w->core_ns[0], w->core_ns[1]);
    return why[0] != 0;
}

double bench_wait_for_idle(double seconds) {
    const double end = clock_seconds() + seconds;
    const struct timespec while_watching = {.tv_nsec = 250000000};
    struct bench_watch w;
    do {
        bench_watch_begin(&w, "", false);
        nanosleep(&while_watching, NULL);
        bench_watch_end(&w);
    } while (bench_watch_others(&w) > fmax(OTHERS_CORES, OTHERS_SHARE * w.cores) && clock_seconds() < end);
    return bench_watch_others(&w);
}
