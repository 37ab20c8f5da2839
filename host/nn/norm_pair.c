/* norm_pair.c - pair normalisation: no parameters, and the same in training and evaluation:
 *
 *   X = Z - column mean,  H = act(X s),  s = (eps + mean_v ||X_v||^2)^-1/2
 * backward, with db = sum_v go and q = sum_v go (Z - mu):
 *   gZ = s (go - db/n) - s^3 (sum_j q_j / n) (Z - mu)  */
#include "nn/layers.h"

static fathom_status forward(nn_model *m, const nn_pass *pass, int64_t k, be_act act) {
    nn_acts o = nn_acts_of(m, pass, k);
    be_mat mean = be_vector(o.mean.buf, o.mean.off, o.z.cols), var = be_vector(o.var.buf, o.var.off, o.z.cols);
    TRY(be_col_stats(m->dev, &(be_col_stats_args){.mean = mean, .var = var, .x = o.z}));
    return be_pair_apply(
        m->dev, &(be_pair_apply_args){.y = o.h, .x = o.z, .mean = mean, .var = var, .eps = NN_PAIR_EPS, .act = act});
}

static void plan(nn_model *m, nn_acts *acts, int64_t width) { nn_norm_batch.plan(m, acts, width); }

static fathom_status backward(nn_model *m, int64_t k, const be_act *act) {
    (void)act;
    const nn_acts *o = &m->acts[k];
    int64_t d = m->layers[k].out;
    be_mat db = be_vector(m->db.buf, m->db.off, d), q = be_vector(m->q.buf, m->q.off, d);
    TRY(be_norm_sums(m->dev, &(be_norm_sums_args){.db = db, .q = q, .go = m->flow, .x = o->z, .mean = o->mean}));
    return be_pair_backward(m->dev, &(be_pair_backward_args){.gx = m->flow,
                                                             .go = m->flow,
                                                             .x = o->z,
                                                             .mean = o->mean,
                                                             .var = o->var,
                                                             .db = db,
                                                             .q = q,
                                                             .eps = NN_PAIR_EPS});
}

const nn_norm nn_norm_pair = {
    .name = "pair",
    .keeps_input = true,
    .plan = plan,
    .forward = forward,
    .backward = backward,
};
