/* conv_sgc.c - simplified graph convolution: one projection, then only aggregation and norms, all C wide:
 *
 *   Z_0 = Â (X W),  Z_k = Â H_{k-1}          no activation, dropout on X only
 * backward:
 *   gH_{k-1} = Â gZ_k,  gW += X' (Â gZ_0)  */
#include "nn/layers.h"

static void widths(int64_t *in, int64_t *out, const nn_config *config, const nn_shape *shape, int64_t k) {
    (void)config;
    *in = k == 0 ? shape->features : shape->classes;
    *out = shape->classes;
}

static bool has_dropout(const nn_config *config, int64_t k) {
    (void)config;
    return k == 0;
}

static void declare(const nn_layer *l, nn_params *params) {
    if (l->index == 0)
        nn_linear_declare(l->state, l, params, l->out);
}

/* y = Â x */
static fathom_status aggregate(const nn_layer *l, bool training, be_mat y, be_mat x) {
    TRY(nn_halo(l, &x));
    return be_spmm(l->dev,
                   &(be_spmm_args){.y = y, .a = l->input->a, .val = nn_adjacency(l, training), .x = x, .alpha = 1.0f});
}

static fathom_status forward(const nn_layer *l, const nn_pass *pass, be_mat h, be_mat *z) {
    const nn_linear *lin = l->state;
    be_mat tmp = nn_tmp(l->ws, l->out);
    if (l->index == 0) {
        /* P = X W */
        TRY(nn_project(l, pass, tmp, lin->w));
        /* Z = Â P */
        return aggregate(l, pass->training, *z, tmp);
    }
    /* Z = Â H */
    if (!nn_alone(l) || h.buf != z->buf || h.off != z->off)
        return aggregate(l, pass->training, *z, h);
    /* Evaluation without a norm: Z is stored over H, and spmm cannot work in place; with a halo H is copied. */
    TRY(aggregate(l, pass->training, tmp, h));
    l->ws->tmp_buf = *z;
    *z = tmp;
    return FATHOM_OK;
}

static fathom_status backward(const nn_layer *l, const nn_pass *pass, be_mat h) {
    (void)h;
    const nn_linear *lin = l->state;
    be_mat tmp = nn_tmp(l->ws, l->out);
    /* gP (layer 0) or gH = Â gZ */
    TRY(aggregate(l, true, tmp, l->ws->grad));
    /* gW += X' gP */
    if (l->index == 0)
        return nn_project_backward(l, pass, lin->gw, tmp);
    nn_grad_from_tmp(l->ws, l->out);
    return FATHOM_OK;
}

static nn_halo_columns halo(const nn_layer *l) { return (nn_halo_columns){.forward = l->out, .backward = l->out}; }

const nn_conv nn_conv_sgc = {
    .state_bytes = sizeof(nn_linear),
    .widths = widths,
    .has_dropout = has_dropout,
    .declare = declare,
    .forward = forward,
    .backward = backward,
    .halo = halo,
};
