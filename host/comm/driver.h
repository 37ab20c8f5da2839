/* driver.h - what carries messages between ranks: threads.c, or a module of comm/mpi. comm.c has everything else:
 * calls, order of sums, waiting, failure. A transport's functions are called by one thread at a time. */
#ifndef COMM_DRIVER_H
#define COMM_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/status.h"

#define COMM_DRIVER_VERSION 1

/* Messages between two ranks with one tag arrive in the order in which they were posted. */
enum comm_tag { COMM_TAG_CALL = 1, COMM_TAG_EXCHANGE, COMM_TAG_NOTE, COMM_TAG_LEAVE };

typedef struct comm_message {
    bool send;
    int peer, tag;
    void *bytes; /* not written by a send; untouched by the caller until the message is done */
    size_t count;
} comm_message;

/* Outside the order of calls, from one rank to all others. */
typedef enum comm_news {
    COMM_ALIVE = 1, /* I wait as well */
    COMM_FAILED     /* I cannot go on: status, rank and text */
} comm_news;
typedef struct comm_note {
    int32_t news, status, rank;
    char text[CORE_MESSAGE_MAX];
} comm_note;

typedef struct comm_driver {
    int version;      /* COMM_DRIVER_VERSION */
    const char *name; /* "threads", "openmpi", "mpich" */
    /* [modules] Joins the processes of the launcher. */
    fathom_status (*open)(void **state, int *rank, int *size);
    /* Starts a message as number `slot`, which is free: small numbers, used again. */
    fathom_status (*post)(void *state, int slot, const comm_message *message);
    /* done[0 .. *count - 1] = slots whose messages are done since the last call; waits for the first one up to
     * `seconds`, or until there is news. `done` has space for all slots. */
    fathom_status (*wait)(void *state, int *done, int *count, double seconds);
    /* Never waits; COMM_ALIVE may be lost, COMM_FAILED is sent once. */
    void (*tell)(void *state, const comm_note *note);
    /* News of another rank, if there is any. */
    bool (*hear)(void *state, int *from, comm_note *note);
    /* After a failure: waits up to `seconds` until what was told has left. No posted message touches the caller's
     * memory afterwards. */
    void (*withdraw)(void *state, double seconds);
    void (*close)(void *state, bool failed);
} comm_driver;

/* The functions of the host that a module calls: it links nothing of libfathom. */
typedef struct comm_services {
    fathom_status (*fail)(fathom_status status, const char *format, ...);
    fathom_status (*alloc)(void **pointer, size_t rows, size_t cols, size_t size, const char *what);
    void (*free)(void *pointer);
} comm_services;

/* The one function that a module exports. */
#define COMM_MODULE_ENTRY "fathom_comm_module"
typedef const comm_driver *comm_module_entry_fn(const comm_services *services);

#endif
