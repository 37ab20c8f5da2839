/* ocl_model.h - how the hardware of other vendors differs from the device underneath, for ocl_layer.c, which calls
 * these at the calls they are named after. Settings are in the head of ocl_model.c. */
#ifndef LAYERS_OCL_MODEL_H
#define LAYERS_OCL_MODEL_H

#include <CL/cl_layer.h>
#include <stdbool.h>
#include <stdio.h>

void model_settings(void);
void model_report(FILE *file);

/* Corrects what the driver answered. */
void model_device_info(cl_device_info what, size_t size, void *value);
/* The clock of an event; false: ask the driver. */
bool model_clock(cl_profiling_info what, size_t size, void *value, cl_int *code);

/* A sub-buffer that starts where the device cannot. */
bool model_misaligned(cl_buffer_create_type type, const void *region);

/* Puts a line in front of a program's text, or makes it less exact. */
cl_int model_source(cl_uint *count, const char ***parts, const size_t **lengths);
/* False: the options assume arithmetic that not every device has. `given` becomes what the driver gets. */
bool model_options(char *room, size_t size, const char **given);

/* What a launch covers; a kernel is named before its arguments are told. */
void model_kernel(cl_kernel kernel, const char *name);
void model_argument(cl_kernel kernel, cl_uint index, size_t size, const void *value);
void model_launch(cl_kernel kernel, size_t group);

#endif
