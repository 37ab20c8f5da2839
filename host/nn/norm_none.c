/* norm_none.c - no normalisation: H = act(Z), in place; backward has nothing to do. */
#include "nn/layers.h"

static fathom_status forward(nn_model *m, const nn_pass *pass, int64_t k, be_act act) {
    nn_acts o = nn_acts_of(m, pass, k);
    if (!act.relu && act.drop.rate == 0.0f)
        return FATHOM_OK;
    return be_activate(m->dev, &(be_activate_args){.y = o.h, .x = o.z, .act = act});
}

static fathom_status backward(nn_model *m, int64_t k, const be_act *act) {
    (void)act;
    (void)m;
    (void)k;
    return FATHOM_OK;
}

const nn_norm nn_norm_none = {.name = "none", .forward = forward, .backward = backward};
