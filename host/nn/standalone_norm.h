/* standalone_norm.h - one norm layer without a network, on arrays of the host: what the public header offers to other
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

/* gamma, beta and the running estimates d or G x d, u G x d, c G; the norm decides which must be there. */
typedef struct nn_norm_weights {
    const float *gamma, *beta, *u, *c;
    float *rmean, *rvar;
} nn_norm_weights;

typedef struct nn_norm_gradients { /* any may be NULL */
    float *gamma, *beta, *u, *c;
} nn_norm_gradients;

fathom_status nn_standalone_norm_make(nn_standalone_norm **norm, be_device *dev, const nn_config *config,
                                      int64_t width);
void nn_standalone_norm_free(nn_standalone_norm *norm);

/* y = norm(x), rows x width each. Training: statistics of x, saved for backward; else the running estimates. */
fathom_status nn_standalone_norm_forward(nn_standalone_norm *norm, float *y, const float *x, int64_t rows,
                                         const nn_norm_weights *weights, bool training);
/* gx and the gradients are overwritten; x, rows and weights as in the last forward in training, by their content: else
 * FATHOM_USAGE. */
fathom_status nn_standalone_norm_backward(nn_standalone_norm *norm, float *gx, const nn_norm_gradients *gradients,
                                          const float *gy, const float *x, int64_t rows,
                                          const nn_norm_weights *weights);

#endif
