/* ocl_inexact.h - a device that is only as exact as OpenCL requires, for ocl_model.c. */
#ifndef LAYERS_OCL_INEXACT_H
#define LAYERS_OCL_INEXACT_H

#include <CL/cl.h>
#include <stdbool.h>

void inexact_settings(void);

/* The source of a program with inexact arithmetic, to be freed; NULL: unchanged. */
char *inexact_source(cl_uint count, const char **parts, const size_t *lengths);

#endif
