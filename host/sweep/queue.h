/* queue.h - the queue of cells that the workers of a sweep share. Private to sweep*.c and worker.c. */
#ifndef SWEEP_QUEUE_H
#define SWEEP_QUEUE_H

#include <pthread.h>

#include "sweep/sweep.h"

/* `lock` guards every member that changes while workers run. */
typedef struct sweep_queue {
    pthread_mutex_t lock;
    pthread_cond_t changed; /* signalled when a worker takes or finishes a cell, or ends */
    const sweep_recipe *recipe;
    const grid_cell *cells;
    bool *taken; /* [count]: running, or finished now or by an earlier start */
    int64_t count, next, done, failed;
    double cost_left, cost_spent; /* of the cells that were not finished at the start */
    const double *cost;           /* [count], see cell_cost */
    sweep_journal *journal;
    sweep_worker_state *running; /* [workers] */
    int alive;                   /* workers that have not ended */
    fathom_status fatal;         /* ends the sweep: the journal cannot be written, or no device opens */
    char note[CORE_MESSAGE_MAX]; /* about a device, not reported yet */
    char fatal_text[CORE_MESSAGE_MAX], failure[CORE_MESSAGE_MAX], first_failure[CORE_MESSAGE_MAX];
    const stop_flag *stop;
    stop_flag halt; /* stops running trainings: set by `stop` or by a fatal failure */
    /* On a rank of a farm other than 0 (farm.c): */
    bool remote;
    pthread_cond_t given; /* signalled when cells come in, or no more will */
    int64_t *inbox;       /* [inbox_count]: cells that rank 0 gave and no worker has taken */
    int64_t inbox_count;
    int idle;        /* workers that wait for one */
    bool closed;     /* no more cells */
    text_buf outbox; /* results for rank 0, see farm_entry */
} sweep_queue;

/* In the outbox: this, then `line` bytes of the record as a line of the journal and `curve` bytes of the curve; or
 * `note` bytes about a device. */
typedef struct farm_entry {
    int64_t at, status, line, curve, note;
} farm_entry;

/* Appends a finished or failed run to the journal; a journal that cannot be written ends the sweep. Called with the
 * queue locked. */
void sweep_settle(sweep_queue *q, const run_record *record, fathom_status status, int64_t at);
/* curves/ID.csv, when there is a curve. */
fathom_status sweep_save_curve(const sweep_journal *journal, const char *cell, const text_buf *curve);

typedef struct sweep_worker {
    sweep_queue *queue;
    int index;
    const be_list *devices;
    int device;      /* index in `devices` */
    be_options open; /* threads 0: the back end chooses */
    bool automatic;  /* --device auto: the CPU may replace a device that fails its check */
    pthread_t thread;
} sweep_worker;

/* Thread function: trains cells until the queue is empty. */
void *sweep_worker_run(void *worker);

#endif
