/* queue.h - what the workers of a sweep share (sweep.c, worker.c). */
#ifndef LAB_QUEUE_H
#define LAB_QUEUE_H

#include <pthread.h>

#include "lab/sweep.h"

/* Guarded by `lock`, apart from what is constant while workers run. */
typedef struct lab_queue {
    pthread_mutex_t lock;
    pthread_cond_t moved; /* a worker took, finished or gave up a cell */
    const lab_recipe *recipe;
    const lab_cell *cells;
    bool *taken; /* [count]: finished before, running or finished */
    int64_t count, next, done, failed;
    double cost_left, cost_spent; /* of cells of this start */
    const double *cost;           /* [count] */
    lab_journal *journal;
    lab_running *running; /* of each worker */
    int alive;
    fathom_status fatal;         /* the journal cannot be written: nothing must go on */
    char note[CORE_MESSAGE_MAX]; /* about a device, not told yet */
    char fatal_text[CORE_MESSAGE_MAX], failure[CORE_MESSAGE_MAX], first_failure[CORE_MESSAGE_MAX];
    const volatile sig_atomic_t *stop;
    volatile sig_atomic_t halt; /* what the runs look at: stop, or a fatal failure */
} lab_queue;

typedef struct lab_worker {
    lab_queue *queue;
    int index;
    const be_list *devices;
    int row;         /* of the device */
    be_options open; /* threads 0: its own choice */
    bool automatic;  /* nobody named the device */
    pthread_t thread;
} lab_worker;

/* Takes cells until there are none left. */
void *lab_worker_run(void *worker);

#endif
