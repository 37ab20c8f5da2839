/* bench_time.c - timing: samples, quartiles, core-to-core latency. */
#define _GNU_SOURCE
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "bench/bench.h"
#include "core/clock.h"

#define SAMPLE_SECONDS 1e-3 /* shorter samples would measure the clock and the wait */
#define SPAN_SECONDS 0.1    /* spanned by all samples: speed varies between moments */
#define LONG_SECONDS 1.0    /* longer work is not repeated beyond the time allowed */

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The value at `part` of the sorted samples, between neighbours linearly. */
static double quantile(const double *sorted, int64_t count, double part) {
    double at = part * (double)(count - 1), low = floor(at);
    int64_t i = (int64_t)low, next = i + 1 < count ? i + 1 : i;
    return sorted[i] + (at - low) * (sorted[next] - sorted[i]);
}

void bench_quartiles(struct bench_times *times, double *samples, int64_t count) {
    qsort(samples, (size_t)count, sizeof *samples, by_value);
    times->best = samples[0];
    times->q1 = quantile(samples, count, 0.25);
    times->median = quantile(samples, count, 0.5);
    times->q3 = quantile(samples, count, 0.75);
    times->samples = count;
}

static fathom_status sample(double *seconds, bench_work *work, void *context, int64_t launches) {
    double start = clock_seconds();
    TRY(work(context, launches));
    *seconds = (clock_seconds() - start) / (double)launches;
    return FATHOM_OK;
}

bool bench_is_long(const struct bench_times *times) { return times->median >= LONG_SECONDS; }

/* How many pieces of work a sample needs; doing them is the warm-up. *last is its last sample. */
static fathom_status warm_up(int64_t *launches, double *last, bench_work *work, void *context) {
    double before;
    TRY(work(context, 1)); /* builds kernels, grows scratch memory, touches pages */
    for (*launches = 1;; *launches *= 2) {
        TRY(sample(last, work, context, *launches));
        if (*last >= LONG_SECONDS)
            return FATHOM_OK;
        before = *last;
        TRY(sample(last, work, context, *launches)); /* the faster of two: one may have been interrupted */
        if (fmin(before, *last) * (double)*launches >= SAMPLE_SECONDS || *launches >= 1 << 14)
            return FATHOM_OK;
    }
}

static void keep(struct bench_times *times, double seconds) {
    times->kept[times->samples] = seconds;
    bench_quartiles(times, times->kept, times->samples + 1);
    times->settled = times->samples >= BENCH_SAMPLES_MIN && bench_spread(times) <= BENCH_SPREAD;
}

/* Adds `least` to `most` samples, as many as are taken in `seconds`, or in `span` when they agree. */
static fathom_status add_samples(struct bench_times *times, bench_work *work, void *context, int64_t least,
                                 int64_t most, double seconds, double span) {
    double last, spent = 0;
    TRY(warm_up(&times->launches, &last, work, context));
    bool kept = last >= LONG_SECONDS; /* the warm-up is a sample: too long to discard */
    for (int64_t count = 1;; count++) {
        if (!kept)
            TRY(sample(&last, work, context, times->launches));
        kept = false;
        keep(times, last);
        spent += last * (double)times->launches;
        bool over = spent > seconds || (times->settled && spent > span);
        if (count == most || (over && (count >= least || bench_is_long(times))))
            return FATHOM_OK;
    }
}

fathom_status bench_measure(struct bench_times *times, bench_work *work, void *context, double seconds) {
    *times = (struct bench_times){0};
    return add_samples(times, work, context, BENCH_SAMPLES_MIN, BENCH_SAMPLES, seconds, SPAN_SECONDS);
}

fathom_status bench_measure_round(struct bench_times *times, bench_work *work, void *context, double seconds) {
    return add_samples(times, work, context, (BENCH_SAMPLES_MIN + BENCH_ROUNDS - 1) / BENCH_ROUNDS,
                       BENCH_SAMPLES / BENCH_ROUNDS, seconds / BENCH_ROUNDS, SPAN_SECONDS / BENCH_ROUNDS);
}

/* ---- core-to-core latency: two threads alternate on one cache line ---- */

enum { TURNS = 2000, ROUNDS = 7 };

struct ping_pong {
    _Alignas(128) atomic_int turn; /* even: the first thread's, odd: the second's */
    _Alignas(128) int core[2];
    double round[ROUNDS]; /* seconds */
};

static void pin_to(int core) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)core, &set);
    pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

/* Waits for its turn and passes it on. Yields now and then, so that two threads on one core make progress. */
static void pass(struct ping_pong *pp, int turn) {
    for (int spins = 1; atomic_load_explicit(&pp->turn, memory_order_acquire) != turn; spins++)
        if (spins % 10000 == 0)
            sched_yield();
    atomic_store_explicit(&pp->turn, turn + 1, memory_order_release);
}

static void *first_side(void *given) {
    struct ping_pong *pp = given;
    pin_to(pp->core[0]);
    for (int round = 0; round < ROUNDS; round++) {
        double start = clock_seconds();
        for (int turn = 0; turn < TURNS; turn++)
            pass(pp, 2 * (TURNS * round + turn));
        pp->round[round] = clock_seconds() - start;
    }
    return NULL;
}

static void *second_side(void *given) {
    struct ping_pong *pp = given;
    pin_to(pp->core[1]);
    for (int turn = 0; turn < TURNS * ROUNDS; turn++)
        pass(pp, 2 * turn + 1);
    return NULL;
}

/* The first two cores this process may use. */
static bool two_cores(int core[2]) {
    cpu_set_t set;
    int found = 0;
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return false;
    for (int i = 0; i < CPU_SETSIZE && found < 2; i++)
        if (CPU_ISSET((size_t)i, &set))
            core[found++] = i;
    return found == 2;
}

double bench_ping_pong(void) {
    struct ping_pong pp = {0};
    pthread_t first, second;
    double best = INFINITY;
    if (!two_cores(pp.core) || pthread_create(&second, NULL, second_side, &pp) != 0)
        return NAN;
    if (pthread_create(&first, NULL, first_side, &pp) != 0) { /* without a first side the second never returns */
        first_side(&pp);
    } else {
        pthread_join(first, NULL);
    }
    pthread_join(second, NULL);
    for (int i = 0; i < ROUNDS; i++) /* the fastest: other rounds were interrupted */
        best = fmin(best, pp.round[i]);
    return 1e9 * best / (2 * TURNS);
}
