/* sweep.h - runs the cells of a recipe: one queue, one worker per GPU, several single-threaded workers on the CPU.
 *
 * Each worker is a thread with its own device. Devices share no state, and a run gives the same bits with any number
 * of threads, so the result of a cell equals that of `fathom train` with the same settings. With ranks (mpirun) each
 * has its own workers, on its own devices, and rank 0 the queue and the journal. */
#ifndef SWEEP_SWEEP_H
#define SWEEP_SWEEP_H

#include "comm/comm.h"
#include "sweep/journal.h"

#define SWEEP_WORKERS_MAX 256

typedef struct sweep_worker_state {
    bool busy;
    char text[240], device[24]; /* grid_cell_text; selector of the device */
    int64_t epoch, epochs;
    double cost; /* of the cell, as in sweep_queue */
} sweep_worker_state;

typedef struct sweep_progress {
    int64_t total, done, failed;  /* done: includes earlier starts */
    int64_t before;               /* done by earlier starts */
    double seconds, seconds_left; /* seconds_left: NaN while unknown */
    int workers;
    const sweep_worker_state *running; /* [workers] */
    const char *note;                  /* new message about a device, or NULL */
    const char *failure;               /* message of a run that failed since the last call, or NULL */
} sweep_progress;

typedef struct sweep_run_options {
    const char *out;
    bool resume;
    const char *devices; /* selectors, comma separated */
    int jobs;            /* workers on the CPU; 0: one per core */
    be_options open;     /* threads: of each CPU worker, 0: one. Its callbacks run on the worker threads */
    comm *comm;          /* NULL, or ranks: a farm. Rank 0 has the folder, gives cells to the others, and reports */
    const char *command; /* as typed, for sweep.json */
    const stop_flag *stop;
    void (*progress)(void *user, const sweep_progress *progress); /* ~5 times a second, on the calling thread */
    void *user;
} sweep_run_options;

typedef struct sweep_summary {
    int64_t total, done, failed, before;
    bool interrupted, cut; /* cut: a truncated line of the journal was removed */
    double seconds;
    char first_failure[CORE_MESSAGE_MAX];
} sweep_summary;

/* FATHOM_OK when every cell is done, FATHOM_FAILURE when some failed, FATHOM_INTERRUPTED when stopped. *summary is
 * set in these three cases. */
fathom_status sweep_run(sweep_summary *summary, const sweep_recipe *recipe, const sweep_run_options *options);

struct json;
void sweep_summary_to_json(struct json *doc, const sweep_summary *summary, const sweep_recipe *recipe, const char *out);

#endif
