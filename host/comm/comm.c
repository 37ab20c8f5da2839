/* comm.c - handles: made by a transport, joined, asked, failed, closed. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "comm/internal.h"
#include "core/mem.h"

int comm_rank(const comm *c) { return c ? c->rank : 0; }
int comm_size(const comm *c) { return c ? c->size : 1; }
int comm_local_rank(const comm *c) { return c ? c->local_rank : 0; }
int comm_local_size(const comm *c) { return c ? c->local_size : 1; }
bool comm_is_threads(const comm *c) { return c && c->threads; }
const char *comm_transport(const comm *c) { return c ? c->driver->name : "alone"; }
bool comm_has_failed(const comm *c) { return c && c->failed; }
int comm_failed_rank(const comm *c) { return c && c->failed ? c->failure.rank : -1; }
comm_counters comm_count(const comm *c) { return c ? c->counters : (comm_counters){0}; }

static void find_host(char host[COMM_HOST_MAX]) {
    if (gethostname(host, COMM_HOST_MAX) != 0)
        snprintf(host, COMM_HOST_MAX, "localhost");
    host[COMM_HOST_MAX - 1] = '\0';
}

const char *comm_host(const comm *c) {
    static _Thread_local char host[COMM_HOST_MAX];
    if (c)
        return c->member[c->rank].host;
    find_host(host);
    return host;
}

void comm_set_device(comm *c, const char *device) {
    if (c)
        snprintf(c->device, sizeof c->device, "%s", device ? device : "");
}

fathom_status comm_make(comm **made, const comm_driver *driver, void *state, int rank, int size,
                        const comm_options *options) {
    comm *c = NULL;
    fathom_status status = mem_new(&c, 1, 1, sizeof *c, "rank");
    *made = NULL;
    if (status != FATHOM_OK) {
        driver->close(state, true);
        return status;
    }
    c->driver = driver;
    c->state = state;
    c->rank = c->local_rank = rank;
    c->size = c->local_size = size;
    c->timeout = options ? options->timeout : 0;
    TRY_OUT(mem_new(&c->member, size, 1, sizeof *c->member, "names of the ranks"));
    TRY_OUT(mem_new(&c->heard, size, 1, sizeof *c->heard, "state of the ranks"));
    TRY_OUT(mem_new(&c->first, (size_t)size + 1, 1, sizeof *c->first, "parts of the ranks"));
    comm_member *me = &c->member[rank];
    snprintf(me->version, sizeof me->version, "%s", fathom_version());
    find_host(me->host);
    *made = c;
out:
    if (status != FATHOM_OK) {
        c->failed = true;
        comm_close(c);
    }
    return status;
}

fathom_status comm_join(comm *c) {
    const comm_member *me = &c->member[c->rank];
    TRY(comm_gather(c, c->member, sizeof *c->member));
    c->local_rank = c->local_size = 0;
    for (int p = 0; p < c->size; p++) {
        comm_member *other = &c->member[p];
        other->version[sizeof other->version - 1] = other->host[COMM_HOST_MAX - 1] = '\0';
        if (strcmp(other->version, me->version) != 0)
            return fail(FATHOM_USAGE, "rank %d (%s) runs fathom %s, rank %d (%s) fathom %s: install one version", p,
                        other->host, other->version, c->rank, me->host, me->version);
        if (strcmp(other->host, me->host) == 0) {
            c->local_rank += p < c->rank;
            c->local_size++;
        }
    }
    c->counters = (comm_counters){0};
    return FATHOM_OK;
}

fathom_status comm_check(const comm *c) {
    return c->failed ? fail((fathom_status)c->failure.status, "%s", c->failure.text) : FATHOM_OK;
}

void comm_fail(comm *c, fathom_status status) {
    if (!c || c->failed || status == FATHOM_OK)
        return;
    const char *host = c->member[c->rank].host, *device = c->device;
    c->failed = true;
    c->failure = (comm_note){COMM_FAILED, (int32_t)status, c->rank, ""};
    int used = snprintf(c->failure.text, sizeof c->failure.text, "rank %d (%s%s%s): ", c->rank, host,
                        device[0] ? ", " : "", device);
    snprintf(c->failure.text + used, sizeof c->failure.text - (size_t)used, "%s", fathom_last_error());
    c->driver->tell(c->state, &c->failure);
    c->driver->withdraw(c->state, 2);
}

void comm_close(comm *c) {
    if (!c)
        return;
    c->driver->close(c->state, c->failed);
    mem_free(c->member);
    mem_free(c->heard);
    mem_free(c->first);
    mem_free(c->work);
    mem_free(c->slot);
    mem_free(c->free_slot);
    mem_free(c->done);
    mem_free(c);
}
