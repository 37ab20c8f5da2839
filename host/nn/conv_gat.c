/* conv_gat.c - graph attention, one head, no bias:
 *
 *   P = H W,  s_v = a_src . P_v,  t_v = a_dst . P_v
 *   alpha_vu = softmax over u in N(v) and v of leakyrelu(s_u + t_v)
 *   Z_v = sum_u mask_vu alpha_vu P_u           mask: the attention dropout, by entry of the graph
 * backward, gZ given (A_m the masked alpha):
 *   ge, gt from the softmax;  gs_u = sum_v ge_vu      (over the transpose)
 *   gP = A_m' gZ + gs a_src' + gt a_dst',  ga_src += P' gs,  ga_dst += P' gt
 *   gW += H' gP,  gH = gP W'
 *
 * Relu, norms and input dropout as for GCN. */
#include "core/random.h"
#include "nn/layers.h"

static void widths(int64_t *in, int64_t *out, const nn_config *c, const nn_shape *s, int64_t k) {
    nn_conv_gcn.widths(in, out, c, s, k);
}

static bool drops(const nn_config *c, int64_t k) { return nn_conv_gcn.drops(c, k); }

static void declare(nn_model *m, int64_t k) {
    nn_layer *l = &m->layers[k];
    double limit = nn_glorot(1, l->out);
    nn_declare(m, (nn_declaration){&l->w.att_src, &l->g.att_src, NN_TRAINED, 1, l->out, false, 3, limit, 0},
               "convs.%lld.att_src", (long long)k);
    nn_declare(m, (nn_declaration){&l->w.att_dst, &l->g.att_dst, NN_TRAINED, 1, l->out, false, 3, limit, 0},
               "convs.%lld.att_dst", (long long)k);
    nn_conv_gcn.declare(m, k);
}

static void plan(nn_model *m, nn_acts *acts, int64_t width) {
    int64_t n = m->shape.nodes;
    nn_plan_mat(&m->plan, NN_MEM_ACTIVATIONS, &acts->p, n, width);
    nn_plan_mat(&m->plan, NN_MEM_ACTIVATIONS, &acts->s, 1, n);
    nn_plan_mat(&m->plan, NN_MEM_ACTIVATIONS, &acts->t, 1, n);
    nn_plan_mat(&m->plan, NN_MEM_ACTIVATIONS, &acts->alpha, 1, m->shape.entries);
    if (m->config.dropout > 0.0 && acts != m->acts + m->config.layers)
        nn_plan_mat(&m->plan, NN_MEM_ACTIVATIONS, &acts->kept, 1, m->shape.entries);
    if (acts == m->acts) { /* once for all layers */
        nn_plan_mat(&m->plan, NN_MEM_SCRATCH, &m->ge, 1, m->shape.entries);
        nn_plan_mat(&m->plan, NN_MEM_SCRATCH, &m->gs, 1, n);
        nn_plan_mat(&m->plan, NN_MEM_SCRATCH, &m->gt, 1, n);
    }
}

static be_drop attention_drop(const nn_model *m, const nn_pass *pass, int64_t k) {
    return be_drop_make(pass->training ? (float)m->config.dropout : 0.0f, pass->seed, RANDOM_ATTENTION, pass->epoch,
                        (uint32_t)k);
}

static fathom_status forward(nn_model *m, const nn_pass *pass, int64_t k) {
    const nn_layer *l = &m->layers[k];
    nn_acts o = nn_acts_of(m, pass, k);
    TRY(nn_transform(m, pass, k, o.p));
    TRY(be_gat_scores(
        m->dev, &(be_gat_scores_args){.s = o.s, .t = o.t, .z = o.p, .a_src = l->w.att_src, .a_dst = l->w.att_dst}));
    TRY(be_gat_softmax(m->dev,
                       &(be_gat_softmax_args){.alpha = o.alpha, .a = m->in->a, .s = o.s, .t = o.t, .slope = NN_SLOPE}));
    be_drop drop = attention_drop(m, pass, k);
    be_mat kept = drop.rate > 0.0f ? o.kept : o.alpha;
    if (drop.rate > 0.0f)
        TRY(be_activate(m->dev, &(be_activate_args){.y = kept, .x = o.alpha, .act = {.drop = drop}}));
    return be_spmm(m->dev, &(be_spmm_args){.y = o.z, .a = m->in->a, .val = kept, .x = o.p, .alpha = 1.0f});
}

static fathom_status backward(nn_model *m, const nn_pass *pass, int64_t k) {
    nn_layer *l = &m->layers[k];
    const nn_acts *o = &m->acts[k];
    be_drop drop = attention_drop(m, pass, k);
    be_mat gp = nn_product(m, l->out);
    TRY(be_gat_backward_edges(m->dev, &(be_gat_backward_edges_args){.ge = m->ge,
                                                                    .gt = m->gt,
                                                                    .a = m->in->a,
                                                                    .alpha = o->alpha,
                                                                    .kept = o->kept,
                                                                    .s = o->s,
                                                                    .t = o->t,
                                                                    .gy = m->flow,
                                                                    .z = o->p,
                                                                    .scale = drop.scale,
                                                                    .slope = NN_SLOPE}));
    TRY(be_gat_edge_sums(m->dev, &(be_gat_edge_sums_args){.gs = m->gs, .at = m->in->at, .ge = m->ge}));
    be_mat kept = drop.rate > 0.0f ? o->kept : o->alpha;
    TRY(be_spmm(m->dev, &(be_spmm_args){.y = gp, .a = m->in->at, .val = kept, .x = m->flow, .alpha = 1.0f}));
    TRY(be_gat_backward_scores(m->dev, &(be_gat_backward_scores_args){.gz = gp,
                                                                      .ga_src = l->g.att_src,
                                                                      .ga_dst = l->g.att_dst,
                                                                      .z = o->p,
                                                                      .a_src = l->w.att_src,
                                                                      .a_dst = l->w.att_dst,
                                                                      .gs = m->gs,
                                                                      .gt = m->gt}));
    return nn_transform_backward(m, pass, k, gp);
}

const nn_conv nn_conv_gat = {
    .name = "gat",
    .relu = true,
    .widths = widths,
    .drops = drops,
    .declare = declare,
    .plan = plan,
    .forward = forward,
    .backward = backward,
};
