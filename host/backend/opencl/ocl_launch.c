/* ocl_launch.c - sets kernel arguments and enqueues the kernel. */
#include <stdio.h>

#include "backend/opencl/ocl.h"

act_args ocl_act_args(be_act act) {
    return (act_args){.relu = act.relu,
                      .drop = act.drop.rate > 0.0f,
                      .threshold = act.drop.threshold,
                      .first_low = (u32)act.drop.first,
                      .first_high = (u32)((uint64_t)act.drop.first >> 32),
                      .key0 = act.drop.key[0],
                      .key1 = act.drop.key[1],
                      .stream = act.drop.stream,
                      .epoch = act.drop.epoch,
                      .layer = act.drop.layer,
                      .scale = act.drop.rate > 0.0f ? act.drop.scale : 1.0f};
}

static fathom_status set_arguments(ocl_device *dev, ocl_kernel kernel, const ocl_arg *args, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const void *value = &args[i].as;
        if (args[i].kind == OCL_MEM && !args[i].as.mem)
            value = &dev->sum_table;
        else if (args[i].kind == OCL_LOCAL)
            value = NULL;
        else if (args[i].kind == OCL_STRUCT)
            value = args[i].as.structure;
        cl_int code = clSetKernelArg(dev->kernel[kernel], (cl_uint)i, args[i].size, value);
        if (code != CL_SUCCESS) {
            char object[BE_TEXT];
            snprintf(object, sizeof object, "%s, argument %zu", ocl_kernel_name(kernel), i);
            return ocl_fail(dev, "clSetKernelArg", object, code);
        }
    }
    return FATHOM_OK;
}

fathom_status ocl_launch(ocl_device *dev, ocl_kernel kernel, int64_t items, int64_t global_y, const ocl_arg *args,
                         size_t count) {
    TRY(ocl_require(dev, kernel));
    TRY(set_arguments(dev, kernel, args, count));
    dev->pending = true;
    size_t group_size = dev->group_size[kernel],
           groups = ((size_t)(items > 0 ? items : 1) + group_size - 1) / group_size;
    const size_t global[2] = {groups * group_size, (size_t)global_y}, local[2] = {group_size, 1};
    bool timed = dev->profile && !dev->host_clock;
    cl_event event = NULL;
    CL_TRY(dev, "clEnqueueNDRangeKernel", ocl_kernel_name(kernel),
           clEnqueueNDRangeKernel(dev->queue, dev->kernel[kernel], 2, NULL, global, local, 0, NULL,
                                  timed ? &event : NULL));
    dev->counters.launches++;
    dev->time[dev->op].launches += dev->profile;
    if (event)
        dev->timer[dev->timers++] = (ocl_timer){event, dev->op};
    if (dev->timers == OCL_TIMERS)
        return ocl_sync(dev);
    return FATHOM_OK;
}
