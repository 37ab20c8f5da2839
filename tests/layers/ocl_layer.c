/* ocl_layer.c - an OpenCL layer between the loader and the drivers, for tests only
 * (OPENCL_LAYERS=path of this library). It counts calls and live objects, makes the n-th call of a
 * kind fail, lets devices look smaller than they are and rejects what such devices would reject.
 *
 *   OCL_LAYER_REPORT=FILE    at exit: "calls NAME N", "live KIND N", "fired N", "rejected N"
 *   OCL_LAYER_FAIL=NAME:N:CODE[:+]   the N-th call of NAME returns CODE; with + every later one too. NAME may be
 *       any    the N-th of all calls
 *       rare   the N-th of all but clSetKernelArg and clEnqueueNDRangeKernel
 *       late   the N-th launch says CL_SUCCESS and does nothing; the next clFinish or read returns CODE
 *       finish the same, but reads go well: only clFinish tells, every time
 *       wrong  the N-th read says CL_SUCCESS and gives NaN, and so does the other of a read without waiting and the
 *              blocking one after it: what a device computed wrongly is the same however often it is read
 *       flip   one bit of what the N-th read gives is wrong
 *       short  the same for the N-th read of 16 bytes, as an epoch ends
 *     A release that fails does release: what is left alive is the caller's doing.
 *   OCL_LAYER_GROUP=64       largest work-group
 *   OCL_LAYER_LOCAL=16384    bytes of local memory
 *   OCL_LAYER_ALLOC=134217728    largest buffer
 *   OCL_LAYER_TYPE=4         type of every device, as CL_DEVICE_TYPE_GPU
 *   OCL_LAYER_CARD=uuid|pci  every device says that it is the same card, by UUID or by PCI address
 * More ways in which hardware differs are in ocl_model.c.
 *
 * A program that injects many faults by itself finds ocl_layer_plan and its sisters below with dlsym. */
#define _GNU_SOURCE
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl_layer.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ocl_calls.h"
#include "ocl_model.h"

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
static long calls[CALLS], live[KINDS], total, rare, fired, rejected, short_reads;
static const char *fired_name; /* the call that failed first */
static char fail_name[64];
static long fail_at, fail_code, limit_group, limit_local, limit_alloc, told_type;
static bool fail_on, owed; /* owed: a launch was dropped, and nobody was told yet */

/* ---- counting and failing ---- */

/* Is the n-th of what `name` counts to fail? */
static bool planned(const char *name, long nth) {
    return fail_at > 0 && strcmp(name, fail_name) == 0 && (nth == fail_at || (fail_on && nth > fail_at));
}

/* Counts a call; true when it is to fail, with its code. */
static bool fault(enum call call, cl_int *code) {
    pthread_mutex_lock(&lock);
    bool steady = call == CALL_clSetKernelArg || call == CALL_clEnqueueNDRangeKernel;
    rare += !steady;
    total++;
    calls[call]++;
    bool hit = planned("any", total) || planned(call_names[call], calls[call]) || (!steady && planned("rare", rare));
    bool finish = strcmp(fail_name, "finish") == 0;
    if (owed && (call == CALL_clFinish || (call == CALL_clEnqueueReadBuffer && !finish))) {
        hit = true;
        owed = fail_on || finish;
    }
    fired += hit;
    if (hit && !fired_name)
        fired_name = call_names[call];
    pthread_mutex_unlock(&lock);
    *code = (cl_int)fail_code;
    return hit;
}

/* A launch that a driver takes and that fails later, when somebody waits for it. */
static bool dropped(void) {
    pthread_mutex_lock(&lock);
    long nth = calls[CALL_clEnqueueNDRangeKernel];
    bool hit = planned("late", nth) || planned("finish", nth);
    owed = owed || hit;
    pthread_mutex_unlock(&lock);
    return hit;
}

static struct { /* the last read, unless it was a blocking one */
    unsigned char *bytes;
    size_t count;
    bool wrong;
} before;

static void spoil(cl_command_queue queue, bool blocking, unsigned char *bytes, size_t count) {
    pthread_mutex_lock(&lock);
    long nth = calls[CALL_clEnqueueReadBuffer];
    short_reads += count == 16;
    bool wrong = planned("wrong", nth) || (count == 16 && planned("short", short_reads));
    bool flip = planned("flip", nth) && count > 0;
    if (!blocking && (wrong || flip))
        next->clFinish(queue);
    if (wrong || (blocking && before.wrong))
        memset(bytes, 0xff, count);
    if (wrong && blocking && before.bytes)
        memset(before.bytes, 0xff, before.count);
    if (flip)
        bytes[(size_t)nth * 7919 % count] ^= (unsigned char)(1 << nth % 8);
    if (wrong || flip) {
        fired++;
        fired_name = "clEnqueueReadBuffer";
    }
    before.bytes = blocking ? NULL : bytes;
    before.count = count;
    before.wrong = !blocking && wrong;
    pthread_mutex_unlock(&lock);
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

static cl_int too_large(size_t size) {
    return limit_alloc > 0 && size > (size_t)limit_alloc ? reject(CL_INVALID_BUFFER_SIZE) : CL_SUCCESS;
}

static cl_int misaligned(cl_buffer_create_type type, const void *region) {
    return model_misaligned(type, region) ? reject(CL_MISALIGNED_SUB_BUFFER_OFFSET) : CL_SUCCESS;
}

#define X(name, type, kind, check, parameters, arguments) \
    static type CL_API_CALL wrap_##name parameters {      \
        cl_int failure;                                   \
        bool stop = fault(CALL_##name, &failure);         \
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
            count(KIND_##kind, 1);                        \
        return made;                                      \
    }
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
        cl_int code;                                   \
        bool fails = fault(CALL_##release, &code);     \
        cl_int result = next->release(o);              \
        if (result == CL_SUCCESS)                      \
            count(KIND_##kind, -1);                    \
        return fails ? code : result;                  \
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

static cl_int CL_API_CALL wrap_clBuildProgram(cl_program program, cl_uint count_of, const cl_device_id *devices,
                                              const char *options, void(CL_CALLBACK *done)(cl_program, void *),
                                              void *user) {
    cl_int code;
    char room[1024];
    if (fault(CALL_clBuildProgram, &code))
        return code;
    if (!model_options(room, sizeof room, &options))
        return reject(CL_INVALID_BUILD_OPTIONS);
    return next->clBuildProgram(program, count_of, devices, options, done, user);
}

static cl_int CL_API_CALL wrap_clGetEventProfilingInfo(cl_event event, cl_profiling_info what, size_t size, void *value,
                                                       size_t *got) {
    cl_int code;
    if (fault(CALL_clGetEventProfilingInfo, &code) || model_clock(what, size, value, &code))
        return code;
    return next->clGetEventProfilingInfo(event, what, size, value, got);
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
    model_device_info(what, size, value);
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
    char name[64] = "";
    if (index == 0 && next->clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, sizeof name, name, NULL) == CL_SUCCESS)
        model_kernel(kernel, name);
    model_argument(kernel, index, size, value);
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
    if (!event && dropped())
        return CL_SUCCESS;
    size_t group = 1;
    for (cl_uint i = 0; local && i < dims; i++)
        group *= local[i];
    if (limit_group > 0 && group > (size_t)limit_group)
        return reject(CL_INVALID_WORK_GROUP_SIZE);
    if (limit_local > 0 && local_bytes(queue, kernel) > (size_t)limit_local)
        return reject(CL_OUT_OF_RESOURCES);
    model_launch(kernel, group);
    code = next->clEnqueueNDRangeKernel(queue, kernel, dims, offset, global, local, waits, list, event);
    if (code == CL_SUCCESS && event)
        count(KIND_event, 1);
    return code;
}

static cl_int CL_API_CALL wrap_clEnqueueReadBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                                   size_t offset, size_t size, void *target, cl_uint waits,
                                                   const cl_event *list, cl_event *event) {
    cl_int code;
    if (fault(CALL_clEnqueueReadBuffer, &code))
        return code;
    code = next->clEnqueueReadBuffer(queue, buffer, blocking, offset, size, target, waits, list, event);
    if (code == CL_SUCCESS && event)
        count(KIND_event, 1);
    if (code == CL_SUCCESS)
        spoil(queue, blocking, target, size);
    return code;
}

/* ---- the layer's own interface ---- */

static cl_icd_dispatch table;

static long number(const char *name) {
    const char *text = getenv(name);
    return text ? atol(text) : 0;
}

/* Counts start anew, what is alive stays known. NULL: nothing fails. */
void ocl_layer_plan(const char *plan) {
    char more = 0;
    pthread_mutex_lock(&lock);
    memset(calls, 0, sizeof calls);
    total = rare = fired = fail_at = 0;
    fired_name = NULL;
    owed = false;
    before.bytes = NULL;
    before.wrong = false;
    if (plan && sscanf(plan, "%63[A-Za-z]:%ld:%ld:%c", fail_name, &fail_at, &fail_code, &more) < 3)
        fail_at = 0;
    fail_on = more == '+';
    pthread_mutex_unlock(&lock);
}

/* Since the plan was made: the call that failed first, or NULL; how many calls of a name (NULL: all; "rare"). */
const char *ocl_layer_fired(void) { return fired_name; }

long ocl_layer_calls(const char *name) {
    for (int i = 0; name && i < CALLS; i++)
        if (strcmp(call_names[i], name) == 0)
            return calls[i];
    return name ? rare : total;
}

/* Objects of all kinds that are alive. */
long ocl_layer_live(void) {
    long sum = 0;
    for (int i = 0; i < KINDS; i++)
        sum += live[i];
    return sum;
}

static void read_settings(void) {
    limit_group = number("OCL_LAYER_GROUP");
    limit_local = number("OCL_LAYER_LOCAL");
    limit_alloc = number("OCL_LAYER_ALLOC");
    told_type = number("OCL_LAYER_TYPE");
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
    for (int i = 0; i < CALLS; i++)
        if (calls[i])
            fprintf(file, "calls %s %ld\n", call_names[i], calls[i]);
    for (int i = 0; i < KINDS; i++)
        fprintf(file, "live %s %ld\n", kind_names[i], live[i]);
    fprintf(file, "fired %ld\nrejected %ld\n", fired, rejected);
    model_report(file);
    fclose(file);
}
