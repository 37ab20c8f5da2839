/* open_ranks.h - the devices of a run that may have several ranks: --device A,B, or the processes of a launcher. */
#ifndef CLI_OPEN_RANKS_H
#define CLI_OPEN_RANKS_H

#include "cli/open_device.h"

struct run_ranks {
    fathom_ranks *ranks;     /* NULL: one device */
    fathom_device **devices; /* the first is that of fathom_train */
    int count;
};

/* Several selectors are a rank each; of the ranks of a launcher, the local rank takes its selector of the list, and of
 * `auto` its GPU of this host. CPUs share the cores unless --threads is given. */
fathom_status open_ranks(struct run_ranks *run, comm *launched, const struct common_options *common, bool profile,
                         double timeout);
void close_ranks(struct run_ranks *run);

#endif
