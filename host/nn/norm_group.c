/* norm_group.c - differentiable group normalisation, never holding the n x G x d array t_vgj = S_vg Z_vj:
 *
 *   S = softmax(Z U' + c)                        n x G; c only in the preset `authors`; G = 1: S = 1
 *   mu_gj, var_gj of t over v (evaluation: the running estimates), r = (var + eps)^-1/2, A = gamma r
 *   H = act(Z (1 + lambda S A) + lambda b),      b_j = sum_g (beta_gj - A_gj mu_gj)
 * backward in two sweeps (algebra in operations.h): db, q and the gradients of gamma and beta; then, row by row,
 * gZ and the gradient gL of the assignment's logits, from which
 *   gc += sum_v gL,  gU += gL' Z.
 *
 * With one group U and c have no gradient and are not decayed: they lie in the fixed part of the parameters. */
#include <math.h>

#include "nn/layers.h"

static void declare(nn_model *m, int64_t k) {
    nn_layer *l = &m->layers[k];
    int64_t groups = m->config.groups, d = l->out;
    long long number = (long long)k;
    nn_part part = groups > 1 ? NN_TRAINED : NN_FIXED;
    double limit = 1.0 / sqrt((double)d);
    nn_declare(m, (nn_declaration){&l->w.u, &l->g.u, part, groups, d, false, 2, limit, 0}, "norms.%lld.lin.weight",
               number);
    if (m->config.assign_bias)
        nn_declare(m, (nn_declaration){&l->w.c, &l->g.c, part, 1, groups, false, 1, limit, 0}, "norms.%lld.lin.bias",
                   number);
    nn_declare(m, (nn_declaration){&l->w.gamma, &l->g.gamma, NN_TRAINED, groups, d, false, 1, 0, 1},
               "norms.%lld.norm.weight", number);
    nn_declare(m, (nn_declaration){&l->w.beta, &l->g.beta, NN_TRAINED, groups, d, false, 1, 0, 0},
               "norms.%lld.norm.bias", number);
    nn_declare(m, (nn_declaration){&l->w.rmean, NULL, NN_RUNNING, groups, d, false, 1, 0, 0},
               "norms.%lld.norm.running_mean", number);
    nn_declare(m, (nn_declaration){&l->w.rvar, NULL, NN_RUNNING, groups, d, false, 1, 0, 1},
               "norms.%lld.norm.running_var", number);
}

static void plan(nn_model *m, nn_acts *acts, int64_t width) {
    nn_plan_mat(&m->plan, NN_MEM_ACTIVATIONS, &acts->assign, m->shape.nodes, m->config.groups);
    nn_plan_mat(&m->plan, NN_MEM_ACTIVATIONS, &acts->mean, m->config.groups, width);
    nn_plan_mat(&m->plan, NN_MEM_ACTIVATIONS, &acts->var, m->config.groups, width);
}

static fathom_status forward(nn_model *m, const nn_pass *pass, int64_t k, be_act act) {
    const nn_weights *w = &m->layers[k].w;
    nn_acts o = nn_acts_of(m, pass, k);
    TRY(be_group_assign(m->dev, &(be_group_assign_args){.s = o.assign, .h = o.z, .u = w->u, .c = w->c}));
    if (pass->training)
        TRY(be_group_stats(m->dev, &(be_group_stats_args){.mean = o.mean,
                                                          .var = o.var,
                                                          .rmean = w->rmean,
                                                          .rvar = w->rvar,
                                                          .s = o.assign,
                                                          .h = o.z,
                                                          .momentum = (float)m->config.momentum}));
    return be_group_apply(m->dev, &(be_group_apply_args){.y = o.h,
                                                         .h = o.z,
                                                         .s = o.assign,
                                                         .mean = pass->training ? o.mean : w->rmean,
                                                         .var = pass->training ? o.var : w->rvar,
                                                         .gamma = w->gamma,
                                                         .beta = w->beta,
                                                         .eps = NN_EPS,
                                                         .lambda = (float)m->config.lambda,
                                                         .act = act});
}

static fathom_status backward(nn_model *m, int64_t k, const be_act *act) {
    const nn_acts *o = &m->acts[k];
    be_mat y = act ? o->h : (be_mat){0};
    float scale = act && act->drop.rate > 0.0f ? act->drop.scale : 1.0f;
    nn_layer *l = &m->layers[k];
    int64_t groups = m->config.groups;
    float lambda = (float)m->config.lambda;
    be_mat db = be_vector(m->db.buf, m->db.off, l->out), q = be_view(m->q.buf, m->q.off, groups, l->out);
    TRY(be_group_backward_sums(m->dev, &(be_group_backward_sums_args){.db = db,
                                                                      .q = q,
                                                                      .ggamma = l->g.gamma,
                                                                      .gbeta = l->g.beta,
                                                                      .go = m->flow,
                                                                      .y = y,
                                                                      .h = o->z,
                                                                      .s = o->assign,
                                                                      .mean = o->mean,
                                                                      .var = o->var,
                                                                      .scale = scale,
                                                                      .eps = NN_EPS,
                                                                      .lambda = lambda}));
    TRY(be_group_backward_rows(m->dev, &(be_group_backward_rows_args){.gh = m->flow,
                                                                      .gz = m->gassign,
                                                                      .gc = l->g.c,
                                                                      .go = m->flow,
                                                                      .y = y,
                                                                      .h = o->z,
                                                                      .s = o->assign,
                                                                      .mean = o->mean,
                                                                      .var = o->var,
                                                                      .gamma = l->w.gamma,
                                                                      .u = l->w.u,
                                                                      .db = db,
                                                                      .q = q,
                                                                      .scale = scale,
                                                                      .eps = NN_EPS,
                                                                      .lambda = lambda}));
    if (groups == 1)
        return FATHOM_OK;
    return be_gemm(m->dev,
                   &(be_gemm_args){.c = l->g.u, .a = m->gassign, .b = o->z, .ta = true, .alpha = 1.0f, .beta = 1.0f});
}

const nn_norm nn_norm_group = {
    .name = "group",
    .keeps_input = true,
    .gates = true,
    .declare = declare,
    .plan = plan,
    .forward = forward,
    .backward = backward,
};

fathom_status nn_get_assignment(float *values, const nn_model *m, const nn_pass *pass) {
    if (m->config.norm != NN_GROUP)
        return fail(FATHOM_USAGE, "only group norm assigns nodes to groups");
    return nn_get_rows(values, m, nn_acts_of(m, pass, m->config.layers - 1).assign);
}
