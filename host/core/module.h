/* module.h - files of fathom that are loaded at run time (fathom_opencl.so and others), so that the same program starts
 * where the libraries they need are not installed.
 *
 *     static module_file file = {.name = "fathom_opencl.so", .what = "OpenCL", .remedy = "build with
 * FATHOM_OPENCL=ON"}; void *handle = module_open(&file);      // NULL: file.reason is the message
 *
 * Not safe for two threads at once: callers use pthread_once. Modules are never unloaded. */
#ifndef CORE_MODULE_H
#define CORE_MODULE_H

#include "core/status.h"

typedef struct module_file {
    const char *name;   /* of the file */
    const char *what;   /* "OpenCL": "the OpenCL module is not there" */
    const char *remedy; /* a way to get it, beside its package */
    char path[4200];    /* what was loaded or found */
    char reason[CORE_MESSAGE_MAX];
} module_file;

/* Searched in $FATHOM_MODULE_DIR alone where that is set; else beside the program or library that contains this code,
 * then in the folders an installation uses. NULL: not there, or it does not load; file->reason says which. */
void *module_open(module_file *file);

/* The module's function NAME, stored in *function (the address of a function pointer); NULL when it has none. */
void module_entry(void *function, void *handle, const char *name);

#endif
