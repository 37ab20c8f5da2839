/* conv_gcn.c - graph convolution, no bias:
 *
 *   P = H W            n x in times in x out (layer 0: sparse features)
 *   Z = Â P            Â symmetric
 * or, where rows of H are as short as those of P, in one sweep: Z = (Â H) W
 * backward, gZ given:
 *   gP = Â gZ,  gW += H' gP,  gH = gP W'
 *
 * Dropout on the input of the first and of the last layer; relu after every layer, the last one too. */
#include "nn/layers.h"

static void widths(int64_t *in, int64_t *out, const nn_config *c, const nn_shape *s, int64_t k) {
    *in = k == 0 ? s->features : c->hidden;
    *out = k == c->layers - 1 ? s->classes : c->hidden;
}

static bool drops(const nn_config *c, int64_t k) { return k == 0 || k == c->layers - 1; }

static void declare(nn_model *m, int64_t k) {
    nn_layer *l = &m->layers[k];
    nn_declare(m, (nn_declaration){&l->w.w, &l->g.w, NN_TRAINED, l->in, l->out, true, 2, nn_glorot(l->in, l->out), 0},
               "convs.%lld.lin.weight", (long long)k);
}

/* Both sides narrow, no more vectors of 16 to gather from each neighbour than in the other order, and Z not the matrix
 * that H of the layer before lies in. */
static bool in_one_sweep(const nn_model *m, int64_t k) {
    const nn_layer *l = &m->layers[k];
    return k > 0 && m->norm->keeps_input && l->in <= BE_NARROW && l->out <= BE_NARROW &&
           (l->in + 15) / 16 <= (l->out + 15) / 16;
}

static fathom_status forward(nn_model *m, const nn_pass *pass, int64_t k) {
    if (in_one_sweep(m, k))
        return be_aggregate(m->dev, &(be_aggregate_args){.y = nn_acts_of(m, pass, k).z,
                                                         .a = m->in->a,
                                                         .val = m->in->ahat,
                                                         .x = nn_acts_of(m, pass, k - 1).h,
                                                         .w = m->layers[k].w.w});
    be_mat p = nn_product(m, m->layers[k].out);
    TRY(nn_transform(m, pass, k, p));
    return be_spmm(
        m->dev,
        &(be_spmm_args){.y = nn_acts_of(m, pass, k).z, .a = m->in->a, .val = m->in->ahat, .x = p, .alpha = 1.0f});
}

static fathom_status backward_in_one_sweep(nn_model *m, int64_t k) {
    const nn_layer *l = &m->layers[k];
    be_mat gp = be_view(m->sums_room.buf, m->sums_room.off, m->shape.nodes, l->out);
    TRY(be_aggregate(m->dev, &(be_aggregate_args){.y = nn_product(m, l->in),
                                                  .p = gp,
                                                  .a = m->in->a,
                                                  .val = m->in->ahat,
                                                  .x = m->flow,
                                                  .w = l->w.w,
                                                  .tw = true}));
    nn_flow_from_product(m, l->in);
    return be_gemm(
        m->dev, &(be_gemm_args){.c = l->g.w, .a = m->acts[k - 1].h, .b = gp, .ta = true, .alpha = 1.0f, .beta = 1.0f});
}

static fathom_status backward(nn_model *m, const nn_pass *pass, int64_t k) {
    if (in_one_sweep(m, k))
        return backward_in_one_sweep(m, k);
    be_mat gp = nn_product(m, m->layers[k].out);
    TRY(be_spmm(m->dev, &(be_spmm_args){.y = gp, .a = m->in->a, .val = m->in->ahat, .x = m->flow, .alpha = 1.0f}));
    return nn_transform_backward(m, pass, k, gp);
}

const nn_conv nn_conv_gcn = {
    .name = "gcn",
    .relu = true,
    .keeps_sums = true,
    .widths = widths,
    .drops = drops,
    .declare = declare,
    .forward = forward,
    .backward = backward,
};
