/* comm_cases.h - every call of comm.h with values that only the right one returns; for threads (unit_comm.c) and for
 * processes of a launcher (comm_ranks.c). */
#ifndef SUPPORT_COMM_CASES_H
#define SUPPORT_COMM_CASES_H

#include "comm/comm.h"

/* Calls of one round, with sizes drawn from `round`: the same on every rank. A wrong value is a FATHOM_NUMERIC that
 * names it. *digest takes in all that was received in sums: equal for every transport. */
fathom_status comm_cases_round(comm *c, uint64_t *digest, uint32_t round);

#endif
