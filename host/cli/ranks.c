/* ranks.c - see ranks.h. */
#include "cli/ranks.h"

#include <stdio.h>

#include "core/status.h"
#include "terminal/stream.h"

fathom_status ranks_join(comm **c, double timeout) {
    TRY(comm_open(c, &(comm_options){.timeout = timeout}));
    if (comm_rank(*c) > 0)
        streams_mute();
    return FATHOM_OK;
}

fathom_status ranks_leave(comm *c, fathom_status status) {
    char message[CORE_MESSAGE_MAX];
    snprintf(message, sizeof message, "%s", fathom_last_error());
    comm_fail(c, status);
    comm_close(c);
    return status == FATHOM_OK ? FATHOM_OK : fail(status, "%s", message);
}
