/* redact.h - a text file without private names: user, machine and folders are replaced in every line before it is
 * written. */
#ifndef CORE_REDACT_H
#define CORE_REDACT_H

#include <stdio.h>

#include "core/status.h"

#define REDACT_LINE_MAX 8192 /* of a line; longer ones are cut */

/* Opens `path` for writing; every line is flushed, so that a driver that ends the process does
 * not lose the report. Closed with fclose, which fails when any write did. */
fathom_status redact_open(FILE **file, const char *path);

/* One line (without its end) into `clean`: paths become (path), whole words that are the user's name (user), the
 * machine's (host). /dev/... and /etc/OpenCL/... are the same everywhere and stay. */
void redact_line(char clean[REDACT_LINE_MAX], const char *line);

#endif
