/* metrics.h - measures of over-smoothing. Pairwise work runs on a device in launches of at most 2^26 pairs, sums are
 * taken in double on the host, and no n x n matrix is stored. The formulas are in group_distance.c, information_gain.c
 * and smoothness.c.
 *
 *     metrics_input in = {.nodes = n, .width = d, .h = h, .labels = y, .classes = C, .features = &x, .graph = &g};
 *     metrics_values values;
 *     TRY(metrics_compute(&values, dev, &in, METRICS_AUTHORS)); */
#ifndef METRICS_METRICS_H
#define METRICS_METRICS_H

#include "backend/backend.h"
#include "core/stop.h"
#include "data/data.h"

/* Three definitions of the group distance ratio; see group_distance.c. */
#define METRICS_DEFINITION_LIST(X) X(AUTHORS, authors) X(PAPER, paper) X(PYG, pyg)
#define X(id, name) METRICS_##id,
typedef enum metrics_definition { METRICS_DEFINITION_LIST(X) METRICS_DEFINITIONS } metrics_definition;
#undef X
/* The names as the choices of an option. */
#define METRICS_DEFINITION_CHOICE(id, name) "|" #name
#define METRICS_DEFINITION_CHOICES (&(METRICS_DEFINITION_LIST(METRICS_DEFINITION_CHOICE))[1])
const char *metrics_definition_name(metrics_definition definition);

/* X(name): a double in metrics_values, a field in every JSON result. */
#define METRICS_LIST(X)          \
    X(instance_information_gain) \
    X(group_distance_ratio)      \
    X(intra_group_distance)      \
    X(inter_group_distance)      \
    X(dirichlet_energy)          \
    X(dirichlet_energy_mean)     \
    X(mean_average_distance)

/* The public structure. NaN: the input does not suffice; infinite: the ratio when only intra is 0. */
typedef fathom_metrics metrics_values;

typedef struct metrics_input {
    int64_t nodes, width;
    const float *h;        /* n x d representations, not normalised */
    const int32_t *labels; /* n, -1 = none; NULL: no group distances */
    int32_t classes;
    const data_features *features; /* as loaded; NULL: no information gain */
    const data_graph *graph;       /* NULL: no Dirichlet energies */
    const stop_flag *stop;         /* nonzero: return FATHOM_INTERRUPTED before the next launch; may be NULL */
} metrics_input;

/* All values NaN. */
void metrics_init_nan(metrics_values *values, metrics_definition definition);

fathom_status metrics_compute(metrics_values *values, be_device *dev, const metrics_input *in,
                              metrics_definition definition);

#endif
