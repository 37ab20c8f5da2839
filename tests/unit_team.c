/* unit_team.c - the threads of the CPU back end: every part of every operation is done once, whoever leaves in between;
 * a team shrinks when one of its threads has no core, and grows again. labels: threads */
#include <string.h>
#include <time.h>

#include "backend/cpu/cpu.h"
#include "core/clock.h"
#include "support/support.h"

enum { PARTS = 1000, OPS = 32, MOST = 4 };

typedef struct work {
    atomic_int done[OPS][PARTS]; /* how often each part was computed */
    atomic_int sizes[OPS];       /* the largest size seen in each operation */
    int stalled_op;              /* -1: none */
    int stalled_id;
    double stall;
} work;

static work job;

void setUp(void) {
    memset(&job, 0, sizeof job);
    job.stalled_op = -1;
}
void tearDown(void) { cpu_team_awaits_all = cpu_team_keeps_all = false; }

static void sleep_seconds(double seconds) {
    struct timespec time = {(time_t)seconds, (long)(1e9 * (seconds - (double)(time_t)seconds))};
    nanosleep(&time, NULL);
}

/* An operation of two phases; each thread computes its part of both. */
static void run(void *user, thread_ctx *ctx) {
    work *w = user;
    for (int op = 0; op < OPS; op++) {
        int half = PARTS / 2, begin = half * ctx->id / ctx->size, end = half * (ctx->id + 1) / ctx->size;
        for (int i = begin; i < end; i++)
            atomic_fetch_add(&w->done[op][i], 1);
        if (op == w->stalled_op && ctx->id == w->stalled_id)
            sleep_seconds(w->stall);
        cpu_barrier(ctx);
        for (int i = half + begin; i < half + end; i++)
            atomic_fetch_add(&w->done[op][i], 1);
        atomic_store(&w->sizes[op], ctx->size);
        if (!cpu_end_op(ctx))
            return;
    }
}

static void expect_all_done(int rounds) {
    for (int op = 0; op < OPS; op++)
        for (int i = 0; i < PARTS; i++)
            if (atomic_load(&job.done[op][i]) != rounds) {
                TEST_ASSERT_EQUAL_INT_MESSAGE(op, -1, "an operation in which a part is missing or done twice");
            }
}

static void every_part_once(void) {
    cpu_team *team;
    for (int most = 1; most <= MOST; most++) {
        setUp();
        cpu_team_awaits_all = cpu_team_keeps_all = most % 2;
        TEST_ASSERT_EQUAL_INT(FATHOM_OK, cpu_team_make(&team, most));
        for (int round = 0; round < 10; round++)
            cpu_team_run(team, run, &job);
        cpu_team_free(team);
        expect_all_done(10);
    }
}

/* Repeated where another program stalls a thread before the test does. */
static void a_stalled_thread_leaves(void) {
    enum { TRIES = 50 };
    cpu_team *team;
    int64_t all, of_fewer;
    cpu_team_awaits_all = true;
    for (int id = 0; id < 2; id++) {
        int rounds = 0;
        setUp();
        TEST_ASSERT_EQUAL_INT(FATHOM_OK, cpu_team_make(&team, 2));
        job.stalled_op = 20;
        job.stalled_id = id;
        job.stall = 0.05;
        do {
            cpu_team_run(team, run, &job);
            rounds++;
        } while (atomic_load(&job.sizes[20]) < 2 && rounds < TRIES);
        expect_all_done(rounds);
        cpu_team_count(team, &all, &of_fewer);
        cpu_team_free(team);
        if (rounds == TRIES)
            TEST_IGNORE_MESSAGE("no second core was free");
        TEST_ASSERT_EQUAL_INT(1, atomic_load(&job.sizes[21]));
        TEST_ASSERT_EQUAL_INT64(rounds, all);
        TEST_ASSERT_EQUAL_INT64(rounds, of_fewer);
    }
}

/* Threads that computed the last operation of a round of a team of two that nothing stalls. */
static int size_of_round(cpu_team *team) {
    job.stalled_op = -1;
    atomic_store(&job.sizes[OPS - 1], 0);
    cpu_team_run(team, run, &job);
    return atomic_load(&job.sizes[OPS - 1]);
}

/* On a machine without a free core no team has two threads: a new one shows it. */
static void a_team_grows_again(void) {
    cpu_team *team, *fresh;
    int size = 1, fresh_size;
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, cpu_team_make(&team, 2));
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, cpu_team_make(&fresh, 2));
    job.stalled_op = 20;
    job.stalled_id = 1;
    job.stall = 0.02;
    cpu_team_run(team, run, &job);
    for (double end = clock_seconds() + 10; size < 2 && clock_seconds() < end; size = size_of_round(team))
        sleep_seconds(0.001);
    fresh_size = size_of_round(fresh);
    cpu_team_free(team);
    cpu_team_free(fresh);
    if (size < 2 && fresh_size < 2)
        TEST_IGNORE_MESSAGE("no second core was free for ten seconds");
    TEST_ASSERT_EQUAL_INT(2, size);
}

/* Rounds far apart: helpers sleep in between, and wake. */
static void sleeping_helpers_wake(void) {
    cpu_team *team;
    cpu_team_awaits_all = cpu_team_keeps_all = true;
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, cpu_team_make(&team, 3));
    for (int round = 0; round < 10; round++) {
        cpu_team_run(team, run, &job);
        TEST_ASSERT_EQUAL_INT(3, atomic_load(&job.sizes[0]));
        sleep_seconds(0.02);
    }
    cpu_team_free(team);
    expect_all_done(10);
}

int main(void) {
    UNITY_BEGIN();
    RUN_TEST(every_part_once);
    RUN_TEST(a_stalled_thread_leaves);
    RUN_TEST(a_team_grows_again);
    RUN_TEST(sleeping_helpers_wake);
    return UNITY_END();
}
