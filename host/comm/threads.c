/* threads.c - ranks that are threads of one process. A message is copied once, from the sender's memory to the
 * receiver's, by whichever of the two waits first after both have posted it. */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

#include "comm/internal.h"
#include "core/mem.h"

typedef struct thread_slot {
    comm_message message;
    bool active, busy, done; /* busy: it is being copied, without the lock */
    uint64_t number;         /* in the order of posting */
} thread_slot;

typedef struct world world;
typedef struct thread_rank {
    world *world;
    int rank;
    thread_slot *slot;
    int slots;
    uint64_t posted;
    pthread_cond_t wake;
    bool *alive; /* [size]: who said so since this rank listened */
    bool news, heard_failure;
} thread_rank;

struct world {
    pthread_mutex_t lock; /* of everything here */
    int size, open;
    thread_rank *rank;
    comm_note failure;
};

/* ---- messages ---- */

static fathom_status threads_post(void *state, int slot, const comm_message *message) {
    thread_rank *me = state;
    fathom_status status = FATHOM_OK;
    pthread_mutex_lock(&me->world->lock);
    if (slot >= me->slots) { /* others read the slots, with the lock */
        int more = 2 * slot + 16;
        status = mem_grow(&me->slot, me->slots, more, sizeof *me->slot, "messages");
        me->slots = status == FATHOM_OK ? more : me->slots;
    }
    if (status == FATHOM_OK) {
        me->slot[slot] = (thread_slot){.message = *message, .active = true, .number = me->posted++};
        pthread_cond_signal(&me->world->rank[message->peer].wake);
    }
    pthread_mutex_unlock(&me->world->lock);
    return status;
}

/* The first slot of `r` whose message goes to, or comes from, `peer` with this tag and nobody has copied. */
static int first_slot(const thread_rank *r, bool send, int peer, int tag) {
    int found = -1;
    for (int s = 0; s < r->slots; s++) {
        const thread_slot *slot = &r->slot[s];
        if (slot->active && !slot->busy && !slot->done && slot->message.send == send && slot->message.peer == peer &&
            slot->message.tag == tag && (found < 0 || slot->number < r->slot[found].number))
            found = s;
    }
    return found;
}

/* Copies the message of this slot if the other side has posted it. The lock is held, but for the copying. */
static fathom_status copy_slot(thread_rank *me, int s) {
    const comm_message mine = me->slot[s].message;
    thread_rank *peer = &me->world->rank[mine.peer];
    int other = first_slot(peer, !mine.send, me->rank, mine.tag);
    if (other < 0 || first_slot(me, mine.send, mine.peer, mine.tag) != s)
        return FATHOM_OK;
    const comm_message theirs = peer->slot[other].message;
    if (theirs.count != mine.count)
        return fail(FATHOM_FAILURE, "ranks %d and %d disagree about the size of a message: %zu and %zu bytes", me->rank,
                    peer->rank, mine.count, theirs.count);
    me->slot[s].busy = peer->slot[other].busy = true;
    pthread_mutex_unlock(&me->world->lock);
    if (mine.count > 0)
        memcpy(mine.send ? theirs.bytes : mine.bytes, mine.send ? mine.bytes : theirs.bytes, mine.count);
    pthread_mutex_lock(&me->world->lock);
    me->slot[s].busy = peer->slot[other].busy = false;
    me->slot[s].done = peer->slot[other].done = true;
    pthread_cond_signal(&peer->wake);
    return FATHOM_OK;
}

static fathom_status collect(thread_rank *me, int *done, int *count) {
    *count = 0;
    for (int s = 0; s < me->slots; s++) {
        if (me->slot[s].active && !me->slot[s].done && !me->slot[s].busy)
            TRY(copy_slot(me, s));
        if (me->slot[s].active && me->slot[s].done) {
            me->slot[s].active = false;
            done[(*count)++] = s;
        }
    }
    return FATHOM_OK;
}

static fathom_status threads_wait(void *state, int *done, int *count, double seconds) {
    thread_rank *me = state;
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    int64_t ns = until.tv_nsec + (int64_t)(seconds * 1e9);
    until.tv_sec += (time_t)(ns / 1000000000);
    until.tv_nsec = (long)(ns % 1000000000);
    pthread_mutex_lock(&me->world->lock);
    fathom_status status;
    int waited = 0;
    while ((status = collect(me, done, count)) == FATHOM_OK && *count == 0 && !me->news && waited != ETIMEDOUT)
        waited = pthread_cond_timedwait(&me->wake, &me->world->lock, &until);
    pthread_mutex_unlock(&me->world->lock);
    return status;
}

/* ---- news ---- */

static void threads_tell(void *state, const comm_note *note) {
    thread_rank *me = state;
    world *w = me->world;
    pthread_mutex_lock(&w->lock);
    if (note->news == COMM_FAILED && w->failure.news != COMM_FAILED)
        w->failure = *note;
    me->heard_failure = me->heard_failure || note->news == COMM_FAILED;
    for (int p = 0; p < w->size; p++) {
        w->rank[p].alive[me->rank] = true;
        w->rank[p].news = p != me->rank || w->rank[p].news;
        pthread_cond_signal(&w->rank[p].wake);
    }
    pthread_mutex_unlock(&w->lock);
}

static bool threads_hear(void *state, int *from, comm_note *note) {
    thread_rank *me = state;
    world *w = me->world;
    bool found = false;
    pthread_mutex_lock(&w->lock);
    if (w->failure.news == COMM_FAILED && !me->heard_failure) {
        *note = w->failure;
        *from = note->rank;
        found = me->heard_failure = true;
    }
    for (int p = 0; p < w->size && !found; p++)
        if (me->alive[p]) {
            me->alive[p] = false;
            *note = (comm_note){.news = COMM_ALIVE, .rank = p};
            *from = p;
            found = true;
        }
    me->news = found; /* looks again */
    pthread_mutex_unlock(&w->lock);
    return found;
}

static void threads_withdraw(void *state, double seconds) {
    thread_rank *me = state;
    (void)seconds;
    pthread_mutex_lock(&me->world->lock);
    for (int s = 0; s < me->slots; s++) {
        while (me->slot[s].busy)
            pthread_cond_wait(&me->wake, &me->world->lock);
        me->slot[s].active = false;
    }
    pthread_mutex_unlock(&me->world->lock);
}

/* ---- opening and closing ---- */

/* The last rank frees all: others may still look for messages in the slots of one that is closed. */
static void free_world(world *w) {
    for (int r = 0; r < w->size; r++) {
        pthread_cond_destroy(&w->rank[r].wake);
        mem_free(w->rank[r].slot);
        mem_free(w->rank[r].alive);
    }
    pthread_mutex_destroy(&w->lock);
    mem_free(w->rank);
    mem_free(w);
}

static void threads_close(void *state, bool failed) {
    world *w = ((thread_rank *)state)->world;
    if (failed)
        threads_withdraw(state, 0);
    pthread_mutex_lock(&w->lock);
    bool last = --w->open == 0;
    pthread_mutex_unlock(&w->lock);
    if (last)
        free_world(w);
}

static const comm_driver threads_driver = {.version = COMM_DRIVER_VERSION,
                                           .name = "threads",
                                           .post = threads_post,
                                           .wait = threads_wait,
                                           .tell = threads_tell,
                                           .hear = threads_hear,
                                           .withdraw = threads_withdraw,
                                           .close = threads_close};

static fathom_status make_world(world **made, int size) {
    world *w = NULL;
    pthread_condattr_t monotonic;
    TRY(mem_new(&w, 1, 1, sizeof *w, "ranks"));
    pthread_mutex_init(&w->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    fathom_status status = mem_new(&w->rank, size, 1, sizeof *w->rank, "ranks");
    for (; status == FATHOM_OK && w->size < size; w->size++) {
        thread_rank *r = &w->rank[w->size];
        *r = (thread_rank){.world = w, .rank = w->size};
        pthread_cond_init(&r->wake, &monotonic);
        status = mem_new(&r->alive, size, 1, sizeof *r->alive, "ranks");
    }
    pthread_condattr_destroy(&monotonic);
    if (status != FATHOM_OK)
        free_world(w);
    else
        *made = w;
    return status;
}

/* All on this host. */
static void finish_rank(comm *c) {
    c->threads = true;
    for (int p = 0; p < c->size; p++)
        c->member[p] = c->member[c->rank];
}

fathom_status comm_open_threads(comm **ranks, int size, const comm_options *options) {
    world *w = NULL;
    for (int r = 0; r < size; r++)
        ranks[r] = NULL;
    if (size < 1 || size > COMM_RANKS_MAX)
        return fail(FATHOM_USAGE, "%d ranks: from 1 to %d", size, COMM_RANKS_MAX);
    TRY(make_world(&w, size));
    fathom_status status = FATHOM_OK;
    w->open = size;
    for (int r = 0; r < size; r++)
        if (status == FATHOM_OK) {
            status = comm_make(&ranks[r], &threads_driver, &w->rank[r], r, size, options);
            if (status == FATHOM_OK)
                finish_rank(ranks[r]);
        } else {
            threads_close(&w->rank[r], true);
        }
    for (int r = 0; r < size && status != FATHOM_OK; r++) {
        comm_close(ranks[r]);
        ranks[r] = NULL;
    }
    return status;
}
