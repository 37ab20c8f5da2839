/* rank_plan.c - see rank_plan.h. */
#include "train/rank_plan.h"

#include "core/mem.h"

/* Seconds of a core for an entry and a column in an epoch, where a row counts as nn_row_weight entries: measured with
 * group norm, 0.57 ns at 16 columns and 0.70 at 256. A GPU is taken for 50 cores; a rough estimate both. */
#define CORE_SECONDS 0.65e-9
#define GPU_CORES 50

static double work_of(const nn_shape *s, const train_config *c, const be_info *info) {
    int64_t columns = c->net.model == NN_SGC ? s->classes : c->net.hidden;
    double cores = info->kind == BE_CPU || info->kind == BE_OPENCL_CPU ? info->compute_units : GPU_CORES;
    double entries = (double)s->nodes * nn_row_weight(columns) + (double)s->entries;
    return CORE_SECONDS * entries * (double)columns * (double)c->net.layers / (cores > 0 ? cores : 1);
}

static fathom_status plan_rank(train_rank_plan *p, const train_config *c, const data_set *set, const int32_t *order,
                               const int64_t *first, int ranks, int rank, const be_info *info) {
    data_slice slice = {0};
    nn_model *model = NULL;
    nn_config net = c->net;
    fathom_status status;
    TRY_OUT(data_slice_make(&slice, set, order, first, ranks, rank));
    p->shape = nn_shape_of_slice(set, &slice);
    TRY_OUT(nn_recompute_choose(&net, &p->shape, info));
    TRY_OUT(nn_model_plan(&model, &net, &p->shape));
    p->bytes = *nn_model_bytes(model);
    p->traffic = nn_epoch_traffic(model, c->eval_every == 1);
out:
    nn_model_free(model);
    data_slice_free(&slice);
    return status;
}

fathom_status train_plan_ranks(train_ranks_plan *plan, const train_config *c, const data_set *set, const be_info *info,
                               int ranks) {
    const nn_shape whole = nn_shape_of(set);
    nn_config net = c->net;
    int32_t *order = NULL;
    int64_t *first = NULL;
    fathom_status status;
    *plan = (train_ranks_plan){.ranks = ranks, .order = data_order_choose(c->order, ranks)};
    TRY(nn_recompute_choose(&net, &whole, info));
    TRY(nn_plan_bytes(&plan->alone, &net, &whole));
    plan->compute = work_of(&whole, c, info);
    TRY_OUT(mem_new(&plan->rank, ranks, 1, sizeof *plan->rank, "plan of the ranks"));
    TRY_OUT(data_order_nodes(&order, &set->graph, plan->order));
    TRY_OUT(data_slices_cut(&first, &set->graph, order, ranks, nn_row_weight(c->net.hidden)));
    for (int r = 0; r < ranks; r++) {
        TRY_OUT(plan_rank(&plan->rank[r], c, set, order, first, ranks, r, info));
        double work = work_of(&plan->rank[r].shape, c, info);
        plan->compute_slowest = work > plan->compute_slowest ? work : plan->compute_slowest;
    }
out:
    mem_free(order);
    mem_free(first);
    return status;
}

int64_t train_plan_busiest(const train_ranks_plan *plan) {
    int64_t most = 0;
    for (int r = 0; r < plan->ranks; r++) {
        const nn_traffic *t = &plan->rank[r].traffic;
        int64_t bytes = t->sent > t->received ? t->sent : t->received;
        most = bytes > most ? bytes : most;
    }
    return most;
}
