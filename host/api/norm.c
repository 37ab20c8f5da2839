/* norm.c - a normalisation by itself in the public header; the work is in nn/standalone_norm.c. */
#include <math.h>

#include "api/handles.h"
#include "core/mem.h"

fathom_status fathom_norm_options_init(fathom_norm_options *options, size_t size) {
    fathom_norm_options defaults = {
        .kind = FATHOM_NORM_GROUP, .groups = 10, .lambda = 0.01, .momentum = 0.3, .eps = NAN};
    return api_init(options, size, &defaults, sizeof defaults, __func__);
}

fathom_status fathom_norm_make(fathom_norm **norm, fathom_device *device, const fathom_norm_options *options) {
    static const char *const names[] = {NN_NORM_LIST(NN_NAME) NULL};
    fathom_norm_options o;
    fathom_norm *made = NULL;
    NEED(norm);
    *norm = NULL;
    NEED(device);
    NEED(options);
    TRY(fathom_norm_options_init(&o, sizeof o));
    TAKE(o, options);
    if (o.kind <= FATHOM_NORM_NONE || o.kind >= NN_NORM_COUNT)
        return api_fail_kind("kind", o.kind, FATHOM_NORM_BATCH, names + FATHOM_NORM_BATCH);
    nn_config config = {.model = NN_GCN,
                        .norm = (nn_norm_kind)o.kind,
                        .layers = 1,
                        .hidden = 1,
                        .groups = o.groups,
                        .lambda = o.lambda,
                        .momentum = o.momentum,
                        .eps = isnan(o.eps) ? 0 : o.eps,
                        .heads = 1,
                        .last_norm = NN_ON,
                        .last_act = NN_ON};
    if (o.eps <= 0)
        return fail(FATHOM_USAGE, "eps must be above 0, not %g", o.eps);
    TRY(mem_new(&made, 1, 1, sizeof *made, "norm handle"));
    made->device = device;
    api_lock(device);
    fathom_status status = nn_standalone_norm_make(&made->alone, device->dev, &config, o.width);
    api_unlock(device);
    if (status == FATHOM_OK)
        *norm = made;
    else
        mem_free(made);
    return status;
}

void fathom_norm_free(fathom_norm *norm) {
    if (!norm)
        return;
    api_lock(norm->device);
    nn_standalone_norm_free(norm->alone);
    api_unlock(norm->device);
    mem_free(norm);
}

fathom_status fathom_norm_state_make(fathom_norm_state **state, fathom_norm *norm) {
    fathom_norm_state *made = NULL;
    NEED(state);
    *state = NULL;
    NEED(norm);
    TRY(mem_new(&made, 1, 1, sizeof *made, "state handle"));
    made->device = norm->device;
    api_lock(norm->device);
    fathom_status status = nn_norm_state_make(&made->saved, norm->alone);
    api_unlock(norm->device);
    if (status == FATHOM_OK)
        *state = made;
    else
        mem_free(made);
    return status;
}

void fathom_norm_state_free(fathom_norm_state *state) {
    if (!state)
        return;
    api_lock(state->device);
    nn_norm_state_free(state->saved);
    api_unlock(state->device);
    mem_free(state);
}

static fathom_status weights_of(nn_norm_weights *to, const fathom_norm_weights *weights) {
    fathom_norm_weights w = {0};
    TAKE(w, weights);
    *to = (nn_norm_weights){.gamma = nn_host_array(w.weight),
                            .beta = nn_host_array(w.bias),
                            .u = nn_host_array(w.lin_weight),
                            .c = nn_host_array(w.lin_bias),
                            .rmean = nn_host_array(w.running_mean),
                            .rvar = nn_host_array(w.running_var)};
    return FATHOM_OK;
}

fathom_status fathom_norm_forward(fathom_norm *norm, float *y, const float *x, int64_t rows,
                                  const fathom_norm_weights *weights, fathom_norm_state *state) {
    nn_norm_weights w;
    NEED(norm);
    NEED(y);
    NEED(x);
    TRY(weights_of(&w, weights));
    api_lock(norm->device);
    fathom_status status = nn_standalone_norm_forward(norm->alone, nn_host_array(y), nn_host_array(x), rows, &w,
                                                      state ? state->saved : NULL);
    api_unlock(norm->device);
    return status;
}

fathom_status fathom_norm_backward(fathom_norm *norm, float *gx, const fathom_norm_gradients *gradients,
                                   const float *gy, const float *x, int64_t rows, const fathom_norm_weights *weights,
                                   fathom_norm_state *state) {
    nn_norm_weights w;
    fathom_norm_gradients g = {0};
    NEED(norm);
    NEED(gx);
    NEED(gy);
    NEED(x);
    NEED(state);
    TRY(weights_of(&w, weights));
    TAKE(g, gradients);
    nn_norm_gradients to = {.gamma = nn_host_array(g.weight),
                            .beta = nn_host_array(g.bias),
                            .u = nn_host_array(g.lin_weight),
                            .c = nn_host_array(g.lin_bias)};
    api_lock(norm->device);
    fathom_status status = nn_standalone_norm_backward(norm->alone, nn_host_array(gx), &to, nn_host_array(gy),
                                                       nn_host_array(x), rows, &w, state->saved);
    api_unlock(norm->device);
    return status;
}
