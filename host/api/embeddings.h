/* embeddings.h - representations of nodes from files, with what is known about the nodes: input of fathom_measure. */
#ifndef API_EMBEDDINGS_H
#define API_EMBEDDINGS_H

#include "api/handles.h"
#include "core/progress.h"

typedef struct embeddings_source {
    const char *path;              /* .npy, n x d; or .npz with x and optionally y (labels) */
    const char *data;              /* the set they belong to: its labels, features and graph; or NULL */
    fathom_data_options options;   /* of `data` */
    const char *labels, *features; /* files that replace those of the set, or NULL; features: also degree, identity */
    message_fn *note;              /* what was not used */
} embeddings_source;

typedef struct embeddings {
    float *h;
    int32_t *labels;
    int64_t nodes, width, label_count;
    data_features x;
    fathom_data *set;    /* NULL without `data` */
    bool set_has_labels; /* those of `labels`: a set that names its nodes numbers them in the order of these */
} embeddings;

fathom_status embeddings_load(embeddings *e, const embeddings_source *from);
/* What is known about the nodes: the set, replaced by what has files of its own. Points into `e`. */
fathom_status embeddings_known(fathom_arrays *known, const embeddings *e);
void embeddings_free(embeddings *e);

#endif
