/* ocl_model.h - differences between the hardware of vendors, simulated on the device underneath, for ocl_layer.c, which
 * calls these functions from the wrappers of the same name. Settings are in the head of ocl_model.c. */
#ifndef LAYERS_OCL_MODEL_H
#define LAYERS_OCL_MODEL_H

#include <CL/cl_layer.h>
#include <stdbool.h>
#include <stdio.h>

void model_settings(void);
void model_report(FILE *file);

/* Modifies the answer of the driver. */
void model_device_info(cl_device_info what, size_t size, void *value);
/* The timer of an event; false: query the driver. */
bool model_clock(cl_profiling_info what, size_t size, void *value, cl_int *code);

/* Is the origin of a sub-buffer misaligned? */
bool model_misaligned(cl_buffer_create_type type, const void *region);

/* Modifies the source of a program: no double, inexact arithmetic, a replaced text. */
cl_int model_source(cl_uint *count, const char ***parts, const size_t **lengths);
/* False: the options assume arithmetic that not every device has. *given becomes the options for the driver. */
bool model_options(char *buffer, size_t size, const char **given);

/* Coverage of launches; model_kernel precedes the arguments of a kernel. */
void model_kernel(cl_kernel kernel, const char *name);
void model_argument(cl_kernel kernel, size_t size, const void *value);
void model_launch(cl_kernel kernel, size_t group);

#endif
