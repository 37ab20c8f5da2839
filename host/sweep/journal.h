/* journal.h - the state of a sweep on disk: a folder whose journal.jsonl gets one line per finished run, with fsync
 * before the next run starts. A line truncated by a kill is removed on the next start; anything else that is not a
 * record is refused, and the file is left as it is.
 *
 *     sweep.json      the recipe as it was run, the machine, the commands
 *     journal.jsonl   finished runs, each once
 *     failures.jsonl  failed runs; --resume retries them
 *     sweep.lock      locked while a sweep runs
 *     curves/ID.csv   loss and accuracies per epoch, for runs of the first seed
 *     pictures/ID.npy embeddings saved for the report
 *     results.csv, results.jsonl   the journal in the order of the recipe, written at the end */
#ifndef SWEEP_JOURNAL_H
#define SWEEP_JOURNAL_H

#include "sweep/run_record.h"

#define SWEEP_PATH_MAX 4096

typedef struct sweep_journal {
    char folder[SWEEP_PATH_MAX];
    int file, failures, lock; /* file descriptors while open for appending, else -1 */
    intern_table strings;     /* strings of all records; the value of a cell's id is its position (journal.c) */
    run_record *records;      /* finished runs, in the order they were written */
    int64_t count, capacity;
    run_record *failed; /* the last failure of each cell that has not finished since */
    int64_t failed_count, failed_capacity;
    bool cut; /* a truncated line was removed */
} sweep_journal;

/* Not open; journal_close accepts it. */
#define JOURNAL_CLOSED ((sweep_journal){.file = -1, .failures = -1, .lock = -1})

/* Reads the journal without changing anything. A folder without one gives an empty journal. */
fathom_status journal_read(sweep_journal *journal, const char *folder);
/* Creates the folder if needed, locks it (one sweep at a time), reads the journal and opens it for appending. */
fathom_status journal_open(sweep_journal *journal, const char *folder);
void journal_close(sweep_journal *journal);

/* Appends a line and calls fsync. Not thread-safe: the caller locks. */
fathom_status journal_add(sweep_journal *journal, const run_record *record);
fathom_status journal_add_failure(sweep_journal *journal, const run_record *record);

/* The finished run of a cell, or its last failure; NULL when there is none. */
const run_record *journal_find(const sweep_journal *journal, const char *cell);
const run_record *journal_find_failure(const sweep_journal *journal, const char *cell);

/* path = folder/name; fails when it does not fit. */
fathom_status sweep_join_path(char path[SWEEP_PATH_MAX], const char *folder, const char *name);
fathom_status journal_path(char path[SWEEP_PATH_MAX], const sweep_journal *journal, const char *name);
/* mkdir -p */
fathom_status sweep_make_dir(const char *path);

#endif
