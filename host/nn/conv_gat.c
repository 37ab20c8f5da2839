/* conv_gat.c - graph attention; of several heads, each has its columns of P and its own s, t and alpha:
 *
 *   P = H W,  s_v = a_src . P_v,  t_v = a_dst . P_v
 *   alpha_vu = softmax over u in N(v) and v of LeakyReLU(s_u + t_v)
 *   Z_v = sum_u mask_vu alpha_vu P_u           mask: the attention dropout, by entry of the graph
 * backward, gZ given (A_d = mask alpha as a sparse matrix):
 *   ge, gt from the softmax;  gs_u = sum_v ge_vu      (over the transpose)
 *   gP = A_d' gZ + gs a_src' + gt a_dst',  ga_src += P' gs,  ga_dst += P' gt
 *   gW += H' gP,  gH = gP W'
 *
 * The heads of a hidden layer are columns of Z, side by side. Those of the last layer have as many columns as there are
 * classes, and Z is their mean: with Y of all heads, Z = (1/H) sum_h Y_h and gY_h = (1/H) gZ. With bias: Z += 1 b'.
 *
 * ReLU, norms and input dropout as for GCN. */
#include "core/random.h"
#include "nn/layers.h"

typedef struct activations {
    be_mat p;             /* n x width(l) */
    be_mat s, t;          /* n x H */
    be_mat alpha;         /* entries x H */
    be_mat alpha_dropped; /* entries x H: mask alpha; in training with dropout */
} activations;

typedef struct layer {
    nn_linear lin;
    be_mat att_src, att_dst, gatt_src, gatt_dst; /* H x width(l) / H */
    activations saved;
} layer;

typedef struct shared {
    activations eval;
    be_mat ge, gs, gt; /* entries x H, n x H, n x H */
    be_mat y;          /* n x H C: Y, then gY, of a last layer of several heads */
} shared;

static bool takes_mean(const nn_layer *l) { return l->config->heads > 1 && l->index == l->config->layers - 1; }

/* Columns of P. */
static int64_t width(const nn_layer *l) { return takes_mean(l) ? l->config->heads * l->out : l->out; }

static void declare(const nn_layer *l, nn_params *params) {
    layer *state = l->state;
    int64_t heads = l->config->heads, d = width(l) / heads;
    double limit = nn_glorot(heads, d);
    long long k = (long long)l->index;
    nn_declare(params, (nn_declaration){&state->att_src, &state->gatt_src, NN_TRAINED, heads, d, false, 3, limit, 0},
               "convs.%lld.att_src", k);
    nn_declare(params, (nn_declaration){&state->att_dst, &state->gatt_dst, NN_TRAINED, heads, d, false, 3, limit, 0},
               "convs.%lld.att_dst", k);
    nn_linear_declare(&state->lin, l, params, width(l));
    nn_bias_declare(&state->lin, l, params);
}

static void plan_activations(activations *acts, nn_plan *plan, const nn_layer *l, int64_t cols) {
    int64_t rows = l->shape->nodes + l->shape->halo, heads = l->config->heads;
    nn_plan_mat(plan, NN_MEM_ACTIVATIONS, &acts->p, rows, cols);
    nn_plan_mat(plan, NN_MEM_ACTIVATIONS, &acts->s, rows, heads);
    nn_plan_mat(plan, NN_MEM_ACTIVATIONS, &acts->t, rows, heads);
    nn_plan_mat(plan, NN_MEM_ACTIVATIONS, &acts->alpha, l->shape->entries, heads);
}

static void plan_layer(const nn_layer *l, nn_plan *plan) {
    layer *state = l->state;
    plan_activations(&state->saved, plan, l, width(l));
    if (l->config->dropout > 0.0)
        nn_plan_mat(plan, NN_MEM_ACTIVATIONS, &state->saved.alpha_dropped, l->shape->entries, l->config->heads);
}

static void plan_shared(const nn_layer *l, nn_plan *plan, int64_t widest) {
    shared *s = l->shared;
    int64_t n = l->shape->nodes, heads = l->config->heads;
    plan_activations(&s->eval, plan, l, widest);
    nn_plan_mat(plan, NN_MEM_SCRATCH, &s->ge, l->shape->entries, heads);
    nn_plan_mat(plan, NN_MEM_SCRATCH, &s->gs, n + l->shape->halo, heads);
    nn_plan_mat(plan, NN_MEM_SCRATCH, &s->gt, n, heads);
    if (heads > 1)
        nn_plan_mat(plan, NN_MEM_SCRATCH, &s->y, n, heads * l->shape->classes);
}

static be_mat flat(be_mat m) { return be_vector(m.buf, m.off, m.rows * m.cols); }

static be_drop attention_dropout(const nn_layer *l, const nn_pass *pass) {
    be_drop drop = be_drop_make(pass->training ? (float)l->config->dropout : 0.0f, pass->seed, RANDOM_ATTENTION,
                                pass->epoch, (uint32_t)l->index);
    drop.first = l->shape->first_entry * l->config->heads;
    return drop;
}

/* The columns of head h. */
static be_mat head(const nn_layer *l, be_mat y, int64_t h) {
    return be_view_ld(y.buf, y.off + h * l->out, y.rows, l->out, y.ld);
}

/* Z = (1/H) sum_h Y_h */
static fathom_status mean_of_heads(const nn_layer *l, be_mat z, be_mat y) {
    float share = 1.0f / (float)l->config->heads;
    TRY(be_axpby(l->dev, &(be_axpby_args){.y = z, .x = head(l, y, 0), .a = share}));
    for (int64_t h = 1; h < l->config->heads; h++)
        TRY(be_axpby(l->dev, &(be_axpby_args){.y = z, .x = head(l, y, h), .z = z, .a = share, .b = 1.0f}));
    return FATHOM_OK;
}

/* gY_h = (1/H) gZ */
static fathom_status spread_to_heads(const nn_layer *l, be_mat gy, be_mat gz) {
    for (int64_t h = 0; h < l->config->heads; h++)
        TRY(be_axpby(l->dev, &(be_axpby_args){.y = head(l, gy, h), .x = gz, .a = 1.0f / (float)l->config->heads}));
    return FATHOM_OK;
}

static fathom_status forward(const nn_layer *l, const nn_pass *pass, be_mat h, be_mat *z) {
    const layer *state = l->state;
    const shared *shared_state = l->shared;
    const activations *acts = pass->training ? &state->saved : &shared_state->eval;
    const nn_input *in = l->input;
    int64_t n = l->shape->nodes;
    be_mat p = nn_resize(acts->p, n, width(l)), t = nn_resize(acts->t, n, l->config->heads), masked = acts->alpha;
    be_mat y = takes_mean(l) ? shared_state->y : *z;
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
    TRY(be_spmm(l->dev, &(be_spmm_args){.y = y, .a = in->a, .val = masked, .x = p, .alpha = 1.0f}));
    if (takes_mean(l))
        TRY(mean_of_heads(l, *z, y));
    return nn_bias_forward(&state->lin, l, *z);
}

static fathom_status backward(const nn_layer *l, const nn_pass *pass, be_mat h) {
    const layer *state = l->state;
    const activations *acts = &state->saved;
    const shared *s = l->shared;
    const nn_input *in = l->input;
    be_drop drop = attention_dropout(l, pass);
    int64_t n = l->shape->nodes, rows = n + l->shape->halo, cols = width(l), heads = l->config->heads;
    be_mat gp_all = nn_resize(l->ws->tmp_buf, rows, cols), gp = nn_resize(gp_all, n, cols), gy = l->ws->grad;
    be_mat gs_all = nn_resize(s->gs, rows, heads), gs = nn_resize(s->gs, n, heads), p = nn_resize(acts->p, n, cols);
    be_mat masked = drop.rate > 0.0f ? acts->alpha_dropped : acts->alpha;
    TRY(nn_bias_backward(&state->lin, l, gy));
    if (takes_mean(l)) {
        TRY(spread_to_heads(l, s->y, gy));
        gy = s->y;
    }
    /* galpha_vu = mask_vu gZ_v . P_u;  ge, gt: through the softmax and LeakyReLU */
    TRY(be_gat_backward_edges(l->dev, &(be_gat_backward_edges_args){.ge = s->ge,
                                                                    .gt = s->gt,
                                                                    .a = in->a,
                                                                    .alpha = acts->alpha,
                                                                    .alpha_dropped = acts->alpha_dropped,
                                                                    .s = acts->s,
                                                                    .t = nn_resize(acts->t, n, heads),
                                                                    .gy = gy,
                                                                    .z = nn_resize(acts->p, rows, cols),
                                                                    .scale = drop.scale,
                                                                    .slope = NN_SLOPE}));
    /* gs_u = sum_v ge_vu */
    TRY(be_gat_edge_sums(l->dev, &(be_gat_edge_sums_args){.gs = s->gs, .at = in->at, .ge = s->ge}));
    TRY(nn_halo_back(l, gs_all));
    /* gP = A_d' gZ */
    TRY(be_spmm(l->dev, &(be_spmm_args){.y = gp_all, .a = in->at, .val = masked, .x = gy, .alpha = 1.0f}));
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
    .takes_bias = true,
    .takes_heads = true,
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
