/* scrub.h - a file for others to read: a stream whose lines lose the names of the user, the machine and its folders
 * before they are written. */
#ifndef CLI_SCRUB_H
#define CLI_SCRUB_H

#include <stdio.h>

#include "core/status.h"

#define SCRUB_ROOM 8192 /* of a line; longer ones are cut */

/* Opens `path` for writing; every line is on the disk when it is ended, so that a driver
 * that ends the process cannot take the report with it. fclose it; that fails when any write did. */
fathom_status scrub_open(FILE **file, const char *path);

/* One line (without its end) into `clean`: paths become (path), whole words that are the user's name (user), the
 * machine's (host). /dev/... and /etc/OpenCL/... are the same everywhere and stay. */
void scrub_line(char clean[SCRUB_ROOM], const char *line);

#endif
