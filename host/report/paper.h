/* paper.h - published figures for comparison: Zhou, Huang, Li, Zha, Chen and Hu, "Towards Deeper Graph
 * Neural Networks with Differentiable Group Normalization", NeurIPS 2020, tables 1 and 2. */
#ifndef REPORT_PAPER_H
#define REPORT_PAPER_H

#include "nn/nn.h"

/* "The paper: ..." */
extern const char paper_citation[];

/* Test accuracy in per cent; NaN where the paper has none. `data`: short name of the data set. */
double paper_table1(const char *data, nn_conv_kind model, nn_norm_kind norm, int64_t layers);
/* The depth at which group norm is best in table 1 (#K); 0: none. */
int64_t paper_best_depth(const char *data, nn_conv_kind model);
/* Missing features: the best accuracy, and in *layers its depth. */
double paper_table2(int64_t *layers, const char *data, nn_conv_kind model, nn_norm_kind norm);
/* Average improvement of group norm over `norm` in table 2, in per cent. */
double paper_improvement(nn_conv_kind model, nn_norm_kind norm);

#endif
