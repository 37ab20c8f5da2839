/* ocl_layer.c - an OpenCL layer between the loader and the drivers, for tests only
 * (OPENCL_LAYERS=path of this library). It counts calls and live objects, makes the n-th call of a
 * kind fail, lets devices look smaller than they are and rejects what such devices would reject.
 *
 *   OCL_LAYER_REPORT=FILE    at exit: "calls NAME N", "live KIND N", "fired N", "rejected N"
 *   OCL_LAYER_FAIL=NAME:N:CODE[:+]   the N-th call of NAME returns CODE; with + every later one too
 *   OCL_LAYER_GROUP=64       largest work-group
 *   OCL_LAYER_LOCAL=16384    bytes of local memory
 *   OCL_LAYER_ALLOC=134217728    largest buffer
 *   OCL_LAYER_TYPE=4         type of every device, as CL_DEVICE_TYPE_GPU
 *   OCL_LAYER_CARD=uuid|pci  every device says that it is the same card, by UUID or by PCI address */
#define _GNU_SOURCE
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl_layer.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Calls passed on as they are: X(name, parameters, arguments). */
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
    X(clGetEventProfilingInfo, (cl_event a, cl_profiling_info b, size_t c, void *d, size_t *e), (a, b, c, d, e))       \
    X(clBuildProgram,                                                                                                  \
      (cl_program a, cl_uint b, const cl_device_id *c, const char *d, void(CL_CALLBACK * e)(cl_program, void *),       \
       void *f),                                                                                                       \
      (a, b, c, d, e, f))                                                                                              \
    X(clWaitForEvents, (cl_uint a, const cl_event *b), (a, b))                                                         \
    X(clFlush, (cl_command_queue a), (a))                                                                              \
    X(clFinish, (cl_command_queue a), (a))

/* Commands with an event as their last parameter. */
#define COMMANDS(X)                                                                                              \
    X(clEnqueueReadBuffer,                                                                                       \
      (cl_command_queue a, cl_mem b, cl_bool c, size_t d, size_t e, void *f, cl_uint g, const cl_event *h,       \
       cl_event *event),                                                                                         \
      (a, b, c, d, e, f, g, h, event))                                                                           \
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

/* Calls that make an object: X(name, type, kind, parameters, arguments); `code` is the error parameter. */
#define CREATORS(X)                                                                                         \
    X(clCreateContext, cl_context, context,                                                                 \
      (const cl_context_properties *a, cl_uint b, const cl_device_id *c,                                    \
       void(CL_CALLBACK * d)(const char *, const void *, size_t, void *), void *e, cl_int *code),           \
      (a, b, c, d, e, code))                                                                                \
    X(clCreateCommandQueue, cl_command_queue, queue,                                                        \
      (cl_context a, cl_device_id b, cl_command_queue_properties c, cl_int * code), (a, b, c, code))        \
    X(clCreateBuffer, cl_mem, mem, (cl_context a, cl_mem_flags b, size_t size, void *d, cl_int *code),      \
      (a, b, size, d, code))                                                                                \
    X(clCreateSubBuffer, cl_mem, mem,                                                                       \
      (cl_mem a, cl_mem_flags b, cl_buffer_create_type c, const void *d, cl_int *code), (a, b, c, d, code)) \
    X(clCreateProgramWithSource, cl_program, program,                                                       \
      (cl_context a, cl_uint b, const char **c, const size_t *d, cl_int *code), (a, b, c, d, code))         \
    X(clCreateProgramWithBinary, cl_program, program,                                                       \
      (cl_context a, cl_uint b, const cl_device_id *c, const size_t *d, const unsigned char **e, cl_int *f, \
       cl_int *code),                                                                                       \
      (a, b, c, d, e, f, code))                                                                             \
    X(clCreateKernel, cl_kernel, kernel, (cl_program a, const char *b, cl_int *code), (a, b, code))

/* X(retain, release, type, kind) */
#define COUNTED(X)                                                          \
    X(clRetainContext, clReleaseContext, cl_context, context)               \
    X(clRetainCommandQueue, clReleaseCommandQueue, cl_command_queue, queue) \
    X(clRetainMemObject, clReleaseMemObject, cl_mem, mem)                   \
    X(clRetainProgram, clReleaseProgram, cl_program, program)               \
    X(clRetainKernel, clReleaseKernel, cl_kernel, kernel)                   \
    X(clRetainEvent, clReleaseEvent, cl_event, event)

/* X(name, why it is written out below) */
#define SPECIAL_CALLS(X)                \
    X(clGetDeviceInfo, limits)          \
    X(clGetKernelWorkGroupInfo, limits) \
    X(clSetKernelArg, local memory)     \
    X(clEnqueueNDRangeKernel, both)

enum call {
#define X(name, ...) CALL_##name,
    PLAIN_CALLS(X) COMMANDS(X) CREATORS(X) SPECIAL_CALLS(X)
#undef X
#define X(retain, release, type, kind) CALL_##retain, CALL_##release,
        COUNTED(X)
#undef X
            CALLS
};

static const char *const call_names[] = {
#define X(name, ...) #name,
    PLAIN_CALLS(X) COMMANDS(X) CREATORS(X) SPECIAL_CALLS(X)
#undef X
#define X(retain, release, type, kind) #retain, #release,
        COUNTED(X)
#undef X
};

enum kind { KIND_context, KIND_queue, KIND_mem, KIND_program, KIND_kernel, KIND_event, KINDS };
static const char *const kind_names[] = {"context", "queue", "mem", "program", "kernel", "event"};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const cl_icd_dispatch *next;
static long calls[CALLS], live[KINDS], fired, rejected;
static char fail_name[64];
static long fail_at, fail_code, limit_group, limit_local, limit_alloc, told_type;
static bool fail_on;

/* ---- counting and failing ---- */

/* Counts a call; true when it is to fail, with its code. */
static bool fault(enum call call, cl_int *code) {
    pthread_mutex_lock(&lock);
    long nth = ++calls[call];
    bool hit =
        fail_at > 0 && strcmp(call_names[call], fail_name) == 0 && (nth == fail_at || (fail_on && nth > fail_at));
    fired += hit;
    pthread_mutex_unlock(&lock);
    *code = (cl_int)fail_code;
    return hit;
}

static void count(enum kind kind, int by) {
    pthread_mutex_lock(&lock);
    live[kind] += by;
    pthread_mutex_unlock(&lock);
}

static cl_int reject(cl_int code) {
    pthread_mutex_lock(&lock);
    rejected++;
    pthread_mutex_unlock(&lock);
    return code;
}

#define X(name, parameters, arguments)                 \
    static cl_int CL_API_CALL wrap_##name parameters { \
        cl_int code;                                   \
        if (fault(CALL_##name, &code))                 \
            return code;                               \
        return next->name arguments;                   \
    }
PLAIN_CALLS(X)
#undef X

#define X(name, parameters, arguments)                 \
    static cl_int CL_API_CALL wrap_##name parameters { \
        cl_int result;                                 \
        if (fault(CALL_##name, &result))               \
            return result;                             \
        result = next->name arguments;                 \
        if (result == CL_SUCCESS && event)             \
            count(KIND_event, 1);                      \
        return result;                                 \
    }
COMMANDS(X)
#undef X

/* clCreateBuffer is the one creator with a limit: its parameter is called `size`. */
static bool too_large(enum call call, size_t size) {
    return call == CALL_clCreateBuffer && limit_alloc > 0 && size > (size_t)limit_alloc;
}

#define X(name, type, kind, parameters, arguments)         \
    static type CL_API_CALL wrap_##name parameters {       \
        cl_int failure;                                    \
        const size_t size_given = SIZE_OF_##name;          \
        bool stop = fault(CALL_##name, &failure);          \
        if (!stop && too_large(CALL_##name, size_given)) { \
            failure = reject(CL_INVALID_BUFFER_SIZE);      \
            stop = true;                                   \
        }                                                  \
        if (stop) {                                        \
            if (code)                                      \
                *code = failure;                           \
            return NULL;                                   \
        }                                                  \
        type made = next->name arguments;                  \
        if (made)                                          \
            count(KIND_##kind, 1);                         \
        return made;                                       \
    }
#define SIZE_OF_clCreateContext 0
#define SIZE_OF_clCreateCommandQueue 0
#define SIZE_OF_clCreateBuffer size
#define SIZE_OF_clCreateSubBuffer 0
#define SIZE_OF_clCreateProgramWithSource 0
#define SIZE_OF_clCreateProgramWithBinary 0
#define SIZE_OF_clCreateKernel 0
CREATORS(X)
#undef X

#define X(retain, release, type, kind)                 \
    static cl_int CL_API_CALL wrap_##retain(type o) {  \
        cl_int result;                                 \
        if (fault(CALL_##retain, &result))             \
            return result;                             \
        result = next->retain(o);                      \
        if (result == CL_SUCCESS)                      \
            count(KIND_##kind, 1);                     \
        return result;                                 \
    }                                                  \
    static cl_int CL_API_CALL wrap_##release(type o) { \
        cl_int result;                                 \
        if (fault(CALL_##release, &result))            \
            return result;                             \
        result = next->release(o);                     \
        if (result == CL_SUCCESS)                      \
            count(KIND_##kind, -1);                    \
        return result;                                 \
    }
COUNTED(X)
#undef X

/* ---- another device than there is ---- */

#define INFO_UUID 0x106A
#define INFO_PCI 0x410F

/* Answers for the one card that every device is said to be; false: ask the driver. */
static bool card_info(cl_device_info what, size_t size, void *value, size_t *got) {
    const char *by = getenv("OCL_LAYER_CARD");
    static const unsigned char uuid[16] = {0xfa, 0x70, 0x3e, 1, 2, 3};
    static const cl_uint pci[4] = {0, 3, 0, 0};
    const char *extension = by && strcmp(by, "pci") == 0 ? "cl_khr_pci_bus_info" : "cl_khr_device_uuid";
    const void *from = what == CL_DEVICE_EXTENSIONS ? (const void *)extension
                       : what == INFO_UUID          ? (const void *)uuid
                                                    : pci;
    size_t need = what == CL_DEVICE_EXTENSIONS ? strlen(extension) + 1 : sizeof uuid;
    if (!by || (what != CL_DEVICE_EXTENSIONS && what != INFO_UUID && what != INFO_PCI))
        return false;
    if (value && size >= need)
        memcpy(value, from, need);
    if (got)
        *got = need;
    return true;
}

static cl_int CL_API_CALL wrap_clGetDeviceInfo(cl_device_id device, cl_device_info what, size_t size, void *value,
                                               size_t *got) {
    cl_int code;
    if (fault(CALL_clGetDeviceInfo, &code))
        return code;
    if (card_info(what, size, value, got))
        return CL_SUCCESS;
    code = next->clGetDeviceInfo(device, what, size, value, got);
    if (code != CL_SUCCESS || !value)
        return code;
    size_t *sizes = value;
    cl_ulong *bytes = value;
    if (what == CL_DEVICE_MAX_WORK_GROUP_SIZE && limit_group > 0 && *sizes > (size_t)limit_group)
        *sizes = (size_t)limit_group;
    if (what == CL_DEVICE_MAX_WORK_ITEM_SIZES && limit_group > 0)
        for (size_t i = 0; i < size / sizeof *sizes && i < 3; i++)
            sizes[i] = sizes[i] > (size_t)limit_group ? (size_t)limit_group : sizes[i];
    if (what == CL_DEVICE_LOCAL_MEM_SIZE && limit_local > 0 && *bytes > (cl_ulong)limit_local)
        *bytes = (cl_ulong)limit_local;
    if (what == CL_DEVICE_MAX_MEM_ALLOC_SIZE && limit_alloc > 0 && *bytes > (cl_ulong)limit_alloc)
        *bytes = (cl_ulong)limit_alloc;
    if (what == CL_DEVICE_TYPE && told_type > 0)
        *bytes = (cl_ulong)told_type;
    return code;
}

static cl_int CL_API_CALL wrap_clGetKernelWorkGroupInfo(cl_kernel kernel, cl_device_id device,
                                                        cl_kernel_work_group_info what, size_t size, void *value,
                                                        size_t *got) {
    cl_int code;
    if (fault(CALL_clGetKernelWorkGroupInfo, &code))
        return code;
    code = next->clGetKernelWorkGroupInfo(kernel, device, what, size, value, got);
    size_t *sizes = value;
    if (code == CL_SUCCESS && value && what == CL_KERNEL_WORK_GROUP_SIZE && limit_group > 0 &&
        *sizes > (size_t)limit_group)
        *sizes = (size_t)limit_group;
    return code;
}

/* Local memory handed to kernels as arguments: kernel, argument, bytes. */
static struct local_arg {
    cl_kernel kernel;
    cl_uint index;
    size_t bytes;
} locals[4096];
static size_t local_count;

static cl_int CL_API_CALL wrap_clSetKernelArg(cl_kernel kernel, cl_uint index, size_t size, const void *value) {
    cl_int code;
    if (fault(CALL_clSetKernelArg, &code))
        return code;
    if (!value) {
        pthread_mutex_lock(&lock);
        size_t i = 0;
        while (i < local_count && (locals[i].kernel != kernel || locals[i].index != index))
            i++;
        if (i < sizeof locals / sizeof *locals)
            locals[i] = (struct local_arg){kernel, index, size};
        if (i == local_count && i < sizeof locals / sizeof *locals)
            local_count++;
        pthread_mutex_unlock(&lock);
    }
    return next->clSetKernelArg(kernel, index, size, value);
}

/* What the kernel declares by itself and what it was handed. Some drivers count the second in the first. */
static size_t local_bytes(cl_command_queue queue, cl_kernel kernel) {
    cl_device_id device = NULL;
    cl_ulong declared = 0;
    size_t handed = 0;
    if (next->clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof device, &device, NULL) != CL_SUCCESS ||
        next->clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_LOCAL_MEM_SIZE, sizeof declared, &declared, NULL) !=
            CL_SUCCESS)
        declared = 0;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < local_count; i++)
        handed += locals[i].kernel == kernel ? locals[i].bytes : 0;
    pthread_mutex_unlock(&lock);
    return (size_t)declared > handed ? (size_t)declared : handed;
}

static cl_int CL_API_CALL wrap_clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dims,
                                                      const size_t *offset, const size_t *global, const size_t *local,
                                                      cl_uint waits, const cl_event *list, cl_event *event) {
    cl_int code;
    if (fault(CALL_clEnqueueNDRangeKernel, &code))
        return code;
    size_t group = 1;
    for (cl_uint i = 0; local && i < dims; i++)
        group *= local[i];
    if (limit_group > 0 && group > (size_t)limit_group)
        return reject(CL_INVALID_WORK_GROUP_SIZE);
    if (limit_local > 0 && local_bytes(queue, kernel) > (size_t)limit_local)
        return reject(CL_OUT_OF_RESOURCES);
    code = next->clEnqueueNDRangeKernel(queue, kernel, dims, offset, global, local, waits, list, event);
    if (code == CL_SUCCESS && event)
        count(KIND_event, 1);
    return code;
}

/* ---- the layer's own interface ---- */

static cl_icd_dispatch table;

static long number(const char *name) {
    const char *text = getenv(name);
    return text ? atol(text) : 0;
}

static void read_settings(void) {
    const char *plan = getenv("OCL_LAYER_FAIL");
    char more = 0;
    limit_group = number("OCL_LAYER_GROUP");
    limit_local = number("OCL_LAYER_LOCAL");
    limit_alloc = number("OCL_LAYER_ALLOC");
    told_type = number("OCL_LAYER_TYPE");
    if (plan && sscanf(plan, "%63[A-Za-z]:%ld:%ld:%c", fail_name, &fail_at, &fail_code, &more) < 3)
        fail_at = 0;
    fail_on = more == '+';
}

CL_API_ENTRY cl_int CL_API_CALL clGetLayerInfo(cl_layer_info what, size_t size, void *value, size_t *got) {
    static const char name[] = "fathom test layer";
    const cl_layer_api_version version = CL_LAYER_API_VERSION_100;
    const void *from = what == CL_LAYER_API_VERSION ? (const void *)&version : name;
    size_t need = what == CL_LAYER_API_VERSION ? sizeof version : sizeof name;
    if (what != CL_LAYER_API_VERSION && what != CL_LAYER_NAME)
        return CL_INVALID_VALUE;
    if (value && size < need)
        return CL_INVALID_VALUE;
    if (value)
        memcpy(value, from, need);
    if (got)
        *got = need;
    return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clInitLayer(cl_uint entries, const cl_icd_dispatch *target, cl_uint *entries_made,
                                            const cl_icd_dispatch **made) {
    if (!target || !entries_made || !made || entries == 0)
        return CL_INVALID_VALUE;
    next = target;
    memcpy(&table, target, entries * sizeof(void *) < sizeof table ? entries * sizeof(void *) : sizeof table);
#define X(name, ...) table.name = wrap_##name;
    PLAIN_CALLS(X)
    COMMANDS(X)
    CREATORS(X)
    SPECIAL_CALLS(X)
#undef X
#define X(retain, release, type, kind) \
    table.retain = wrap_##retain;      \
    table.release = wrap_##release;
    COUNTED(X)
#undef X
    read_settings();
    *entries_made = sizeof table / sizeof(void *);
    *made = &table;
    return CL_SUCCESS;
}

__attribute__((destructor)) static void report(void) {
    const char *path = getenv("OCL_LAYER_REPORT");
    FILE *file = path && next ? fopen(path, "w") : NULL;
    if (!file)
        return;
    for (int i = 0; i < CALLS; i++)
        if (calls[i])
            fprintf(file, "calls %s %ld\n", call_names[i], calls[i]);
    for (int i = 0; i < KINDS; i++)
        fprintf(file, "live %s %ld\n", kind_names[i], live[i]);
    fprintf(file, "fired %ld\nrejected %ld\n", fired, rejected);
    fclose(file);
}
