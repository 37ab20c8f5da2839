/* opencl.c - fathom/opencl.h: devices and normalisations on the objects of the caller's OpenCL program. Handles are
 * passed on to the OpenCL module; no function of OpenCL is called here. */
#define FATHOM_WITHOUT_CL_H
#include "fathom/opencl.h"

#include "api/handles.h"

fathom_status fathom_device_from_opencl(fathom_device **device, cl_context context, cl_device_id id,
                                        cl_command_queue queue, const fathom_device_options *options) {
    fathom_device_options given;
    be_options how;
    NEED(device);
    *device = NULL;
    NEED(context);
    NEED(id);
    NEED(queue);
    TRY(api_device_options(&how, &given, options, __func__));
    how.shared = &(be_shared){.context = context, .device = id, .queue = queue};
    return api_open(device, NULL, &how);
}

static nn_array device_array(fathom_opencl_array a) {
    return (nn_array){.memory = a.buffer, .offset = a.offset > INT64_MAX ? INT64_MAX : (int64_t)a.offset};
}

static fathom_status weights_of(nn_norm_weights *to, const fathom_opencl_norm_weights *weights) {
    fathom_opencl_norm_weights w = {0};
    TAKE(w, weights);
    *to = (nn_norm_weights){.gamma = device_array(w.weight),
                            .beta = device_array(w.bias),
                            .u = device_array(w.lin_weight),
                            .c = device_array(w.lin_bias),
                            .rmean = device_array(w.running_mean),
                            .rvar = device_array(w.running_var)};
    return FATHOM_OK;
}

fathom_status fathom_norm_forward_opencl(fathom_norm *norm, fathom_opencl_array y, fathom_opencl_array x, int64_t rows,
                                         const fathom_opencl_norm_weights *weights, fathom_norm_state *state) {
    nn_norm_weights w;
    NEED(norm);
    NEED(y.buffer);
    NEED(x.buffer);
    TRY(weights_of(&w, weights));
    api_lock(norm->device);
    fathom_status status = nn_standalone_norm_forward(norm->alone, device_array(y), device_array(x), rows, &w,
                                                      state ? state->saved : NULL);
    api_unlock(norm->device);
    return status;
}

fathom_status fathom_norm_backward_opencl(fathom_norm *norm, fathom_opencl_array gx,
                                          const fathom_opencl_norm_gradients *gradients, fathom_opencl_array gy,
                                          fathom_opencl_array x, int64_t rows,
                                          const fathom_opencl_norm_weights *weights, fathom_norm_state *state) {
    nn_norm_weights w;
    fathom_opencl_norm_gradients g = {0};
    NEED(norm);
    NEED(gx.buffer);
    NEED(gy.buffer);
    NEED(x.buffer);
    NEED(state);
    TRY(weights_of(&w, weights));
    TAKE(g, gradients);
    nn_norm_gradients to = {.gamma = device_array(g.weight),
                            .beta = device_array(g.bias),
                            .u = device_array(g.lin_weight),
                            .c = device_array(g.lin_bias)};
    api_lock(norm->device);
    fathom_status status = nn_standalone_norm_backward(norm->alone, device_array(gx), &to, device_array(gy),
                                                       device_array(x), rows, &w, state->saved);
    api_unlock(norm->device);
    return status;
}
