/* embedding_plot.h - node embeddings of a run as points in 2D: saved by a sweep, plotted by a report. */
#ifndef SWEEP_EMBEDDING_PLOT_H
#define SWEEP_EMBEDDING_PLOT_H

#include "sweep/embed2d.h"
#include "sweep/journal.h"

/* The rows are scaled to length 1 before they are projected, as for the metrics. */
typedef struct embedding_plot {
    int64_t nodes, means;
    int32_t classes, *labels; /* [nodes] */
    double *pca,
        *tsne; /* [(nodes + means) x 2], group means after the nodes; tsne NULL: not requested, or too many nodes */
    double explained; /* share of the variance in the two principal components */
} embedding_plot;

/* Evaluates the model in run_folder/model.safetensors and saves its logits, the labels and the means of the groups of
 * the last layer in pictures/. */
fathom_status embedding_plot_save(const sweep_journal *journal, const char *cell, const char *run_folder,
                                  const train_config *config, const data_set *set, be_device *dev);

/* PCA is always computed; t-SNE takes seconds to minutes and only on request. */
typedef struct embedding_plot_options {
    bool tsne;
    tsne_options tsne_options;
} embedding_plot_options;

/* *plot is empty (nodes 0) when nothing was saved for the cell. */
fathom_status embedding_plot_load(embedding_plot *plot, const sweep_journal *journal, const char *cell,
                                  const embedding_plot_options *options);
void embedding_plot_free(embedding_plot *plot);

#endif
