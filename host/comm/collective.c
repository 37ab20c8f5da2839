/* collective.c - the calls, made of messages between two ranks: each rank writes to every other one, beginning with its
 * successor, so that not all write to the same rank at once. */
#include <string.h>

#include "comm/internal.h"
#include "core/mem.h"

static int after(const comm *c, int k) { return (c->rank + k) % c->size; }
static int before(const comm *c, int k) { return (c->rank + c->size - k) % c->size; }
static void *at(const void *bytes, int64_t item, size_t size) { return (char *)bytes + (size_t)item * size; }

static fathom_status post(comm *c, comm_batch *batch, bool send, int peer, void *bytes, size_t count) {
    int tag = batch == &c->exchange ? COMM_TAG_EXCHANGE : COMM_TAG_CALL;
    return comm_post(c, batch, &(comm_message){send, peer, tag, bytes, count});
}

/* Parts first[p] .. first[p + 1] of the arrays to, or from, every other rank. */
static fathom_status post_parts(comm *c, comm_batch *batch, bool send, const void *bytes, const int64_t *first,
                                size_t item) {
    for (int k = 1; k < c->size; k++) {
        int p = send ? after(c, k) : before(c, k);
        if (first[p + 1] > first[p])
            TRY(post(c, batch, send, p, at(bytes, first[p], item), (size_t)(first[p + 1] - first[p]) * item));
    }
    return FATHOM_OK;
}

static bool alone(const comm *c) { return !c || c->size == 1; }

/* Before anything is posted: what other ranks posted before one failed must not be answered any more. */
static fathom_status start(comm *c) {
    TRY(comm_check(c));
    return comm_listen(c);
}

/* ---- gather ---- */

fathom_status comm_gather_parts(comm *c, void *all, const int64_t *first, size_t item) {
    if (alone(c))
        return FATHOM_OK;
    TRY(start(c));
    int64_t mine = first[c->rank + 1] - first[c->rank];
    TRY(post_parts(c, &c->call, false, all, first, item));
    for (int k = 1; k < c->size && mine > 0; k++)
        TRY(post(c, &c->call, true, after(c, k), at(all, first[c->rank], item), (size_t)mine * item));
    return comm_wait(c, &c->call);
}

static fathom_status barrier(comm *c) {
    for (int k = 1; k < c->size; k++)
        TRY(post(c, &c->call, false, before(c, k), NULL, 0));
    for (int k = 1; k < c->size; k++)
        TRY(post(c, &c->call, true, after(c, k), NULL, 0));
    return comm_wait(c, &c->call);
}

fathom_status comm_gather(comm *c, void *all, size_t bytes) {
    if (alone(c))
        return FATHOM_OK;
    TRY(start(c));
    if (bytes == 0)
        return barrier(c);
    for (int p = 0; p <= c->size; p++)
        c->first[p] = p;
    return comm_gather_parts(c, all, c->first, bytes);
}

/* ---- exchange ---- */

fathom_status comm_exchange_begin(comm *c, const comm_rows *rows) {
    if (alone(c))
        return FATHOM_OK;
    TRY(start(c));
    if (c->exchange.pending > 0)
        return fail(FATHOM_FAILURE, "an exchange of rows was begun before the last one was finished");
    TRY(post_parts(c, &c->exchange, false, rows->in, rows->in_first, rows->row_bytes));
    return post_parts(c, &c->exchange, true, rows->out, rows->out_first, rows->row_bytes);
}

fathom_status comm_exchange_finish(comm *c) {
    if (alone(c))
        return FATHOM_OK;
    TRY(comm_check(c));
    return comm_wait(c, &c->exchange);
}

/* ---- sum ---- */

/* mine = sum over the ranks, 0 first; parts of other ranks are in `work`, one after the other without this rank's. */
static void add_in_rank_order(float *mine, const float *work, int64_t count, int rank, int size) {
    for (int64_t i = 0; i < count; i++) {
        double sum = 0;
        for (int p = 0; p < size; p++)
            sum += (double)(p == rank ? mine[i] : work[(p - (p > rank)) * count + i]);
        mine[i] = (float)sum;
    }
}

fathom_status comm_sum_parts(comm *c, float *values, const int64_t *first) {
    if (alone(c))
        return FATHOM_OK;
    TRY(start(c));
    int64_t mine = first[c->rank + 1] - first[c->rank];
    size_t wanted = (size_t)mine * (size_t)(c->size - 1) * sizeof *values;
    if (wanted > c->work_bytes) {
        mem_free(c->work);
        c->work = NULL;
        c->work_bytes = 0;
        TRY(mem_new(&c->work, wanted, 1, 1, "sums over ranks"));
        c->work_bytes = wanted;
    }
    for (int k = 1; k < c->size && mine > 0; k++) {
        int p = before(c, k);
        float *part = (float *)c->work + (p - (p > c->rank)) * mine;
        TRY(post(c, &c->call, false, p, part, (size_t)mine * sizeof *values));
    }
    TRY(post_parts(c, &c->call, true, values, first, sizeof *values));
    TRY(comm_wait(c, &c->call));
    add_in_rank_order(values + first[c->rank], c->work, mine, c->rank, c->size);
    return FATHOM_OK;
}

/* ---- spread ---- */

fathom_status comm_spread(comm *c, void *bytes, size_t count, int root) {
    if (alone(c) || count == 0)
        return FATHOM_OK;
    TRY(start(c));
    if (c->rank != root)
        TRY(post(c, &c->call, false, root, bytes, count));
    for (int k = 1; k < c->size && c->rank == root; k++)
        TRY(post(c, &c->call, true, after(c, k), bytes, count));
    return comm_wait(c, &c->call);
}
