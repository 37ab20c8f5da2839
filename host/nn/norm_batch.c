/* norm_batch.c - batch normalisation over all nodes:
 *
 *   training    mu, var of the columns of Z (biased); running estimates move towards them
 *   evaluation  mu, var are the running estimates
 *   H = act(gamma (Z - mu) r + beta),  r = (var + eps)^-1/2
 * backward:
 *   gbeta += db = sum_v go,  ggamma += r q with q = sum_v go (Z - mu)
 *   gZ = gamma r (go - db/n - (Z - mu) r^2 q/n)  */
#include "nn/layers.h"

typedef struct layer {
    be_mat gamma, beta, ggamma, gbeta; /* 1 x d */
    be_mat rmean, rvar;                /* 1 x d: running estimates */
    nn_stats saved;
} layer;

typedef struct shared {
    nn_stats eval; /* not read: evaluation uses the running estimates */
    nn_norm_sums sums;
} shared;

static void declare(const nn_layer *l, nn_params *params) {
    layer *state = l->state;
    long long k = (long long)l->index;
    nn_declare(params, (nn_declaration){&state->gamma, &state->ggamma, NN_TRAINED, 1, l->out, false, 1, 0, 1},
               "norms.%lld.module.weight", k);
    nn_declare(params, (nn_declaration){&state->beta, &state->gbeta, NN_TRAINED, 1, l->out, false, 1, 0, 0},
               "norms.%lld.module.bias", k);
    nn_declare(params, (nn_declaration){&state->rmean, NULL, NN_RUNNING, 1, l->out, false, 1, 0, 0},
               "norms.%lld.module.running_mean", k);
    nn_declare(params, (nn_declaration){&state->rvar, NULL, NN_RUNNING, 1, l->out, false, 1, 0, 1},
               "norms.%lld.module.running_var", k);
}

static void plan_layer(const nn_layer *l, nn_plan *plan) {
    layer *state = l->state;
    nn_plan_stats(&state->saved, plan, 1, l->out);
}

static void plan_shared(const nn_layer *l, nn_plan *plan, int64_t widest) {
    shared *s = l->shared;
    nn_plan_stats(&s->eval, plan, 1, widest);
    nn_plan_sums(&s->sums, l, plan, widest);
}

static fathom_status forward(const nn_layer *l, const nn_pass *pass, be_mat h, be_mat z, be_act act) {
    const layer *state = l->state;
    const nn_stats *stats = &state->saved;
    /* mu_j, var_j of the columns of Z; running = (1 - momentum) running + momentum now */
    if (nn_takes_stats(pass)) {
        TRY(be_col_stats(l->dev, &(be_col_stats_args){.mean = stats->mean,
                                                      .var = stats->var,
                                                      .rmean = nn_running(l, state->rmean),
                                                      .rvar = nn_running(l, state->rvar),
                                                      .x = z,
                                                      .momentum = (float)l->config->momentum}));
        TRY(nn_combine_stats(l, stats->mean, stats->var, state->rmean, state->rvar));
    }
    /* H = act(gamma (Z - mu) r + beta) */
    return be_batch_apply(l->dev, &(be_batch_apply_args){.y = h,
                                                         .x = z,
                                                         .mean = pass->training ? stats->mean : state->rmean,
                                                         .var = pass->training ? stats->var : state->rvar,
                                                         .gamma = state->gamma,
                                                         .beta = state->beta,
                                                         .eps = nn_eps(l, NN_EPS),
                                                         .act = act});
}

static fathom_status backward(const nn_layer *l, be_mat grad, be_mat h, be_mat z, const be_act *act) {
    (void)h;
    (void)act;
    const layer *state = l->state;
    const nn_stats *stats = &state->saved;
    const shared *s = l->shared;
    be_mat db = nn_resize(s->sums.db, 1, l->out), q = nn_resize(s->sums.q, 1, l->out);
    bool adds = nn_alone(l) || l->shape->rank == 0; /* db and q are those of all ranks */
    /* db = sum_v go, q = sum_v go (Z - mu) */
    TRY(be_norm_sums(l->dev, &(be_norm_sums_args){.db = db, .q = q, .go = grad, .x = z, .mean = stats->mean}));
    TRY(nn_combine_sums(l, db, q));
    /* gbeta += db, ggamma += r q, gZ = gamma r (go - db/n - (Z - mu) r^2 q/n) */
    return be_batch_backward(l->dev, &(be_batch_backward_args){.gx = grad,
                                                               .ggamma = adds ? state->ggamma : (be_mat){0},
                                                               .gbeta = adds ? state->gbeta : (be_mat){0},
                                                               .go = grad,
                                                               .x = z,
                                                               .mean = stats->mean,
                                                               .var = stats->var,
                                                               .gamma = state->gamma,
                                                               .db = db,
                                                               .q = q,
                                                               .over = nn_over(l),
                                                               .eps = nn_eps(l, NN_EPS)});
}

static nn_norm_gathers gathers(const nn_layer *l) {
    return (nn_norm_gathers){.training = 2 * l->out, .backward = 2 * l->out};
}

const nn_norm nn_norm_batch = {
    .keeps_input = true,
    .scale_free = true,
    .state_bytes = sizeof(layer),
    .shared_bytes = sizeof(shared),
    .declare = declare,
    .plan = plan_layer,
    .plan_shared = plan_shared,
    .forward = forward,
    .backward = backward,
    .gathers = gathers,
};
