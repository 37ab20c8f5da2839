/* layers.h - what conv_*.c and norm_*.c share with model.c: the rooms of a layer and the two kinds of table rows.
 *
 * A layer k = 0 .. K-1 turns its input into Z_k (the convolution), then into H_k = act(norm(Z_k)), act being relu and
 * the dropout on the input of layer k + 1. The input of layer 0 is X (nn_project), of layer k it is H_{k-1}. */
#ifndef NN_LAYERS_H
#define NN_LAYERS_H

#include "nn/nn.h"
#include "nn/plan.h"

/* The parameters of a layer, or their gradients: only those the model and its norm declare are there. */
typedef struct nn_weights {
    be_mat w, bias;          /* in x out, 1 x out */
    be_mat att_src, att_dst; /* 1 x out */
    be_mat gamma, beta;      /* 1 x d, or G x d */
    be_mat u, c;             /* G x d, 1 x G: the assignment to groups */
    be_mat rmean, rvar;      /* running estimates, as gamma */
} nn_weights;

typedef struct nn_layer {
    int64_t in, out;
    nn_weights w, g;
} nn_layer;

/* What a layer keeps from forward to backward. */
typedef struct nn_acts {
    be_mat z;         /* n x out: what the convolution gives and the norm takes */
    be_mat h;         /* n x out: after norm and activation */
    be_mat p;         /* n x out: GAT: projected; GCNII: before its weight */
    be_mat s, t;      /* 1 x n: attention scores */
    be_mat alpha;     /* 1 x entries: attention */
    be_mat kept;      /* 1 x entries: what dropout leaves of it; training alone */
    be_mat assign;    /* n x G */
    be_mat mean, var; /* 1 x d, or G x d */
} nn_acts;

typedef struct nn_conv {
    const char *name;
    bool relu;       /* after every layer */
    bool keeps_sums; /* backward needs gP and gH at once: a room more */
    /* The widths of layer k. */
    void (*widths)(int64_t *in, int64_t *out, const nn_config *config, const nn_shape *shape, int64_t k);
    /* Is there dropout on the input of layer k? k = K asks for what comes after the last one. */
    bool (*drops)(const nn_config *config, int64_t k);
    void (*declare)(nn_model *m, int64_t k);                 /* parameters of layer k */
    void (*plan)(nn_model *m, nn_acts *acts, int64_t width); /* what a layer of this width keeps, beyond z and h */
    fathom_status (*forward)(nn_model *m, const nn_pass *pass, int64_t k);
    /* Given m->flow = dL/dZ_k: adds to the gradients of the parameters, leaves dL/dH_{k-1} in m->flow (k > 0). */
    fathom_status (*backward)(nn_model *m, const nn_pass *pass, int64_t k);
    /* A layer behind the last one (GCNII), or NULL. */
    void (*declare_end)(nn_model *m);
    fathom_status (*forward_end)(nn_model *m, const nn_pass *pass);
    fathom_status (*backward_end)(nn_model *m, const nn_pass *pass);
} nn_conv;

typedef struct nn_norm {
    const char *name;
    bool keeps_input; /* backward reads Z: z and h are two matrices */
    bool gates;       /* backward takes the relu behind it along */
    void (*declare)(nn_model *m, int64_t k);
    void (*plan)(nn_model *m, nn_acts *acts, int64_t width);
    fathom_status (*forward)(nn_model *m, const nn_pass *pass, int64_t k, be_act act); /* h = act(norm(z)) */
    /* m->flow: from dL/d(norm's output) to dL/dZ_k, in place. */
    fathom_status (*backward)(nn_model *m, int64_t k, const be_act *act); /* act: NULL when it is done with */
} nn_norm;

extern const nn_conv nn_conv_gcn, nn_conv_gat, nn_conv_sgc, nn_conv_gcnii;
extern const nn_norm nn_norm_none, nn_norm_batch, nn_norm_pair, nn_norm_group;
extern const nn_conv *const nn_convs[NN_CONV_COUNT];
extern const nn_norm *const nn_norms[NN_NORM_COUNT];

#define NN_EPS 1e-5f      /* batch and group norm */
#define NN_PAIR_EPS 1e-6f /* pair norm */
#define NN_SLOPE 0.2f     /* leaky relu of the attention */

struct nn_model {
    nn_config config;
    nn_shape shape;
    const nn_conv *conv;
    const nn_norm *norm;
    const nn_input *in; /* NULL while only planning */
    be_device *dev;
    nn_bytes bytes;
    nn_plan plan;

    nn_param *params;
    int64_t param_count, param_room;
    fathom_status declared;                        /* the first failure while declaring */
    int64_t trained, total;                        /* floats of the trained part, of all */
    be_mat weights, grads, moment1, moment2, best; /* 1 x total or 1 x trained */

    nn_layer *layers; /* K */
    nn_acts *acts;    /* K, and one more that evaluation uses for every layer: after a failed epoch the training
                         values are all still there to be looked at */
    nn_weights ends[2], gends[2]; /* GCNII: lins.0 and lins.1 */
    be_mat h0, gh0, first;        /* GCNII, n x d: H0, its gradient, the dropped input of layer 0 */
    be_mat logits[2];             /* GCNII, n x C: evaluation, training */

    be_mat flow_room, product_room, sums_room; /* n x widest */
    be_mat flow;           /* the gradient on its way down: a view of flow_room as wide as the layer */
    be_mat x_dropped;      /* n x F, or 1 x entries of sparse features */
    be_mat gassign, db, q; /* n x G, 1 x d, G x d */
    be_mat ge, gs, gt;     /* attention: 1 x entries, 1 x n */
    be_mat record;         /* 1 x 4: loss and three counts */
    be_ints pred;          /* n */
};

/* The rooms of layer k in this pass, as wide as the layer. */
nn_acts nn_acts_of(const nn_model *m, const nn_pass *pass, int64_t k);
/* A matrix of n rows in the product room. */
be_mat nn_product(const nn_model *m, int64_t cols);
/* The flow is n x cols from now on: in its own room, or where the product was made (the rooms change places). */
void nn_flow_width(nn_model *m, int64_t cols);
void nn_flow_from_product(nn_model *m, int64_t cols);
/* The dropout on the input of layer k in this pass; rate 0 when there is none. */
be_drop nn_drop_of(const nn_model *m, const nn_pass *pass, int64_t k);
be_act nn_act_of(const nn_model *m, const nn_pass *pass, int64_t k); /* what follows the norm of layer k */

/* y = dropout(X) W with layer 0's mask, and gW += dropout(X)' gy. */
fathom_status nn_project(nn_model *m, const nn_pass *pass, be_mat y, be_mat w);
fathom_status nn_project_backward(nn_model *m, const nn_pass *pass, be_mat gw, be_mat gy);
/* p = H W of layer k, H being X in layer 0; from gp: gW += H' gp, and the flow becomes gH = gp W' (not in layer 0). */
fathom_status nn_transform(nn_model *m, const nn_pass *pass, int64_t k, be_mat p);
fathom_status nn_transform_backward(nn_model *m, const nn_pass *pass, int64_t k, be_mat gp);

/* Declares a parameter; its views are set when the model is allocated. `transposed`: shape on disk is cols x rows. */
typedef struct nn_declaration {
    be_mat *view, *grad;
    nn_part part;
    int64_t rows, cols;
    bool transposed;
    int dims; /* on disk: 1, 2, or 3 (1 x 1 x cols) */
    double limit, value;
} nn_declaration;
void nn_declare(nn_model *m, nn_declaration d, const char *name_format, ...) CORE_PRINTF(3, 4);
double nn_glorot(int64_t fan_in, int64_t fan_out);
void nn_params_lay(nn_model *m);
void nn_params_view(nn_model *m);

#endif
