/* skip.c - skip connections between layers of equal width (GCN, GAT), with B_k = relu(norm(Z_k)):
 *
 *   residual   M_k = (1 - A) B_k + A H_{k-1}
 *   initial    M_k = (1 - A) B_k + A H_0
 *   H_k = D(M_k)                                  D: the dropout on the input of the next layer, if it has one
 * backward, gH_k given:
 *   gM_k = D'(gH_k),  gB_k = (1 - A) gM_k         from which norm and convolution give their part of gH_{k-1}
 *   residual   gH_{k-1} += A gM_k
 *   initial    gH_0 += A sum_k gM_k
 *
 * Layer 0 has none: its input are the features. Nor has the last one, unless there are as many classes as hidden
 * columns. H_{k-1} and H_0 are what the next layer receives, after its dropout. B_k is saved, because the mask of its
 * ReLU cannot be read from H_k; a norm that does not need Z_k saves it in place of Z_k. */
#include "nn/layers.h"

bool nn_takes_skip(nn_conv_kind model) { return nn_convs[model]->takes_skip; }

bool nn_config_skips(const nn_config *config) { return config->skip != NN_SKIP_NONE && nn_takes_skip(config->model); }

bool nn_has_skip(const nn_model *m, int64_t k) {
    return nn_config_skips(&m->config) && k > 0 && m->convs[k].in == m->convs[k].out;
}

fathom_status nn_skip_check(const nn_config *config, int64_t classes) {
    if (!nn_config_skips(config) || config->layers > 2 || (config->layers == 2 && config->hidden == classes))
        return FATHOM_OK;
    return fail(
        FATHOM_USAGE,
        "--skip %s finds no two layers of equal width to connect in a network of %lld: take --layers 3 or more, "
        "or --skip none",
        nn_skip_name(config->skip), (long long)config->layers);
}

/* B_k, with the memory of layer k. */
void nn_plan_branch(nn_model *m, int64_t k) {
    if (m->norm->keeps_input && nn_has_skip(m, k))
        nn_plan_mat(&m->plan, NN_MEM_ACTIVATIONS, &m->b[k], m->shape.nodes, m->config.hidden);
}

void nn_plan_skips(nn_model *m) {
    int64_t n = m->shape.nodes, hidden = m->config.hidden;
    if (!nn_config_skips(&m->config))
        return;
    nn_plan_mat(&m->plan, NN_MEM_SCRATCH, &m->skip_grad, n, hidden);
    if (m->config.skip == NN_SKIP_INITIAL)
        nn_plan_mat(&m->plan, NN_MEM_ACTIVATIONS, &m->eval_first, n, hidden);
}

be_mat nn_skip_branch(const nn_model *m, bool training, int64_t k, be_mat z) {
    return training && m->norm->keeps_input ? m->b[k] : z;
}

fathom_status nn_skip_forward(const nn_model *m, bool training, be_mat h, be_mat b, be_mat before, be_drop drop) {
    be_mat first = training ? m->h[0] : m->eval_first;
    float share = (float)m->config.skip_weight;
    /* M = (1 - A) B + A H_{k-1}, or + A H_0 */
    TRY(be_axpby(
        m->dev,
        &(be_axpby_args){
            .y = h, .x = b, .z = m->config.skip == NN_SKIP_INITIAL ? first : before, .a = 1.0f - share, .b = share}));
    /* H = D(M) */
    return drop.rate > 0.0f ? be_activate(m->dev, &(be_activate_args){.y = h, .x = h, .act = {.drop = drop}})
                            : FATHOM_OK;
}

fathom_status nn_skip_backward(const nn_model *m, be_drop drop) {
    be_mat grad = m->ws.grad, sum = m->config.skip == NN_SKIP_INITIAL ? m->skip_grad : (be_mat){0};
    float share = (float)m->config.skip_weight;
    /* gM = D'(gH) */
    if (drop.rate > 0.0f)
        TRY(be_activate_backward(m->dev, &(be_activate_backward_args){.gx = grad, .gy = grad, .act = {.drop = drop}}));
    /* skip_grad = A gM, for H_{k-1}; or skip_grad += A gM, for H_0 */
    TRY(be_axpby(m->dev, &(be_axpby_args){.y = m->skip_grad, .x = grad, .z = sum, .a = share, .b = 1.0f}));
    /* gB = (1 - A) gM */
    return be_axpby(m->dev, &(be_axpby_args){.y = grad, .x = grad, .a = 1.0f - share});
}

fathom_status nn_skip_add(const nn_model *m) {
    /* gH += skip_grad */
    return be_axpby(m->dev,
                    &(be_axpby_args){.y = m->ws.grad, .x = m->ws.grad, .z = m->skip_grad, .a = 1.0f, .b = 1.0f});
}
