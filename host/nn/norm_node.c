/* norm_node.c - node normalisation (Zhou and others 2020, p = 2): each row divided by the root of its deviation. No
 * parameters, no sums over the nodes, and the same in training and evaluation:
 *
 *   H = act(Z_v s_v),  s_v = (var_v + eps)^-1/4,  mu_v, var_v: mean and biased variance of the row Z_v
 * backward, with D_v = go_v . Z_v:
 *   gZ_v = s_v (go_v - (Z_v - mu_v) D_v / (2 d (var_v + eps)))  */
#include "nn/layers.h"

static fathom_status forward(const nn_layer *l, const nn_pass *pass, be_mat h, be_mat z, be_act act) {
    (void)pass;
    /* H = act(Z_v s_v) */
    return be_node_apply(l->dev, &(be_node_apply_args){.y = h, .x = z, .eps = nn_eps(l, NN_EPS), .act = act});
}

static fathom_status backward(const nn_layer *l, be_mat grad, be_mat h, be_mat z, const be_act *act) {
    (void)h;
    (void)act;
    /* gZ_v = s_v (go_v - (Z_v - mu_v) D_v / (2 d (var_v + eps))) */
    return be_node_backward(l->dev, &(be_node_backward_args){.gx = grad, .go = grad, .x = z, .eps = nn_eps(l, NN_EPS)});
}

const nn_norm nn_norm_node = {.keeps_input = true, .forward = forward, .backward = backward};
