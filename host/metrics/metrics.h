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
#include "core/progress.h"
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

/* X(name): those that may be estimated from a sample, and have a standard error. */
#define METRICS_SAMPLED_LIST(X)  \
    X(instance_information_gain) \
    X(group_distance_ratio)      \
    X(intra_group_distance)      \
    X(inter_group_distance)      \
    X(mean_average_distance)

/* Rows against all: a number, or FATHOM_METRICS_AUTO, _NONE, _ALL: 0, -1, -2, as text_read_counted reads them. */
#define METRICS_ROWS_CHOICES "auto|none|all|sampled:N"
#define METRICS_ROWS_MIN 2 /* one row has no standard error */
#define METRICS_ROWS_MAX 1000000000
#define METRICS_ALL_NODES 30000 /* auto: all pairs up to here, which take a second or two, */
#define METRICS_AUTO_ROWS 4000  /* and above it this many rows */

/* AUTO decided for a graph of so many nodes; others unchanged. */
int64_t metrics_rows_for(int64_t rows, int64_t nodes);
/* FATHOM_USAGE unless it is a sample of at least METRICS_ROWS_MIN rows, or a fathom_metric_rows. */
fathom_status metrics_rows_check(int64_t rows);

/* The public structure. NaN: the input does not suffice; infinite: the ratio when only intra is 0. */
typedef fathom_metrics metrics_values;

typedef struct metrics_input {
    int64_t nodes, width;
    const float *h;        /* n x d representations, not normalised */
    const int32_t *labels; /* n, -1 = none; NULL: no group distances */
    int32_t classes;
    const data_features *features; /* as loaded; NULL: no information gain */
    const data_graph *graph;       /* NULL: no Dirichlet energies */
    int64_t rows;                  /* a number or a fathom_metric_rows; NONE: all values NaN */
    const stop_flag *stop;         /* nonzero: return FATHOM_INTERRUPTED before the next launch; may be NULL */
    message_fn *progress;          /* told before each launch but the first of a metric; may be NULL */
} metrics_input;

/* All values NaN. */
void metrics_init_nan(metrics_values *values, metrics_definition definition);

fathom_status metrics_compute(metrics_values *values, be_device *dev, const metrics_input *in,
                              metrics_definition definition);

#endif
