/* conv_gat.c - graph attention, one head, no bias:
 *
 *   P = H W,  s_v = a_src . P_v,  t_v = a_dst . P_v
 *   alpha_vu = softmax over u in N(v) and v of LeakyReLU(s_u + t_v)
 *   Z_v = sum_u mask_vu alpha_vu P_u           mask: the attention dropout, by entry of the graph
 * backward, gZ given (A_d = mask alpha as a sparse matrix):
 *   ge, gt from the softmax;  gs_u = sum_v ge_vu      (over the transpose)
 *   gP = A_d' gZ + gs a_src' + gt a_dst',  ga_src += P' gs,  ga_dst += P' gt
 *   gW += H' gP,  gH = gP W'
 *
 * ReLU, norms and input dropout as for GCN. */
#include "core/random.h"
#include "nn/layers.h"

typedef struct activations {
    be_mat p;             /* n x out */
    be_mat s, t;          /* n x 1 */
    be_mat alpha;         /* entries x 1 */
    be_mat alpha_dropped; /* entries x 1: mask alpha; in training with dropout */
} activations;

typedef struct layer {
    nn_linear lin;
    be_mat att_src, att_dst, gatt_src, gatt_dst; /* 1 x out */
    activations saved;
} layer;

typedef struct shared {
    activations eval;
    be_mat ge, gs, gt; /* entries x 1, n x 1, n x 1 */
} shared;

static void declare(const nn_layer *l, nn_params *params) {
    layer *state = l->state;
    double limit = nn_glorot(1, l->out);
    long long k = (long long)l->index;
    nn_declare(params, (nn_declaration){&state->att_src, &state->gatt_src, NN_TRAINED, 1, l->out, false, 3, limit, 0},
               "convs.%lld.att_src", k);
    nn_declare(params, (nn_declaration){&state->att_dst, &state->gatt_dst, NN_TRAINED, 1, l->out, false, 3, limit, 0},
               "convs.%lld.att_dst", k);
    nn_linear_declare(&state->lin, l, params);
}

static void plan_activations(activations *acts, nn_plan *plan, const nn_shape *shape, int64_t width) {
    int64_t rows = shape->nodes + shape->halo;
    nn_plan_mat(plan, NN_MEM_ACTIVATIONS, &acts->p, rows, width);
    nn_plan_mat(plan, NN_MEM_ACTIVATIONS, &acts->s, rows, 1);
    nn_plan_mat(plan, NN_MEM_ACTIVATIONS, &acts->t, rows, 1);
    nn_plan_mat(plan, NN_MEM_ACTIVATIONS, &acts->alpha, shape->entries, 1);
}

static void plan_layer(const nn_layer *l, nn_plan *plan) {
    layer *state = l->state;
    plan_activations(&state->saved, plan, l->shape, l->out);
    if (l->config->dropout > 0.0)
        nn_plan_mat(plan, NN_MEM_ACTIVATIONS, &state->saved.alpha_dropped, l->shape->entries, 1);
}

static void plan_shared(const nn_layer *l, nn_plan *plan, int64_t widest) {
    shared *s = l->shared;
    plan_activations(&s->eval, plan, l->shape, widest);
    nn_plan_mat(plan, NN_MEM_SCRATCH, &s->ge, l->shape->entries, 1);
    nn_plan_mat(plan, NN_MEM_SCRATCH, &s->gs, l->shape->nodes + l->shape->halo, 1);
    nn_plan_mat(plan, NN_MEM_SCRATCH, &s->gt, l->shape->nodes, 1);
}

static be_mat flat(be_mat m) { return be_vector(m.buf, m.off, m.rows * m.cols); }

static be_drop attention_dropout(const nn_layer *l, const nn_pass *pass) {
    be_drop drop = be_drop_make(pass->training ? (float)l->config->dropout : 0.0f, pass->seed, RANDOM_ATTENTION,
                                pass->epoch, (uint32_t)l->index);
    drop.first = l->shape->first_entry;
    return drop;
}

static fathom_status forward(const nn_layer *l, const nn_pass *pass, be_mat h, be_mat *z) {
    const layer *state = l->state;
    const activations *acts = pass->training ? &state->saved : &((const shared *)l->shared)->eval;
    const nn_input *in = l->input;
    int64_t n = l->shape->nodes;
    be_mat p = nn_resize(acts->p, n, l->out), t = nn_resize(acts->t, n, 1), masked = acts->alpha;
    be_drop drop = attention_dropout(l, pass);
    /* P = H W */
    TRY(nn_linear_forward(&state->lin, l, pass, p, h));
    TRY(nn_halo_rows(l, &p));
    /* s = P a_src, t = P a_dst */
    TRY(be_gat_scores(
        l->dev,
        &(be_gat_scores_args){.s = acts->s, .t = acts->t, .z = p, .a_src = state->att_src, .a_dst = state->att_dst}));
    /* alpha_vu = softmax_u LeakyReLU(s_u + t_v) */
    TRY(be_gat_softmax(
        l->dev, &(be_gat_softmax_args){.alpha = acts->alpha, .a = in->a, .s = acts->s, .t = t, .slope = NN_SLOPE}));
    /* A_d = mask alpha */
    if (drop.rate > 0.0f) {
        masked = acts->alpha_dropped;
        TRY(be_activate(l->dev, &(be_activate_args){.y = flat(masked), .x = flat(acts->alpha), .act = {.drop = drop}}));
    }
    /* Z = A_d P */
    return be_spmm(l->dev, &(be_spmm_args){.y = *z, .a = in->a, .val = masked, .x = p, .alpha = 1.0f});
}

static fathom_status backward(const nn_layer *l, const nn_pass *pass, be_mat h) {
    const layer *state = l->state;
    const activations *acts = &state->saved;
    const shared *s = l->shared;
    const nn_input *in = l->input;
    be_drop drop = attention_dropout(l, pass);
    int64_t n = l->shape->nodes, rows = n + l->shape->halo;
    be_mat gp_all = nn_resize(l->ws->tmp_buf, rows, l->out), gp = nn_tmp(l->ws, l->out), gs = nn_resize(s->gs, n, 1);
    be_mat p = nn_resize(acts->p, n, l->out), masked = drop.rate > 0.0f ? acts->alpha_dropped : acts->alpha;
    /* galpha_vu = mask_vu gZ_v . P_u;  ge, gt: through the softmax and LeakyReLU */
    TRY(be_gat_backward_edges(l->dev, &(be_gat_backward_edges_args){.ge = s->ge,
                                                                    .gt = s->gt,
                                                                    .a = in->a,
                                                                    .alpha = acts->alpha,
                                                                    .alpha_dropped = acts->alpha_dropped,
                                                                    .s = acts->s,
                                                                    .t = nn_resize(acts->t, n, 1),
                                                                    .gy = l->ws->grad,
                                                                    .z = nn_resize(acts->p, rows, l->out),
                                                                    .scale = drop.scale,
                                                                    .slope = NN_SLOPE}));
    /* gs_u = sum_v ge_vu */
    TRY(be_gat_edge_sums(l->dev, &(be_gat_edge_sums_args){.gs = s->gs, .at = in->at, .ge = s->ge}));
    TRY(nn_halo_back(l, nn_resize(s->gs, rows, 1)));
    /* gP = A_d' gZ */
    TRY(be_spmm(l->dev, &(be_spmm_args){.y = gp_all, .a = in->at, .val = masked, .x = l->ws->grad, .alpha = 1.0f}));
    TRY(nn_halo_back(l, gp_all));
    /* gP += gs a_src' + gt a_dst', ga_src += P' gs, ga_dst += P' gt */
    TRY(be_gat_backward_scores(l->dev, &(be_gat_backward_scores_args){.gz = gp,
                                                                      .ga_src = state->gatt_src,
                                                                      .ga_dst = state->gatt_dst,
                                                                      .z = p,
                                                                      .a_src = state->att_src,
                                                                      .a_dst = state->att_dst,
                                                                      .gs = gs,
                                                                      .gt = s->gt}));
    /* gW += H' gP, gH = gP W' */
    return nn_linear_backward(&state->lin, l, pass, h, gp);
}

static nn_halo_columns halo(const nn_layer *l) { return (nn_halo_columns){.forward = l->out, .back = {l->out, 1}}; }

const nn_conv nn_conv_gat = {
    .relu = true,
    .takes_skip = true,
    .needs_transpose = true,
    .squares_input = true,
    .state_bytes = sizeof(layer),
    .shared_bytes = sizeof(shared),
    .widths = nn_hidden_widths,
    .has_dropout = nn_dropout_first_last,
    .declare = declare,
    .plan = plan_layer,
    .plan_shared = plan_shared,
    .forward = forward,
    .backward = backward,
    .halo = halo,
};
