/* conv_gcn.c - graph convolution; Â is the normalised adjacency matrix with self-loops, symmetric:
 *
 *   P = H W            n x in times in x out (layer 0: sparse features)
 *   Z = Â P
 * or fused, where rows of H are no longer than those of P: Z = (Â H) W
 * layer 0 of dense features that are no wider than Z: Z = (Â X_d) W, gW += (Â X_d)' gZ, X_d = dropout(X)
 * backward, gZ given:
 *   gP = Â gZ,  gW += H' gP,  gH = gP W'
 * with bias: Z += 1 b',  gb += 1' gZ
 *
 * Dropout on the input of the first and of the last layer; ReLU after every layer, the last one too. */
#include "nn/layers.h"

typedef struct shared {
    be_mat gp; /* n x out: the fused backward needs gP and gH at the same time */
    be_mat ax; /* n x features: Â X_d of the training step */
} shared;

static void declare(const nn_layer *l, nn_params *params) {
    nn_linear_declare(l->state, l, params, l->out);
    nn_bias_declare(l->state, l, params);
}

/* Both sides at most BE_FUSED_MAX_COLS wide, no more vectors of 16 to gather from each neighbour than unfused, and Z
 * not the matrix that holds H. */
static bool is_fused(const nn_layer *l) {
    return l->index > 0 && !l->norm_in_place && l->in <= BE_FUSED_MAX_COLS && l->out <= BE_FUSED_MAX_COLS &&
           (l->in + 15) / 16 <= (l->out + 15) / 16;
}

/* X needs no gradient, so the backward of layer 0 aggregates nothing. */
static bool aggregates_features(const nn_layer *l) { return l->index == 0 && l->shape->dense && l->in <= l->out; }

/* gp holds the widest fused layer: hidden to hidden, or the last one where the classes are few enough too. */
static void plan_shared(const nn_layer *l, nn_plan *plan, int64_t widest) {
    shared *s = l->shared;
    int64_t hidden = l->config->hidden;
    if (aggregates_features(l))
        nn_plan_mat(plan, NN_MEM_FEATURES, &s->ax, l->shape->nodes, l->in);
    if (widest <= BE_FUSED_MAX_COLS)
        nn_plan_mat(plan, NN_MEM_SCRATCH, &s->gp, l->shape->nodes, widest);
    else if (hidden <= BE_FUSED_MAX_COLS && l->config->layers > 2 && !l->norm_in_place)
        nn_plan_mat(plan, NN_MEM_SCRATCH, &s->gp, l->shape->nodes, hidden);
}

static fathom_status propagate(const nn_layer *l, const nn_pass *pass, be_mat h, be_mat *z) {
    const nn_linear *lin = l->state;
    const nn_input *in = l->input;
    be_mat ahat = nn_adjacency(l, pass->training);
    /* Z = (Â H) W */
    if (is_fused(l)) {
        TRY(nn_halo(l, &h));
        return be_aggregate(l->dev, &(be_aggregate_args){.y = *z, .a = in->a, .val = ahat, .x = h, .w = lin->w});
    }
    if (aggregates_features(l)) {
        const shared *s = l->shared;
        be_mat x, ax = pass->training ? s->ax : nn_resize(l->ws->grad_buf, l->shape->nodes, l->in);
        /* Z = (Â X_d) W */
        TRY(nn_drop_features(l, pass, &x));
        TRY(nn_halo(l, &x));
        TRY(be_spmm(l->dev, &(be_spmm_args){.y = ax, .a = in->a, .val = ahat, .x = x, .alpha = 1.0f}));
        return be_gemm(l->dev, &(be_gemm_args){.c = *z, .a = ax, .b = lin->w, .alpha = 1.0f});
    }
    /* P = H W */
    be_mat p = nn_tmp(l->ws, l->out);
    TRY(nn_linear_forward(lin, l, pass, p, h));
    TRY(nn_halo(l, &p));
    /* Z = Â P */
    return be_spmm(l->dev, &(be_spmm_args){.y = *z, .a = in->a, .val = ahat, .x = p, .alpha = 1.0f});
}

static fathom_status forward(const nn_layer *l, const nn_pass *pass, be_mat h, be_mat *z) {
    TRY(propagate(l, pass, h, z));
    return nn_bias_forward(l->state, l, *z);
}

static fathom_status backward_fused(const nn_layer *l, be_mat h) {
    const nn_linear *lin = l->state;
    const shared *s = l->shared;
    const nn_input *in = l->input;
    be_mat gp = nn_resize(s->gp, l->shape->nodes, l->out), gh = nn_tmp(l->ws, l->in), gz = l->ws->grad;
    TRY(nn_halo(l, &gz));
    /* gP = Â gZ, gH = gP W' */
    TRY(be_aggregate(
        l->dev, &(be_aggregate_args){
                    .y = gh, .p = gp, .a = in->a, .val = nn_adjacency(l, true), .x = gz, .w = lin->w, .tw = true}));
    nn_grad_from_tmp(l->ws, l->in);
    /* gW += H' gP */
    return be_gemm(l->dev, &(be_gemm_args){.c = lin->gw, .a = h, .b = gp, .ta = true, .alpha = 1.0f, .beta = 1.0f});
}

static fathom_status backward(const nn_layer *l, const nn_pass *pass, be_mat h) {
    const nn_input *in = l->input;
    TRY(nn_bias_backward(l->state, l, l->ws->grad));
    if (is_fused(l))
        return backward_fused(l, h);
    if (aggregates_features(l)) {
        const nn_linear *lin = l->state;
        const shared *s = l->shared;
        /* gW += (Â X_d)' gZ */
        return be_gemm(
            l->dev,
            &(be_gemm_args){.c = lin->gw, .a = s->ax, .b = l->ws->grad, .ta = true, .alpha = 1.0f, .beta = 1.0f});
    }
    /* gP = Â gZ */
    be_mat gp = nn_tmp(l->ws, l->out), gz = l->ws->grad;
    TRY(nn_halo(l, &gz));
    TRY(be_spmm(l->dev, &(be_spmm_args){.y = gp, .a = in->a, .val = nn_adjacency(l, true), .x = gz, .alpha = 1.0f}));
    /* gW += H' gP, gH = gP W' */
    return nn_linear_backward(l->state, l, pass, h, gp);
}

static nn_halo_columns halo(const nn_layer *l) {
    bool narrow = is_fused(l) || aggregates_features(l);
    return (nn_halo_columns){.forward = narrow ? l->in : l->out, .backward = aggregates_features(l) ? 0 : l->out};
}

const nn_conv nn_conv_gcn = {
    .relu = true,
    .takes_skip = true,
    .takes_bias = true,
    .state_bytes = sizeof(nn_linear),
    .shared_bytes = sizeof(shared),
    .widths = nn_hidden_widths,
    .has_dropout = nn_dropout_first_last,
    .declare = declare,
    .plan_shared = plan_shared,
    .forward = forward,
    .backward = backward,
    .halo = halo,
};
