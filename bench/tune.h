/* tune.h - `fathom tune`: measures the choices of a device and stores the best for every command that opens it. */
#ifndef BENCH_TUNE_H
#define BENCH_TUNE_H

#include "backend/backend.h"
#include "core/json.h"
#include "core/progress.h"

struct tune_log {
    message_fn *message;
};

/* Fills `tuning` from the record of the device in the cache; without one it stays as it is (zeros: the back end's own
 * choice). A damaged record, or one of another device, is ignored with a note. `user`: a struct tune_log, or NULL. */
void tune_find(void *user, be_tuning *tuning, const be_info *info);

/* Writes the record; *path is its file, freed with mem_free. */
fathom_status tune_keep(char **path, const be_tuning *tuning, const be_info *info);

/* ---- choosing (tune_choose.c) ---- */

/* The operations whose time decides, by the names of bench_case: what a layer with group norm calls, forward or
 * backward. NULL past the end. */
const char *tune_step(size_t i);

bool tune_faster(double seconds, double other); /* by more than noise */

/* How many of the rising widths the own kernel is to take, CLBlast taking those above: the choice with the least
 * product of all times, so that a single noisy measurement does not decide. Within noise the own kernel is preferred:
 * it has nothing to compile. */
int tune_own_widths(const double *own_s, const double *clblast_s, int count);

/* ---- measuring (tune_measure.c) ---- */

enum { TUNE_GROUPS = 6, TUNE_WIDTHS = 5 };
extern const int tune_groups[TUNE_GROUPS]; /* work-group sizes; 0 is the back end's own choice */
extern const int tune_widths[TUNE_WIDTHS]; /* layer widths whose product is timed with both kernels */
#define TUNE_ALWAYS_OWN (1 << 20)

struct tune_job {
    const be_list *list;
    int row;
    double seconds; /* per measurement, at most */
    void (*compiling)(const char *device, be_compiled what);
    message_fn *progress;
};

struct tune_result {
    be_tuning tuning;
    double group_s[TUNE_GROUPS]; /* 0: the device does not allow this size */
    double own_s[TUNE_WIDTHS], clblast_s[TUNE_WIDTHS];
};

fathom_status tune_measure(struct tune_result *result, const struct tune_job *job);

/* One object of "tuned"; `path` is the record's file. */
void tune_to_json(struct json *doc, const be_info *info, const struct tune_result *result, const char *path);

#define TUNE_GROUP_TEXT 16
const char *tune_group_text(char text[TUNE_GROUP_TEXT], int group); /* "of 32", "as usual" */

#endif
