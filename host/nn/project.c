/* project.c - the product with the input features, sparse or dense, with the dropout of layer 0 on them; and that of a
 * layer's input with its weights, whichever layer it is.
 *
 *   y = dropout(X) W          gW += dropout(X)' gy          (X needs no gradient)
 *
 * Sparse: the mask is asked for by entry id, so X and its transpose see the same one and dropped features are stored
 * nowhere. Dense: the dropped copy of the forward pass is kept; evaluation reads X itself. */
#include "nn/layers.h"

fathom_status nn_project(nn_model *m, const nn_pass *pass, be_mat y, be_mat w) {
    be_drop drop = nn_drop_of(m, pass, 0);
    if (!m->shape.dense)
        return be_spmm(
            m->dev, &(be_spmm_args){.y = y, .a = m->in->xs, .val = m->in->xval, .x = w, .drop = drop, .alpha = 1.0f});
    be_mat x = m->in->x;
    if (drop.rate > 0.0f) {
        TRY(be_activate(m->dev, &(be_activate_args){.y = m->x_dropped, .x = x, .act = {.drop = drop}}));
        x = m->x_dropped;
    }
    return be_gemm(m->dev, &(be_gemm_args){.c = y, .a = x, .b = w, .alpha = 1.0f});
}

fathom_status nn_project_backward(nn_model *m, const nn_pass *pass, be_mat gw, be_mat gy) {
    be_drop drop = nn_drop_of(m, pass, 0);
    if (!m->shape.dense)
        return be_spmm(m->dev, &(be_spmm_args){.y = gw,
                                               .a = m->in->xt,
                                               .val = m->in->xval,
                                               .x = gy,
                                               .z = gw,
                                               .drop = drop,
                                               .alpha = 1.0f,
                                               .beta = 1.0f});
    be_mat x = drop.rate > 0.0f ? m->x_dropped : m->in->x;
    return be_gemm(m->dev, &(be_gemm_args){.c = gw, .a = x, .b = gy, .ta = true, .alpha = 1.0f, .beta = 1.0f});
}

fathom_status nn_transform(nn_model *m, const nn_pass *pass, int64_t k, be_mat p) {
    be_mat w = m->layers[k].w.w;
    if (k == 0)
        return nn_project(m, pass, p, w);
    return be_gemm(m->dev, &(be_gemm_args){.c = p, .a = nn_acts_of(m, pass, k - 1).h, .b = w, .alpha = 1.0f});
}

fathom_status nn_transform_backward(nn_model *m, const nn_pass *pass, int64_t k, be_mat gp) {
    const nn_layer *l = &m->layers[k];
    if (k == 0)
        return nn_project_backward(m, pass, l->g.w, gp);
    TRY(be_gemm(m->dev,
                &(be_gemm_args){.c = l->g.w, .a = m->acts[k - 1].h, .b = gp, .ta = true, .alpha = 1.0f, .beta = 1.0f}));
    nn_flow_width(m, l->in);
    return be_gemm(m->dev, &(be_gemm_args){.c = m->flow, .a = gp, .b = l->w.w, .tb = true, .alpha = 1.0f});
}
