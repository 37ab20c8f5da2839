/* linear.c - products with weights: Y = H W. The input of layer 0 are the features X, sparse or dense, with dropout:
 *
 *   Y = dropout(X) W          gW += dropout(X)' gY          (X needs no gradient)
 *
 * Dropped features are saved for backward, sparse ones as values by entry id, which X and its transpose share: the mask
 * is drawn once per epoch. Evaluation reads X itself. */
#include "nn/layers.h"

void nn_hidden_widths(int64_t *in, int64_t *out, const nn_config *config, const nn_shape *shape, int64_t k) {
    *in = k == 0 ? shape->features : config->hidden;
    *out = k == config->layers - 1 ? shape->classes : config->hidden;
}

bool nn_dropout_first_last(const nn_config *config, int64_t k) { return k == 0 || k == config->layers - 1; }

/* ---- layer 0 ---- */

void nn_plan_features(nn_workspace *ws, nn_plan *plan, const nn_config *config, const nn_shape *shape) {
    if (config->dropout > 0.0 && shape->dense)
        nn_plan_mat(plan, NN_MEM_FEATURES, &ws->x_dropped, shape->nodes, shape->features);
    else if (config->dropout > 0.0 && shape->feature_entries > 0)
        nn_plan_mat(plan, NN_MEM_FEATURES, &ws->x_dropped, 1, shape->feature_entries);
}

/* n x F, or the values of sparse features. */
static be_mat features(const nn_layer *l) { return l->shape->dense ? l->input->x : l->input->xval; }

static be_mat dropped_features(const nn_layer *l, const be_drop *drop) {
    return drop->rate > 0.0f && l->ws->x_dropped.buf ? l->ws->x_dropped : features(l);
}

static be_drop feature_dropout(const nn_layer *l, const nn_pass *pass) {
    be_drop drop = nn_dropout(l, pass, 0, l->shape->features);
    if (!l->shape->dense)
        drop.first = l->shape->first_feature;
    return drop;
}

fathom_status nn_drop_features(const nn_layer *l, const nn_pass *pass, be_mat *x) {
    be_drop drop = feature_dropout(l, pass);
    be_mat all = features(l);
    *x = dropped_features(l, &drop);
    /* X_d = dropout(X) */
    if (x->buf == all.buf)
        return FATHOM_OK;
    return be_activate(l->dev, &(be_activate_args){.y = *x, .x = all, .act = {.drop = drop}});
}

fathom_status nn_project(const nn_layer *l, const nn_pass *pass, be_mat y, be_mat w) {
    be_mat x;
    TRY(nn_drop_features(l, pass, &x));
    /* Y = X_d W */
    if (!l->shape->dense)
        return be_spmm(l->dev, &(be_spmm_args){.y = y, .a = l->input->xs, .val = x, .x = w, .alpha = 1.0f});
    return be_gemm(l->dev, &(be_gemm_args){.c = y, .a = x, .b = w, .alpha = 1.0f});
}

fathom_status nn_project_backward(const nn_layer *l, const nn_pass *pass, be_mat gw, be_mat gy) {
    be_drop drop = feature_dropout(l, pass);
    be_mat x = dropped_features(l, &drop);
    const nn_input *in = l->input;
    /* gW += X_d' gY */
    if (!l->shape->dense)
        return be_spmm(l->dev,
                       &(be_spmm_args){.y = gw, .a = in->xt, .val = x, .x = gy, .z = gw, .alpha = 1.0f, .beta = 1.0f});
    return be_gemm(l->dev, &(be_gemm_args){.c = gw, .a = x, .b = gy, .ta = true, .alpha = 1.0f, .beta = 1.0f});
}

/* ---- any layer ---- */

void nn_linear_declare(nn_linear *lin, const nn_layer *l, nn_params *params, int64_t cols) {
    nn_declare(params, (nn_declaration){&lin->w, &lin->gw, NN_TRAINED, l->in, cols, true, 2, nn_glorot(l->in, cols), 0},
               "convs.%lld.lin.weight", (long long)l->index);
}

void nn_bias_declare(nn_linear *lin, const nn_layer *l, nn_params *params) {
    if (l->config->bias == NN_ON)
        nn_declare(params, (nn_declaration){&lin->b, &lin->gb, NN_TRAINED, 1, l->out, false, 1, 0, 0},
                   "convs.%lld.bias", (long long)l->index);
}

fathom_status nn_bias_forward(const nn_linear *lin, const nn_layer *l, be_mat z) {
    /* Z += 1 b' */
    return lin->b.buf ? be_bias_add(l->dev, &(be_bias_add_args){.y = z, .x = z, .b = lin->b}) : FATHOM_OK;
}

fathom_status nn_bias_backward(const nn_linear *lin, const nn_layer *l, be_mat gz) {
    /* gb += 1' gZ */
    return lin->b.buf ? be_col_sum(l->dev, &(be_col_sum_args){.s = lin->gb, .x = gz}) : FATHOM_OK;
}

fathom_status nn_linear_forward(const nn_linear *lin, const nn_layer *l, const nn_pass *pass, be_mat y, be_mat h) {
    if (l->index == 0)
        return nn_project(l, pass, y, lin->w);
    /* Y = H W */
    return be_gemm(l->dev, &(be_gemm_args){.c = y, .a = h, .b = lin->w, .alpha = 1.0f});
}

fathom_status nn_linear_backward(const nn_linear *lin, const nn_layer *l, const nn_pass *pass, be_mat h, be_mat gy) {
    if (l->index == 0)
        return nn_project_backward(l, pass, lin->gw, gy);
    /* gW += H' gY */
    TRY(be_gemm(l->dev, &(be_gemm_args){.c = lin->gw, .a = h, .b = gy, .ta = true, .alpha = 1.0f, .beta = 1.0f}));
    /* gH = gY W' */
    nn_grad_resize(l->ws, l->in);
    return be_gemm(l->dev, &(be_gemm_args){.c = l->ws->grad, .a = gy, .b = lin->w, .tb = true, .alpha = 1.0f});
}
