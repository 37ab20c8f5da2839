/* model.c - a network on a device: forward and backward through its layers, loss, optimiser step, scores. What a layer
 * computes is in conv_*.c and norm_*.c. */
#include <math.h>
#include <string.h>

#include "core/mem.h"
#include "core/random.h"
#include "nn/layers.h"

/* ---- workspace and masks ---- */

be_mat nn_resize(be_mat m, int64_t rows, int64_t cols) { return be_view(m.buf, m.off, rows, cols); }

be_mat nn_tmp(const nn_workspace *ws, int64_t cols) { return nn_resize(ws->tmp_buf, ws->rows, cols); }

void nn_grad_resize(nn_workspace *ws, int64_t cols) { ws->grad = nn_resize(ws->grad_buf, ws->rows, cols); }

void nn_grad_from_tmp(nn_workspace *ws, int64_t cols) {
    be_mat old = ws->grad_buf;
    ws->grad_buf = ws->tmp_buf;
    ws->tmp_buf = old;
    nn_grad_resize(ws, cols);
}

be_drop nn_dropout(const nn_layer *l, const nn_pass *pass, int64_t number, int64_t cols) {
    be_drop drop = be_drop_make(pass->training ? (float)l->config->dropout : 0.0f, pass->seed, RANDOM_DROPOUT,
                                pass->epoch, (uint32_t)number);
    drop.first = l->shape->first_row * cols;
    return drop;
}

bool nn_takes_stats(const nn_pass *pass) { return pass->training && !pass->again; }

be_act nn_act(bool relu) { return (be_act){.relu = relu, .drop = be_drop_make(0.0f, 0, 0, 0, 0)}; }

/* What follows the norm of layer k: ReLU, and the dropout on the input of layer k + 1. */
static be_act act_after(const nn_model *m, const nn_pass *pass, int64_t k) {
    be_act act = nn_act(m->conv->relu && (k < m->config.layers - 1 || m->config.last_act == NN_ON));
    if (m->conv->has_dropout(&m->config, k + 1))
        act.drop = nn_dropout(&m->convs[k], pass, k + 1, m->convs[k].out);
    return act;
}

const nn_config *nn_model_config(const nn_model *m) { return &m->config; }
const nn_shape *nn_model_shape(const nn_model *m) { return &m->shape; }
const nn_bytes *nn_model_bytes(const nn_model *m) { return &m->bytes; }
void nn_set_lambda(nn_model *m, double lambda) { m->config.lambda = lambda; }

const nn_norm *nn_norm_at(const nn_model *m, int64_t k) {
    return k < m->config.layers - 1 || m->config.last_norm == NN_ON ? m->norm : &nn_norm_none;
}

/* ---- forward and backward ---- */

/* H of the last layer in this pass. */
static be_mat last_h(const nn_model *m, bool training) {
    int64_t layers = m->config.layers;
    return nn_resize(m->h[training ? layers - 1 : layers], m->shape.nodes, m->convs[layers - 1].out);
}

/* Layer k alone, everywhere: *h is H_{k-1} before, absent for k = 0, and H_k after. */
static fathom_status forward_layer(nn_model *m, const nn_pass *pass, int64_t k, be_mat *h) {
    int64_t n = m->shape.nodes, at = pass->training ? k : m->config.layers, width = m->convs[k].out;
    be_mat before = *h, z = nn_resize(m->z[at], n, width);
    be_act act = act_after(m, pass, k);
    bool has_z = pass->again && m->bytes.recompute == NN_RECOMPUTE_NORM;
    /* Z = conv(H) */
    if (!has_z)
        TRY(m->conv->forward(&m->convs[k], pass, before, &z));
    m->z[at] = z; /* swapped, when Z and H would be one matrix */
    if (m->one_matrix)
        m->h[at] = z;
    *h = !pass->training && k == 0 && m->eval_first.buf ? m->eval_first : nn_resize(m->h[at], n, width);
    /* H = act(norm(Z)) */
    if (!nn_has_skip(m, k))
        return nn_norm_at(m, k)->forward(&m->norms[k], pass, *h, z, act);
    be_mat b = nn_skip_branch(m, pass->training, k, z);
    /* B = relu(norm(Z)), H from B and the skip */
    TRY(nn_norm_at(m, k)->forward(&m->norms[k], pass, b, z, nn_act(act.relu)));
    return nn_skip_forward(m, pass->training, *h, b, before, act.drop);
}

fathom_status nn_forward(nn_model *m, const nn_pass *pass) {
    int64_t layers = m->config.layers;
    be_mat h = {0};
    m->is_overwritten = !pass->training;
    TRY(nn_drop_edges(m, pass));
    for (int64_t k = 0; k < layers; k++) {
        TRY(forward_layer(m, pass, k, &h));
        if (pass->layer)
            TRY(pass->layer(pass->user, k, h));
    }
    return m->conv->forward_output ? m->conv->forward_output(&m->convs[layers - 1], pass, h) : FATHOM_OK;
}

/* ---- recomputation ---- */

bool nn_keeps_h(const nn_model *m, int64_t k) {
    int64_t segment = m->bytes.recompute;
    return segment == NN_RECOMPUTE_NONE || (segment > 0 && (k + 1) % segment == 0);
}

/* Before the backward of layer k: computes what it reads of the forward pass and is no longer in memory. */
static fathom_status recompute(nn_model *m, const nn_pass *pass, int64_t k) {
    int64_t level = m->bytes.recompute, last = m->config.layers - 1, first = k + 1, end = k;
    nn_pass again = *pass;
    again.again = true;
    if (level == NN_RECOMPUTE_NORM && k < last && k > 0)
        first = end = k - 1; /* H_k is there: it was H_{k-1} of the layer before */
    else if (level > 0 && k < last && nn_keeps_h(m, k))
        first = k + 1 - level;
    be_mat h = first > 0 ? m->h[first - 1] : (be_mat){0};
    for (int64_t j = first; j <= end; j++)
        TRY(forward_layer(m, &again, j, &h));
    return FATHOM_OK;
}

be_mat nn_logits(const nn_model *m, const nn_pass *pass) {
    const nn_layer *last = &m->convs[m->config.layers - 1];
    return m->conv->logits ? m->conv->logits(last, pass->training) : last_h(m, pass->training);
}

fathom_status nn_loss(nn_model *m) {
    nn_grad_resize(&m->ws, m->shape.classes);
    /* loss = mean over training nodes of -log softmax(logits)_label, grad = its gradient */
    return be_softmax_xent(m->dev, &(be_softmax_xent_args){.loss = be_view(m->stats.buf, m->stats.off, 1, 1),
                                                           .gz = m->ws.grad,
                                                           .z = nn_logits(m, &(nn_pass){.training = true}),
                                                           .labels = m->in->labels,
                                                           .sets = m->in->sets,
                                                           .set = NN_TRAIN,
                                                           .count = m->in->count[NN_TRAIN]});
}

/* ws.grad: from dL/dH_k to dL/dH_{k-1}. */
static fathom_status backward_layer(nn_model *m, const nn_pass *pass, int64_t k) {
    const nn_norm *norm = nn_norm_at(m, k);
    be_act act = act_after(m, pass, k);
    bool fused = norm->fuses_relu && act.relu, skip = nn_has_skip(m, k), initial = m->eval_first.buf;
    be_mat h = skip ? nn_skip_branch(m, true, k, m->z[k]) : m->h[k], grad = m->ws.grad;
    /* gH_0 += A sum_k gM_k; gB_k from gH_k */
    if (k == 0 && initial)
        TRY(nn_skip_add(m));
    if (skip) {
        TRY(nn_skip_backward(m, act.drop));
        act = nn_act(act.relu);
    }
    /* grad = act'(H) grad */
    if (!fused && (act.relu || act.drop.rate > 0.0f))
        TRY(be_activate_backward(m->dev, &(be_activate_backward_args){.gx = grad, .gy = grad, .y = h, .act = act}));
    /* gZ from dL/d(norm(Z)) */
    TRY(norm->backward(&m->norms[k], grad, h, m->z[k], fused ? &act : NULL));
    /* gH of layer k - 1 from gZ */
    TRY(m->conv->backward(&m->convs[k], pass, k > 0 ? m->h[k - 1] : (be_mat){0}));
    /* gH_{k-1} += A gM_k */
    return skip && !initial ? nn_skip_add(m) : FATHOM_OK;
}

fathom_status nn_backward(nn_model *m, const nn_pass *pass) {
    int64_t last = m->config.layers - 1;
    if (m->bytes.recompute != NN_RECOMPUTE_NONE && m->is_overwritten)
        return fail(FATHOM_FAILURE, "the backward pass does not follow its forward pass");
    m->is_overwritten = true;
    /* dL/dW = 0 */
    TRY(be_fill(m->dev, &(be_fill_args){.y = m->grads}));
    if (m->eval_first.buf) /* a sum over the layers */
        TRY(be_fill(m->dev, &(be_fill_args){.y = m->skip_grad}));
    if (m->conv->backward_output)
        TRY(m->conv->backward_output(&m->convs[last], m->h[last]));
    for (int64_t k = last; k >= 0; k--) {
        TRY(recompute(m, pass, k));
        TRY(backward_layer(m, pass, k));
    }
    return nn_total(m);
}

fathom_status nn_clip(nn_model *m, double limit) {
    if (m->in->comm)
        return fail(FATHOM_USAGE, "--clip works on one device: with several ranks, leave it out");
    /* g = dL/dW min(1, limit / (|dL/dW| + 1e-6)) */
    return be_clip_norm(m->dev, &(be_clip_norm_args){.y = m->grads, .x = m->grads, .limit = (float)limit});
}

fathom_status nn_step(nn_model *m, double lr, double decay, int64_t step) {
    be_mat all = be_vector(m->weights.buf, m->weights.off, m->params.trained);
    be_mat w = be_vector(all.buf, all.off + m->chunk, m->moment1.cols);
    if (m->before.buf)
        TRY(be_copy(m->dev, &(be_copy_args){.y = m->before, .x = all}));
    if (w.cols == 0)
        return nn_share_weights(m);
    /* g = dL/dW + decay W; m = beta1 m + (1 - beta1) g; v = beta2 v + (1 - beta2) g^2; W -= lr m' / (sqrt(v') + eps) */
    TRY(be_adam(m->dev, &(be_adam_args){.w = w,
                                        .m = m->moment1,
                                        .v = m->moment2,
                                        .g = be_vector(m->grads.buf, m->grads.off + m->chunk, w.cols),
                                        .lr = (float)lr,
                                        .beta1 = 0.9f,
                                        .beta2 = 0.999f,
                                        .eps = 1e-8f,
                                        .decay = (float)decay,
                                        .step = step}));
    return nn_share_weights(m);
}

fathom_status nn_count_correct(nn_model *m) {
    nn_pass pass = {.training = false};
    /* pred_v = argmax_c Z_vc; correct_s = number of nodes of set s with pred_v = label_v */
    return be_accuracy(m->dev, &(be_accuracy_args){.correct = be_int_view(m->stats.buf, m->stats.off + 1, NN_SETS),
                                                   .pred = m->pred,
                                                   .z = nn_logits(m, &pass),
                                                   .labels = m->in->labels,
                                                   .sets = m->in->sets});
}

/* The sums over all ranks. */
static fathom_status total_stats(nn_epoch_stats *stats, const nn_model *m) {
    nn_epoch_stats *all = NULL;
    double loss = 0;
    fathom_status status;
    TRY(mem_new(&all, m->shape.ranks, 1, sizeof *all, "statistics of the ranks"));
    all[m->shape.rank] = *stats;
    TRY_OUT(comm_gather(m->in->comm, all, sizeof *all));
    *stats = (nn_epoch_stats){0};
    for (int r = 0; r < m->shape.ranks; r++) {
        loss += (double)all[r].loss;
        for (int s = 0; s < NN_SETS; s++)
            stats->correct[s] += all[r].correct[s];
        stats->stop |= all[r].stop;
    }
    stats->loss = (float)loss;
out:
    mem_free(all);
    return status;
}

fathom_status nn_read_stats(nn_epoch_stats *stats, nn_model *m) {
    _Static_assert(offsetof(nn_epoch_stats, stop) == 4 * sizeof(float), "read as it is stored on the device");
    TRY(be_download(m->dev, stats, m->stats.buf, be_floats(m->stats.off), offsetof(nn_epoch_stats, stop)));
    return m->in->comm ? total_stats(stats, m) : FATHOM_OK;
}

fathom_status nn_save_best(nn_model *m) { return be_copy(m->dev, &(be_copy_args){.y = m->best, .x = m->weights}); }
fathom_status nn_load_best(nn_model *m) { return be_copy(m->dev, &(be_copy_args){.y = m->weights, .x = m->best}); }

fathom_status nn_get_rows(float *values, const nn_model *m, be_mat rows) {
    const nn_input *in = m->in;
    int64_t n = m->shape.all_nodes, count = rows.rows * rows.cols;
    float *ordered = values;
    fathom_status status;
    if (in->order)
        TRY(mem_new(&ordered, n, rows.cols, sizeof *ordered, "rows of the nodes"));
    TRY_OUT(
        be_download(m->dev, ordered + m->shape.first_row * rows.cols, rows.buf, be_floats(rows.off), be_floats(count)));
    if (in->comm)
        TRY_OUT(comm_gather_parts(in->comm, ordered, in->first, be_floats(rows.cols)));
    for (int64_t i = 0; in->order && i < n; i++)
        memcpy(values + in->order[i] * rows.cols, ordered + i * rows.cols, be_floats(rows.cols));
out:
    if (ordered != values)
        mem_free(ordered);
    return status;
}

fathom_status nn_get_logits(float *values, const nn_model *m, const nn_pass *pass) {
    return nn_get_rows(values, m, nn_logits(m, pass));
}

fathom_status nn_get_assignment(float *values, const nn_model *m, const nn_pass *pass) {
    int64_t last = m->config.layers - 1 - (m->config.last_norm == NN_OFF);
    if (!m->norm->assignment || last < 0)
        return fail(FATHOM_USAGE, "only group norm assigns nodes to groups");
    return nn_get_rows(values, m, m->norm->assignment(&m->norms[last], pass->training));
}

static bool all_finite(const float *values, int64_t count) {
    for (int64_t i = 0; i < count; i++)
        if (!isfinite(values[i]))
            return false;
    return true;
}

/* Is there one on any rank? */
static fathom_status any_nonfinite(bool *found, const nn_model *m, bool here) {
    uint8_t *all = NULL;
    fathom_status status;
    *found = here;
    if (!m->in->comm)
        return FATHOM_OK;
    TRY(mem_new(&all, m->shape.ranks, 1, sizeof *all, "ranks"));
    all[m->shape.rank] = here;
    TRY_OUT(comm_gather(m->in->comm, all, sizeof *all));
    for (int r = 0; r < m->shape.ranks; r++)
        *found |= all[r] != 0;
out:
    mem_free(all);
    return status;
}

/* The weights of the pass before its step. */
static fathom_status undo_step(nn_model *m) {
    be_mat w = be_vector(m->weights.buf, m->weights.off, m->params.trained);
    return be_copy(m->dev, &(be_copy_args){.y = w, .x = m->before});
}

fathom_status nn_first_nonfinite_layer(int64_t *layer, nn_model *m, const nn_pass *pass) {
    const nn_pass again = {.training = true, .again = true, .seed = pass->seed, .epoch = pass->epoch};
    bool recomputes = m->bytes.recompute != NN_RECOMPUTE_NONE;
    float *values = NULL;
    be_mat h = {0};
    fathom_status status;
    *layer = 0;
    if (recomputes)
        TRY(undo_step(m));
    TRY_OUT(mem_new(&values, m->shape.nodes, nn_widest(m), sizeof *values, "a layer's values"));
    for (int64_t k = 0; k < m->config.layers && *layer == 0; k++) {
        if (recomputes)
            TRY_OUT(forward_layer(m, &again, k, &h));
        const be_mat parts[] = {m->z[k], m->h[k]};
        bool here = false, found;
        for (int i = 0; i < 2; i++) {
            TRY_OUT(be_download(m->dev, values, parts[i].buf, be_floats(parts[i].off),
                                be_floats(parts[i].rows * parts[i].cols)));
            here |= !all_finite(values, parts[i].rows * parts[i].cols);
        }
        TRY_OUT(any_nonfinite(&found, m, here));
        *layer = found ? k + 1 : 0;
    }
out:
    mem_free(values);
    return status;
}
