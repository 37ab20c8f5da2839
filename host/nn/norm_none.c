/* norm_none.c - no normalisation: H = act(Z), in place; in another matrix where the layers before have a norm that
 * keeps its input. */
#include "nn/layers.h"

static fathom_status forward(const nn_layer *l, const nn_pass *pass, be_mat h, be_mat z, be_act act) {
    (void)pass;
    if (!act.relu && act.drop.rate == 0.0f)
        return h.buf == z.buf && h.off == z.off ? FATHOM_OK : be_copy(l->dev, &(be_copy_args){.y = h, .x = z});
    /* H = act(Z) */
    return be_activate(l->dev, &(be_activate_args){.y = h, .x = z, .act = act});
}

static fathom_status backward(const nn_layer *l, be_mat grad, be_mat h, be_mat z, const be_act *act) {
    (void)l;
    (void)grad;
    (void)h;
    (void)z;
    (void)act;
    return FATHOM_OK;
}

const nn_norm nn_norm_none = {.forward = forward, .backward = backward};
