/* ocl_calls.h - the OpenCL calls wrapped by the test layer, grouped by signature. */
#ifndef LAYERS_OCL_CALLS_H
#define LAYERS_OCL_CALLS_H

/* Calls passed on unchanged: X(name, parameters, arguments). */
#define PLAIN_CALLS(X)                                                                                                 \
    X(clGetPlatformIDs, (cl_uint a, cl_platform_id * b, cl_uint * c), (a, b, c))                                       \
    X(clGetPlatformInfo, (cl_platform_id a, cl_platform_info b, size_t c, void *d, size_t *e), (a, b, c, d, e))        \
    X(clGetDeviceIDs, (cl_platform_id a, cl_device_type b, cl_uint c, cl_device_id * d, cl_uint * e), (a, b, c, d, e)) \
    X(clGetContextInfo, (cl_context a, cl_context_info b, size_t c, void *d, size_t *e), (a, b, c, d, e))              \
    X(clGetCommandQueueInfo, (cl_command_queue a, cl_command_queue_info b, size_t c, void *d, size_t *e),              \
      (a, b, c, d, e))                                                                                                 \
    X(clGetMemObjectInfo, (cl_mem a, cl_mem_info b, size_t c, void *d, size_t *e), (a, b, c, d, e))                    \
    X(clGetProgramInfo, (cl_program a, cl_program_info b, size_t c, void *d, size_t *e), (a, b, c, d, e))              \
    X(clGetProgramBuildInfo, (cl_program a, cl_device_id b, cl_program_build_info c, size_t d, void *e, size_t *f),    \
      (a, b, c, d, e, f))                                                                                              \
    X(clGetKernelInfo, (cl_kernel a, cl_kernel_info b, size_t c, void *d, size_t *e), (a, b, c, d, e))                 \
    X(clGetEventInfo, (cl_event a, cl_event_info b, size_t c, void *d, size_t *e), (a, b, c, d, e))                    \
    X(clWaitForEvents, (cl_uint a, const cl_event *b), (a, b))                                                         \
    X(clFlush, (cl_command_queue a), (a))                                                                              \
    X(clFinish, (cl_command_queue a), (a))

/* Commands with an event as their last parameter. */
#define COMMANDS(X)                                                                                              \
    X(clEnqueueWriteBuffer,                                                                                      \
      (cl_command_queue a, cl_mem b, cl_bool c, size_t d, size_t e, const void *f, cl_uint g, const cl_event *h, \
       cl_event *event),                                                                                         \
      (a, b, c, d, e, f, g, h, event))                                                                           \
    X(clEnqueueFillBuffer,                                                                                       \
      (cl_command_queue a, cl_mem b, const void *c, size_t d, size_t e, size_t f, cl_uint g, const cl_event *h,  \
       cl_event *event),                                                                                         \
      (a, b, c, d, e, f, g, h, event))                                                                           \
    X(clEnqueueCopyBuffer,                                                                                       \
      (cl_command_queue a, cl_mem b, cl_mem c, size_t d, size_t e, size_t f, cl_uint g, const cl_event *h,       \
       cl_event *event),                                                                                         \
      (a, b, c, d, e, f, g, h, event))

/* Calls that create an object: X(name, type, kind, code of a smaller device, parameters, arguments). */
#define CREATORS(X)                                                                                               \
    X(clCreateContext, cl_context, context, CL_SUCCESS,                                                           \
      (const cl_context_properties *a, cl_uint b, const cl_device_id *c,                                          \
       void(CL_CALLBACK * d)(const char *, const void *, size_t, void *), void *e, cl_int *code),                 \
      (a, b, c, d, e, code))                                                                                      \
    X(clCreateCommandQueue, cl_command_queue, queue, CL_SUCCESS,                                                  \
      (cl_context a, cl_device_id b, cl_command_queue_properties c, cl_int * code), (a, b, c, code))              \
    X(clCreateBuffer, cl_mem, mem, too_large(c), (cl_context a, cl_mem_flags b, size_t c, void *d, cl_int *code), \
      (a, b, c, d, code))                                                                                         \
    X(clCreateSubBuffer, cl_mem, mem, misaligned(c, d),                                                           \
      (cl_mem a, cl_mem_flags b, cl_buffer_create_type c, const void *d, cl_int *code), (a, b, c, d, code))       \
    X(clCreateProgramWithSource, cl_program, program, model_source(&b, &c, &d),                                   \
      (cl_context a, cl_uint b, const char **c, const size_t *d, cl_int *code), (a, b, c, d, code))               \
    X(clCreateProgramWithBinary, cl_program, program, CL_SUCCESS,                                                 \
      (cl_context a, cl_uint b, const cl_device_id *c, const size_t *d, const unsigned char **e, cl_int *f,       \
       cl_int *code),                                                                                             \
      (a, b, c, d, e, f, code))                                                                                   \
    X(clCreateKernel, cl_kernel, kernel, CL_SUCCESS, (cl_program a, const char *b, cl_int *code), (a, b, code))

/* X(retain, release, type, kind) */
#define COUNTED(X)                                                          \
    X(clRetainContext, clReleaseContext, cl_context, context)               \
    X(clRetainCommandQueue, clReleaseCommandQueue, cl_command_queue, queue) \
    X(clRetainMemObject, clReleaseMemObject, cl_mem, mem)                   \
    X(clRetainProgram, clReleaseProgram, cl_program, program)               \
    X(clRetainKernel, clReleaseKernel, cl_kernel, kernel)                   \
    X(clRetainEvent, clReleaseEvent, cl_event, event)

/* Wrapped by hand in ocl_layer.c: X(name, reason). */
#define SPECIAL_CALLS(X)                 \
    X(clGetDeviceInfo, limits)           \
    X(clBuildProgram, options)           \
    X(clGetEventProfilingInfo, clocks)   \
    X(clGetKernelWorkGroupInfo, limits)  \
    X(clSetKernelArg, local memory)      \
    X(clEnqueueReadBuffer, wrong data)   \
    X(clEnqueueMapBuffer, live map)      \
    X(clEnqueueUnmapMemObject, live map) \
    X(clEnqueueNDRangeKernel, both)

#endif
