/* opencl.c - the calls of OpenCL that fathom makes, for one device that runs kernels on the host and counts them
 * (meter.h). Preloaded, so that it comes before the loader. Kernels are built by METER_COMPILE with the compiler
 * METER_CLANG in the folder METER_DIR. Commands are finished when they return; nothing is freed twice or counted. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "meter.h"

#pragma GCC visibility push(default)

enum { MAX_ARGUMENTS = 64 };
struct _cl_platform_id {
    int unused;
};
struct _cl_device_id {
    int unused;
};
struct _cl_context {
    int unused;
};
struct _cl_command_queue {
    int unused;
};
struct _cl_event {
    int unused;
};
struct _cl_mem {
    size_t bytes;
    char *memory;
};
struct _cl_program {
    char *text;
    void *library;
};
struct _cl_kernel {
    kernel_code code;
    argument arguments[MAX_ARGUMENTS];
};

static struct _cl_platform_id the_platform;
static struct _cl_device_id the_device;
static struct _cl_context the_context;
static struct _cl_command_queue the_queue;
static struct _cl_event the_event;

/* ---- queries ---- */

static cl_int answer(const void *from, size_t bytes, size_t size, void *value, size_t *got) {
    if (got)
        *got = bytes;
    if (value && size < bytes)
        return CL_INVALID_VALUE;
    if (value)
        memcpy(value, from, bytes);
    return CL_SUCCESS;
}

#define TEXT(text) answer((text), strlen(text) + 1, size, value, got)
#define NUMBER(type, number) answer(&(type){(type)(number)}, sizeof(type), size, value, got)

cl_int clGetPlatformIDs(cl_uint count, cl_platform_id *ids, cl_uint *got) {
    if (ids && count > 0)
        *ids = &the_platform;
    if (got)
        *got = 1;
    return CL_SUCCESS;
}

cl_int clGetPlatformInfo(cl_platform_id platform, cl_platform_info what, size_t size, void *value, size_t *got) {
    (void)platform;
    return what == CL_PLATFORM_EXTENSIONS ? TEXT("") : TEXT(what == CL_PLATFORM_VERSION ? "OpenCL 1.2" : "gpu_meter");
}

cl_int clGetDeviceIDs(cl_platform_id platform, cl_device_type type, cl_uint count, cl_device_id *ids, cl_uint *got) {
    (void)platform;
    (void)type;
    if (ids && count > 0)
        *ids = &the_device;
    if (got)
        *got = 1;
    return CL_SUCCESS;
}

cl_int clGetDeviceInfo(cl_device_id device, cl_device_info what, size_t size, void *value, size_t *got) {
    (void)device;
    switch (what) {
    case CL_DEVICE_TYPE:
        return NUMBER(cl_device_type, CL_DEVICE_TYPE_GPU);
    case CL_DEVICE_MAX_COMPUTE_UNITS:
        return NUMBER(cl_uint, CORES);
    case CL_DEVICE_MAX_WORK_GROUP_SIZE:
        return NUMBER(size_t, MAX_GROUP);
    case CL_DEVICE_GLOBAL_MEM_SIZE:
        return NUMBER(cl_ulong, MEMORY_BYTES);
    case CL_DEVICE_MAX_MEM_ALLOC_SIZE:
        return NUMBER(cl_ulong, MEMORY_BYTES / 4);
    case CL_DEVICE_LOCAL_MEM_SIZE:
        return NUMBER(cl_ulong, LOCAL_BYTES);
    case CL_DEVICE_HOST_UNIFIED_MEMORY:
        return NUMBER(cl_bool, CL_FALSE);
    case CL_DEVICE_PLATFORM:
        return NUMBER(cl_platform_id, &the_platform);
    case CL_DEVICE_EXTENSIONS:
        return TEXT("");
    case CL_DEVICE_NAME:
        return TEXT("modelled GPU");
    case CL_DEVICE_VERSION:
    case CL_DRIVER_VERSION:
        return TEXT("OpenCL 1.2 gpu_meter");
    default:
        return CL_INVALID_VALUE;
    }
}

/* ---- context, queue, buffers ---- */

cl_context clCreateContext(const cl_context_properties *properties, cl_uint count, const cl_device_id *devices,
                           void (*notify)(const char *, const void *, size_t, void *), void *user, cl_int *code) {
    (void)properties;
    (void)count;
    (void)devices;
    (void)notify;
    (void)user;
    *code = CL_SUCCESS;
    return &the_context;
}

cl_command_queue clCreateCommandQueue(cl_context context, cl_device_id device, cl_command_queue_properties properties,
                                      cl_int *code) {
    (void)context;
    (void)device;
    (void)properties;
    *code = CL_SUCCESS;
    return &the_queue;
}

#define DONE(name, type)   \
    cl_int name(type of) { \
        (void)of;          \
        return CL_SUCCESS; \
    }
DONE(clReleaseContext, cl_context)
DONE(clReleaseCommandQueue, cl_command_queue)
DONE(clReleaseEvent, cl_event)
DONE(clFinish, cl_command_queue)
DONE(clFlush, cl_command_queue)

char *meter_memory;

/* Device memory is never reused, so that an address means one buffer. */
cl_mem clCreateBuffer(cl_context context, cl_mem_flags flags, size_t bytes, void *from, cl_int *code) {
    static size_t used;
    const size_t align = 4096, whole = (bytes + align - 1) / align * align;
    (void)context;
    if (!meter_memory) {
        void *all =
            mmap(NULL, MEMORY_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        meter_memory = all == MAP_FAILED ? NULL : all;
    }
    cl_mem made = calloc(1, sizeof *made);
    *code = CL_MEM_OBJECT_ALLOCATION_FAILURE;
    if (!made || !meter_memory || bytes > MEMORY_BYTES - used) {
        free(made);
        return NULL;
    }
    *made = (struct _cl_mem){bytes, meter_memory + used};
    used += whole;
    if (flags & CL_MEM_COPY_HOST_PTR)
        memcpy(made->memory, from, bytes);
    *code = CL_SUCCESS;
    return made;
}

cl_int clReleaseMemObject(cl_mem mem) {
    free(mem);
    return CL_SUCCESS;
}

cl_int clGetMemObjectInfo(cl_mem mem, cl_mem_info what, size_t size, void *value, size_t *got) {
    return what == CL_MEM_SIZE ? NUMBER(size_t, mem->bytes) : CL_INVALID_VALUE;
}

cl_int clEnqueueWriteBuffer(cl_command_queue queue, cl_mem mem, cl_bool blocking, size_t offset, size_t bytes,
                            const void *from, cl_uint waits, const cl_event *list, cl_event *event) {
    (void)queue;
    (void)blocking;
    (void)waits;
    (void)list;
    memcpy(mem->memory + offset, from, bytes);
    if (event)
        *event = &the_event;
    return CL_SUCCESS;
}

cl_int clEnqueueReadBuffer(cl_command_queue queue, cl_mem mem, cl_bool blocking, size_t offset, size_t bytes, void *to,
                           cl_uint waits, const cl_event *list, cl_event *event) {
    (void)queue;
    (void)blocking;
    (void)waits;
    (void)list;
    memcpy(to, mem->memory + offset, bytes);
    if (event)
        *event = &the_event;
    return CL_SUCCESS;
}

void *clEnqueueMapBuffer(cl_command_queue queue, cl_mem mem, cl_bool blocking, cl_map_flags flags, size_t offset,
                         size_t bytes, cl_uint waits, const cl_event *list, cl_event *event, cl_int *code) {
    (void)queue;
    (void)blocking;
    (void)flags;
    (void)bytes;
    (void)waits;
    (void)list;
    if (event)
        *event = &the_event;
    if (code)
        *code = CL_SUCCESS;
    return mem->memory + offset;
}

cl_int clEnqueueUnmapMemObject(cl_command_queue queue, cl_mem mem, void *at, cl_uint waits, const cl_event *list,
                               cl_event *event) {
    (void)queue;
    (void)mem;
    (void)at;
    (void)waits;
    (void)list;
    if (event)
        *event = &the_event;
    return CL_SUCCESS;
}

cl_int clWaitForEvents(cl_uint count, const cl_event *list) {
    (void)count;
    (void)list;
    return CL_SUCCESS;
}

/* ---- programs ---- */

cl_program clCreateProgramWithSource(cl_context context, cl_uint count, const char **texts, const size_t *lengths,
                                     cl_int *code) {
    size_t used = 0, length = 0;
    (void)context;
    (void)lengths; /* fathom passes whole strings */
    for (cl_uint i = 0; i < count; i++)
        length += strlen(texts[i]);
    cl_program made = calloc(1, sizeof *made);
    char *text = malloc(length + 1);
    *code = made && text ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
    if (*code != CL_SUCCESS) {
        free(made);
        free(text);
        return NULL;
    }
    text[0] = '\0';
    for (cl_uint i = 0; i < count; i++)
        used += (size_t)snprintf(text + used, length + 1 - used, "%s", texts[i]);
    made->text = text;
    return made;
}

/* The compiler must not be preloaded itself. */
cl_int clBuildProgram(cl_program program, cl_uint count, const cl_device_id *devices, const char *options,
                      void (*notify)(cl_program, void *), void *user) {
    static int number;
    const char *folder = getenv("METER_DIR"), *compile = getenv("METER_COMPILE"), *clang = getenv("METER_CLANG");
    char source[4096], library[4096], command[16384];
    (void)count;
    (void)devices;
    (void)notify;
    (void)user;
    if (!folder || !compile || !clang)
        return CL_COMPILER_NOT_AVAILABLE;
    snprintf(source, sizeof source, "%s/%d.cl", folder, number);
    snprintf(library, sizeof library, "%s/%d.so", folder, number++);
    FILE *file = fopen(source, "w");
    if (!file)
        return CL_BUILD_PROGRAM_FAILURE;
    bool written = fputs(program->text, file) >= 0;
    if (fclose(file) != 0 || !written)
        return CL_BUILD_PROGRAM_FAILURE;
    unsetenv("LD_PRELOAD");
    snprintf(command, sizeof command, "'%s' '%s' '%s' '%s' %s >&2", compile, clang, source, library,
             options ? options : "");
    program->library = system(command) == 0 ? dlopen(library, RTLD_NOW) : NULL;
    if (program->library)
        return CL_SUCCESS;
    const char *why = dlerror();
    fprintf(stderr, "gpu_meter: %s: %s\n", source, why ? why : "does not compile");
    return CL_BUILD_PROGRAM_FAILURE;
}

cl_int clGetProgramBuildInfo(cl_program program, cl_device_id device, cl_program_build_info what, size_t size,
                             void *value, size_t *got) {
    (void)program;
    (void)device;
    (void)what;
    return TEXT("see standard error");
}

cl_int clReleaseProgram(cl_program program) {
    free(program->text);
    free(program); /* its code stays: kernels are used until the end */
    return CL_SUCCESS;
}

/* ---- kernels ---- */

cl_kernel clCreateKernel(cl_program program, const char *name, cl_int *code) {
    char symbol[128];
    cl_kernel made = calloc(1, sizeof *made);
    *code = CL_INVALID_KERNEL_NAME;
    if (!made)
        return NULL;
    snprintf(made->code.name, sizeof made->code.name, "%s", name);
    snprintf(symbol, sizeof symbol, "meter_call_%s", name);
    void *function = dlsym(program->library, symbol);
    memcpy(&made->code.call, &function, sizeof function);
    snprintf(symbol, sizeof symbol, "meter_kinds_%s", name);
    made->code.kinds = dlsym(program->library, symbol);
    if (!made->code.call || !made->code.kinds || strlen(made->code.kinds) > MAX_ARGUMENTS) {
        free(made);
        return NULL;
    }
    *code = CL_SUCCESS;
    return made;
}

cl_int clReleaseKernel(cl_kernel kernel) {
    free(kernel);
    return CL_SUCCESS;
}

cl_int clGetKernelWorkGroupInfo(cl_kernel kernel, cl_device_id device, cl_kernel_work_group_info what, size_t size,
                                void *value, size_t *got) {
    (void)kernel;
    (void)device;
    return what == CL_KERNEL_WORK_GROUP_SIZE ? NUMBER(size_t, MAX_GROUP) : CL_INVALID_VALUE;
}

cl_int clSetKernelArg(cl_kernel kernel, cl_uint index, size_t size, const void *value) {
    if (index >= strlen(kernel->code.kinds))
        return CL_INVALID_ARG_INDEX;
    argument *a = &kernel->arguments[index];
    if ((kernel->code.kinds[index] == 'l') != !value || size == 0 || (value && size > sizeof a->as.value))
        return CL_INVALID_ARG_VALUE;
    a->size = size;
    if (kernel->code.kinds[index] == 'b') {
        cl_mem mem;
        memcpy(&mem, value, sizeof mem);
        a->as.memory = mem->memory;
    } else if (value) {
        memcpy(a->as.value, value, size);
    }
    return CL_SUCCESS;
}

cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dims, const size_t *offset,
                              const size_t *global, const size_t *local, cl_uint waits, const cl_event *list,
                              cl_event *event) {
    (void)queue;
    (void)offset;
    (void)waits;
    (void)list;
    const size_t size[2] = {global[0], dims > 1 ? global[1] : 1};
    if (dims > 2 || !local || (dims > 1 && local[1] != 1) ||
        !meter_launch(&kernel->code, kernel->arguments, size, local[0]))
        return CL_INVALID_WORK_GROUP_SIZE;
    if (event)
        *event = &the_event;
    return CL_SUCCESS;
}
