/* norm_pair.c - pair normalisation: no parameters, and the same in training and evaluation:
 *
 *   X = Z - column mean,  H = act(X s),  s = (eps + mean_v ||X_v||^2)^-1/2
 * backward, with db = sum_v go and q = sum_v go (Z - mu):
 *   gZ = s (go - db/n) - s^3 (sum_j q_j / n) (Z - mu)  */
#include "nn/layers.h"

typedef struct shared {
    nn_stats eval;
    nn_norm_sums sums;
} shared;

static void plan_layer(const nn_layer *l, nn_plan *plan) { nn_plan_stats(l->state, plan, 1, l->out); }

static void plan_shared(const nn_layer *l, nn_plan *plan, int64_t widest) {
    shared *s = l->shared;
    nn_plan_stats(&s->eval, plan, 1, widest);
    nn_plan_sums(&s->sums, l, plan, widest);
}

static fathom_status forward(const nn_layer *l, const nn_pass *pass, be_mat h, be_mat z, be_act act) {
    const nn_stats *stats = pass->training ? l->state : &((const shared *)l->shared)->eval;
    be_mat mean = nn_resize(stats->mean, 1, l->out), var = nn_resize(stats->var, 1, l->out);
    /* mu_j, var_j of the columns of Z */
    if (!pass->again) {
        TRY(be_col_stats(l->dev, &(be_col_stats_args){.mean = mean, .var = var, .x = z}));
        TRY(nn_combine_stats(l, mean, var, (be_mat){0}, (be_mat){0}));
    }
    /* H = act((Z - mu) (eps + sum_j var_j)^-1/2) */
    return be_pair_apply(
        l->dev,
        &(be_pair_apply_args){.y = h, .x = z, .mean = mean, .var = var, .eps = nn_eps(l, NN_PAIR_EPS), .act = act});
}

static fathom_status backward(const nn_layer *l, be_mat grad, be_mat h, be_mat z, const be_act *act) {
    (void)h;
    (void)act;
    const nn_stats *stats = l->state;
    const shared *s = l->shared;
    be_mat db = nn_resize(s->sums.db, 1, l->out), q = nn_resize(s->sums.q, 1, l->out);
    /* db = sum_v go, q = sum_v go (Z - mu) */
    TRY(be_norm_sums(l->dev, &(be_norm_sums_args){.db = db, .q = q, .go = grad, .x = z, .mean = stats->mean}));
    TRY(nn_combine_sums(l, db, q));
    /* gZ = s (go - db/n) - s^3 (sum_j q_j / n) (Z - mu) */
    return be_pair_backward(l->dev, &(be_pair_backward_args){.gx = grad,
                                                             .go = grad,
                                                             .x = z,
                                                             .mean = stats->mean,
                                                             .var = stats->var,
                                                             .db = db,
                                                             .q = q,
                                                             .over = nn_over(l),
                                                             .eps = nn_eps(l, NN_PAIR_EPS)});
}

static nn_norm_gathers gathers(const nn_layer *l) {
    return (nn_norm_gathers){.training = 2 * l->out, .backward = 2 * l->out, .evaluation = 2 * l->out};
}

const nn_norm nn_norm_pair = {
    .keeps_input = true,
    .scale_free = true,
    .state_bytes = sizeof(nn_stats),
    .shared_bytes = sizeof(shared),
    .plan = plan_layer,
    .plan_shared = plan_shared,
    .forward = forward,
    .backward = backward,
    .gathers = gathers,
};
