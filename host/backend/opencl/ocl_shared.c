/* ocl_shared.c - the objects of the caller's own OpenCL program: checks context, queue and buffers, and keeps a
 * reference of each while it is used. Handles come from the loader that this module uses (libOpenCL.so.1). */
#include <stdio.h>

#include "backend/opencl/ocl.h"

#define ALIGNMENT 16 /* of aligned float4 loads */

#define QUEUE_INFO(queue, name, value) \
    CL_TRY(NULL, "clGetCommandQueueInfo", #name, clGetCommandQueueInfo((queue), name, sizeof(value), &(value), NULL))
#define MEM_INFO(dev, mem, name, value) \
    CL_TRY((dev), "clGetMemObjectInfo", #name, clGetMemObjectInfo((mem), name, sizeof(value), &(value), NULL))

/* A queue of this context and device exists only if the context has the device. */
fathom_status ocl_identify(be_info *info, const be_shared *shared) {
    cl_context context = NULL;
    cl_device_id device = NULL;
    cl_command_queue_properties properties = 0;
    QUEUE_INFO(shared->queue, CL_QUEUE_CONTEXT, context);
    QUEUE_INFO(shared->queue, CL_QUEUE_DEVICE, device);
    QUEUE_INFO(shared->queue, CL_QUEUE_PROPERTIES, properties);
    if (context != shared->context)
        return ocl_host->fail(FATHOM_USAGE, "the queue belongs to another context than the one given");
    if (device != shared->device)
        return ocl_host->fail(FATHOM_USAGE, "the queue belongs to another device than the one given");
    if (properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE)
        return ocl_host->fail(FATHOM_USAGE, "the queue executes out of order; give one without "
                                            "CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE");
    return ocl_describe_device(device, info);
}

fathom_status ocl_adopt(ocl_device *dev, const be_shared *shared) {
    dev->id = shared->device;
    CL_TRY(dev, "clRetainContext", dev->name, clRetainContext(shared->context));
    dev->context = shared->context;
    CL_TRY(dev, "clRetainCommandQueue", dev->name, clRetainCommandQueue(shared->queue));
    dev->queue = shared->queue;
    return FATHOM_OK;
}

/* May kernels of this device use the object as their argument, and write it? */
static fathom_status check_buffer(ocl_device *dev, cl_mem mem, bool written, const char *what) {
    cl_mem_object_type type = 0;
    cl_context context = NULL;
    cl_mem_flags flags = 0, refused = written ? CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY : CL_MEM_WRITE_ONLY;
    void *host_memory = NULL;
    MEM_INFO(dev, mem, CL_MEM_TYPE, type);
    MEM_INFO(dev, mem, CL_MEM_CONTEXT, context);
    MEM_INFO(dev, mem, CL_MEM_FLAGS, flags);
    if (type != CL_MEM_OBJECT_BUFFER)
        return ocl_host->fail(FATHOM_USAGE, "%s is an image, not a buffer", what);
    if (context != dev->context)
        return ocl_host->fail(FATHOM_USAGE, "the buffer of %s belongs to another context than the device", what);
    if (flags & refused)
        return ocl_host->fail(FATHOM_USAGE, "the buffer of %s must be %s by kernels (CL_MEM_READ_WRITE)", what,
                              written ? "read and written" : "read");
    if (flags & CL_MEM_USE_HOST_PTR)
        MEM_INFO(dev, mem, CL_MEM_HOST_PTR, host_memory);
    if ((uintptr_t)host_memory % ALIGNMENT != 0)
        return ocl_host->fail(FATHOM_USAGE, "the memory of %s (CL_MEM_USE_HOST_PTR) must be aligned to %d bytes", what,
                              ALIGNMENT);
    return FATHOM_OK;
}

fathom_status ocl_wrap(void *state, be_buf *buf, void *memory, bool written, const char *what) {
    ocl_device *dev = state;
    cl_mem mem = memory, parent = NULL;
    TRY(check_buffer(dev, mem, written, what));
    MEM_INFO(dev, mem, CL_MEM_SIZE, buf->bytes);
    MEM_INFO(dev, mem, CL_MEM_ASSOCIATED_MEMOBJECT, parent);
    if (parent)
        MEM_INFO(dev, mem, CL_MEM_OFFSET, buf->root_offset);
    if (buf->bytes > (uint64_t)OCL_MAX_BUFFER_BYTES)
        return ocl_host->fail(FATHOM_USAGE,
                              "the buffer of %s has %zu bytes; use a part of it (clCreateSubBuffer) of "
                              "at most %lld bytes",
                              what, buf->bytes, (long long)OCL_MAX_BUFFER_BYTES);
    CL_TRY(dev, "clRetainMemObject", what, clRetainMemObject(mem));
    buf->handle = mem;
    buf->root = parent ? parent : mem;
    return FATHOM_OK;
}

/* OpenCL keeps the buffer until queued commands have used it. */
void ocl_unwrap(void *state, void *handle) {
    (void)state;
    clReleaseMemObject((cl_mem)handle);
}
