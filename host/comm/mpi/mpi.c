/* mpi.c - messages by MPI: fathom_openmpi.so and fathom_mpich.so, compiled from this file with the mpi.h of each. Only
 * messages between two ranks are used: MPI's own sums are in an order of its choice, and its waits cannot be left when
 * a rank is lost. It links nothing of libfathom. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "comm/driver.h"
#include "core/clock.h"

#ifdef OPEN_MPI
#define NAME "openmpi"
#else
#define NAME "mpich"
#endif

/* A rank that waits looks for messages all the time at first, then sleeps between looks: ranks that share a core leave
 * it to those that compute. sched_yield is worse, it puts a rank behind every other process of a busy machine. */
#define SPIN_SECONDS 50e-6
#define SLEEP_NS 20000
#define LEAVE_SECONDS 5 /* rank 0 prints the message: the launcher ends all ranks when the first one has ended */
#define HEADER offsetof(comm_note, text)

static const comm_services *host;

typedef struct mpi_state {
    MPI_Comm comm; /* our own: programs with the library may use MPI, too */
    bool ours;     /* MPI was started here */
    int rank, size;
    MPI_Request *request; /* [slots] */
    bool *receives;       /* [slots] */
    int slots;
    MPI_Status *status; /* [statuses], unread: MPICH's header and gcc take MPI_STATUSES_IGNORE for an array of none */
    int statuses;
    comm_note alive, failure; /* being sent */
    MPI_Request *telling;     /* [2 * size]: alive, failure */
    bool broken;              /* a failure was told or heard: the calls of ranks no longer fit together */
    bool settled;             /* broken, and nothing is received any more */
} mpi_state;

static fathom_status check(int code, const char *call) {
    char text[MPI_MAX_ERROR_STRING] = "";
    int length;
    if (code == MPI_SUCCESS)
        return FATHOM_OK;
    MPI_Error_string(code, text, &length);
    return host->fail(FATHOM_FAILURE, "%s (" NAME "): %.300s", call, text);
}
#define CALL(name, args) TRY(check(name args, #name))

/* ---- messages ---- */

static fathom_status reserve_statuses(mpi_state *s, int count) {
    if (count <= s->statuses)
        return FATHOM_OK;
    host->free(s->status);
    s->status = NULL;
    s->statuses = 0;
    TRY(host->alloc((void **)&s->status, (size_t)count, 1, sizeof *s->status, "messages"));
    s->statuses = count;
    return FATHOM_OK;
}

/* *array has `more` requests, those from `count` on without a message. */
static fathom_status grow(MPI_Request **array, int count, int more) {
    MPI_Request *wider = NULL;
    TRY(host->alloc((void **)&wider, (size_t)more, 1, sizeof *wider, "messages"));
    for (int i = 0; i < more; i++)
        wider[i] = i < count ? (*array)[i] : MPI_REQUEST_NULL;
    host->free(*array);
    *array = wider;
    return FATHOM_OK;
}

static fathom_status grow_slots(mpi_state *s, int slots) {
    bool *receives = NULL;
    TRY(grow(&s->request, s->slots, slots));
    TRY(host->alloc((void **)&receives, (size_t)slots, 1, sizeof *receives, "messages"));
    if (s->slots > 0)
        memcpy(receives, s->receives, (size_t)s->slots * sizeof *receives);
    host->free(s->receives);
    s->receives = receives;
    s->slots = slots;
    return reserve_statuses(s, slots);
}

static fathom_status mpi_post(void *state, int slot, const comm_message *m) {
    mpi_state *s = state;
    if (slot >= s->slots)
        TRY(grow_slots(s, 2 * slot + 16));
    s->receives[slot] = !m->send;
    if (m->send)
        CALL(MPI_Isend, (m->bytes, (int)m->count, MPI_BYTE, m->peer, m->tag, s->comm, &s->request[slot]));
    else
        CALL(MPI_Irecv, (m->bytes, (int)m->count, MPI_BYTE, m->peer, m->tag, s->comm, &s->request[slot]));
    return FATHOM_OK;
}

static fathom_status mpi_wait(void *state, int *done, int *count, double seconds) {
    mpi_state *s = state;
    const double began = clock_seconds();
    for (;;) {
        CALL(MPI_Testsome, (s->slots, s->request, count, done, s->status));
        if (*count == MPI_UNDEFINED)
            *count = 0;
        double waited = clock_seconds() - began;
        if (*count > 0 || waited >= seconds)
            return FATHOM_OK;
        if (waited > SPIN_SECONDS)
            nanosleep(&(struct timespec){0, SLEEP_NS}, NULL);
    }
}

/* ---- news ---- */

static void mpi_tell(void *state, const comm_note *note) {
    mpi_state *s = state;
    const bool failure = note->news == COMM_FAILED;
    comm_note *sent = failure ? &s->failure : &s->alive;
    s->broken = s->broken || failure;
    if (failure)
        *sent = *note;
    else /* the same each time: an earlier one may be on its way */
        sent->news = note->news, sent->rank = note->rank;
    int bytes = (int)(HEADER + (failure ? strlen(sent->text) + 1 : 1));
    for (int p = 0; p < s->size; p++) {
        MPI_Request *request = &s->telling[2 * p + failure];
        int done = *request == MPI_REQUEST_NULL;
        if (p != s->rank && (done || (MPI_Test(request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done)))
            MPI_Isend(sent, bytes, MPI_BYTE, p, COMM_TAG_NOTE, s->comm, request);
    }
}

static bool mpi_hear(void *state, int *from, comm_note *note) {
    mpi_state *s = state;
    MPI_Status what;
    int there = 0, bytes = 0;
    if (MPI_Iprobe(MPI_ANY_SOURCE, COMM_TAG_NOTE, s->comm, &there, &what) != MPI_SUCCESS || !there)
        return false;
    MPI_Get_count(&what, MPI_BYTE, &bytes);
    if (bytes < (int)HEADER || bytes > (int)sizeof *note ||
        MPI_Recv(note, bytes, MPI_BYTE, what.MPI_SOURCE, COMM_TAG_NOTE, s->comm, MPI_STATUS_IGNORE) != MPI_SUCCESS)
        return false;
    note->text[sizeof note->text - 1] = '\0';
    *from = what.MPI_SOURCE;
    s->broken = s->broken || note->news == COMM_FAILED;
    return true;
}

/* Testall within `seconds`. */
static bool all_done(mpi_state *s, MPI_Request *request, int count, double seconds) {
    double until = clock_seconds() + seconds;
    int done = 0;
    while (MPI_Testall(count, request, &done, s->status) == MPI_SUCCESS && !done && clock_seconds() < until)
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    return done;
}

/* What is not received yet is cancelled. What is not sent yet belongs to ranks that will not receive it, since a rank
 * listens before it posts. */
static void mpi_withdraw(void *state, double seconds) {
    mpi_state *s = state;
    s->broken = true;
    for (int i = 0; i < s->slots; i++)
        if (!s->receives[i] || s->request[i] == MPI_REQUEST_NULL)
            s->request[i] = MPI_REQUEST_NULL;
        else
            MPI_Cancel(&s->request[i]);
    s->settled = all_done(s, s->request, s->slots, seconds) && all_done(s, s->telling, 2 * s->size, seconds);
}

/* ---- opening and closing ---- */

/* Has every rank come here within `seconds`? MPI_Finalize waits for all of them, also for one that is lost. */
static bool all_leave(mpi_state *s, double seconds) {
    MPI_Request *leaving = NULL;
    bool posted = true;
    if (grow(&leaving, 0, 2 * s->size) != FATHOM_OK)
        return false;
    for (int p = 0; p < s->size; p++)
        posted = posted && MPI_Irecv(NULL, 0, MPI_BYTE, p, COMM_TAG_LEAVE, s->comm, &leaving[p]) == MPI_SUCCESS &&
                 MPI_Isend(NULL, 0, MPI_BYTE, p, COMM_TAG_LEAVE, s->comm, &leaving[s->size + p]) == MPI_SUCCESS;
    bool all = posted && all_done(s, leaving, 2 * s->size, seconds);
    host->free(leaving);
    return all;
}

static void free_state(mpi_state *s) {
    host->free(s->request);
    host->free(s->receives);
    host->free(s->status);
    host->free(s->telling);
    host->free(s);
}

/* After a failure all ranks end in order if they can: the launcher then returns their exit code. Otherwise the first
 * process that ends without MPI_Finalize makes it end the others: rank 0, which prints, leaves before them. */
static void mpi_close(void *state, bool failed) {
    mpi_state *s = state;
    bool orderly = s->size <= 1 || (!failed && !s->broken);
    if (!orderly && s->settled)
        orderly = all_leave(s, LEAVE_SECONDS);
    if (!orderly && s->ours && s->rank != 0)
        nanosleep(&(struct timespec){LEAVE_SECONDS, 0}, NULL);
    if (orderly && !s->broken && s->comm != MPI_COMM_NULL)
        MPI_Comm_free(&s->comm);
    if (orderly && s->ours)
        MPI_Finalize();
    free_state(s);
}

static fathom_status start(mpi_state *s) {
    int running = 0, ended = 0, provided;
    CALL(MPI_Finalized, (&ended));
    if (ended)
        return host->fail(FATHOM_USAGE, "MPI was ended in this process and cannot be started again");
    CALL(MPI_Initialized, (&running));
    if (!running)
        CALL(MPI_Init_thread, (NULL, NULL, MPI_THREAD_SERIALIZED, &provided));
    s->ours = !running;
    CALL(MPI_Comm_dup, (MPI_COMM_WORLD, &s->comm));
    CALL(MPI_Comm_set_errhandler, (s->comm, MPI_ERRORS_RETURN));
    CALL(MPI_Comm_rank, (s->comm, &s->rank));
    CALL(MPI_Comm_size, (s->comm, &s->size));
    TRY(grow(&s->telling, 0, 2 * s->size));
    return reserve_statuses(s, 2 * s->size);
}

static fathom_status mpi_open(void **state, int *rank, int *size) {
    mpi_state *s = NULL;
    TRY(host->alloc((void **)&s, 1, 1, sizeof *s, "MPI"));
    s->comm = MPI_COMM_NULL;
    fathom_status status = start(s);
    if (status != FATHOM_OK) {
        free_state(s);
        return status;
    }
    *state = s;
    *rank = s->rank;
    *size = s->size;
    return FATHOM_OK;
}

static const comm_driver driver = {COMM_DRIVER_VERSION, NAME,     mpi_open, mpi_post, mpi_wait, mpi_tell, mpi_hear,
                                   mpi_withdraw,        mpi_close};

__attribute__((visibility("default"))) const comm_driver *fathom_comm_module(const comm_services *services);
const comm_driver *fathom_comm_module(const comm_services *services) {
    host = services;
    return &driver;
}
