/* norm_alone.h - one normalisation without a network around it, on arrays of the host: what the public header offers to
 * other frameworks. The mathematics is that of norm_*.c, which see a model of one layer.
 *
 *     nn_alone *norm = NULL;
 *     TRY(nn_alone_make(&norm, dev, &config, d));               // config: norm, groups, lambda, momentum
 *     TRY(nn_alone_forward(norm, y, x, n, &weights, true));
 *     TRY(nn_alone_backward(norm, gx, &gradients, gy, x, n, &weights)); */
#ifndef NN_NORM_ALONE_H
#define NN_NORM_ALONE_H

#include "nn/nn.h"

typedef struct nn_alone nn_alone;

/* gamma, beta and the running estimates d or G x d, u G x d, c G; the norm decides which must be there. */
typedef struct nn_alone_weights {
    const float *gamma, *beta, *u, *c;
    float *rmean, *rvar;
} nn_alone_weights;

typedef struct nn_alone_gradients { /* any may be NULL */
    float *gamma, *beta, *u, *c;
} nn_alone_gradients;

fathom_status nn_alone_make(nn_alone **norm, be_device *dev, const nn_config *config, int64_t width);
void nn_alone_free(nn_alone *norm);
int64_t nn_alone_width(const nn_alone *norm);

/* y = norm(x), rows x width each. Training: statistics of x, kept for backward; else the running ones. */
fathom_status nn_alone_forward(nn_alone *norm, float *y, const float *x, int64_t rows, const nn_alone_weights *weights,
                               bool training);
/* gx and the gradients are overwritten; x, rows and weights as in the last forward in training, by their content: else
 * FATHOM_USAGE. */
fathom_status nn_alone_backward(nn_alone *norm, float *gx, const nn_alone_gradients *gradients, const float *gy,
                                const float *x, int64_t rows, const nn_alone_weights *weights);

#endif
