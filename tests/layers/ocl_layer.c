/* ocl_layer.c - an OpenCL layer between loader and drivers, for tests only (OPENCL_LAYERS=path of this library): wraps
 * the calls, and makes devices look smaller than they are and reject what such devices reject.
 *
 *   OCL_LAYER_REPORT=FILE    at exit: "calls NAME N", "live KIND N", "fired N", "rejected N"
 *   OCL_LAYER_FAIL=...       makes calls fail: ocl_faults.c
 *   OCL_LAYER_GROUP=64       largest work-group
 *   OCL_LAYER_LOCAL=16384    bytes of local memory
 *   OCL_LAYER_ALLOC=134217728    largest buffer
 *   OCL_LAYER_TYPE=4         type of every device, as CL_DEVICE_TYPE_GPU
 *   OCL_LAYER_UNIFIED=0      devices do not share memory with the host
 *   OCL_LAYER_BUILD_MS=700   building a program takes this much more CPU time
 *   OCL_LAYER_CARD=uuid|pci  every device has the same UUID or the same PCI address
 * Other differences between vendors are in ocl_model.c.
 *
 * A program that injects many faults finds ocl_layer_plan and the functions after it (ocl_faults.h) with dlsym. */
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl_layer.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ocl_faults.h"
#include "ocl_model.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const cl_icd_dispatch *next;
static long limit_group, limit_local, limit_alloc, device_type, build_ms;
static bool separate_memory;

/* ---- wrappers ---- */

#define X(name, parameters, arguments)                 \
    static cl_int CL_API_CALL wrap_##name parameters { \
        cl_int code;                                   \
        if (fault_hits(CALL_##name, &code))            \
            return code;                               \
        return next->name arguments;                   \
    }
PLAIN_CALLS(X)
#undef X

#define X(name, parameters, arguments)                 \
    static cl_int CL_API_CALL wrap_##name parameters { \
        cl_int result;                                 \
        if (fault_hits(CALL_##name, &result))          \
            return result;                             \
        result = next->name arguments;                 \
        if (result == CL_SUCCESS && event)             \
            fault_count_object(KIND_event, 1);         \
        return result;                                 \
    }
COMMANDS(X)
#undef X

static cl_int too_large(size_t size) {
    return limit_alloc > 0 && size > (size_t)limit_alloc ? fault_reject(CL_INVALID_BUFFER_SIZE) : CL_SUCCESS;
}

static cl_int misaligned(cl_buffer_create_type type, const void *region) {
    return model_misaligned(type, region) ? fault_reject(CL_MISALIGNED_SUB_BUFFER_OFFSET) : CL_SUCCESS;
}

#define X(name, type, kind, check, parameters, arguments) \
    static type CL_API_CALL wrap_##name parameters {      \
        cl_int failure;                                   \
        bool stop = fault_hits(CALL_##name, &failure);    \
        if (!stop) {                                      \
            failure = check;                              \
            stop = failure != CL_SUCCESS;                 \
        }                                                 \
        if (stop) {                                       \
            if (code)                                     \
                *code = failure;                          \
            return NULL;                                  \
        }                                                 \
        type made = next->name arguments;                 \
        if (made)                                         \
            fault_count_object(KIND_##kind, 1);           \
        return made;                                      \
    }
CREATORS(X)
#undef X

#define X(retain, release, type, kind)                  \
    static cl_int CL_API_CALL wrap_##retain(type o) {   \
        cl_int result;                                  \
        if (fault_hits(CALL_##retain, &result))         \
            return result;                              \
        result = next->retain(o);                       \
        if (result == CL_SUCCESS)                       \
            fault_count_object(KIND_##kind, 1);         \
        return result;                                  \
    }                                                   \
    static cl_int CL_API_CALL wrap_##release(type o) {  \
        cl_int code;                                    \
        bool fails = fault_hits(CALL_##release, &code); \
        cl_int result = next->release(o);               \
        if (result == CL_SUCCESS)                       \
            fault_count_object(KIND_##kind, -1);        \
        return fails ? code : result;                   \
    }
COUNTED(X)
#undef X

/* ---- device limits ---- */

#define INFO_UUID 0x106A
#define INFO_PCI 0x410F

/* UUID, PCI address and extensions under OCL_LAYER_CARD; false: query the driver. */
static bool gpu_info(cl_device_info what, size_t size, void *value, size_t *got) {
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

static cl_int CL_API_CALL wrap_clBuildProgram(cl_program program, cl_uint count_of, const cl_device_id *devices,
                                              const char *options, void(CL_CALLBACK *done)(cl_program, void *),
                                              void *user) {
    cl_int code;
    char buffer[1024];
    if (fault_hits(CALL_clBuildProgram, &code))
        return code;
    if (!model_options(buffer, sizeof buffer, &options))
        return fault_reject(CL_INVALID_BUILD_OPTIONS);
    for (clock_t start = clock(); (clock() - start) * 1000 / CLOCKS_PER_SEC < build_ms;)
        ; /* CPU time, which fathom counts */
    return next->clBuildProgram(program, count_of, devices, options, done, user);
}

static cl_int CL_API_CALL wrap_clGetEventProfilingInfo(cl_event event, cl_profiling_info what, size_t size, void *value,
                                                       size_t *got) {
    cl_int code;
    if (fault_hits(CALL_clGetEventProfilingInfo, &code) || model_clock(what, size, value, &code))
        return code;
    return next->clGetEventProfilingInfo(event, what, size, value, got);
}

static cl_int CL_API_CALL wrap_clGetDeviceInfo(cl_device_id device, cl_device_info what, size_t size, void *value,
                                               size_t *got) {
    cl_int code;
    if (fault_hits(CALL_clGetDeviceInfo, &code))
        return code;
    if (gpu_info(what, size, value, got))
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
    if (what == CL_DEVICE_TYPE && device_type > 0)
        *bytes = (cl_ulong)device_type;
    if (what == CL_DEVICE_HOST_UNIFIED_MEMORY && separate_memory)
        *(cl_bool *)value = CL_FALSE;
    model_device_info(what, size, value);
    return code;
}

static cl_int CL_API_CALL wrap_clGetKernelWorkGroupInfo(cl_kernel kernel, cl_device_id device,
                                                        cl_kernel_work_group_info what, size_t size, void *value,
                                                        size_t *got) {
    cl_int code;
    if (fault_hits(CALL_clGetKernelWorkGroupInfo, &code))
        return code;
    code = next->clGetKernelWorkGroupInfo(kernel, device, what, size, value, got);
    size_t *sizes = value;
    if (code == CL_SUCCESS && value && what == CL_KERNEL_WORK_GROUP_SIZE && limit_group > 0 &&
        *sizes > (size_t)limit_group)
        *sizes = (size_t)limit_group;
    return code;
}

/* Local memory passed as kernel arguments. */
static struct local_arg {
    cl_kernel kernel;
    cl_uint index;
    size_t bytes;
} locals[4096];
static size_t local_count;

static cl_int CL_API_CALL wrap_clSetKernelArg(cl_kernel kernel, cl_uint index, size_t size, const void *value) {
    cl_int code;
    if (fault_hits(CALL_clSetKernelArg, &code))
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
    char name[64] = "";
    if (index == 0 && next->clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, sizeof name, name, NULL) == CL_SUCCESS)
        model_kernel(kernel, name);
    model_argument(kernel, size, value);
    return next->clSetKernelArg(kernel, index, size, value);
}

/* Local memory declared in the kernel and passed as arguments. Some drivers include the latter in the former. */
static size_t local_bytes(cl_command_queue queue, cl_kernel kernel) {
    cl_device_id device = NULL;
    cl_ulong declared = 0;
    size_t passed = 0;
    if (next->clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof device, &device, NULL) != CL_SUCCESS ||
        next->clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_LOCAL_MEM_SIZE, sizeof declared, &declared, NULL) !=
            CL_SUCCESS)
        declared = 0;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < local_count; i++)
        passed += locals[i].kernel == kernel ? locals[i].bytes : 0;
    pthread_mutex_unlock(&lock);
    return (size_t)declared > passed ? (size_t)declared : passed;
}

static cl_int CL_API_CALL wrap_clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dims,
                                                      const size_t *offset, const size_t *global, const size_t *local,
                                                      cl_uint waits, const cl_event *list, cl_event *event) {
    cl_int code;
    if (fault_hits(CALL_clEnqueueNDRangeKernel, &code))
        return code;
    if (!event && fault_drops_launch())
        return CL_SUCCESS;
    size_t group = 1;
    for (cl_uint i = 0; local && i < dims; i++)
        group *= local[i];
    if (limit_group > 0 && group > (size_t)limit_group)
        return fault_reject(CL_INVALID_WORK_GROUP_SIZE);
    if (limit_local > 0 && local_bytes(queue, kernel) > (size_t)limit_local)
        return fault_reject(CL_OUT_OF_RESOURCES);
    model_launch(kernel, group);
    code = next->clEnqueueNDRangeKernel(queue, kernel, dims, offset, global, local, waits, list, event);
    if (code == CL_SUCCESS && event)
        fault_count_object(KIND_event, 1);
    return code;
}

static cl_int CL_API_CALL wrap_clEnqueueReadBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                                   size_t offset, size_t size, void *target, cl_uint waits,
                                                   const cl_event *list, cl_event *event) {
    cl_int code;
    if (fault_hits(CALL_clEnqueueReadBuffer, &code))
        return code;
    code = next->clEnqueueReadBuffer(queue, buffer, blocking, offset, size, target, waits, list, event);
    if (code == CL_SUCCESS && event)
        fault_count_object(KIND_event, 1);
    if (code == CL_SUCCESS)
        fault_corrupts_read(next->clFinish, queue, blocking, target, size);
    return code;
}

static void *CL_API_CALL wrap_clEnqueueMapBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                                 cl_map_flags flags, size_t offset, size_t size, cl_uint waits,
                                                 const cl_event *list, cl_event *event, cl_int *code) {
    cl_int failure;
    if (fault_hits(CALL_clEnqueueMapBuffer, &failure)) {
        if (code)
            *code = failure;
        return NULL;
    }
    void *made = next->clEnqueueMapBuffer(queue, buffer, blocking, flags, offset, size, waits, list, event, code);
    fault_count_object(KIND_map, made != NULL);
    fault_count_object(KIND_event, made && event);
    return made;
}

/* A call that fails has unmapped: what is then still mapped is a leak of the program. */
static cl_int CL_API_CALL wrap_clEnqueueUnmapMemObject(cl_command_queue queue, cl_mem buffer, void *mapped,
                                                       cl_uint waits, const cl_event *list, cl_event *event) {
    cl_int code;
    bool fails = fault_hits(CALL_clEnqueueUnmapMemObject, &code);
    cl_int result = next->clEnqueueUnmapMemObject(queue, buffer, mapped, waits, list, event);
    fault_count_object(KIND_map, result == CL_SUCCESS ? -1 : 0);
    fault_count_object(KIND_event, result == CL_SUCCESS && event);
    return fails ? code : result;
}

/* ---- interface of the loader ---- */

static cl_icd_dispatch table;

static long env_number(const char *name) {
    const char *text = getenv(name);
    return text ? atol(text) : 0;
}

static void read_settings(void) {
    limit_group = env_number("OCL_LAYER_GROUP");
    limit_local = env_number("OCL_LAYER_LOCAL");
    limit_alloc = env_number("OCL_LAYER_ALLOC");
    device_type = env_number("OCL_LAYER_TYPE");
    build_ms = env_number("OCL_LAYER_BUILD_MS");
    separate_memory = getenv("OCL_LAYER_UNIFIED") && env_number("OCL_LAYER_UNIFIED") == 0;
    model_settings();
    ocl_layer_plan(getenv("OCL_LAYER_FAIL"));
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
    fault_report(file);
    model_report(file);
    fclose(file);
}
