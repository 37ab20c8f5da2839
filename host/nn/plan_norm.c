/* plan_norm.c - memory that batch, pair and group norm have in common. */
#include "nn/layers.h"

/* Never shared: a layer is computed again with the statistics of the first time. */
void nn_plan_stats(nn_stats *stats, nn_plan *plan, int64_t rows, int64_t width) {
    bool before = plan->alone;
    plan->alone = true;
    nn_plan_mat(plan, NN_MEM_ACTIVATIONS, &stats->mean, rows, width);
    nn_plan_mat(plan, NN_MEM_ACTIVATIONS, &stats->var, rows, width);
    plan->alone = before;
}

/* q has G rows for every norm, although batch and pair norm use one. */
void nn_plan_sums(nn_norm_sums *sums, const nn_layer *l, nn_plan *plan, int64_t widest) {
    nn_plan_mat(plan, NN_MEM_SCRATCH, &sums->db, 1, widest);
    nn_plan_mat(plan, NN_MEM_SCRATCH, &sums->q, l->config->groups, widest);
}
