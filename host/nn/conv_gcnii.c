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

static void widths(int64_t *in, int64_t *out, const nn_config *c, const nn_shape *s, int64_t k) {
    (void)s;
    (void)k;
    *in = *out = c->hidden;
}

static bool drops(const nn_config *c, int64_t k) {
    (void)c;
    (void)k;
    return true;
}

static void declare_dense(nn_model *m, int end, int64_t in, int64_t out) {
    double limit = 1.0 / sqrt((double)in);
    nn_weights *w = &m->ends[end], *g = &m->gends[end];
    nn_declare(m, (nn_declaration){&w->w, &g->w, NN_TRAINED, in, out, true, 2, limit, 0}, "lins.%d.weight", end);
    nn_declare(m, (nn_declaration){&w->bias, &g->bias, NN_TRAINED, 1, out, false, 1, limit, 0}, "lins.%d.bias", end);
}

static void declare(nn_model *m, int64_t k) {
    nn_layer *l = &m->layers[k];
    if (k == 0)
        declare_dense(m, 0, m->shape.features, m->config.hidden);
    nn_declare(m, (nn_declaration){&l->w.w, &l->g.w, NN_TRAINED, l->in, l->out, false, 2, nn_glorot(l->in, l->out), 0},
               "convs.%lld.weight1", (long long)k);
}

static void declare_end(nn_model *m) { declare_dense(m, 1, m->config.hidden, m->shape.classes); }

static void plan(nn_model *m, nn_acts *acts, int64_t width) {
    int64_t n = m->shape.nodes;
    nn_plan_mat(&m->plan, NN_MEM_ACTIVATIONS, &acts->p, n, width);
    if (acts != m->acts)
        return;
    nn_plan_mat(&m->plan, NN_MEM_ACTIVATIONS, &m->h0, n, width);
    nn_plan_mat(&m->plan, NN_MEM_ACTIVATIONS, &m->first, n, width);
    nn_plan_mat(&m->plan, NN_MEM_ACTIVATIONS, &m->logits[0], n, m->shape.classes);
    nn_plan_mat(&m->plan, NN_MEM_ACTIVATIONS, &m->logits[1], n, m->shape.classes);
    nn_plan_mat(&m->plan, NN_MEM_SCRATCH, &m->gh0, n, width);
}

static float beta_of(const nn_model *m, int64_t k) { return (float)log(m->config.theta / (double)(k + 1) + 1.0); }

/* Relu without dropout. */
static be_act relu_only(void) { return (be_act){.relu = true, .drop = be_drop_make(0.0f, 0, 0, 0, 0)}; }

static be_act first_act(const nn_model *m, const nn_pass *pass) {
    return (be_act){.drop = nn_drop_of(m, pass, m->config.layers + 1)};
}

/* H0, and its dropped copy. */
static fathom_status begin(nn_model *m, const nn_pass *pass) {
    TRY(nn_project(m, pass, m->h0, m->ends[0].w));
    TRY(be_bias_add(m->dev, &(be_bias_add_args){.y = m->h0, .x = m->h0, .b = m->ends[0].bias}));
    TRY(be_activate(m->dev, &(be_activate_args){.y = m->h0, .x = m->h0, .act = relu_only()}));
    return be_activate(m->dev, &(be_activate_args){.y = m->first, .x = m->h0, .act = first_act(m, pass)});
}

static fathom_status forward(nn_model *m, const nn_pass *pass, int64_t k) {
    nn_acts o = nn_acts_of(m, pass, k);
    float alpha = (float)m->config.alpha, beta = beta_of(m, k);
    if (k == 0)
        TRY(begin(m, pass));
    TRY(be_spmm(m->dev, &(be_spmm_args){.y = o.p,
                                        .a = m->in->a,
                                        .val = m->in->ahat,
                                        .x = k == 0 ? m->first : nn_acts_of(m, pass, k - 1).h,
                                        .z = m->h0,
                                        .alpha = 1.0f - alpha,
                                        .beta = alpha}));
    TRY(be_axpby(m->dev, &(be_axpby_args){.y = o.z, .x = o.p, .a = 1.0f - beta}));
    return be_gemm(m->dev, &(be_gemm_args){.c = o.z, .a = o.p, .b = m->layers[k].w.w, .alpha = beta, .beta = 1.0f});
}

/* flow = dL/d(first): through the dropout, plus what every layer added, through relu, to lins.0. */
static fathom_status begin_backward(nn_model *m, const nn_pass *pass) {
    TRY(be_activate_backward(m->dev,
                             &(be_activate_backward_args){.gx = m->flow, .gy = m->flow, .act = first_act(m, pass)}));
    TRY(be_axpby(m->dev, &(be_axpby_args){.y = m->flow, .x = m->flow, .z = m->gh0, .a = 1.0f, .b = 1.0f}));
    TRY(be_activate_backward(
        m->dev, &(be_activate_backward_args){.gx = m->flow, .gy = m->flow, .y = m->h0, .act = relu_only()}));
    TRY(be_col_sum(m->dev, &(be_col_sum_args){.s = m->gends[0].bias, .x = m->flow}));
    return nn_project_backward(m, pass, m->gends[0].w, m->flow);
}

static fathom_status backward(nn_model *m, const nn_pass *pass, int64_t k) {
    nn_layer *l = &m->layers[k];
    float alpha = (float)m->config.alpha, beta = beta_of(m, k);
    be_mat gp = nn_product(m, l->out);
    TRY(be_gemm(m->dev, &(be_gemm_args){
                            .c = l->g.w, .a = m->acts[k].p, .b = m->flow, .ta = true, .alpha = beta, .beta = 1.0f}));
    TRY(be_axpby(m->dev, &(be_axpby_args){.y = gp, .x = m->flow, .a = 1.0f - beta}));
    TRY(be_gemm(m->dev, &(be_gemm_args){.c = gp, .a = m->flow, .b = l->w.w, .tb = true, .alpha = beta, .beta = 1.0f}));
    bool last = k == m->config.layers - 1; /* the first one here: there is nothing to add to */
    TRY(be_axpby(m->dev,
                 &(be_axpby_args){.y = m->gh0, .x = gp, .z = last ? (be_mat){0} : m->gh0, .a = alpha, .b = 1.0f}));
    TRY(be_spmm(m->dev,
                &(be_spmm_args){.y = m->flow, .a = m->in->a, .val = m->in->ahat, .x = gp, .alpha = 1.0f - alpha}));
    return k == 0 ? begin_backward(m, pass) : FATHOM_OK;
}

static fathom_status forward_end(nn_model *m, const nn_pass *pass) {
    be_mat z = m->logits[pass->training], h = nn_acts_of(m, pass, m->config.layers - 1).h;
    TRY(be_gemm(m->dev, &(be_gemm_args){.c = z, .a = h, .b = m->ends[1].w, .alpha = 1.0f}));
    return be_bias_add(m->dev, &(be_bias_add_args){.y = z, .x = z, .b = m->ends[1].bias});
}

static fathom_status backward_end(nn_model *m, const nn_pass *pass) {
    (void)pass;
    be_mat h = m->acts[m->config.layers - 1].h, gh = nn_product(m, h.cols);
    TRY(be_col_sum(m->dev, &(be_col_sum_args){.s = m->gends[1].bias, .x = m->flow}));
    TRY(be_gemm(m->dev,
                &(be_gemm_args){.c = m->gends[1].w, .a = h, .b = m->flow, .ta = true, .alpha = 1.0f, .beta = 1.0f}));
    TRY(be_gemm(m->dev, &(be_gemm_args){.c = gh, .a = m->flow, .b = m->ends[1].w, .tb = true, .alpha = 1.0f}));
    nn_flow_from_product(m, h.cols);
    return FATHOM_OK;
}

const nn_conv nn_conv_gcnii = {
    .name = "gcnii",
    .relu = true,
    .widths = widths,
    .drops = drops,
    .declare = declare,
    .plan = plan,
    .forward = forward,
    .backward = backward,
    .declare_end = declare_end,
    .forward_end = forward_end,
    .backward_end = backward_end,
};
