/* journal.h - the memory of a sweep: a folder whose journal.jsonl gets one line for each finished run, flushed to the
 * disk before the next run starts. What a killed sweep wrote is whole; a row cut off at the end is removed on the
 * next start. Anything else that is no row is refused, and the file stays as it is.
 *
 *     sweep.json      the recipe as it was run, the machine, the commands
 *     journal.jsonl   finished runs, each once
 *     failures.jsonl  runs that failed; they are tried again by --resume
 *     sweep.lock      held while a sweep runs here
 *     curves/ID.csv   loss and accuracies of each epoch, for runs of the first seed
 *     pictures/ID.npy representations kept for the picture
 *     results.csv, results.jsonl   the journal in the order of the recipe, written at the end */
#ifndef LAB_JOURNAL_H
#define LAB_JOURNAL_H

#include "lab/row.h"

#define LAB_PATH 4096

typedef struct lab_journal {
    char folder[LAB_PATH];
    int file, failures, lock; /* descriptors while writing, else -1 */
    lab_strings strings;      /* the texts of all rows; the value of a cell's id leads to its row */
    lab_row *rows;            /* finished runs, in the order they were written */
    int64_t count, room;
    lab_row *failed; /* the last failure of each cell that has not finished since */
    int64_t failed_count, failed_room;
    bool cut; /* a row cut off by a kill was removed */
} lab_journal;

/* Nothing open: may be closed. */
#define LAB_JOURNAL_NONE ((lab_journal){.file = -1, .failures = -1, .lock = -1})

/* Reads what is there; nothing is changed. A folder without a journal gives an empty one. */
fathom_status lab_journal_read(lab_journal *journal, const char *folder);
/* Makes the folder if need be, takes its lock (one sweep at a time), reads, and opens for appending. */
fathom_status lab_journal_open(lab_journal *journal, const char *folder);
void lab_journal_close(lab_journal *journal);

/* Appends and flushes. The journal is the caller's to lock between threads. */
fathom_status lab_journal_add(lab_journal *journal, const lab_row *row);
fathom_status lab_journal_add_failure(lab_journal *journal, const lab_row *row);

/* The finished run of a cell, or its failure; NULL when there is none. */
const lab_row *lab_journal_find(const lab_journal *journal, const char *cell);
const lab_row *lab_journal_find_failure(const lab_journal *journal, const char *cell);

/* folder/name in `path`; fails when it does not fit. */
fathom_status lab_path(char path[LAB_PATH], const char *folder, const char *name);
fathom_status lab_journal_path(char path[LAB_PATH], const lab_journal *journal, const char *name);
fathom_status lab_make_folder(const char *path);

#endif
