/* layers.h - metrics of every layer of one pass, computed on the device that holds the representations and read once:
 * the layers leave nothing but their sums. Quadratic metrics take a sample of the rows; the group distances are by the
 * authors' definition.
 *
 *     TRY(metrics_layers_make(&m, dev, &in));
 *     for each layer k, while its h is there: TRY(metrics_layers_add(m, k, h));
 *     TRY(metrics_layers_read(m));
 *     metrics_layers_at(m, k)->mean_average_distance */
#ifndef METRICS_LAYERS_H
#define METRICS_LAYERS_H

#include "metrics/metrics.h"

typedef struct metrics_layers metrics_layers;

/* All pointers must stay while the layers are measured. */
typedef struct metrics_layers_input {
    int64_t layers, widest; /* columns of the widest layer */
    int64_t rows;           /* of the sample */
    const data_set *set;
    const int32_t *order; /* row i on the device is node order[i] of the set; NULL: node i */
    be_csr graph;         /* on the device, in its order, with or without self-loops */
} metrics_layers_input;

/* Device bytes that they take, for plans: all, and *largest of one buffer. */
int64_t metrics_layers_bytes(int64_t *largest, const metrics_layers_input *in);

fathom_status metrics_layers_make(metrics_layers **layers, be_device *dev, const metrics_layers_input *in);
/* h: nodes x width, in the order of the device. Its memory may change afterwards. */
fathom_status metrics_layers_add(metrics_layers *layers, int64_t k, be_mat h);
fathom_status metrics_layers_read(metrics_layers *layers);
int64_t metrics_layers_count(const metrics_layers *layers);
int64_t metrics_layers_sampled(const metrics_layers *layers); /* rows */
/* Of the last pass. `sampled` is 0 and all values are NaN where squares of the entries do not fit a float: such a layer
 * has to be measured on the host (metrics_compute), and may be replaced by metrics_layers_set. */
const metrics_values *metrics_layers_at(const metrics_layers *layers, int64_t k);
void metrics_layers_set(metrics_layers *layers, int64_t k, const metrics_values *values);
void metrics_layers_free(metrics_layers *layers);

#endif
