/* unit_comm.c - ranks as threads: every call for 1 to 8 ranks, and what happens when one of them cannot go on.
 * labels: threads */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "comm/internal.h"
#include "core/clock.h"
#include "core/mem.h"
#include "support/comm_cases.h"
#include "support/support.h"

#define RANKS 8

typedef fathom_status body_fn(comm *c, void *user);

typedef struct runner {
    comm *c;
    body_fn *body;
    void *user;
    fathom_status status;
    char message[CORE_MESSAGE_MAX];
    pthread_t thread;
} runner;

static void *run_rank(void *user) {
    runner *r = user;
    r->status = r->body(r->c, r->user);
    snprintf(r->message, sizeof r->message, "%s", r->status == FATHOM_OK ? "" : fathom_last_error());
    comm_fail(r->c, r->status);
    return NULL;
}

/* Every rank runs `body`; their ends are in `r`, and all handles are closed. */
static void run_ranks(runner *r, int size, double timeout, body_fn *body, void *user) {
    comm *c[RANKS];
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, comm_open_threads(c, size, &(comm_options){timeout}));
    for (int i = 0; i < size; i++) {
        r[i] = (runner){.c = c[i], .body = body, .user = user};
        TEST_ASSERT_EQUAL_INT(0, pthread_create(&r[i].thread, NULL, run_rank, &r[i]));
    }
    for (int i = 0; i < size; i++)
        pthread_join(r[i].thread, NULL);
    for (int i = 0; i < size; i++)
        comm_close(c[i]);
}

static void all_ok(const runner *r, int size) {
    for (int i = 0; i < size; i++)
        TEST_ASSERT_EQUAL_STRING("", r[i].message);
}

static void pause_for(double seconds) {
    nanosleep(&(struct timespec){(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)}, NULL);
}

/* ---- values ---- */

static uint64_t digests[RANKS];

static fathom_status rounds(comm *c, void *user) {
    digests[comm_rank(c)] = 14695981039346656037u;
    for (uint32_t round = 0; round < *(uint32_t *)user; round++)
        TRY(comm_cases_round(c, &digests[comm_rank(c)], round));
    return FATHOM_OK;
}

static void every_call_returns_the_right_values(void) {
    uint32_t count = 40;
    for (int size = 1; size <= RANKS; size++) {
        runner r[RANKS];
        run_ranks(r, size, 60, rounds, &count);
        all_ok(r, size);
        for (int i = 1; i < size; i++)
            TEST_ASSERT_TRUE(digests[i] == digests[0]);
    }
}

static void long_messages_are_sent_in_pieces(void) {
    uint32_t count = 10;
    runner r[RANKS];
    comm_piece = 7;
    run_ranks(r, 4, 60, rounds, &count);
    comm_piece = (size_t)1 << 30;
    all_ok(r, 4);
}

static void alone_every_call_is_nothing(void) {
    uint64_t digest = 0;
    float x[2] = {1, 2};
    int64_t first[2] = {0, 2};
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, comm_cases_round(NULL, &digest, 1));
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, comm_sum_parts(NULL, x, first));
    TEST_ASSERT_EQUAL_FLOAT(2, x[1]);
    TEST_ASSERT_EQUAL_INT(0, comm_rank(NULL));
    TEST_ASSERT_EQUAL_INT(1, comm_size(NULL));
    TEST_ASSERT_EQUAL_STRING("alone", comm_transport(NULL));
    TEST_ASSERT_TRUE(comm_host(NULL)[0] != '\0');
    TEST_ASSERT_FALSE(comm_has_failed(NULL));
    TEST_ASSERT_EQUAL_INT(-1, comm_failed_rank(NULL));
    comm_fail(NULL, FATHOM_DEVICE);
    comm_set_device(NULL, "cpu");
    comm_close(NULL);
    comm *c = NULL;
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, comm_open(&c, NULL)); /* no launcher */
    TEST_ASSERT_NULL(c);
}

static fathom_status count_calls(comm *c, void *user) {
    (void)user;
    int64_t first[] = {0, 1, 3, 3};
    float values[3] = {0};
    int32_t all[3] = {0};
    TRY(comm_gather(c, all, sizeof *all));   /* 2 messages of 4 bytes */
    TRY(comm_gather(c, NULL, 0));            /* none */
    TRY(comm_sum_parts(c, values, first));   /* 8, 8 + ..: parts 1, 2, 0 of others */
    TRY(comm_spread(c, all, sizeof all, 1)); /* rank 1: 2 of 12 bytes */
    comm_counters n = comm_count(c);
    const int64_t messages[] = {2 + 1, 2 + 1 + 2, 2 + 2}, bytes[] = {8 + 8, 8 + 4 + 24, 8 + 12};
    if (n.messages != messages[comm_rank(c)] || n.bytes != bytes[comm_rank(c)] || n.waited <= 0)
        return fail(FATHOM_NUMERIC, "rank %d counts %d messages, %d bytes", comm_rank(c), (int)n.messages,
                    (int)n.bytes);
    return FATHOM_OK;
}

static void messages_and_bytes_are_counted(void) {
    runner r[RANKS];
    run_ranks(r, 3, 60, count_calls, NULL);
    all_ok(r, 3);
}

/* ---- failure ---- */

enum { IN_GATHER, IN_EXCHANGE, IN_SUM, IN_SPREAD, IN_ANY };

/* Rank 1 fails while the others wait for it in one of the calls. */
static fathom_status fails_in(comm *c, void *user) {
    int64_t first[RANKS + 1], rows[RANKS + 1];
    float values[RANKS] = {0}, in[RANKS] = {0};
    const int size = comm_size(c), where = *(int *)user;
    for (int p = 0; p <= size; p++)
        first[p] = p, rows[p] = p - (p > comm_rank(c));
    comm_set_device(c, "opencl:1");
    if (comm_rank(c) == 1) {
        pause_for(0.02);
        return fail(FATHOM_DEVICE, "the device is lost");
    }
    switch (where) {
    case IN_GATHER:
        return comm_gather_parts(c, values, first, sizeof *values);
    case IN_EXCHANGE:
        TRY(comm_exchange_begin(c, &(comm_rows){rows, rows, values, in, sizeof *in}));
        return comm_exchange_finish(c);
    case IN_SUM:
        return comm_sum_parts(c, values, first);
    case IN_SPREAD:
        return comm_spread(c, values, sizeof values, 1);
    default:
        break;
    }
    for (int turn = 0;; turn++)
        TRY(turn % 2 ? comm_gather(c, NULL, 0) : comm_sum_parts(c, values, first));
}

static void a_failure_wakes_every_rank(void) {
    for (int where = IN_GATHER; where <= IN_ANY; where++)
        for (int size = 2; size <= RANKS; size += 3) {
            runner r[RANKS];
            double began = clock_seconds();
            run_ranks(r, size, 60, fails_in, &where);
            TEST_ASSERT_TRUE(clock_seconds() - began < 2);
            for (int i = 0; i < size; i++) {
                TEST_ASSERT_EQUAL_INT(FATHOM_DEVICE, r[i].status);
                TEST_ASSERT_NOT_NULL(strstr(r[i].message, "the device is lost"));
                if (i != 1) {
                    TEST_ASSERT_EQUAL_STRING_LEN("rank 1 (", r[i].message, 8);
                    TEST_ASSERT_NOT_NULL(strstr(r[i].message, ", opencl:1): the device is lost"));
                }
            }
        }
}

static fathom_status stays_failed(comm *c, void *user) {
    float x[2] = {0};
    int64_t first[] = {0, 1, 2};
    (void)user;
    if (comm_rank(c) == 0) {
        comm_fail(c, fail(FATHOM_MEMORY, "no memory"));
        comm_fail(c, fail(FATHOM_DATA, "another one"));
    }
    while (comm_gather(c, NULL, 0) == FATHOM_OK)
        ;
    if (!comm_has_failed(c) || comm_failed_rank(c) != 0)
        return fail(FATHOM_FAILURE, "the failure is of rank %d", comm_failed_rank(c));
    comm_rows rows = {first, first, x, x, 4};
    if (comm_spread(c, x, 4, 0) != FATHOM_MEMORY || comm_exchange_begin(c, &rows) != FATHOM_MEMORY ||
        comm_exchange_finish(c) != FATHOM_MEMORY || comm_gather(c, x, 4) != FATHOM_MEMORY)
        return fail(FATHOM_FAILURE, "a call after the failure returns another status");
    return comm_sum_parts(c, x, first);
}

static void later_calls_return_the_first_failure(void) {
    runner r[RANKS];
    run_ranks(r, 2, 60, stays_failed, NULL);
    for (int i = 0; i < 2; i++) {
        TEST_ASSERT_EQUAL_INT(FATHOM_MEMORY, r[i].status);
        TEST_ASSERT_NOT_NULL(strstr(r[i].message, "): no memory"));
    }
}

/* Rank 2 is silent. Rank 0 waits for it, rank 1 for rank 0: both name rank 2. */
static fathom_status one_is_silent(comm *c, void *user) {
    int32_t word = 0;
    (void)user;
    if (comm_rank(c) == 2) {
        pause_for(1.2);
        return comm_gather(c, NULL, 0);
    }
    if (comm_rank(c) == 0)
        TRY(comm_spread(c, &word, sizeof word, 2));
    return comm_spread(c, &word, sizeof word, 0);
}

static void a_silent_rank_is_named(void) {
    runner r[RANKS];
    run_ranks(r, 3, 0.4, one_is_silent, NULL);
    for (int i = 0; i < 3; i++) {
        TEST_ASSERT_EQUAL_INT(FATHOM_FAILURE, r[i].status);
        TEST_ASSERT_EQUAL_STRING_LEN("rank 2 (", r[i].message, 8);
        TEST_ASSERT_NOT_NULL(strstr(r[i].message, "has not answered for 0 s (--comm-timeout)"));
    }
}

/* A rank that is late by less than the timeout, seen by one that waits for the one that waits for it. */
static fathom_status one_is_late(comm *c, void *user) {
    int32_t word = 0;
    (void)user;
    if (comm_rank(c) == 2)
        pause_for(0.3);
    TRY(comm_spread(c, &word, sizeof word, 2));
    pause_for(comm_rank(c) == 0 ? 0.3 : 0);
    return comm_spread(c, &word, sizeof word, 0);
}

static void a_late_rank_is_waited_for(void) {
    runner r[RANKS];
    run_ranks(r, 3, 0.5, one_is_late, NULL);
    all_ok(r, 3);
    run_ranks(r, 3, 0, one_is_late, NULL); /* 0: for ever */
    all_ok(r, 3);
}

static fathom_status disagree(comm *c, void *user) {
    int32_t words[4] = {0};
    (void)user;
    return comm_spread(c, words, comm_rank(c) == 1 ? 8 : 12, 0);
}

static fathom_status wait_for_each_other(comm *c, void *user) {
    int32_t word = 0;
    (void)user;
    return comm_spread(c, &word, sizeof word, 1 - comm_rank(c));
}

static void calls_that_differ_are_reported(void) {
    runner r[RANKS];
    run_ranks(r, 2, 60, disagree, NULL);
    for (int i = 0; i < 2; i++)
        TEST_ASSERT_TRUE(r[i].status == FATHOM_OK || strstr(r[i].message, "disagree about the size of a message"));
    TEST_ASSERT_TRUE(r[0].status != FATHOM_OK || r[1].status != FATHOM_OK);
    run_ranks(r, 2, 0.2, wait_for_each_other, NULL);
    for (int i = 0; i < 2; i++)
        TEST_ASSERT_NOT_NULL(strstr(r[i].message, "all ranks wait for each other"));
}

static fathom_status begin_twice(comm *c, void *user) {
    int64_t first[] = {0, 1, 1}, none[] = {0, 0, 1};
    float x = 0, y = 0;
    (void)user;
    comm_rows rows = {comm_rank(c) ? first : none, comm_rank(c) ? first : none, &x, &y, sizeof x};
    TRY(comm_exchange_begin(c, &rows));
    fathom_status status = comm_exchange_begin(c, &rows);
    if (status != FATHOM_FAILURE)
        return fail(FATHOM_NUMERIC, "a second exchange was begun");
    return comm_exchange_finish(c);
}

static void one_exchange_at_a_time(void) {
    runner r[RANKS];
    run_ranks(r, 2, 60, begin_twice, NULL);
    all_ok(r, 2);
}

/* ---- memory ---- */

static void handles_without_memory_are_released(void) {
    int64_t live = mem_live();
    int failures = 0;
    for (int n = 1;; n++, failures++) {
        comm *c[3];
        mem_fail_at(n, false);
        fathom_status status = comm_open_threads(c, 3, NULL);
        mem_fail_at(0, false);
        if (status == FATHOM_OK) {
            for (int r = 0; r < 3; r++)
                comm_close(c[r]);
            break;
        }
        TEST_ASSERT_EQUAL_INT(FATHOM_MEMORY, status);
        TEST_ASSERT_EQUAL_INT64(live, mem_live());
    }
    TEST_ASSERT_TRUE(failures > 10);
    TEST_ASSERT_EQUAL_INT64(live, mem_live());
    comm *none[1];
    TEST_ASSERT_EQUAL_INT(FATHOM_USAGE, comm_open_threads(none, 0, NULL));
}

/* One allocation of any rank in any call fails: all ranks end, nothing is lost. */
static void calls_without_memory_end_all_ranks(void) {
    int64_t live = mem_live();
    uint32_t count = 2;
    int failed = 0;
    for (int n = 14; n < 60; n += 3) {
        runner r[RANKS];
        mem_fail_at(n, false);
        comm *c[3];
        if (comm_open_threads(c, 3, &(comm_options){10}) != FATHOM_OK) {
            mem_fail_at(0, false);
            continue;
        }
        for (int i = 0; i < 3; i++) {
            r[i] = (runner){.c = c[i], .body = rounds, .user = &count};
            TEST_ASSERT_EQUAL_INT(0, pthread_create(&r[i].thread, NULL, run_rank, &r[i]));
        }
        for (int i = 0; i < 3; i++)
            pthread_join(r[i].thread, NULL);
        mem_fail_at(0, false);
        for (int i = 0; i < 3; i++) {
            TEST_ASSERT_EQUAL_INT(r[0].status, r[i].status);
            comm_close(c[i]);
        }
        failed += r[0].status == FATHOM_MEMORY;
        TEST_ASSERT_EQUAL_INT64(live, mem_live());
    }
    TEST_ASSERT_TRUE(failed > 5);
}

int main(void) {
    UNITY_BEGIN();
    RUN_TEST(every_call_returns_the_right_values);
    RUN_TEST(long_messages_are_sent_in_pieces);
    RUN_TEST(alone_every_call_is_nothing);
    RUN_TEST(messages_and_bytes_are_counted);
    RUN_TEST(a_failure_wakes_every_rank);
    RUN_TEST(later_calls_return_the_first_failure);
    RUN_TEST(a_silent_rank_is_named);
    RUN_TEST(a_late_rank_is_waited_for);
    RUN_TEST(calls_that_differ_are_reported);
    RUN_TEST(one_exchange_at_a_time);
    RUN_TEST(handles_without_memory_are_released);
    RUN_TEST(calls_without_memory_end_all_ranks);
    return support_end();
}
