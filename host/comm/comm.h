/* comm.h - the ranks of a partitioned run and how they exchange bytes: threads of this process (threads.c), or
 * processes that a launcher started (MPI, a module loaded at run time). It knows bytes and ranks, neither matrices nor
 * devices.
 *
 *     comm *c = NULL;                                         // NULL is a comm too: one rank, alone
 *     TRY(comm_open(&c, &(comm_options){.timeout = 600}));    // stays NULL where no launcher started this process
 *     ...
 *     TRY(comm_gather(c, all, sizeof *all));                  // all[rank] is mine, then everybody's
 *     comm_close(c);
 *
 * Rules
 *  - Every rank calls the same functions in the same order with sizes that agree. Each returns when this rank's part is
 *    done; the buffers may then be reused. A handle is used by one thread at a time.
 *  - Sums are taken rank after rank in double and rounded once: the same bits on every rank and with every transport.
 *  - Alone (NULL, or one rank) a call has nothing to do and returns FATHOM_OK.
 *  - After a failure of one rank (comm_fail, a rank that vanished, a timeout) every call of every rank returns the same
 *    status, and the message names the rank that failed. The comm can then only be closed. */
#ifndef COMM_COMM_H
#define COMM_COMM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/status.h"

typedef struct comm comm;

#define COMM_RANKS_MAX 4096

typedef struct comm_options {
    double timeout; /* seconds that a rank may be silent while another waits for it; 0: for ever */
} comm_options;

/* The ranks that the launcher started (mpirun, srun), or *c = NULL where none did. FATHOM_USAGE where there is a
 * launcher but not its module, or where the module and the launcher disagree about the number of ranks. */
fathom_status comm_open(comm **c, const comm_options *options);
/* `size` ranks that are threads of this process: ranks[r] is the handle of rank r. Each is closed by itself. */
fathom_status comm_open_threads(comm **ranks, int size, const comm_options *options);
/* Of a rank that did not fail: waits until no other rank reads its memory. Accepts NULL. */
void comm_close(comm *c);

/* 0 and 1 of NULL. Local: among the ranks of this host; threads count as one host. */
int comm_rank(const comm *c);
int comm_size(const comm *c);
int comm_local_rank(const comm *c);
int comm_local_size(const comm *c);
bool comm_is_threads(const comm *c);
const char *comm_transport(const comm *c); /* "alone", "threads", "openmpi", "mpich" */
const char *comm_host(const comm *c);      /* name of this rank's host */
/* How messages name this rank's device; copied. */
void comm_set_device(comm *c, const char *device);

/* In place: bytes first[r] .. first[r + 1] - 1 of `all`, counted in items, are those of rank r; mine are there before
 * the call, everybody's after it. `first` has size + 1 numbers and is the same on every rank. */
fathom_status comm_gather_parts(comm *c, void *all, const int64_t *first, size_t item);
/* The same with parts of equal size: block r of `bytes` is that of rank r. 0 bytes: a barrier. */
fathom_status comm_gather(comm *c, void *all, size_t bytes);

/* Rows to and from every other rank. Rows out_first[p] .. out_first[p + 1] - 1 of `out` go to rank p, rows
 * in_first[p] .. in_first[p + 1] - 1 of `in` come from it; own parts are empty. Begin may return before the rows are
 * there; both buffers stay untouched until finish. One exchange at a time. */
typedef struct comm_rows {
    const int64_t *out_first, *in_first; /* size + 1 each */
    const void *out;
    void *in;
    size_t row_bytes;
} comm_rows;
fathom_status comm_exchange_begin(comm *c, const comm_rows *rows);
fathom_status comm_exchange_finish(comm *c);

/* values[first[r]] .. values[first[r + 1] - 1] on rank r = their sum over the ranks, rank 0 first, in double, rounded
 * once. The rest of `values` keeps what this rank had. With comm_gather_parts: the sum on every rank. */
fathom_status comm_sum_parts(comm *c, float *values, const int64_t *first);

/* `bytes` of rank `root` on every rank. */
fathom_status comm_spread(comm *c, void *bytes, size_t count, int root);

/* This rank cannot go on: with `status` and the last message of this thread every other rank's next or present call
 * fails. Nothing after a failure that came from another rank. Does not wait for longer than two seconds. */
void comm_fail(comm *c, fathom_status status);
/* Has a rank failed, this one or another? */
bool comm_has_failed(const comm *c);
/* The rank that failed first, or -1: its message is the one to print. */
int comm_failed_rank(const comm *c);

/* What this rank has sent since it was opened, and the seconds it waited for others. A message is a send of at least
 * one byte to one rank: a gather sends size - 1, an exchange one for each rank that gets rows, a sum of parts size - 1,
 * a spread size - 1 on the root. */
typedef struct comm_counters {
    int64_t messages, bytes;
    double waited;
} comm_counters;
comm_counters comm_count(const comm *c);

#endif
