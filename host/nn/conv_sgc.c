/* conv_sgc.c - simplified graph convolution: one projection, then only aggregation and norms, all C wide:
 *
 *   Z_0 = Â (X W),  Z_k = Â H_{k-1}          no activation, dropout on X only
 * backward:
 *   gH_{k-1} = Â gZ_k,  gW += X' (Â gZ_0)  */
#include "nn/layers.h"

static void widths(int64_t *in, int64_t *out, const nn_config *c, const nn_shape *s, int64_t k) {
    (void)c;
    *in = k == 0 ? s->features : s->classes;
    *out = s->classes;
}

static bool drops(const nn_config *c, int64_t k) {
    (void)c;
    return k == 0;
}

static void declare(nn_model *m, int64_t k) {
    if (k == 0)
        nn_conv_gcn.declare(m, 0);
}

static fathom_status aggregate(nn_model *m, be_mat y, be_mat x) {
    return be_spmm(m->dev, &(be_spmm_args){.y = y, .a = m->in->a, .val = m->in->ahat, .x = x, .alpha = 1.0f});
}

static fathom_status forward(nn_model *m, const nn_pass *pass, int64_t k) {
    be_mat p = nn_product(m, m->layers[k].out), z = nn_acts_of(m, pass, k).z;
    if (k == 0) {
        TRY(nn_project(m, pass, p, m->layers[0].w.w));
        return aggregate(m, z, p);
    }
    be_mat h = nn_acts_of(m, pass, k - 1).h;
    if (h.buf != z.buf || h.off != z.off)
        return aggregate(m, z, h);
    TRY(aggregate(m, p, h)); /* evaluation without a norm has one room for z and h: it changes places */
    nn_acts *one = &m->acts[m->config.layers];
    be_mat room = m->product_room;
    m->product_room = one->z;
    one->z = one->h = room;
    return FATHOM_OK;
}

static fathom_status backward(nn_model *m, const nn_pass *pass, int64_t k) {
    be_mat gp = nn_product(m, m->layers[k].out);
    TRY(aggregate(m, gp, m->flow));
    if (k == 0)
        return nn_project_backward(m, pass, m->layers[0].g.w, gp);
    nn_flow_from_product(m, gp.cols);
    return FATHOM_OK;
}

const nn_conv nn_conv_sgc = {
    .name = "sgc",
    .widths = widths,
    .drops = drops,
    .declare = declare,
    .forward = forward,
    .backward = backward,
};
