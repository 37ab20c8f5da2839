/* ranks.h - a command that the ranks of a launcher (mpirun) run together. Rank 0 prints; what happens to another rank
 * is in the message that its failure gives rank 0. */
#ifndef CLI_RANKS_H
#define CLI_RANKS_H

#include "comm/comm.h"

/* Joins the others, or *c = NULL where no launcher started this process. Ranks other than 0 print nothing from here on.
 */
fathom_status ranks_join(comm **c, double timeout);
/* The end of a command that joined: tells the others of a failure. Returns `status` with its message. */
fathom_status ranks_leave(comm *c, fathom_status status);

#endif
