/* cpu_team.c - see cpu_team.h. A round is open while threads may join it: `entry` holds its number and the threads that
 * have joined. The caller closes it, at the latest after JOIN_SECONDS. */
#include "backend/cpu/cpu_team.h"

#include <math.h>
#include <sched.h>
#include <signal.h>

#include "backend/cpu/cpu.h"
#include "core/clock.h"
#include "core/forked.h"
#include "core/mem.h"

#define SPIN_LIMIT 2000     /* turns a thread spins at a barrier before it yields: an epoch has hundreds of barriers */
#define IDLE_SPINS 20000    /* turns an idle thread spins for the next round before it sleeps */
#define JOIN_SPINS 256      /* turns until a helper that is awake has joined */
#define JOIN_SECONDS 500e-6 /* what waking a thread takes at most where a core is free */
#define LOST_SECONDS 200e-6 /* shorter waits in a round never shrink the team */
#define LOST_SHARE 0.6      /* of what one thread computes in a round: waiting above it makes a smaller team faster */
#define PAUSE_LEAST 0.01    /* seconds until the team grows again */
#define PAUSE_MOST 2.0      /* or longer after an expensive attempt: */
#define PAUSE_COSTS 20      /* a failed attempt took at most 1/20 of the time until the next */
#define STEADY_SECONDS 0.1  /* without shrinking: the pause is PAUSE_LEAST again */
#define STACK_BYTES (1 << 20) /* of a helper, independent of `ulimit -s` */

struct cpu_team {
    int most, started; /* threads allowed; helpers that run */
    struct helper {
        _Alignas(64) atomic_int order;
        cpu_team *team;
        pthread_t thread;
    } * helper; /* `most` of them; number 0 is the caller and has no thread */
    cpu_round_fn *run;
    void *user;
    atomic_ullong entry; /* round << 32 | joined, or CLOSED instead of joined */
    atomic_uint begun;   /* the last round that was closed, whose threads compute */
    atomic_uint limit;   /* threads that may join */
    int size;            /* threads to try in the next round */
    double retry, pause; /* when to try more again; time between attempts */
    int64_t rounds, short_rounds;
    _Atomic long owner; /* the process that made it, see core/forked.h */
    cpu_barrier_state barrier;

    pthread_mutex_t lock; /* for sleeping */
    pthread_cond_t wake;
    atomic_int sleepers;
    atomic_bool stop;
};

#define CLOSED UINT32_MAX
static inline uint32_t joined(unsigned long long entry) { return (uint32_t)entry; }
static inline uint32_t round_of(unsigned long long entry) { return (uint32_t)(entry >> 32); }

bool cpu_team_awaits_all, cpu_team_keeps_all;

static inline void pause_cpu(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* ---- barrier ---- */

/* The thread that is waited for may have no core: the slow path yields this one to it and adds up the time. A thread
 * that was ordered to leave may see the next round. */
static void wait_phase(cpu_barrier_state *b, unsigned phase) {
    for (int spins = 0; spins < SPIN_LIMIT; spins++) {
        if (atomic_load_explicit(&b->phase, memory_order_acquire) != phase)
            return;
        pause_cpu();
    }
    unsigned round = atomic_load_explicit(&b->round, memory_order_relaxed);
    double start = clock_seconds();
    while (atomic_load_explicit(&b->phase, memory_order_acquire) == phase)
        sched_yield();
    if (atomic_load_explicit(&b->round, memory_order_relaxed) != round)
        return;
    atomic_store_explicit(&b->held_up_by, atomic_load_explicit(&b->late, memory_order_relaxed), memory_order_relaxed);
    atomic_fetch_add_explicit(&b->lost, (long)(1e9 * (clock_seconds() - start)), memory_order_relaxed);
}

/* True for the last thread, which calls `release` when the others may continue. */
static bool arrive(const thread_ctx *ctx, unsigned *phase) {
    cpu_barrier_state *b = ctx->barrier;
    *phase = atomic_load_explicit(&b->phase, memory_order_acquire);
    if (atomic_fetch_add_explicit(&b->waiting, 1, memory_order_acq_rel) == ctx->size - 1)
        return true;
    wait_phase(b, *phase);
    return false;
}

static void release(const thread_ctx *ctx, unsigned phase) {
    cpu_barrier_state *b = ctx->barrier;
    atomic_store_explicit(&b->late, ctx->id, memory_order_relaxed);
    atomic_store_explicit(&b->waiting, 0, memory_order_relaxed);
    atomic_store_explicit(&b->phase, phase + 1, memory_order_release);
}

void cpu_barrier(const thread_ctx *ctx) {
    unsigned phase;
    if (ctx->size > 1 && arrive(ctx, &phase))
        release(ctx, phase);
}

/* Called while all others wait. One thread fewer is faster when waiting costs more than that thread computes. The
 * thread that held up the others leaves, and the last one takes its id. Thread 0 is the caller's and stays: it gets a
 * core when another one leaves. */
static void shrink(cpu_barrier_state *b, int size) {
    double lost = 1e-9 * (double)atomic_load_explicit(&b->lost, memory_order_relaxed);
    double share = LOST_SHARE * (size - 1) / size;
    if (cpu_team_keeps_all || lost < LOST_SECONDS || lost < share * (clock_seconds() - b->start))
        return;
    int late = atomic_load_explicit(&b->held_up_by, memory_order_relaxed), last = size - 1;
    int leaving = late > 0 && late < size ? late : last;
    atomic_store_explicit(b->order[last], leaving, memory_order_relaxed);
    atomic_store_explicit(b->order[leaving], CPU_LEAVE, memory_order_relaxed);
    b->order[leaving] = b->order[last];
    atomic_store_explicit(&b->size, last, memory_order_relaxed);
    b->cost += lost;
    atomic_store_explicit(&b->lost, 0, memory_order_relaxed);
}

/* A thread leaves by its own order alone: the others no longer wait for it and may be rounds ahead. */
bool cpu_end_op(thread_ctx *ctx) {
    cpu_barrier_state *b = ctx->barrier;
    unsigned phase;
    if (ctx->size == 1)
        return true;
    if (arrive(ctx, &phase)) {
        if (atomic_load_explicit(&b->lost, memory_order_relaxed) > 0)
            shrink(b, ctx->size);
        release(ctx, phase);
    }
    int order = atomic_load_explicit(ctx->order, memory_order_relaxed);
    if (order == CPU_LEAVE)
        return false;
    if (order != CPU_STAY) {
        ctx->id = order;
        atomic_store_explicit(ctx->order, CPU_STAY, memory_order_relaxed);
    }
    ctx->size = atomic_load_explicit(&b->size, memory_order_relaxed);
    return true;
}

/* ---- helpers ---- */

/* Waits for an open round; false when the team is freed. */
static bool await_round(cpu_team *team, unsigned long long *entry) {
    for (;;) {
        for (int spins = 0; spins < IDLE_SPINS; spins++) {
            *entry = atomic_load_explicit(&team->entry, memory_order_acquire);
            if (joined(*entry) < atomic_load_explicit(&team->limit, memory_order_relaxed))
                return true;
            if (atomic_load_explicit(&team->stop, memory_order_relaxed))
                return false;
            pause_cpu();
        }
        pthread_mutex_lock(&team->lock);
        atomic_fetch_add(&team->sleepers, 1);
        while (joined(atomic_load(&team->entry)) == CLOSED && !atomic_load(&team->stop))
            pthread_cond_wait(&team->wake, &team->lock);
        atomic_fetch_sub(&team->sleepers, 1);
        pthread_mutex_unlock(&team->lock);
    }
}

static void *help(void *opaque) {
    struct helper *self = opaque;
    cpu_team *team = self->team;
    unsigned long long entry;
    while (await_round(team, &entry)) {
        if (!atomic_compare_exchange_strong(&team->entry, &entry, entry + 1))
            continue;
        int id = (int)joined(entry);
        atomic_store_explicit(&self->order, CPU_STAY, memory_order_relaxed);
        team->barrier.order[id] = &self->order;
        while (atomic_load_explicit(&team->begun, memory_order_acquire) != round_of(entry))
            pause_cpu();
        thread_ctx ctx = {.id = id,
                          .size = atomic_load_explicit(&team->barrier.size, memory_order_relaxed),
                          .barrier = &team->barrier,
                          .order = &self->order};
        team->run(team->user, &ctx);
    }
    return NULL;
}

/* Fewer helpers than wanted are no error. Signals are for the caller's threads. */
static void start_helpers(cpu_team *team) {
    pthread_attr_t attributes;
    sigset_t all, old;
    if (pthread_attr_init(&attributes) != 0)
        return;
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    for (; team->started < team->most; team->started++) {
        struct helper *self = &team->helper[team->started];
        self->team = team;
        if (pthread_create(&self->thread, &attributes, help, self) != 0)
            break;
    }
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&attributes);
    team->most = team->started;
    if (team->size > team->most)
        team->size = team->most;
}

fathom_status cpu_team_make(cpu_team **out, int most) {
    cpu_team *team = NULL;
    fathom_status status;
    *out = NULL;
    TRY(mem_new(&team, 1, 1, sizeof *team, "threads"));
    TRY_OUT(mem_new(&team->helper, most, 1, sizeof *team->helper, "threads"));
    TRY_OUT(mem_new(&team->barrier.order, most, 1, sizeof *team->barrier.order, "threads"));
    team->most = team->size = most;
    team->started = 1;
    atomic_store(&team->helper[0].order, CPU_STAY);
    team->pause = PAUSE_LEAST;
    atomic_store(&team->entry, CLOSED);
    pthread_mutex_init(&team->lock, NULL);
    pthread_cond_init(&team->wake, NULL);
    forked_since(&team->owner);
    *out = team;
    return FATHOM_OK;
out:
    if (team)
        mem_free(team->helper);
    mem_free(team);
    return status;
}

/* A forked child has no helpers to join. */
void cpu_team_free(cpu_team *team) {
    if (!team)
        return;
    if (!forked_since(&team->owner)) {
        pthread_mutex_lock(&team->lock);
        atomic_store(&team->stop, true);
        pthread_cond_broadcast(&team->wake);
        pthread_mutex_unlock(&team->lock);
        for (int i = 1; i < team->started; i++)
            pthread_join(team->helper[i].thread, NULL);
        pthread_cond_destroy(&team->wake);
        pthread_mutex_destroy(&team->lock);
    }
    mem_free(team->helper);
    mem_free(team->barrier.order);
    mem_free(team);
}

void cpu_team_count(const cpu_team *team, int64_t *rounds, int64_t *short_rounds) {
    *rounds = team->rounds;
    *short_rounds = team->short_rounds;
}

/* ---- rounds ---- */

/* Helpers that sleep are woken when those that spin are too few. */
static void wake_helpers(cpu_team *team) {
    if (atomic_load(&team->sleepers) == 0)
        return;
    pthread_mutex_lock(&team->lock);
    pthread_cond_broadcast(&team->wake);
    pthread_mutex_unlock(&team->lock);
}

/* Opens a round for `wanted` threads and returns how many take part. */
static int gather(cpu_team *team, int wanted) {
    uint32_t number = round_of(atomic_load_explicit(&team->entry, memory_order_relaxed)) + 1;
    unsigned long long open = (unsigned long long)number << 32 | 1, entry = open;
    double start = 0;
    atomic_store_explicit(&team->limit, (unsigned)wanted, memory_order_relaxed);
    atomic_store(&team->entry, open);
    for (int spins = 1; joined(entry) < (unsigned)wanted; spins++) {
        pause_cpu();
        entry = atomic_load_explicit(&team->entry, memory_order_relaxed);
        if (spins % JOIN_SPINS != 0)
            continue;
        wake_helpers(team);
        double now = clock_seconds();
        start = start > 0 ? start : now;
        if (cpu_team_awaits_all)
            sched_yield();
        else if (now - start > JOIN_SECONDS)
            break;
    }
    cpu_barrier_state *b = &team->barrier;
    entry = atomic_exchange(&team->entry, (unsigned long long)number << 32 | CLOSED);
    int size = (int)joined(entry);
    atomic_store_explicit(&b->size, size, memory_order_relaxed);
    b->start = clock_seconds();
    b->cost = size < wanted ? JOIN_SECONDS : 0;
    b->order[0] = &team->helper[0].order;
    atomic_store_explicit(&b->lost, 0, memory_order_relaxed);
    atomic_store_explicit(&b->round, number, memory_order_relaxed);
    atomic_store_explicit(&team->begun, number, memory_order_release);
    return size;
}

/* After a round of `wanted` threads that ended with `left` of them. */
static void adapt(cpu_team *team, int wanted, int left) {
    double now = clock_seconds();
    team->rounds++;
    team->short_rounds += left < team->most;
    if (left < wanted) {
        team->size = left;
        team->pause = fmax(fmin(2 * team->pause, PAUSE_MOST), PAUSE_COSTS * team->barrier.cost);
        team->retry = now + team->pause;
    } else if (now > team->retry) {
        if (team->size == team->most) {
            team->pause = PAUSE_LEAST;
            return;
        }
        team->size = 2 * team->size < team->most ? 2 * team->size : team->most;
        team->retry = now + STEADY_SECONDS;
    }
}

void cpu_team_run(cpu_team *team, cpu_round_fn *run, void *user) {
    thread_ctx ctx = {.id = 0, .size = 1, .barrier = &team->barrier, .order = &team->helper[0].order};
    if (team->most == 1 || forked_from_threads() || forked_since(&team->owner)) {
        run(user, &ctx);
        return;
    }
    if (team->started < team->most)
        start_helpers(team);
    int wanted = cpu_team_awaits_all ? team->most : team->size;
    if (wanted > 1) {
        team->run = run;
        team->user = user;
        ctx.size = gather(team, wanted);
    }
    run(user, &ctx);
    adapt(team, wanted, ctx.size);
}
