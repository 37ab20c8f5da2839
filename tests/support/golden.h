/* golden.h - the vectors in tests/golden (made in float64 with PyTorch Geometric), devices to try them on, and small
 * sets made in memory. */
#ifndef SUPPORT_GOLDEN_H
#define SUPPORT_GOLDEN_H

#include "backend/backend.h"
#include "data/data.h"
#include "data/npz.h"
#include "nn/nn.h"

/* Fails the test with the last message when `status` is not OK. */
void golden_ok(fathom_status status);

/* The back ends to test: 0 is cpu, 1 is $FATHOM_TEST_DEVICE or opencl:0; NULL when there is none, with the message. */
#define GOLDEN_DEVICES 2
be_device *golden_device(int which);

/* tests/golden/NAME.npz */
npz_file *golden_open(const char *name);
float *golden_floats(npz_file *file, const char *name, int64_t *count); /* mem_free */
double golden_number(npz_file *file, const char *name);

/* A set from an edge list (each undirected edge once or twice), dense n x F features kept sparse, and labels; training
 * nodes are 0, every, 2 every ... and all others are both validation and test nodes. */
data_set *golden_set(int32_t nodes, int32_t features, int32_t classes, const int32_t *from, const int32_t *to,
                     int64_t edges, const float *x, const int32_t *labels, int32_t every);
void golden_set_free(data_set *set);
data_set *golden_graph(void); /* tests/golden/graph.npz */

/* A network of 8 columns and 3 groups, with dropout. */
nn_config golden_config(nn_conv_kind model, nn_norm_kind norm, int64_t layers);

/* sum (a - b)^2 / sum b^2 */
double golden_nmse(const float *a, const float *b, int64_t count);

#endif
