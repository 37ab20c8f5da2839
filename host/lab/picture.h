/* picture.h - representations kept for a picture: written by a sweep, read by a report. */
#ifndef LAB_PICTURE_H
#define LAB_PICTURE_H

#include "lab/journal.h"
#include "lab/plane.h"

/* Nodes as points in the plane. Rows are scaled to length 1 first, as for the metrics. */
typedef struct lab_picture {
    int64_t nodes, means;
    int32_t classes, *labels; /* [nodes] */
    double *pca, *tsne; /* (nodes + means) x 2, group means after the nodes; tsne NULL: not asked for, or too many */
    double share;       /* of the variance, that the two principal components hold */
} lab_picture;

/* Evaluates the model in run_folder/model.safetensors and keeps its outputs, the labels and the means of the last
 * layer's groups under pictures/. */
fathom_status lab_picture_keep(const lab_journal *journal, const char *cell, const char *run_folder,
                               const train_config *config, const data_set *set, be_device *dev);

/* How to lay the nodes out: always by principal components, by t-SNE on request, since it takes seconds to minutes. */
typedef struct lab_layout {
    bool tsne;
    lab_tsne_options options;
} lab_layout;

/* *picture stays empty (nodes 0) when none was kept for the cell. */
fathom_status lab_picture_load(lab_picture *picture, const lab_journal *journal, const char *cell,
                               const lab_layout *layout);
void lab_picture_free(lab_picture *picture);

#endif
