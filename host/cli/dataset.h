/* dataset.h - the data options that train, eval, metrics and sweep share, and loading what they name. */
#ifndef CLI_DATASET_H
#define CLI_DATASET_H

#include "cli/cli.h"
#include "data/data.h"

struct set_options {
    const char *data, *split;
    double missing_rate;
    int feature_norm; /* a data_norm */
    const char *features, *labels;
};

/* Rows of a verb's table; S has a `struct set_options set`, `fallback` is the default of --data. */
#define SET_ROWS(S, fallback)                                                                 \
    OPT_PATH(S, set.data, "data", 'd', "DATA", fallback,                                      \
             "a set: embedded, karate, a name such as cora, or a path (fathom data --help)"), \
        OPT_TEXT(S, set.split, "split", 0, "SPLIT", NULL,                                     \
                 "public, random:T,V (nodes of each class), or a .json or .npz file"),        \
        OPT_REAL(S, set.missing_rate, "missing-rate", 0, "R", "0", 0, 1, NULL,                \
                 "share of the nodes outside training that lose their features"),             \
        OPT_CHOICE(S, set.feature_norm, "feature-norm", 0, "row|none", "row",                 \
                   "divide each row of features by its sum"),                                 \
        OPT_PATH(S, set.features, "features", 0, "FILE", NULL,                                \
                 "features of a graph file that brings none: .npy, .csv"),                    \
        OPT_PATH(S, set.labels, "labels", 0, "FILE", NULL, "labels of a graph file that brings none: .npy, .csv")

/* Loads the set, says its notes, and measures the seconds it took. */
fathom_status load_set(data_set **set, double *seconds, const struct set_options *options, uint64_t seed);

/* "2,708": a count with thousands separated; lives until the next call but seven. */
const char *count_text(int64_t count);
double now_seconds(void);

#endif
