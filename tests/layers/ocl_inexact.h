/* ocl_inexact.h - a device that is only as exact as it must be, for ocl_model.c. */
#ifndef LAYERS_OCL_INEXACT_H
#define LAYERS_OCL_INEXACT_H

#include <CL/cl.h>
#include <stdbool.h>

void inexact_settings(void);

/* The whole text of a program, computing less exactly; to be freed. NULL: it stays as it is. */
char *inexact_source(cl_uint count, const char **parts, const size_t *lengths);

#endif
