/* unit_bench.c - timing of benchmarks: quartiles, sampling, rounds, marks, core-to-core latency. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/bench.h"
#include "core/clock.h"
#include "core/mem.h"
#include "support/support.h"

void setUp(void) {}
void tearDown(void) {}

static void quartiles_of_known_numbers(void) {
    double samples[] = {5, 1, 4, 2, 3}, one[] = {7}, four[] = {4, 1, 3, 2};
    struct bench_times t = {0};
    bench_quartiles(&t, samples, 5);
    TEST_ASSERT_EQUAL_DOUBLE(1, t.best);
    TEST_ASSERT_EQUAL_DOUBLE(2, t.q1);
    TEST_ASSERT_EQUAL_DOUBLE(3, t.median);
    TEST_ASSERT_EQUAL_DOUBLE(4, t.q3);
    TEST_ASSERT_EQUAL_INT(5, t.samples);
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 2.0 / 3, bench_spread(&t));
    bench_quartiles(&t, four, 4);
    TEST_ASSERT_EQUAL_DOUBLE(1.75, t.q1);
    TEST_ASSERT_EQUAL_DOUBLE(2.5, t.median);
    bench_quartiles(&t, one, 1);
    TEST_ASSERT_EQUAL_DOUBLE(7, t.q1);
    TEST_ASSERT_EQUAL_DOUBLE(7, t.q3);
}

/* Work that takes a known time: it waits for the clock. */
struct waiting {
    double seconds;
    int64_t calls;
    int64_t fails_at; /* 0: never */
};

static fathom_status wait(void *context, int64_t times) {
    struct waiting *w = context;
    for (int64_t i = 0; i < times; i++) {
        double start = clock_seconds();
        if (++w->calls == w->fails_at)
            return fail(FATHOM_DEVICE, "lost");
        while (clock_seconds() - start < w->seconds)
            ;
    }
    return FATHOM_OK;
}

static void sampling_ends_and_reports_the_time(void) {
    struct waiting w = {.seconds = 100e-6};
    struct bench_times t;
    double start = clock_seconds();
    TEST_ASSERT_EQUAL(FATHOM_OK, bench_measure(&t, wait, &w, 0.05));
    TEST_ASSERT_TRUE(clock_seconds() - start < 10);
    TEST_ASSERT_TRUE(t.samples >= BENCH_SAMPLES_MIN && t.samples <= BENCH_SAMPLES);
    TEST_ASSERT_TRUE(t.launches >= 8); /* a sample is at least a millisecond, two samples may have been slow */
    TEST_ASSERT_TRUE(t.best >= 100e-6 && t.best <= t.q1 && t.q1 <= t.median && t.median <= t.q3);
    TEST_ASSERT_TRUE(t.settled == (t.samples >= BENCH_SAMPLES_MIN && bench_spread(&t) <= BENCH_SPREAD));
    TEST_ASSERT_TRUE(w.calls > t.samples * t.launches); /* there was a warm-up */
    w = (struct waiting){.seconds = 2e-3};
    TEST_ASSERT_EQUAL(FATHOM_OK, bench_measure(&t, wait, &w, 1e-6));
    TEST_ASSERT_EQUAL_INT(BENCH_SAMPLES_MIN, t.samples); /* never fewer, however short the time */
    TEST_ASSERT_EQUAL_INT(1, t.launches);
}

static void samples_that_agree_are_spread_over_a_while(void) {
    struct waiting w = {.seconds = 1e-3};
    struct bench_times t;
    double start = clock_seconds();
    TEST_ASSERT_EQUAL(FATHOM_OK, bench_measure(&t, wait, &w, 10));
    TEST_ASSERT_TRUE(clock_seconds() - start > 0.1);
}

static void long_work_is_not_repeated_beyond_its_time(void) {
    struct waiting w = {.seconds = 1.1};
    struct bench_times t;
    TEST_ASSERT_EQUAL(FATHOM_OK, bench_measure(&t, wait, &w, 0.2));
    TEST_ASSERT_EQUAL_INT(2, w.calls);
    TEST_ASSERT_EQUAL_INT(1, t.samples);
    TEST_ASSERT_TRUE(t.median >= 1.1 && t.q1 == t.median && t.q3 == t.median);
    TEST_ASSERT_FALSE(t.settled);
}

/* A change between the rounds widens the quartiles, even where the samples of each round agree. */
static void rounds_show_what_one_moment_does_not(void) {
    struct bench_times t = {0};
    for (int round = 0; round < BENCH_ROUNDS; round++) {
        struct waiting w = {.seconds = round == 1 ? 1e-3 : 2e-3};
        TEST_ASSERT_EQUAL(FATHOM_OK, bench_measure_round(&t, wait, &w, 0.03));
    }
    TEST_ASSERT_TRUE(t.samples >= BENCH_SAMPLES_MIN && t.samples <= BENCH_SAMPLES);
    TEST_ASSERT_TRUE(bench_spread(&t) > 0.3);
    TEST_ASSERT_FALSE(t.settled);
}

static void a_row_is_found_again_in_every_round(void) {
    struct bench_record *record = NULL;
    struct bench_row *row = NULL;
    TEST_ASSERT_EQUAL(FATHOM_OK, mem_new(&record, 1, 1, sizeof *record, "record"));
    struct bench_device *device = &record->devices[0];
    record->count = 1;
    record->seconds = 0.2;
    for (; record->round < BENCH_ROUNDS; record->round++, device->next = 0) {
        TEST_ASSERT_EQUAL(FATHOM_OK, bench_next_row(&row, record, device, "short", ""));
        TEST_ASSERT_EQUAL_STRING("short", row->name);
        TEST_ASSERT_TRUE(bench_due(record, device, row));
        row->time.median = 0.5;
        TEST_ASSERT_EQUAL(FATHOM_OK, bench_next_row(&row, record, device, "long", ""));
        TEST_ASSERT_EQUAL_STRING("long", row->name);
        TEST_ASSERT_TRUE(bench_due(record, device, row) == (record->round == 0));
        row->time.median = 1.5;
    }
    TEST_ASSERT_EQUAL_size_t(2, device->count);
    bench_free(record);
    mem_free(record);
}

static void marks_distinguish_few_samples_from_noisy_ones(void) {
    TEST_ASSERT_EQUAL_STRING("", bench_mark(&(struct bench_times){.samples = 5, .settled = true}));
    TEST_ASSERT_EQUAL_STRING("!", bench_mark(&(struct bench_times){.samples = 5}));
    TEST_ASSERT_EQUAL_STRING("?", bench_mark(&(struct bench_times){.samples = 4}));
}

static void a_failure_in_the_work_comes_out(void) {
    for (int64_t at = 1; at < 8; at++) {
        struct waiting w = {.seconds = 1e-3, .fails_at = at};
        struct bench_times t;
        TEST_ASSERT_EQUAL(FATHOM_DEVICE, bench_measure(&t, wait, &w, 10));
        TEST_ASSERT_EQUAL_STRING("lost", fathom_last_error());
    }
}

static void cores_are_some_nanoseconds_apart(void) {
    double ns = bench_ping_pong();
    TEST_ASSERT_TRUE(isnan(ns) || (ns > 1 && ns < 1e7));
}

static void times_are_readable(void) {
    TEST_ASSERT_EQUAL_STRING("12.3 us", bench_time_text(12.34e-6));
    TEST_ASSERT_EQUAL_STRING("4.56 ms", bench_time_text(4.56e-3));
    TEST_ASSERT_EQUAL_STRING("1.00 s", bench_time_text(1));
    TEST_ASSERT_EQUAL_STRING("250 ns", bench_time_text(250e-9));
    TEST_ASSERT_EQUAL_STRING("0.00 ns", bench_time_text(0));
}

int main(void) {
    UNITY_BEGIN();
    RUN_TEST(quartiles_of_known_numbers);
    RUN_TEST(sampling_ends_and_reports_the_time);
    RUN_TEST(samples_that_agree_are_spread_over_a_while);
    RUN_TEST(long_work_is_not_repeated_beyond_its_time);
    RUN_TEST(rounds_show_what_one_moment_does_not);
    RUN_TEST(a_row_is_found_again_in_every_round);
    RUN_TEST(marks_distinguish_few_samples_from_noisy_ones);
    RUN_TEST(a_failure_in_the_work_comes_out);
    RUN_TEST(cores_are_some_nanoseconds_apart);
    RUN_TEST(times_are_readable);
    return support_end();
}
