/* wait.c - posting messages, and the one loop in which a rank waits for others. A rank that waits listens for failures
 * of others and tells them that it is alive: so a rank is silent only while it computes, is stopped, or cannot be
 * reached, and the message names that rank rather than one that waits for it, too. */
#include <stdio.h>
#include <string.h>

#include "comm/internal.h"
#include "core/clock.h"
#include "core/mem.h"

#define TURN_SECONDS 0.005 /* between looks at the clock and the news */
#define ALIVE_SHARE 0.25   /* of the timeout: how often a rank that waits says so */
#define LATER_SECONDS 0.1  /* rank r gives up r times this later, so that one message reports a silent rank */
#define LATER_MOST 1.0
#define ALL_ALIVE_TIMES 3 /* timeouts after which ranks that are all alive wait for each other: a mistake of ours */

size_t comm_piece = (size_t)1 << 30; /* MPI counts with int */

static fathom_status grow_slots(comm *c) {
    int more = c->slots ? 2 * c->slots : 16;
    TRY(mem_grow(&c->slot, c->slots, more, sizeof *c->slot, "messages"));
    TRY(mem_grow(&c->done, c->slots, more, sizeof *c->done, "messages"));
    TRY(mem_grow(&c->free_slot, c->slots, more, sizeof *c->free_slot, "messages"));
    for (int s = more - 1; s >= c->slots; s--)
        c->free_slot[c->free_slots++] = s;
    c->slots = more;
    return FATHOM_OK;
}

static fathom_status post_piece(comm *c, comm_batch *batch, const comm_message *message) {
    if (c->free_slots == 0)
        TRY(grow_slots(c));
    int slot = c->free_slot[c->free_slots - 1];
    TRY(c->driver->post(c->state, slot, message));
    c->free_slots--;
    c->slot[slot] = (struct comm_slot){batch, message->peer, message->send};
    batch->pending++;
    if (message->send && message->count > 0) {
        c->counters.messages++;
        c->counters.bytes += (int64_t)message->count;
    }
    return FATHOM_OK;
}

fathom_status comm_post(comm *c, comm_batch *batch, const comm_message *message) {
    comm_message piece = *message;
    size_t left = message->count;
    do {
        piece.count = left < comm_piece ? left : comm_piece;
        fathom_status status = post_piece(c, batch, &piece);
        if (status != FATHOM_OK) { /* others may be copying what was posted before: the caller frees it next */
            comm_fail(c, status);
            return status;
        }
        left -= piece.count;
        if (left > 0)
            piece.bytes = (char *)piece.bytes + piece.count;
    } while (left > 0);
    return FATHOM_OK;
}

/* Stores the failure that every later call returns. */
static fathom_status failed_with(comm *c, const comm_note *note) {
    c->failed = true;
    c->failure = *note;
    c->failure.text[sizeof c->failure.text - 1] = '\0';
    c->driver->withdraw(c->state, 2);
    return comm_check(c);
}

/* This rank gives up: for lack of an answer, or because the transport failed. */
static fathom_status give_up(comm *c, fathom_status status) {
    comm_note note = {COMM_FAILED, (int32_t)status, c->rank, ""};
    snprintf(note.text, sizeof note.text, "%s", fathom_last_error());
    c->driver->tell(c->state, &note);
    return failed_with(c, &note);
}

fathom_status comm_listen(comm *c) {
    comm_note note;
    int from;
    while (c->driver->hear(c->state, &from, &note)) {
        c->heard[from] = clock_seconds();
        if (note.news == COMM_FAILED)
            return failed_with(c, &note);
    }
    return FATHOM_OK;
}

/* The first rank this one waits for that was last heard of before `since`, and in *others how many more there are. */
static int silent_rank(const comm *c, const comm_batch *batch, double since, int *others) {
    int found = -1;
    *others = 0;
    for (int p = 0; p < c->size; p++) {
        bool awaited = false;
        for (int s = 0; s < c->slots; s++)
            awaited = awaited || (c->slot[s].batch == batch && c->slot[s].peer == p);
        if (!awaited || c->heard[p] > since)
            continue;
        *others += found >= 0;
        found = found < 0 ? p : found;
    }
    return found;
}

static fathom_status check_silence(comm *c, const comm_batch *batch, double began) {
    int others;
    double now = clock_seconds(), later = LATER_SECONDS * c->rank;
    double patience = c->timeout + (later < LATER_MOST ? later : LATER_MOST);
    if (now - began < patience)
        return FATHOM_OK;
    int silent = silent_rank(c, batch, now - patience, &others);
    char more[40] = "";
    if (others > 0)
        snprintf(more, sizeof more, " and %d more", others);
    if (silent >= 0)
        return give_up(c,
                       fail(FATHOM_FAILURE,
                            "rank %d (%s)%s %s not answered for %.0f s (--comm-timeout): stopped, cut off, or slower "
                            "than that",
                            silent, c->member[silent].host, more, others ? "have" : "has", c->timeout));
    if (now - began > ALL_ALIVE_TIMES * patience)
        return give_up(c, fail(FATHOM_FAILURE, "all ranks wait for each other: their calls differ"));
    return FATHOM_OK;
}

static void finish_slots(comm *c, int count) {
    for (int i = 0; i < count; i++) {
        struct comm_slot *slot = &c->slot[c->done[i]];
        if (!slot->send)
            c->heard[slot->peer] = clock_seconds();
        slot->batch->pending--;
        slot->batch = NULL;
        c->free_slot[c->free_slots++] = c->done[i];
    }
}

static fathom_status wait_loop(comm *c, comm_batch *batch) {
    const comm_note alive = {COMM_ALIVE, 0, c->rank, ""};
    double began = clock_seconds(), told = began, looked = began;
    while (batch->pending > 0) {
        int count = 0;
        fathom_status status = c->driver->wait(c->state, c->done, &count, TURN_SECONDS);
        if (status != FATHOM_OK)
            return give_up(c, status);
        finish_slots(c, count);
        double now = clock_seconds();
        if (batch->pending == 0 || (count > 0 && now - looked < TURN_SECONDS))
            continue;
        looked = now;
        TRY(comm_listen(c));
        if (c->timeout <= 0)
            continue;
        if (now - told > ALIVE_SHARE * c->timeout) {
            c->driver->tell(c->state, &alive);
            told = now;
        }
        TRY(check_silence(c, batch, began));
    }
    return FATHOM_OK;
}

fathom_status comm_wait(comm *c, comm_batch *batch) {
    double began = clock_seconds();
    fathom_status status = wait_loop(c, batch);
    c->counters.waited += clock_seconds() - began;
    return status;
}
