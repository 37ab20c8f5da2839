/* dataset.h - the options about data that several commands share (train, eval, metrics, sweep, data info ...).
 *
 *     struct my_options {
 *         struct common_options common;
 *         const char *data;
 *         struct data_choice choice;
 *     };
 *     static const struct opt_row rows[] = {
 *         DATA_ROW(struct my_options, data),
 *         DATA_CHOICE_ROWS(struct my_options, choice),
 *     };
 *     ...
 *     TRY(load_data(&data, mine->data, &mine->choice)); */
#ifndef CLI_DATASET_H
#define CLI_DATASET_H

#include "cli/cli.h"
#include "data/data.h"

struct data_choice {
    const char *split;
    int64_t seed;
    int feature_norm;
    double missing_rate;
    const char *features, *labels;
};

#define DATA_ROW(S, member) \
    OPT_TEXT(S, member, "data", 0, "DATA", "embedded", "a data set: a name (fathom data list) or a path")

/* What graph, features and labels are, and which nodes train. */
#define DATA_SOURCE_ROWS(S, member)                                                                                  \
    OPT_TEXT(S, member.split, "split", 0, "SPLIT", NULL,                                                             \
             "public, random:T,V (nodes per class), fraction:T,V or a .json or .npz file (default: the set's own)"), \
        OPT_INT(S, member.seed, "seed", 0, "N", "100", 0, 9007199254740992.0, "seed of every random draw"),          \
        OPT_PATH(S, member.features, "features", 0, "FILE", NULL,                                                    \
                 "features (.npy, .csv, .mtx) of a graph that is an edge list or a .mtx; degree or identity: made, " \
                 "one-hot, for a graph without any"),                                                                \
        OPT_PATH(S, member.labels, "labels", 0, "FILE", NULL, "labels (.npy, .csv) of such a graph")

/* All of them: also what is done to the features. */
#define DATA_CHOICE_ROWS(S, member)                                                                          \
    DATA_SOURCE_ROWS(S, member),                                                                             \
        OPT_CHOICE(S, member.feature_norm, "feature-norm", 0, DATA_NORM_CHOICES, "auto",                     \
                   "divide every row of the features by its sum, or not; auto: unless a value is negative"), \
        OPT_REAL(S, member.missing_rate, "missing-rate", 0, "R", "0", 0, 1, NULL,                            \
                 "share of the nodes outside training that lose their features")

/* Loads the set and logs its notes. */
fathom_status load_data(fathom_data **data, const char *name, const struct data_choice *choice);
fathom_data_options options_from_choice(const struct data_choice *choice);

/* The same below the library, for `data info` and `data convert`: the features as they are. The notes are logged when a
 * split, which may add some, is made. */
fathom_status load_set(data_set **set, const char *name, const struct data_choice *choice, bool without_split);
void log_data_notes(const data_set *set);

#endif
