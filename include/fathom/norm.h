/** @file norm.h
 * The normalisation as a layer of its own; fathom.h includes this file. Forward and backward on the caller's arrays: in
 * place on the CPU, copied to and from other devices. The n x G x d tensor of the definition is never materialised. */
#ifndef FATHOM_NORM_H
#define FATHOM_NORM_H

#include "fathom.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A normalisation layer. */
typedef struct fathom_norm fathom_norm;
/** What one forward in training stores for its backward. */
typedef struct fathom_norm_state fathom_norm_state;
/** Options of fathom_norm_make. */
typedef struct fathom_norm_options {
    size_t size;     /**< Set by fathom_norm_options_init. */
    int32_t kind;    /**< A fathom_norm_kind other than none; group. */
    int64_t width;   /**< d, columns; required. */
    int64_t groups;  /**< G of group norm; 10. */
    double lambda;   /**< Of group norm; 0.01. */
    double momentum; /**< Of running estimates: new = (1 - momentum) old + momentum now; 0.3. */
    double eps;      /**< Added to variances; NaN: 1e-5, of pair norm 1e-6. */
} fathom_norm_options;
/** Sets the defaults; `size` is sizeof *options. */
FATHOM_API fathom_status fathom_norm_options_init(fathom_norm_options *options, size_t size);
/** Parameters of the layer. Pair, mean and node norm have none, batch norm those of length d, group norm all, of length G x d. */
typedef struct fathom_norm_weights {
    size_t size;             /**< sizeof(fathom_norm_weights). */
    const float *weight;     /**< gamma: [d] or [G x d]. */
    const float *bias;       /**< beta: the same. */
    const float *lin_weight; /**< Group norm: U [G x d] of the assignment softmax(H U' + c). */
    const float *lin_bias;   /**< Group norm: c [G], or NULL. */
    float *running_mean;     /**< Shape of gamma; updated in training, read in evaluation; NULL: none. */
    float *running_var;      /**< The same. */
} fathom_norm_weights;

/** Parameter gradients written by backward; NULL: not computed. */
typedef struct fathom_norm_gradients {
    size_t size;       /**< sizeof(fathom_norm_gradients). */
    float *weight;     /**< As in fathom_norm_weights. */
    float *bias;       /**< The same. */
    float *lin_weight; /**< The same. */
    float *lin_bias;   /**< The same. */
} fathom_norm_gradients;

/** Creates a layer on a device, which must outlive it. */
FATHOM_API fathom_status fathom_norm_make(fathom_norm **norm, fathom_device *device,
                                          const fathom_norm_options *options);
/** Frees a layer, after its states. */
FATHOM_API void fathom_norm_free(fathom_norm *norm);
/** Creates a state of a layer. A network that calls a layer several times before its backward keeps one for each call.
 */
FATHOM_API fathom_status fathom_norm_state_make(fathom_norm_state **state, fathom_norm *norm);
/** Frees a state. */
FATHOM_API void fathom_norm_state_free(fathom_norm_state *state);
/** y = norm(x), both [rows x d], not overlapping. With `state`: training, by the statistics of x, stored in it in place
 * of what it held; NULL: evaluation, by the running estimates. `weights` NULL: pair, mean and node norm. */
FATHOM_API fathom_status fathom_norm_forward(fathom_norm *norm, float *y, const float *x, int64_t rows,
                                             const fathom_norm_weights *weights, fathom_norm_state *state);
/** gx = dL/dx and, unless NULL, the parameter gradients, from gy = dL/dy; all overwritten. x, weight and lin_weight
 * must have the values of the forward that filled `state`, else FATHOM_USAGE: arrays of up to 16,384 floats are
 * compared as a whole, longer ones in 16,384 floats spread over them. May be repeated. */
FATHOM_API fathom_status fathom_norm_backward(fathom_norm *norm, float *gx, const fathom_norm_gradients *gradients,
                                              const float *gy, const float *x, int64_t rows,
                                              const fathom_norm_weights *weights, fathom_norm_state *state);

#ifdef __cplusplus
}
#endif
#endif
