/** @file metrics.h
 * Over-smoothing metrics of any embeddings; included by fathom.h. */
#ifndef FATHOM_METRICS_H
#define FATHOM_METRICS_H

#include "fathom.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Definitions of the group distance ratio. */
typedef enum fathom_definition {
    FATHOM_DEFINITION_AUTHORS = 0, /**< Unit rows, squared distances: the program of the method's authors. */
    FATHOM_DEFINITION_PAPER = 1,   /**< Unit rows, Euclidean distances: Definition 1 of the paper. */
    FATHOM_DEFINITION_PYG = 2      /**< Raw rows, Euclidean distances: PyTorch Geometric. */
} fathom_definition;

/** Rows that metrics quadratic in the nodes (information gain, mean average distance, distances of the definitions
 * paper and pyg) take against all rows: above 0 that many, chosen by a counter, the same in every call; or one of
 * these. */
typedef enum fathom_metric_rows {
    FATHOM_METRICS_AUTO = 0,  /**< All rows of up to 30,000, else 4,000. */
    FATHOM_METRICS_NONE = -1, /**< No metrics at all. */
    FATHOM_METRICS_ALL = -2   /**< All rows. */
} fathom_metric_rows;

/** Over-smoothing metrics. NaN: not computable from the input. Standard errors are those of a sample, else 0. */
typedef struct fathom_metrics {
    size_t size;                            /**< sizeof(fathom_metrics), set by the caller. */
    int32_t definition;                     /**< A fathom_definition, set by the caller. */
    int32_t empty_classes;                  /**< Classes without nodes, excluded from the group distances. */
    double instance_information_gain;       /**< Mutual information with each node's input features, in bits. */
    double group_distance_ratio;            /**< Inter- over intra-group distance; above 1: classes are separated. */
    double intra_group_distance;            /**< Mean distance within a class. */
    double inter_group_distance;            /**< Mean distance between classes. */
    double dirichlet_energy;                /**< 0: neighbours have equal rows. */
    double dirichlet_energy_mean;           /**< Per node, not normalised by degree. */
    double mean_average_distance;           /**< 0: all rows point the same way. */
    int64_t rows;                           /**< Rows, or a fathom_metric_rows, set by the caller; without it: all. */
    int64_t sampled;                        /**< Rows that were taken against all; all nodes: nothing is sampled. */
    double instance_information_gain_error; /**< Standard error, as the next ones. */
    double group_distance_ratio_error;      /**< Of group_distance_ratio. */
    double intra_group_distance_error;      /**< Of intra_group_distance. */
    double inter_group_distance_error;      /**< Of inter_group_distance. */
    double mean_average_distance_error;     /**< Of mean_average_distance. */
} fathom_metrics;
/** Metrics of any embeddings h [nodes x width]. `given` holds labels for the group distances, features for the
 * information gain, a graph for the energies; NULL: none. */
FATHOM_API fathom_status fathom_measure(fathom_metrics *metrics, fathom_device *device, const float *h, int64_t nodes,
                                        int64_t width, const fathom_arrays *given);

#ifdef __cplusplus
}
#endif

#endif
