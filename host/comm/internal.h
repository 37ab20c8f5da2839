/* internal.h - the state of a rank, shared by comm.c, wait.c, collective.c, threads.c and launcher.c. */
#ifndef COMM_INTERNAL_H
#define COMM_INTERNAL_H

#include "comm/comm.h"
#include "comm/driver.h"

#define COMM_HOST_MAX 64

/* What each rank tells the others when it joins. */
typedef struct comm_member {
    char version[32], host[COMM_HOST_MAX];
} comm_member;

typedef struct comm_batch {
    int pending; /* messages that are not done yet */
} comm_batch;

struct comm {
    const comm_driver *driver;
    void *state;
    int rank, size, local_rank, local_size;
    bool threads;
    double timeout;
    char device[128];
    comm_member *member; /* [size] */

    /* slots of the transport */
    struct comm_slot {
        comm_batch *batch;
        int peer;
        bool send;
    } * slot;
    int *free_slot, *done; /* [slots] */
    int slots, free_slots;
    comm_batch call, exchange;
    double *heard; /* [size]: when a rank was last heard of */

    int64_t *first; /* [size + 1] of a call with equal parts */
    void *work;     /* of comm_sum_parts */
    size_t work_bytes;

    bool failed;
    comm_note failure; /* what every later call returns */
    comm_counters counters;
};

/* The handle of a rank whose transport is open. The comm owns `state` from then on, also when this fails. */
fathom_status comm_make(comm **c, const comm_driver *driver, void *state, int rank, int size,
                        const comm_options *options);
/* Names, versions and hosts of all. */
fathom_status comm_join(comm *c);

/* Posts `count` bytes as messages of at most comm_piece bytes (one also for 0 bytes). */
extern size_t comm_piece; /* less in tests */
fathom_status comm_post(comm *c, comm_batch *batch, const comm_message *message);
/* Until the batch is done, a rank has failed, or one is silent for too long. */
fathom_status comm_wait(comm *c, comm_batch *batch);
/* FATHOM_OK, or the failure that every call returns. */
fathom_status comm_check(const comm *c);
/* Takes in news of others; fails with the failure of one. */
fathom_status comm_listen(comm *c);

#endif
