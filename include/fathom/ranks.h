/** @file ranks.h
 * One run on several devices; included by fathom.h.
 * @code{.c}
 * fathom_device *devices[2];
 * if (fathom_device_open(&devices[0], "opencl:0", NULL) || fathom_device_open(&devices[1], "opencl:1", NULL) ||
 *     fathom_ranks_open(&ranks, devices, 2, NULL))
 *     return fathom_last_error();
 * options.ranks = ranks;
 * fathom_train(&model, devices[0], data, &options);
 * @endcode
 * Every rank has the rows of one part of the graph: the training is that of one device with the same `order`, up to
 * rounding; see docs/scale.md. */
#ifndef FATHOM_RANKS_H
#define FATHOM_RANKS_H

#include "fathom.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Orders of the nodes, which decide dropout masks and how many rows ranks exchange. */
typedef enum fathom_order {
    FATHOM_ORDER_AUTO = 0,      /**< OWN on one device, METIS on several where it is installed, else BISECTION. */
    FATHOM_ORDER_OWN = 1,       /**< For the caches of one device. */
    FATHOM_ORDER_BISECTION = 2, /**< OWN, cut in two again and again. */
    FATHOM_ORDER_METIS = 3      /**< METIS's recursive bisection. */
} fathom_order;

/** How ranks talk to each other. */
typedef struct fathom_ranks_options {
    size_t size;    /**< Set by fathom_ranks_options_init. */
    double timeout; /**< Seconds a rank may be silent while another waits for it; 0: for ever; 600. */
} fathom_ranks_options;
/** Sets the defaults; `size` is sizeof *options. */
FATHOM_API fathom_status fathom_ranks_options_init(fathom_ranks_options *options, size_t size);

/** `count` devices of this process, a rank each, which must stay open as long; or with `count` 0 the processes that
 * mpirun or srun started, of which this one is a rank (alone where none did). `options` NULL: the defaults. */
FATHOM_API fathom_status fathom_ranks_open(fathom_ranks **ranks, fathom_device *const *devices, int32_t count,
                                           const fathom_ranks_options *options);
/** Number of ranks; 1 of NULL. */
FATHOM_API int32_t fathom_ranks_count(const fathom_ranks *ranks);
/** Which of the processes this is; 0 where the ranks are devices. */
FATHOM_API int32_t fathom_ranks_rank(const fathom_ranks *ranks);
/** Closes the ranks, but not their devices. */
FATHOM_API void fathom_ranks_close(fathom_ranks *ranks);

#ifdef __cplusplus
}
#endif

#endif
