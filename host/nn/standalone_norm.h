/* standalone_norm.h - one norm layer without a network, on arrays of the caller: what the public headers offer to other
 * frameworks. The mathematics is that of norm_*.c.
 *
 *     nn_standalone_norm *norm = NULL;
 *     nn_norm_state *state = NULL;
 *     TRY(nn_standalone_norm_make(&norm, dev, &config, d)); // config: norm, groups, lambda, momentum, eps
 *     TRY(nn_norm_state_make(&state, norm));
 *     TRY(nn_standalone_norm_forward(norm, y, x, n, &weights, state));
 *     TRY(nn_standalone_norm_backward(norm, gx, &gradients, gy, x, n, &weights, state)); */
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
void nn_standalone_norm_free(nn_standalone_norm *norm); /* after its states */

/* What one forward saves for its backward; may be used again by a later forward. */
typedef struct nn_norm_state nn_norm_state;
fathom_status nn_norm_state_make(nn_norm_state **state, nn_standalone_norm *norm);
void nn_norm_state_free(nn_norm_state *state);

/* y = norm(x), rows x width each. With a state: training, statistics of x; without: evaluation, the running estimates.
 */
fathom_status nn_standalone_norm_forward(nn_standalone_norm *norm, nn_array y, nn_array x, int64_t rows,
                                         const nn_norm_weights *weights, nn_norm_state *state);
/* gx and the gradients are overwritten; x, rows and weights as in the forward of `state`: else FATHOM_USAGE, as far as
 * their fingerprints differ. */
fathom_status nn_standalone_norm_backward(nn_standalone_norm *norm, nn_array gx, const nn_norm_gradients *gradients,
                                          nn_array gy, nn_array x, int64_t rows, const nn_norm_weights *weights,
                                          nn_norm_state *state);

/* 64 bits of the content of `count` floats, spread over a long array; of an array on the device those of memory object
 * and offset: its content would need a blocking read. An absent array has one, too. */
uint64_t nn_fingerprint(nn_array array, int64_t count, uint64_t seed);

#endif
