/* tune.h - how `fathom tune` chooses, and what it keeps of a device for every verb that opens one. */
#ifndef CLI_TUNE_H
#define CLI_TUNE_H

#include "backend/backend.h"

/* Fills `tuning` from the record of the device in the cache. A record that is absent, damaged, or of another driver or
 * version of fathom leaves it as it is: zeros, the back end's own choice. */
void tune_find(void *user, be_tuning *tuning, const be_info *info); /* user: not used */

/* Keeps the record; *path is where, to be freed with mem_free. */
fathom_status tune_keep(char **path, const be_tuning *tuning, const be_info *info);

/* ---- choosing (tune_choose.c) ---- */

/* The operations whose time decides, by the names of bench_case: whatever a layer with group norm calls, forward or
 * backward. NULL past the end. */
const char *tune_step(size_t i);

bool tune_faster(double seconds, double other); /* by more than noise */

/* How many of the rising widths the own kernel is to take, CLBlast taking those above: the choice with the least
 * product of all times, so that a single noisy measurement does not decide. Within noise the own kernel is preferred:
 * it has nothing to compile. */
int tune_own_widths(const double *own_s, const double *clblast_s, int count);

#endif
