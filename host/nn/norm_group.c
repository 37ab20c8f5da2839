/* norm_group.c - differentiable group normalisation, without the n x G x d array t_vgj = S_vg Z_vj in memory:
 *
 *   S = softmax(Z U' + c)                        n x G; c only in the preset `authors`; G = 1: S = 1
 *   mu_gj, var_gj of t over v (evaluation: the running estimates), r = (var + eps)^-1/2, A = gamma r
 *   H = act(Z (1 + lambda S A) + lambda b),      b_j = sum_g (beta_gj - A_gj mu_gj)
 * backward in two passes over the rows (algebra in operations.h): db, q and the gradients of gamma and beta; then, row
 * by row, gZ and the gradient gL of the assignment's logits, from which
 *   gc += sum_v gL,  gU += gL' Z.
 *
 * With one group U and c have no gradient and are not decayed: they belong to the fixed part of the parameters. */
#include <math.h>

#include "nn/layers.h"

typedef struct layer {
    be_mat u, c, gu, gc;               /* G x d, 1 x G */
    be_mat gamma, beta, ggamma, gbeta; /* G x d */
    be_mat rmean, rvar;                /* G x d: running estimates */
    be_mat assign;                     /* n x G: S */
    nn_stats saved;
} layer;

typedef struct shared {
    be_mat eval_assign; /* n x G: S */
    nn_stats eval;      /* not read: evaluation uses the running estimates */
    nn_norm_sums sums;
    be_mat glogits; /* n x G: gL */
} shared;

static void declare(const nn_layer *l, nn_params *params) {
    layer *state = l->state;
    int64_t groups = l->config->groups, d = l->out;
    long long k = (long long)l->index;
    nn_param_kind kind = groups > 1 ? NN_TRAINED : NN_FIXED;
    double limit = 1.0 / sqrt((double)d);
    nn_declare(params, (nn_declaration){&state->u, &state->gu, kind, groups, d, false, 2, limit, 0},
               "norms.%lld.lin.weight", k);
    if (l->config->assign_bias)
        nn_declare(params, (nn_declaration){&state->c, &state->gc, kind, 1, groups, false, 1, limit, 0},
                   "norms.%lld.lin.bias", k);
    nn_declare(params, (nn_declaration){&state->gamma, &state->ggamma, NN_TRAINED, groups, d, false, 1, 0, 1},
               "norms.%lld.norm.weight", k);
    nn_declare(params, (nn_declaration){&state->beta, &state->gbeta, NN_TRAINED, groups, d, false, 1, 0, 0},
               "norms.%lld.norm.bias", k);
    nn_declare(params, (nn_declaration){&state->rmean, NULL, NN_RUNNING, groups, d, false, 1, 0, 0},
               "norms.%lld.norm.running_mean", k);
    nn_declare(params, (nn_declaration){&state->rvar, NULL, NN_RUNNING, groups, d, false, 1, 0, 1},
               "norms.%lld.norm.running_var", k);
}

static void plan_layer(const nn_layer *l, nn_plan *plan) {
    layer *state = l->state;
    nn_plan_mat(plan, NN_MEM_ACTIVATIONS, &state->assign, l->shape->nodes, l->config->groups);
    nn_plan_stats(&state->saved, plan, l->config->groups, l->out);
}

static void plan_shared(const nn_layer *l, nn_plan *plan, int64_t widest) {
    shared *s = l->shared;
    int64_t groups = l->config->groups;
    nn_plan_mat(plan, NN_MEM_ACTIVATIONS, &s->eval_assign, l->shape->nodes, groups);
    nn_plan_stats(&s->eval, plan, groups, widest);
    nn_plan_sums(&s->sums, l, plan, widest);
    nn_plan_mat(plan, NN_MEM_SCRATCH, &s->glogits, l->shape->nodes, groups);
}

static be_mat assignment(const nn_layer *l, bool training) {
    return training ? ((const layer *)l->state)->assign : ((const shared *)l->shared)->eval_assign;
}

static fathom_status forward(const nn_layer *l, const nn_pass *pass, be_mat h, be_mat z, be_act act) {
    const layer *state = l->state;
    const nn_stats *stats = &state->saved;
    bool training = pass->training, takes_stats = nn_takes_stats(pass);
    be_mat assign = nn_resize(assignment(l, training), z.rows, l->config->groups);
    /* S = softmax(Z U' + c), then mu_gj, var_gj of S_vg Z_vj over v; running = (1 - momentum) running + momentum now */
    if (takes_stats) {
        TRY(be_group_stats(l->dev, &(be_group_stats_args){.mean = stats->mean,
                                                          .var = stats->var,
                                                          .rmean = nn_running(l, state->rmean),
                                                          .rvar = nn_running(l, state->rvar),
                                                          .s = assign,
                                                          .h = z,
                                                          .u = state->u,
                                                          .c = state->c,
                                                          .momentum = (float)l->config->momentum}));
        TRY(nn_combine_stats(l, stats->mean, stats->var, state->rmean, state->rvar));
    }
    /* H = act(Z (1 + lambda S A) + lambda b); where there were no statistics to take, S first */
    return be_group_apply(l->dev, &(be_group_apply_args){.y = h,
                                                         .h = z,
                                                         .s = assign,
                                                         .u = takes_stats ? (be_mat){0} : state->u,
                                                         .c = takes_stats ? (be_mat){0} : state->c,
                                                         .mean = training ? stats->mean : state->rmean,
                                                         .var = training ? stats->var : state->rvar,
                                                         .gamma = state->gamma,
                                                         .beta = state->beta,
                                                         .eps = nn_eps(l, NN_EPS),
                                                         .lambda = (float)l->config->lambda,
                                                         .act = act});
}

static fathom_status backward(const nn_layer *l, be_mat grad, be_mat h, be_mat z, const be_act *act) {
    const layer *state = l->state;
    const nn_stats *stats = &state->saved;
    const shared *s = l->shared;
    int64_t groups = l->config->groups;
    float lambda = (float)l->config->lambda, scale = act && act->drop.rate > 0.0f ? act->drop.scale : 1.0f;
    be_mat y = act ? h : (be_mat){0}, assign = nn_resize(state->assign, z.rows, groups);
    be_mat db = nn_resize(s->sums.db, 1, l->out), q = nn_resize(s->sums.q, groups, l->out);
    be_mat glogits = nn_resize(s->glogits, z.rows, groups);
    /* go = act'(H) grad where act is fused; db, q, ggamma and gbeta from sums of go over v */
    TRY(be_group_backward_sums(l->dev, &(be_group_backward_sums_args){.db = db,
                                                                      .q = q,
                                                                      .ggamma = state->ggamma,
                                                                      .gbeta = state->gbeta,
                                                                      .go = grad,
                                                                      .y = y,
                                                                      .h = z,
                                                                      .s = assign,
                                                                      .mean = stats->mean,
                                                                      .var = stats->var,
                                                                      .scale = scale,
                                                                      .eps = nn_eps(l, NN_EPS),
                                                                      .lambda = lambda}));
    TRY(nn_combine_sums(l, db, q));
    /* gZ and gL row by row, gc += sum_v gL, gU += gL' Z */
    return be_group_backward_rows(l->dev, &(be_group_backward_rows_args){.gh = grad,
                                                                         .gz = glogits,
                                                                         .gc = state->gc,
                                                                         .gu = groups > 1 ? state->gu : (be_mat){0},
                                                                         .go = grad,
                                                                         .y = y,
                                                                         .h = z,
                                                                         .s = assign,
                                                                         .mean = stats->mean,
                                                                         .var = stats->var,
                                                                         .gamma = state->gamma,
                                                                         .u = state->u,
                                                                         .db = db,
                                                                         .q = q,
                                                                         .over = nn_over(l),
                                                                         .scale = scale,
                                                                         .eps = nn_eps(l, NN_EPS),
                                                                         .lambda = lambda});
}

static nn_norm_gathers gathers(const nn_layer *l) {
    return (nn_norm_gathers){.training = 2 * l->config->groups * l->out, .backward = (l->config->groups + 1) * l->out};
}

const nn_norm nn_norm_group = {
    .keeps_input = true,
    .fuses_relu = true,
    .state_bytes = sizeof(layer),
    .shared_bytes = sizeof(shared),
    .declare = declare,
    .plan = plan_layer,
    .plan_shared = plan_shared,
    .forward = forward,
    .backward = backward,
    .gathers = gathers,
    .assignment = assignment,
};
