/* norm_batch.c - batch normalisation over all nodes:
 *
 *   training    mu, var of the columns of Z (biased), running estimates moved towards them
 *   evaluation  mu, var the running estimates
 *   H = act(gamma (Z - mu) r + beta),  r = (var + eps)^-1/2
 * backward:
 *   gbeta += db = sum_v go,  ggamma += r q with q = sum_v go (Z - mu)
 *   gZ = gamma r (go - db/n - (Z - mu) r^2 q/n)  */
#include "nn/layers.h"

static void declare(nn_model *m, int64_t k) {
    nn_layer *l = &m->layers[k];
    long long number = (long long)k;
    nn_declare(m, (nn_declaration){&l->w.gamma, &l->g.gamma, NN_TRAINED, 1, l->out, false, 1, 0, 1},
               "norms.%lld.module.weight", number);
    nn_declare(m, (nn_declaration){&l->w.beta, &l->g.beta, NN_TRAINED, 1, l->out, false, 1, 0, 0},
               "norms.%lld.module.bias", number);
    nn_declare(m, (nn_declaration){&l->w.rmean, NULL, NN_RUNNING, 1, l->out, false, 1, 0, 0},
               "norms.%lld.module.running_mean", number);
    nn_declare(m, (nn_declaration){&l->w.rvar, NULL, NN_RUNNING, 1, l->out, false, 1, 0, 1},
               "norms.%lld.module.running_var", number);
}

static void plan(nn_model *m, nn_acts *acts, int64_t width) {
    nn_plan_mat(&m->plan, NN_MEM_ACTIVATIONS, &acts->mean, 1, width);
    nn_plan_mat(&m->plan, NN_MEM_ACTIVATIONS, &acts->var, 1, width);
}

static fathom_status forward(nn_model *m, const nn_pass *pass, int64_t k, be_act act) {
    const nn_weights *w = &m->layers[k].w;
    nn_acts o = nn_acts_of(m, pass, k);
    if (pass->training)
        TRY(be_col_stats(m->dev, &(be_col_stats_args){.mean = o.mean,
                                                      .var = o.var,
                                                      .rmean = w->rmean,
                                                      .rvar = w->rvar,
                                                      .x = o.z,
                                                      .momentum = (float)m->config.momentum}));
    return be_batch_apply(m->dev, &(be_batch_apply_args){.y = o.h,
                                                         .x = o.z,
                                                         .mean = pass->training ? o.mean : w->rmean,
                                                         .var = pass->training ? o.var : w->rvar,
                                                         .gamma = w->gamma,
                                                         .beta = w->beta,
                                                         .eps = NN_EPS,
                                                         .act = act});
}

static fathom_status backward(nn_model *m, int64_t k, const be_act *act) {
    (void)act;
    const nn_acts *o = &m->acts[k];
    nn_layer *l = &m->layers[k];
    be_mat db = be_vector(m->db.buf, m->db.off, l->out), q = be_vector(m->q.buf, m->q.off, l->out);
    TRY(be_norm_sums(m->dev, &(be_norm_sums_args){.db = db, .q = q, .go = m->flow, .x = o->z, .mean = o->mean}));
    return be_batch_backward(m->dev, &(be_batch_backward_args){.gx = m->flow,
                                                               .ggamma = l->g.gamma,
                                                               .gbeta = l->g.beta,
                                                               .go = m->flow,
                                                               .x = o->z,
                                                               .mean = o->mean,
                                                               .var = o->var,
                                                               .gamma = l->w.gamma,
                                                               .db = db,
                                                               .q = q,
                                                               .eps = NN_EPS});
}

const nn_norm nn_norm_batch = {
    .name = "batch",
    .keeps_input = true,
    .declare = declare,
    .plan = plan,
    .forward = forward,
    .backward = backward,
};
