/* paper.h - the published figures that stand beside ours: Zhou, Huang, Li, Zha, Chen and Hu, "Towards Deeper Graph
 * Neural Networks with Differentiable Group Normalization", NeurIPS 2020, tables 1 and 2. */
#ifndef LAB_PAPER_H
#define LAB_PAPER_H

#include "nn/nn.h"

extern const char lab_paper_citation[];

/* Per cent; NaN where the paper has no figure. `data` is a data set's name. */
double lab_paper_table1(const char *data, nn_conv_kind model, nn_norm_kind norm, int64_t layers);
/* Table 1's depth at which group norm was best (#K), 0 where there is none. */
int64_t lab_paper_best_depth(const char *data, nn_conv_kind model);
/* Features missing: the best accuracy, and in *layers the depth it was reached at. */
double lab_paper_table2(int64_t *layers, const char *data, nn_conv_kind model, nn_norm_kind norm);
/* Average improvement of group norm over `norm` in table 2, per cent. */
double lab_paper_improvement(nn_conv_kind model, nn_norm_kind norm);

#endif
