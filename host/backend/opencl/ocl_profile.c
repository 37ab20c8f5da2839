/* ocl_profile.c - seconds per operation: from profiling events, or, where the timers of
 * the device are unusable (rusticl reports 1 ns for everything), from the host clock
 * with clFinish before and after each operation. */

#include "backend/opencl/ocl.h"
#include "core/clock.h"

fathom_status ocl_begin_op(ocl_device *dev, be_op op) {
    TRY(ocl_settle_before(dev, op));
    dev->op = op;
    if (!dev->profile)
        return FATHOM_OK;
    dev->time[op].calls++;
    if (dev->host_clock) {
        CL_TRY(dev, "clFinish", "queue", clFinish(dev->queue));
        dev->op_start = clock_seconds();
    }
    return FATHOM_OK;
}

fathom_status ocl_end_op(ocl_device *dev, fathom_status status) {
    if (status != FATHOM_OK || !dev->profile || !dev->host_clock)
        return status;
    CL_TRY(dev, "clFinish", "queue", clFinish(dev->queue));
    dev->time[dev->op].seconds += clock_seconds() - dev->op_start;
    return FATHOM_OK;
}

static cl_int event_seconds(cl_event event, double *seconds) {
    cl_ulong start = 0, end = 0;
    cl_int code = clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL);
    if (code == CL_SUCCESS)
        code = clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL);
    *seconds = end > start ? 1e-9 * (double)(end - start) : 0.0;
    return code;
}

fathom_status ocl_collect_events(ocl_device *dev) {
    cl_int first = CL_SUCCESS;
    for (int i = 0; i < dev->timers; i++) {
        double seconds;
        cl_int code = event_seconds(dev->timer[i].event, &seconds);
        if (code == CL_SUCCESS)
            dev->time[dev->timer[i].op].seconds += seconds;
        else if (first == CL_SUCCESS)
            first = code;
        clReleaseEvent(dev->timer[i].event);
    }
    dev->timers = 0;
    CL_TRY(dev, "clGetEventProfilingInfo", "launch", first);
    return FATHOM_OK;
}

void ocl_release_events(ocl_device *dev) {
    for (int i = 0; i < dev->timers; i++)
        clReleaseEvent(dev->timer[i].event);
    dev->timers = 0;
}

void ocl_profile(void *state, be_op op, be_op_time *time) {
    const ocl_device *dev = state;
    *time = dev->time[op];
}

/* Any device takes between 200 ns and 10 s to fill 1 MiB; other times mean that its timers are unusable. */
fathom_status ocl_open_profile(ocl_device *dev) {
    const cl_uint zero = 0;
    const size_t bytes = 1 << 20;
    double seconds = 0.0;
    cl_event event = NULL;
    TRY(ocl_scratch(dev, bytes));
    CL_TRY(dev, "clEnqueueFillBuffer", "scratch",
           clEnqueueFillBuffer(dev->queue, dev->scratch, &zero, sizeof zero, 0, bytes, 0, NULL, &event));
    cl_int code = clWaitForEvents(1, &event);
    if (code == CL_SUCCESS && event_seconds(event, &seconds) != CL_SUCCESS)
        seconds = 0.0;
    clReleaseEvent(event);
    CL_TRY(dev, "clWaitForEvents", "scratch", code);
    dev->host_clock = seconds < 200e-9 || seconds > 10.0;
    return FATHOM_OK;
}
