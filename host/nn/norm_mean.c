/* norm_mean.c - mean normalisation: no parameters, and the same in training and evaluation:
 *
 *   H = act(Z - mu),  mu_j = 1/n sum_v Z_vj
 * backward:
 *   gZ = go - 1/n sum_v go_v  */
#include "nn/layers.h"

typedef struct shared {
    be_mat sum; /* 1 x d */
} shared;

static void plan_shared(const nn_layer *l, nn_plan *plan, int64_t widest) {
    nn_plan_mat(plan, NN_MEM_SCRATCH, &((shared *)l->shared)->sum, 1, widest);
}

/* y = x minus its column means; y may be x. */
static fathom_status centre(const nn_layer *l, be_mat y, be_mat x) {
    be_mat sum = nn_resize(((const shared *)l->shared)->sum, 1, l->out);
    int64_t rows = nn_alone(l) ? x.rows : nn_over(l);
    /* sum = -1/n sum_v x_v, over the rows of every rank */
    TRY(be_fill(l->dev, &(be_fill_args){.y = sum}));
    TRY(be_col_sum(l->dev, &(be_col_sum_args){.s = sum, .x = x}));
    TRY(nn_combine_sums(l, sum, (be_mat){0}));
    TRY(be_axpby(l->dev, &(be_axpby_args){.y = sum, .x = sum, .a = -1.0f / (float)rows}));
    /* y = x + 1 sum' */
    return be_bias_add(l->dev, &(be_bias_add_args){.y = y, .x = x, .b = sum});
}

static fathom_status forward(const nn_layer *l, const nn_pass *pass, be_mat h, be_mat z, be_act act) {
    (void)pass;
    TRY(centre(l, h, z));
    if (!act.relu && act.drop.rate == 0.0f)
        return FATHOM_OK;
    /* H = act(Z - mu) */
    return be_activate(l->dev, &(be_activate_args){.y = h, .x = h, .act = act});
}

static fathom_status backward(const nn_layer *l, be_mat grad, be_mat h, be_mat z, const be_act *act) {
    (void)h;
    (void)z;
    (void)act;
    return centre(l, grad, grad);
}

static nn_norm_gathers gathers(const nn_layer *l) {
    return (nn_norm_gathers){.training = l->out, .again = l->out, .backward = l->out, .evaluation = l->out};
}

const nn_norm nn_norm_mean = {
    .shared_bytes = sizeof(shared),
    .plan_shared = plan_shared,
    .forward = forward,
    .backward = backward,
    .gathers = gathers,
};
