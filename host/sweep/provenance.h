/* provenance.h - sweep.json: the recipe as it was run, the machine, the versions, and the commands of the sweep. */
#ifndef SWEEP_PROVENANCE_H
#define SWEEP_PROVENANCE_H

#include <stdint.h>

#include "core/text.h"

#define PROVENANCE_COMMANDS 32
#define SWEEP_FORMAT 2 /* of the files in the folder of a sweep */

typedef struct sweep_provenance {
    char *name, *recipe; /* name and canonical text */
    char *version, *system, *processor, *libraries;
    int64_t cores;
    int commands;
    char *command[PROVENANCE_COMMANDS], *started[PROVENANCE_COMMANDS]; /* the first, and the last of the others */
} sweep_provenance;

/* Describes this machine. `opencl`: with the OpenCL back end, which loads its drivers. */
fathom_status provenance_collect(sweep_provenance *provenance, bool opencl);
fathom_status provenance_load(sweep_provenance *provenance, const char *path);
fathom_status provenance_save(const sweep_provenance *provenance, const char *path);
fathom_status provenance_add_command(sweep_provenance *provenance, const char *command);
void provenance_free(sweep_provenance *provenance);

#endif
