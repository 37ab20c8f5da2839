/* ocl_device.c - open devices: opening and closing, buffers, waiting. */
#include <stdio.h>
#include <string.h>

#include "backend/opencl/ocl.h"

#include <clblast_c.h>

static fathom_status make_queue(ocl_device *dev, const be_info *info, bool profile) {
    cl_platform_id platform;
    cl_int code;
    TRY(ocl_find_device(&platform, &dev->id, info));
    const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)platform, 0};
    dev->context = clCreateContext(properties, 1, &dev->id, NULL, NULL, &code);
    CL_TRY(dev, "clCreateContext", dev->name, code);
    dev->queue = clCreateCommandQueue(dev->context, dev->id, profile ? CL_QUEUE_PROFILING_ENABLE : 0, &code);
    CL_TRY(dev, "clCreateCommandQueue", dev->name, code);
    return FATHOM_OK;
}

static fathom_status prepare_launches(ocl_device *dev) {
    size_t max_group_size = 0;
    cl_int code;
    CL_TRY(dev, "clGetDeviceInfo", "CL_DEVICE_MAX_WORK_GROUP_SIZE",
           clGetDeviceInfo(dev->id, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof max_group_size, &max_group_size, NULL));
    dev->max_group_size = max_group_size > 0 ? max_group_size : 1;
    dev->sum_table = clCreateBuffer(dev->context, CL_MEM_READ_WRITE, sizeof dev->sums, NULL, &code);
    CL_TRY(dev, "clCreateBuffer", "table of sums", code);
    return FATHOM_OK;
}

static const ocl_traits traits_gpu = {"gpu", 64, 256, 128, 64};
/* PoCL runs a work-group as loops over its work-items between barriers: short ones keep their values in cache. CLBlast
 * takes at least four times as long as the own products there. */
static const ocl_traits traits_cpu = {"cpu", 16, 64, 16, INT64_MAX};

/* Queried again, and every error is fatal: a list may lack an answer, but results must not depend on a failed query. */
static fathom_status choose_traits(ocl_device *dev) {
    cl_device_type type = 0;
    cl_bool unified = CL_FALSE;
    CL_TRY(dev, "clGetDeviceInfo", "CL_DEVICE_TYPE",
           clGetDeviceInfo(dev->id, CL_DEVICE_TYPE, sizeof type, &type, NULL));
    CL_TRY(dev, "clGetDeviceInfo", "CL_DEVICE_HOST_UNIFIED_MEMORY",
           clGetDeviceInfo(dev->id, CL_DEVICE_HOST_UNIFIED_MEMORY, sizeof unified, &unified, NULL));
    dev->unified_memory = unified == CL_TRUE;
    dev->traits = type & CL_DEVICE_TYPE_CPU ? &traits_cpu : &traits_gpu;
    return FATHOM_OK;
}

fathom_status ocl_open(void **state, const be_info *info, const be_options *options) {
    ocl_device *dev = NULL;
    fathom_status status;
    *state = NULL;
    TRY(ocl_host->alloc((void **)&dev, 1, 1, sizeof *dev, "OpenCL device"));
    memcpy(dev->name, info->name, sizeof dev->name);
    dev->memory_bytes = info->memory_bytes;
    dev->max_alloc_bytes = info->max_alloc_bytes;
    dev->tuning = options->tuning;
    dev->compiling = options->compiling;
    dev->trust = options->trust;
    dev->shared = options->shared != NULL;
    TRY_OUT(options->shared ? ocl_adopt(dev, options->shared) : make_queue(dev, info, options->profile));
    TRY_OUT(prepare_launches(dev));
    TRY_OUT(choose_traits(dev));
    if (options->profile)
        TRY_OUT(ocl_open_profile(dev));
    TRY_OUT(ocl_check_own_gemm(dev));
    dev->profile = options->profile;
    *state = dev;
    return FATHOM_OK;
out:
    ocl_close(dev);
    return status;
}

/* The program cache of CLBlast holds references to the context. */
void ocl_close(void *state) {
    ocl_device *dev = state;
    if (dev->queue)
        clFinish(dev->queue);
    ocl_release_events(dev);
    ocl_release_staging(dev);
    for (int k = 0; k < K_COUNT; k++)
        if (dev->kernel[k])
            clReleaseKernel(dev->kernel[k]);
    for (int f = 0; f < OCL_FILE_COUNT; f++)
        if (dev->program[f])
            clReleaseProgram(dev->program[f]);
    if (dev->blas_used)
        CLBlastClearCache();
    if (dev->scratch)
        clReleaseMemObject(dev->scratch);
    if (dev->held_blocks)
        clReleaseMemObject(dev->held_blocks);
    if (dev->sum_table)
        clReleaseMemObject(dev->sum_table);
    if (dev->queue)
        clReleaseCommandQueue(dev->queue);
    if (dev->context)
        clReleaseContext(dev->context);
    ocl_host->free(dev);
}

/* ---- buffers ---- */

/* Drivers allocate when a buffer is first used, and fail there: what cannot fit is refused here. */
static fathom_status check_capacity(const ocl_device *dev, size_t bytes, const char *what) {
    if (dev->memory_bytes <= 0 || (uint64_t)bytes + dev->used_bytes <= (uint64_t)dev->memory_bytes)
        return FATHOM_OK;
    return ocl_host->fail(FATHOM_MEMORY,
                          "%s: %zu bytes requested, but %zu of the %lld bytes of %s are in use; use a smaller model or "
                          "graph, or another device",
                          what, bytes, dev->used_bytes, (long long)dev->memory_bytes, dev->name);
}

fathom_status ocl_alloc(void *state, void **handle, size_t bytes, const char *what) {
    ocl_device *dev = state;
    cl_int code = CL_SUCCESS;
    TRY(check_capacity(dev, bytes, what));
    cl_mem made = clCreateBuffer(dev->context, CL_MEM_READ_WRITE, bytes, NULL, &code);
    if (code != CL_SUCCESS) {
        char object[BE_TEXT];
        snprintf(object, sizeof object, "%s, %zu bytes", what, bytes);
        return ocl_fail(dev, "clCreateBuffer", object, code);
    }
    dev->used_bytes += bytes;
    *handle = made;
    return FATHOM_OK;
}

static void release_buffer(ocl_device *dev, cl_mem buffer) {
    size_t bytes = 0;
    if (clGetMemObjectInfo(buffer, CL_MEM_SIZE, sizeof bytes, &bytes, NULL) == CL_SUCCESS && bytes <= dev->used_bytes)
        dev->used_bytes -= bytes;
    clReleaseMemObject(buffer);
}

/* A command may fail after it was enqueued, and only clFinish reports it. An error found while a buffer is released is
 * returned by the next call that has a status. */
fathom_status ocl_report_deferred(ocl_device *dev) {
    cl_int code = dev->deferred_error;
    dev->deferred_error = CL_SUCCESS;
    CL_TRY(dev, "clFinish", "queue", code);
    return FATHOM_OK;
}

void ocl_release(void *state, void *handle) {
    ocl_device *dev = state;
    cl_int code = clFinish(dev->queue);
    ocl_drop_held(dev, (cl_mem)handle);
    if (dev->pending && dev->deferred_error == CL_SUCCESS)
        dev->deferred_error = code;
    dev->pending = false;
    release_buffer(dev, (cl_mem)handle);
}

fathom_status ocl_sync(void *state) {
    ocl_device *dev = state;
    TRY(ocl_report_deferred(dev));
    TRY(ocl_add_held(dev));
    CL_TRY(dev, "clFinish", "queue", clFinish(dev->queue));
    dev->pending = false;
    return ocl_collect_events(dev);
}

/* Grows in whole MiB where the device allows it, so that it grows rarely. OpenCL keeps the old buffer until queued
 * commands have used it. */
fathom_status ocl_scratch(ocl_device *dev, size_t bytes) {
    const size_t step = 1 << 20, whole = (bytes + step - 1) / step * step;
    void *made = NULL;
    if (bytes <= dev->scratch_bytes)
        return FATHOM_OK;
    if (whole <= (size_t)dev->max_alloc_bytes)
        bytes = whole;
    if (dev->scratch)
        release_buffer(dev, dev->scratch);
    dev->scratch = NULL;
    dev->scratch_bytes = 0;
    TRY(ocl_alloc(dev, &made, bytes, "scratch"));
    dev->scratch = made;
    dev->scratch_bytes = bytes;
    dev->counters.allocations++;
    return FATHOM_OK;
}

void ocl_count(void *state, be_counters *counters) {
    ocl_device *dev = state;
    *counters = dev->counters;
    counters->live_bytes = counters->peak_bytes = (int64_t)dev->scratch_bytes;
}
