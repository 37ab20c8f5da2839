/* standalone_norm.h - one norm layer without a network, on arrays of the caller: what the public headers offer to other
 * frameworks. The mathematics is that of norm_*.c.
 *
 *     nn_standalone_norm *norm = NULL;
 *     TRY(nn_standalone_norm_make(&norm, dev, &config, d)); // config: norm, groups, lambda, momentum
 *     TRY(nn_standalone_norm_forward(norm, y, x, n, &weights, true));
 *     TRY(nn_standalone_norm_backward(norm, gx, &gradients, gy, x, n, &weights)); */
#ifndef NN_STANDALONE_NORM_H
#define NN_STANDALONE_NORM_H

#include "nn/nn.h"

typedef struct nn_standalone_norm nn_standalone_norm;

/* Floats in host memory, or on the device: from element `offset` of a memory object on (be_wrap_shared). Absent if both
 * pointers are NULL. All arrays of a call are of one sort. With arrays on the device nothing is copied to the host, and
 * a call returns when its work is enqueued. */
typedef struct nn_array {
    float *host; /* written only where the array is an output */
    void *memory;
    int64_t offset;
} nn_array;

static inline nn_array nn_host_array(const float *values) { return (nn_array){.host = (float *)(uintptr_t)values}; }

/* gamma, beta and the running estimates d or G x d, u G x d, c G; the norm decides which must be there. */
typedef struct nn_norm_weights {
    nn_array gamma, beta, u, c, rmean, rvar;
} nn_norm_weights;

typedef struct nn_norm_gradients { /* any may be absent */
    nn_array gamma, beta, u, c;
} nn_norm_gradients;

fathom_status nn_standalone_norm_make(nn_standalone_norm **norm, be_device *dev, const nn_config *config,
                                      int64_t width);
void nn_standalone_norm_free(nn_standalone_norm *norm);

/* y = norm(x), rows x width each. Training: statistics of x, saved for backward; else the running estimates. */
fathom_status nn_standalone_norm_forward(nn_standalone_norm *norm, nn_array y, nn_array x, int64_t rows,
                                         const nn_norm_weights *weights, bool training);
/* gx and the gradients are overwritten; x, rows and weights as in the last forward in training: else FATHOM_USAGE. Host
 * arrays are compared by their content, those on the device by memory object and offset. */
fathom_status nn_standalone_norm_backward(nn_standalone_norm *norm, nn_array gx, const nn_norm_gradients *gradients,
                                          nn_array gy, nn_array x, int64_t rows, const nn_norm_weights *weights);

#endif
