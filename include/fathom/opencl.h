/** @file opencl.h
 * fathom inside an OpenCL program: a device in the caller's context, whose work is enqueued in the caller's queue, and
 * the normalisation on the caller's buffers without a trip over the host. examples/share_queue.c is a whole program.
 *
 * The functions are in libfathom, which does not link OpenCL itself: programs that include this file link libOpenCL,
 * the loader that fathom's OpenCL module uses, too. */
#ifndef FATHOM_OPENCL_H
#define FATHOM_OPENCL_H

#ifdef FATHOM_WITHOUT_CL_H /* to compile the library without OpenCL's headers */
typedef struct _cl_context *cl_context;
typedef struct _cl_device_id *cl_device_id;
typedef struct _cl_command_queue *cl_command_queue;
typedef struct _cl_mem *cl_mem;
#else
#include <CL/cl.h>
#endif

#include "fathom.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Opens the device of the caller's OpenCL objects; `queue` is a queue of this context and device that executes in
 * order. References of context and queue are kept until fathom_device_close, which waits for the queue. Functions of
 * fathom.h take the device as any other. `options` NULL: the defaults. */
FATHOM_API fathom_status fathom_device_from_opencl(fathom_device **device, cl_context context, cl_device_id id,
                                                   cl_command_queue queue, const fathom_device_options *options);

/** An array of float32 in a buffer of the device's context. Its memory must not change between the call that gets it
 * and the end of that call's commands, except by commands in the same queue. */
typedef struct fathom_opencl_array {
    cl_mem buffer; /**< A buffer or sub-buffer; NULL: no array. */
    size_t offset; /**< Of the first element, in floats. */
} fathom_opencl_array;

/** fathom_norm_weights in buffers. */
typedef struct fathom_opencl_norm_weights {
    size_t size;                      /**< sizeof(fathom_opencl_norm_weights). */
    fathom_opencl_array weight;       /**< gamma: [d] or [G x d]. */
    fathom_opencl_array bias;         /**< beta: the same. */
    fathom_opencl_array lin_weight;   /**< Group norm: U [G x d]. */
    fathom_opencl_array lin_bias;     /**< Group norm: c [G], or none. */
    fathom_opencl_array running_mean; /**< Shape of gamma; updated in training, read in evaluation; or none. */
    fathom_opencl_array running_var;  /**< The same. */
} fathom_opencl_norm_weights;

/** fathom_norm_gradients in buffers. */
typedef struct fathom_opencl_norm_gradients {
    size_t size;                    /**< sizeof(fathom_opencl_norm_gradients). */
    fathom_opencl_array weight;     /**< As in fathom_opencl_norm_weights; none: not computed. */
    fathom_opencl_array bias;       /**< The same. */
    fathom_opencl_array lin_weight; /**< The same. */
    fathom_opencl_array lin_bias;   /**< The same. */
} fathom_opencl_norm_gradients;

/** fathom_norm_forward on buffers, with a layer of a device of fathom_device_from_opencl. Returns when its commands are
 * enqueued; the first call also builds kernels. The first call and one with more rows than before allocate memory and
 * wait for the queue. */
FATHOM_API fathom_status fathom_norm_forward_opencl(fathom_norm *norm, fathom_opencl_array y, fathom_opencl_array x,
                                                    int64_t rows, const fathom_opencl_norm_weights *weights,
                                                    fathom_norm_state *state);
/** fathom_norm_backward on buffers. x, weight and lin_weight must be the arrays of the forward that filled `state`
 * (buffer and offset are compared) and still have their values. */
FATHOM_API fathom_status fathom_norm_backward_opencl(fathom_norm *norm, fathom_opencl_array gx,
                                                     const fathom_opencl_norm_gradients *gradients,
                                                     fathom_opencl_array gy, fathom_opencl_array x, int64_t rows,
                                                     const fathom_opencl_norm_weights *weights,
                                                     fathom_norm_state *state);

#ifdef __cplusplus
}
#endif
#endif
