/* conv_gcnii.c - GCNII with shared weights (initial residual and identity mapping), d wide between two dense layers:
 *
 *   H0 = relu(X W_0 + b_0)
 *   P = (1 - alpha) Â D(H) + alpha H0          D: dropout, H of layer 0 is H0
 *   Z = (1 - beta_k) P + beta_k P W_k          beta_k = log(theta / k + 1), k from 1
 *   logits = D(H) W_1 + b_1
 * backward, gZ given:
 *   gW_k += beta P' gZ,  gP = (1 - beta) gZ + beta gZ W_k'
 *   gD(H) = (1 - alpha) Â gP,  gH0 += alpha gP
 *
 * The dropout on X has number 0, on the input of layer k number k, of the last dense layer K, and on that of layer 0
 * number K + 1. */
#include <math.h>

#include "nn/layers.h"

typedef struct layer {
    be_mat w, gw; /* d x d */
    be_mat p;     /* n x d, saved for backward */
} layer;

typedef struct dense {
    be_mat w, bias, gw, gbias; /* in x out, 1 x out */
} dense;

typedef struct shared {
    dense input, output; /* lins.0 and lins.1 */
    be_mat h0, gh0;      /* n x d */
    be_mat h0_dropped;   /* n x d: the input of layer 0 */
    be_mat eval_p;       /* n x widest */
    be_mat logits[2];    /* n x C: evaluation, training */
} shared;

static void widths(int64_t *in, int64_t *out, const nn_config *config, const nn_shape *shape, int64_t k) {
    (void)shape;
    (void)k;
    *in = *out = config->hidden;
}

static bool has_dropout(const nn_config *config, int64_t k) {
    (void)config;
    (void)k;
    return true;
}

static void declare_dense(dense *lin, nn_params *params, int number, int64_t in, int64_t out) {
    double limit = 1.0 / sqrt((double)in);
    nn_declare(params, (nn_declaration){&lin->w, &lin->gw, NN_TRAINED, in, out, true, 2, limit, 0}, "lins.%d.weight",
               number);
    nn_declare(params, (nn_declaration){&lin->bias, &lin->gbias, NN_TRAINED, 1, out, false, 1, limit, 0},
               "lins.%d.bias", number);
}

static void declare(const nn_layer *l, nn_params *params) {
    layer *state = l->state;
    shared *s = l->shared;
    if (l->index == 0)
        declare_dense(&s->input, params, 0, l->shape->features, l->in);
    nn_declare(
        params,
        (nn_declaration){&state->w, &state->gw, NN_TRAINED, l->in, l->out, false, 2, nn_glorot(l->in, l->out), 0},
        "convs.%lld.weight1", (long long)l->index);
}

static void declare_output(const nn_layer *l, nn_params *params) {
    shared *s = l->shared;
    declare_dense(&s->output, params, 1, l->out, l->shape->classes);
}

static void plan_layer(const nn_layer *l, nn_plan *plan) {
    layer *state = l->state;
    nn_plan_mat(plan, NN_MEM_ACTIVATIONS, &state->p, l->shape->nodes, l->out);
}

static void plan_shared(const nn_layer *l, nn_plan *plan, int64_t widest) {
    shared *s = l->shared;
    int64_t n = l->shape->nodes;
    nn_plan_mat(plan, NN_MEM_ACTIVATIONS, &s->eval_p, n, widest);
    nn_plan_mat(plan, NN_MEM_ACTIVATIONS, &s->h0, n, l->out);
    nn_plan_mat(plan, NN_MEM_ACTIVATIONS, &s->h0_dropped, n, l->out);
    nn_plan_mat(plan, NN_MEM_ACTIVATIONS, &s->logits[0], n, l->shape->classes);
    nn_plan_mat(plan, NN_MEM_ACTIVATIONS, &s->logits[1], n, l->shape->classes);
    nn_plan_mat(plan, NN_MEM_SCRATCH, &s->gh0, n, l->out);
}

static float beta_of(const nn_layer *l) { return (float)log(l->config->theta / (double)(l->index + 1) + 1.0); }

static be_act h0_dropout(const nn_layer *l, const nn_pass *pass) {
    return (be_act){.drop = nn_dropout(l, pass, l->config->layers + 1, l->in)};
}

static fathom_status forward_input(const nn_layer *l, const nn_pass *pass) {
    const shared *s = l->shared;
    /* H0 = relu(D(X) W_0 + b_0) */
    TRY(nn_project(l, pass, s->h0, s->input.w));
    TRY(be_bias_add(l->dev, &(be_bias_add_args){.y = s->h0, .x = s->h0, .b = s->input.bias}));
    TRY(be_activate(l->dev, &(be_activate_args){.y = s->h0, .x = s->h0, .act = nn_act(true)}));
    /* D(H0) */
    return be_activate(l->dev, &(be_activate_args){.y = s->h0_dropped, .x = s->h0, .act = h0_dropout(l, pass)});
}

static fathom_status forward(const nn_layer *l, const nn_pass *pass, be_mat h, be_mat *z) {
    const layer *state = l->state;
    const shared *s = l->shared;
    be_mat p = pass->training ? state->p : nn_resize(s->eval_p, l->shape->nodes, l->out), x = h;
    float alpha = (float)l->config->alpha, beta = beta_of(l);
    if (l->index == 0) {
        TRY(forward_input(l, pass));
        x = s->h0_dropped;
    }
    TRY(nn_halo(l, &x));
    /* P = (1 - alpha) Â D(H) + alpha H0 */
    TRY(be_spmm(l->dev, &(be_spmm_args){.y = p,
                                        .a = l->input->a,
                                        .val = nn_adjacency(l, pass->training),
                                        .x = x,
                                        .z = s->h0,
                                        .alpha = 1.0f - alpha,
                                        .beta = alpha}));
    /* Z = (1 - beta) P + beta P W */
    TRY(be_axpby(l->dev, &(be_axpby_args){.y = *z, .x = p, .a = 1.0f - beta}));
    return be_gemm(l->dev, &(be_gemm_args){.c = *z, .a = p, .b = state->w, .alpha = beta, .beta = 1.0f});
}

/* grad = dL/dD(H0) on entry. */
static fathom_status backward_input(const nn_layer *l, const nn_pass *pass) {
    const shared *s = l->shared;
    be_mat grad = l->ws->grad;
    /* gH0 = D'(grad) + what every layer added */
    TRY(be_activate_backward(l->dev, &(be_activate_backward_args){.gx = grad, .gy = grad, .act = h0_dropout(l, pass)}));
    TRY(be_axpby(l->dev, &(be_axpby_args){.y = grad, .x = grad, .z = s->gh0, .a = 1.0f, .b = 1.0f}));
    /* relu'(H0) gH0 */
    TRY(be_activate_backward(l->dev,
                             &(be_activate_backward_args){.gx = grad, .gy = grad, .y = s->h0, .act = nn_act(true)}));
    /* gb_0 += sum_v gH0, gW_0 += D(X)' gH0 */
    TRY(be_col_sum(l->dev, &(be_col_sum_args){.s = s->input.gbias, .x = grad}));
    return nn_project_backward(l, pass, s->input.gw, grad);
}

static fathom_status backward(const nn_layer *l, const nn_pass *pass, be_mat h) {
    (void)h;
    const layer *state = l->state;
    const shared *s = l->shared;
    float alpha = (float)l->config->alpha, beta = beta_of(l);
    be_mat gz = l->ws->grad, gp = nn_tmp(l->ws, l->out);
    /* gW += beta P' gZ */
    TRY(be_gemm(l->dev,
                &(be_gemm_args){.c = state->gw, .a = state->p, .b = gz, .ta = true, .alpha = beta, .beta = 1.0f}));
    /* gP = (1 - beta) gZ + beta gZ W' */
    TRY(be_axpby(l->dev, &(be_axpby_args){.y = gp, .x = gz, .a = 1.0f - beta}));
    TRY(be_gemm(l->dev, &(be_gemm_args){.c = gp, .a = gz, .b = state->w, .tb = true, .alpha = beta, .beta = 1.0f}));
    /* gH0 += alpha gP; backward starts with the last layer, which overwrites */
    be_mat sum = l->index == l->config->layers - 1 ? (be_mat){0} : s->gh0;
    TRY(be_axpby(l->dev, &(be_axpby_args){.y = s->gh0, .x = gp, .z = sum, .a = alpha, .b = 1.0f}));
    TRY(nn_halo(l, &gp));
    /* gD(H) = (1 - alpha) Â gP, over gZ */
    TRY(be_spmm(l->dev, &(be_spmm_args){
                            .y = gz, .a = l->input->a, .val = nn_adjacency(l, true), .x = gp, .alpha = 1.0f - alpha}));
    return l->index == 0 ? backward_input(l, pass) : FATHOM_OK;
}

static fathom_status forward_output(const nn_layer *l, const nn_pass *pass, be_mat h) {
    const shared *s = l->shared;
    be_mat y = s->logits[pass->training];
    /* logits = D(H) W_1 + b_1; the norm of the last layer applied D */
    TRY(be_gemm(l->dev, &(be_gemm_args){.c = y, .a = h, .b = s->output.w, .alpha = 1.0f}));
    return be_bias_add(l->dev, &(be_bias_add_args){.y = y, .x = y, .b = s->output.bias});
}

static fathom_status backward_output(const nn_layer *l, be_mat h) {
    const shared *s = l->shared;
    be_mat gy = l->ws->grad, gh = nn_tmp(l->ws, h.cols);
    /* gb_1 += sum_v gY, gW_1 += H' gY */
    TRY(be_col_sum(l->dev, &(be_col_sum_args){.s = s->output.gbias, .x = gy}));
    TRY(be_gemm(l->dev, &(be_gemm_args){.c = s->output.gw, .a = h, .b = gy, .ta = true, .alpha = 1.0f, .beta = 1.0f}));
    /* gH = gY W_1' */
    TRY(be_gemm(l->dev, &(be_gemm_args){.c = gh, .a = gy, .b = s->output.w, .tb = true, .alpha = 1.0f}));
    nn_grad_from_tmp(l->ws, h.cols);
    return FATHOM_OK;
}

static be_mat logits(const nn_layer *l, bool training) { return ((const shared *)l->shared)->logits[training]; }

static nn_halo_columns halo(const nn_layer *l) { return (nn_halo_columns){.forward = l->in, .backward = l->out}; }

const nn_conv nn_conv_gcnii = {
    .relu = true,
    .state_bytes = sizeof(layer),
    .shared_bytes = sizeof(shared),
    .widths = widths,
    .has_dropout = has_dropout,
    .declare = declare,
    .plan = plan_layer,
    .plan_shared = plan_shared,
    .forward = forward,
    .backward = backward,
    .halo = halo,
    .declare_output = declare_output,
    .forward_output = forward_output,
    .backward_output = backward_output,
    .logits = logits,
};
