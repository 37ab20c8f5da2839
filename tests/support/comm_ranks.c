/* comm_ranks.c - the calls of comm.h as ranks of a launcher, or as threads:
 *
 *     comm_ranks [threads=R] [rounds=20] [timeout=60] [fail=R,round] [wait=FILE] [seconds=S] [large=BYTES]
 *
 * Rank 0 prints the digest of all sums, which is the same for every transport. fail: this rank fails before that round,
 * as a device does, while the others gather `large` bytes of each rank. seconds: the rounds go on for so long; `wait`:
 * rank 0 creates FILE once they have begun. A failure is printed by rank 0 and by the rank it is of, and is the exit
 * code. */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/mem.h"
#include "support/comm_cases.h"

static struct {
    int threads, fail, fail_round;
    uint32_t rounds;
    double timeout, seconds;
    size_t large;
    const char *wait;
} given = {.fail = -1, .rounds = 20, .timeout = 60};

static fathom_status gather_large(comm *c) {
    char *all = NULL;
    TRY(mem_new(&all, comm_size(c), given.large, 1, "test"));
    fathom_status status = comm_gather(c, all, given.large);
    mem_free(all);
    return status;
}

static fathom_status run(comm *c, uint64_t *digest) {
    double began = clock_seconds();
    for (uint32_t round = 0;; round++) {
        double spent = clock_seconds() - began;
        if (given.seconds == 0 && round >= given.rounds)
            return FATHOM_OK;
        if (given.seconds > 0) { /* rank 0 says when */
            TRY(comm_spread(c, &spent, sizeof spent, 0));
            if (spent >= given.seconds)
                return FATHOM_OK;
        }
        if (comm_rank(c) == given.fail && (int)round == given.fail_round)
            return fail(FATHOM_DEVICE, "the device is lost (injected)");
        if (given.large > 0)
            TRY(gather_large(c));
        TRY(comm_cases_round(c, digest, round % 40));
        if (round == 0 && given.wait && comm_rank(c) == 0) {
            FILE *f = fopen(given.wait, "w");
            if (f)
                fclose(f);
        }
    }
}

static fathom_status run_and_report(comm *c) {
    uint64_t digest = 14695981039346656037u;
    fathom_status status = run(c, &digest);
    comm_counters n = comm_count(c);
    if (status == FATHOM_OK && comm_rank(c) == 0)
        printf("%016" PRIx64 " %s %d ranks, %d here\n", digest, comm_transport(c), comm_size(c), comm_local_size(c));
    if (getenv("VERBOSE"))
        fprintf(stderr, "rank %d: %" PRId64 " messages, %" PRId64 " bytes, waited %.3f s\n", comm_rank(c), n.messages,
                n.bytes, n.waited);
    comm_fail(c, status);
    int failed = comm_failed_rank(c);
    if (status != FATHOM_OK && (failed == comm_rank(c) || comm_rank(c) == 0))
        fprintf(stderr, "rank %d reports: %s\n", comm_rank(c), fathom_last_error());
    fflush(NULL);
    comm_close(c);
    return status;
}

static void *run_thread(void *user) {
    static fathom_status status[COMM_RANKS_MAX];
    int rank = comm_rank(user);
    status[rank] = run_and_report(user);
    return &status[rank];
}

static fathom_status run_threads(void) {
    static comm *c[COMM_RANKS_MAX];
    static pthread_t thread[COMM_RANKS_MAX];
    fathom_status worst = FATHOM_OK;
    void *ended;
    TRY(comm_open_threads(c, given.threads, &(comm_options){given.timeout}));
    for (int r = 0; r < given.threads; r++)
        pthread_create(&thread[r], NULL, run_thread, c[r]);
    for (int r = 0; r < given.threads; r++) {
        pthread_join(thread[r], &ended);
        worst = *(fathom_status *)ended > worst ? *(fathom_status *)ended : worst;
    }
    return worst;
}

static const char *value(const char *word, const char *name) {
    size_t length = strlen(name);
    return strncmp(word, name, length) == 0 && word[length] == '=' ? word + length + 1 : NULL;
}

int main(int count, char **words) {
    for (int i = 1; i < count; i++) {
        const char *text;
        if ((text = value(words[i], "threads")))
            given.threads = atoi(text);
        else if ((text = value(words[i], "rounds")))
            given.rounds = (uint32_t)atoi(text);
        else if ((text = value(words[i], "timeout")))
            given.timeout = atof(text);
        else if ((text = value(words[i], "seconds")))
            given.seconds = atof(text);
        else if ((text = value(words[i], "large")))
            given.large = (size_t)atoll(text);
        else if ((text = value(words[i], "wait")))
            given.wait = text;
        else if (!(text = value(words[i], "fail")) || sscanf(text, "%d,%d", &given.fail, &given.fail_round) != 2)
            return FATHOM_USAGE;
    }
    if (given.threads > 0)
        return (int)run_threads();
    comm *c = NULL;
    fathom_status status = comm_open(&c, &(comm_options){given.timeout});
    if (status != FATHOM_OK) {
        fprintf(stderr, "cannot join: %s\n", fathom_last_error());
        return (int)status;
    }
    return (int)run_and_report(c);
}
