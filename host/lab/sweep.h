/* sweep.h - runs the cells of a recipe: one queue, a worker for each device, several single-thread ones on the CPU.
 *
 * Every worker is a thread with a device of its own; the library keeps no state between devices, and a run gives the
 * same bits with any number of threads, so a cell's result is that of `fathom train` with the same settings. */
#ifndef LAB_SWEEP_H
#define LAB_SWEEP_H

#include "lab/journal.h"

#define LAB_WORKERS 256

typedef struct lab_running {
    bool busy;
    char text[240], device[24];
    int64_t epoch, epochs;
    double cost; /* as in lab_queue */
} lab_running;

typedef struct lab_progress {
    int64_t total, done, failed;  /* done: with those of earlier starts */
    int64_t before;               /* done by earlier starts */
    double seconds, seconds_left; /* left: NaN while unknown */
    int workers;
    const lab_running *running; /* [workers] */
    const char *note;           /* about a device, since the last call, or NULL */
    const char *failure;        /* the sentence of a run that failed since the last call, or NULL */
} lab_progress;

typedef struct lab_sweep_options {
    const char *out;
    bool resume;
    const char *devices; /* words, comma separated */
    int jobs;            /* workers on the CPU; 0: one for each core */
    be_options open;     /* how devices are opened; threads: of each worker on the CPU, 0: one. Its functions are called
                          * by the workers' threads */
    const char *command; /* as typed, for the record */
    const volatile sig_atomic_t *stop;
    void (*progress)(void *user, const lab_progress *progress); /* about five times a second, by the calling thread */
    void *user;
} lab_sweep_options;

typedef struct lab_sweep_result {
    int64_t total, done, failed, before;
    bool interrupted, cut; /* cut: half a line of an earlier start was removed */
    double seconds;
    char first_failure[CORE_MESSAGE_MAX];
} lab_sweep_result;

/* FATHOM_OK when every cell is done, FATHOM_FAILURE when some failed, FATHOM_INTERRUPTED when stopped. *result is
 * filled in these three cases. */
fathom_status lab_sweep(lab_sweep_result *result, const lab_recipe *recipe, const lab_sweep_options *options);

#endif
