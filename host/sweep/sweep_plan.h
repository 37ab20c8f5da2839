/* sweep_plan.h - the state of a running sweep, and its preparation. Private to sweep.c and sweep_plan.c. */
#ifndef SWEEP_SWEEP_PLAN_H
#define SWEEP_SWEEP_PLAN_H

#include "sweep/provenance.h"
#include "sweep/queue.h"

typedef struct sweep_state {
    const sweep_recipe *recipe;
    const sweep_run_options *options;
    sweep_journal journal;
    sweep_provenance provenance;
    grid_cell *cells; /* [count] */
    int64_t count;
    int64_t before; /* cells finished by earlier starts */
    double *cost;   /* [count], see cell_cost */
    bool *taken;    /* [count] */
    be_list devices;
    sweep_worker *workers; /* [worker_count] */
    int worker_count;
    sweep_worker_state *running;  /* [worker_count], written by the workers */
    sweep_worker_state *snapshot; /* [worker_count], a copy for the progress function */
    sweep_queue queue;
    double start; /* seconds, clock_seconds() */
} sweep_state;

/* farm.c. On rank 0 after the plan, on the others instead of it: cells that are finished, and that all ranks have the
 * same recipe. */
fathom_status farm_begin(sweep_state *s);
/* What every rank calls again and again until *over: results to rank 0, cells to the others. */
fathom_status farm_turn(sweep_state *s, bool *over);
/* The status of rank 0 on every rank. */
fathom_status farm_end(sweep_state *s, fathom_status status);

/* Fails when the folder holds a sweep and --resume is not given, or the other way round. Changes nothing. */
fathom_status sweep_check_folder(const sweep_state *s);
/* Locks the folder, reads its journal, and checks that it belongs to this recipe. */
fathom_status sweep_open_folder(sweep_state *s);
/* Loads every data set once, compares data and splits with the finished runs, and estimates the cost of each cell. */
fathom_status sweep_plan_cells(sweep_state *s);
/* Writes sweep.json: from now on the folder holds this sweep. */
fathom_status sweep_record_start(const sweep_state *s);

#endif
