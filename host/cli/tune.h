/* tune.h - what `fathom tune` keeps of a device, for every verb that opens one. */
#ifndef CLI_TUNE_H
#define CLI_TUNE_H

#include "backend/backend.h"

/* Fills `tuning` from the record of the device in the cache. A record that is absent, damaged, or of another driver or
 * version of fathom leaves it as it is: zeros, the back end's own choice. */
void tune_find(void *user, be_tuning *tuning, const be_info *info); /* user: not used */

/* Keeps the record; *path is where, to be freed with mem_free. */
fathom_status tune_keep(char **path, const be_tuning *tuning, const be_info *info);

#endif
