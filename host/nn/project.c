/* project.c - the product with the input features, sparse or dense, with the dropout of layer 0 on them; and that of a
 * layer's input with its weights, whichever layer it is.
 *
 *   y = dropout(X) W          gW += dropout(X)' gy          (X needs no gradient)
 *
 * Dropped features of the forward pass are kept for the backward pass, sparse ones as values by entry id, which X and
 * its transpose share: the mask is drawn once an epoch. Evaluation reads X itself. */
#include "nn/layers.h"

/* The features as this pass sees them: a matrix, or the values of the sparse one. */
static be_mat features(const nn_model *m, const be_drop *drop) {
    if (drop->rate > 0.0f && m->x_dropped.buf)
        return m->x_dropped;
    return m->shape.dense ? m->in->x : m->in->xval;
}

fathom_status nn_project(nn_model *m, const nn_pass *pass, be_mat y, be_mat w) {
    be_drop drop = nn_drop_of(m, pass, 0);
    be_mat all = m->shape.dense ? m->in->x : m->in->xval, x = features(m, &drop);
    if (x.buf != all.buf)
        TRY(be_activate(m->dev, &(be_activate_args){.y = x, .x = all, .act = {.drop = drop}}));
    if (!m->shape.dense)
        return be_spmm(m->dev, &(be_spmm_args){.y = y, .a = m->in->xs, .val = x, .x = w, .alpha = 1.0f});
    return be_gemm(m->dev, &(be_gemm_args){.c = y, .a = x, .b = w, .alpha = 1.0f});
}

fathom_status nn_project_backward(nn_model *m, const nn_pass *pass, be_mat gw, be_mat gy) {
    be_drop drop = nn_drop_of(m, pass, 0);
    be_mat x = features(m, &drop);
    if (!m->shape.dense)
        return be_spmm(
            m->dev,
            &(be_spmm_args){
                .y = gw, .a = m->in->xt, .at = m->in->xs, .val = x, .x = gy, .z = gw, .alpha = 1.0f, .beta = 1.0f});
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
