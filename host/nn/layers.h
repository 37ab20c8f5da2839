/* layers.h - what conv_*.c and norm_*.c share with model.c.
 *
 * Layer k = 0 .. K-1 is a convolution, which maps H_{k-1} to Z_k, and a norm, which maps Z_k to H_k = act(norm(Z_k)).
 * act is the ReLU of the model and the dropout on the input of layer k + 1. The input of layer 0 is the feature matrix
 * X. With a skip connection (skip.c) that is B_k, and H_k is the sum of B_k and the skip.
 *
 * conv_NAME.c and norm_NAME.c each define a table of functions (nn_conv, nn_norm), the state of one layer (parameters,
 * gradients, activations that forward saves for backward) and the state all layers share (scratch, activations of
 * evaluation). model.c allocates both, zeroed, and hands them over in nn_layer.
 *
 * With recomputation (nn.h) forward runs again for some layers before their backward (pass->again): it writes the same
 * bits, takes no statistics and moves no running estimate. What `plan` adds may then share memory with other layers;
 * statistics (nn_plan_stats) never do. */
#ifndef NN_LAYERS_H
#define NN_LAYERS_H

#include "nn/nn.h"
#include "nn/params.h"
#include "nn/plan.h"

/* Host memory of the exchanges with other ranks (halo.c); alone there is none. */
typedef struct nn_staging {
    float *out, *in; /* rows x widest */
    float *sums;     /* ranks x 2 G widest */
    float *params;   /* all parameters */
    int64_t *chunks; /* ranks + 1: the trained parameters that each rank updates */
} nn_staging;

/* Matrices of n x widest that convolutions pass on. */
typedef struct nn_workspace {
    be_mat grad_buf, tmp_buf; /* swapped rather than copied; with capacity for the halo after their n rows */
    int64_t rows;             /* n */
    be_mat packed;            /* sends x widest: the rows that other ranks get */
    nn_staging staging;
    be_mat grad;      /* the gradient being propagated back, as wide as the layer: a view of grad_buf */
    be_mat x_dropped; /* dropout(X), saved for backward: n x F, or 1 x nnz for sparse features */
    be_mat edges;     /* with DropEdge, 1 x entries: Â of this epoch (drop_edge.c) */
    be_ints degree;   /* n: degrees of this epoch */
    be_mat root;      /* 1 x (n + 1): k^-1/2 */
} nn_workspace;

typedef struct nn_layer {
    const nn_config *config;
    const nn_shape *shape;
    be_device *dev;         /* NULL while only planning */
    const nn_input *input;  /* NULL while only planning, and of a norm alone */
    nn_workspace *ws;       /* its matrices: convolutions only */
    int64_t index, in, out; /* k, and the columns of H_{k-1} and Z_k */
    bool norm_in_place;     /* H_k is Z_k, so that in evaluation H_{k-1} is Z_k too */
    void *state, *shared;   /* structs of conv_*.c or norm_*.c */
} nn_layer;

/* Columns of the rows that ranks exchange for a layer (halo.c): 0: no exchange. */
typedef struct nn_halo_columns {
    int64_t forward, backward; /* nn_halo in each pass */
    int64_t back[2];           /* nn_halo_back in backward */
} nn_halo_columns;

typedef struct nn_conv {
    bool relu;            /* after every layer */
    bool needs_transpose; /* reads input->at */
    bool squares_input;   /* the gradient of the weights grows with the square of the features */
    bool takes_skip;      /* layers of equal width may have a skip connection */
    bool takes_bias, takes_heads;
    size_t state_bytes, shared_bytes;
    void (*widths)(int64_t *in, int64_t *out, const nn_config *config, const nn_shape *shape, int64_t k);
    /* Is there dropout on the input of layer k? k = K: on the output of the last layer. */
    bool (*has_dropout)(const nn_config *config, int64_t k);
    void (*declare)(const nn_layer *l, nn_params *params);
    void (*plan)(const nn_layer *l, nn_plan *plan);                            /* per-layer memory, or NULL */
    void (*plan_shared)(const nn_layer *first, nn_plan *plan, int64_t widest); /* shared memory, or NULL */
    /* Writes Z_k to *z, or swaps *z with the workspace. h is H_{k-1}, absent in layer 0. */
    fathom_status (*forward)(const nn_layer *l, const nn_pass *pass, be_mat h, be_mat *z);
    /* ws->grad: from dL/dZ_k to dL/dH_{k-1} (k > 0). Adds to the gradients of the parameters. */
    fathom_status (*backward)(const nn_layer *l, const nn_pass *pass, be_mat h);
    nn_halo_columns (*halo)(const nn_layer *l);
    /* A dense layer after the last convolution, or NULL: h is H_{K-1}, backward starts from dL/dlogits. */
    void (*declare_output)(const nn_layer *last, nn_params *params);
    fathom_status (*forward_output)(const nn_layer *last, const nn_pass *pass, be_mat h);
    fathom_status (*backward_output)(const nn_layer *last, be_mat h);
    be_mat (*logits)(const nn_layer *last, bool training);
} nn_conv;

/* Floats of each rank that a norm gathers for a layer (halo.c). */
typedef struct nn_norm_gathers {
    int64_t training, again, backward, evaluation; /* again: a forward that is computed again */
} nn_norm_gathers;

typedef struct nn_norm {
    bool keeps_input; /* backward reads Z_k: Z_k and H_k are two matrices */
    bool fuses_relu;  /* backward also applies the mask of the ReLU and dropout that follow */
    bool scale_free;  /* norm(c z) = norm(z) */
    size_t state_bytes, shared_bytes;
    void (*declare)(const nn_layer *l, nn_params *params); /* may be NULL, like the next two */
    void (*plan)(const nn_layer *l, nn_plan *plan);
    void (*plan_shared)(const nn_layer *first, nn_plan *plan, int64_t widest);
    /* h = act(norm(z)) */
    fathom_status (*forward)(const nn_layer *l, const nn_pass *pass, be_mat h, be_mat z, be_act act);
    /* grad: from dL/d(norm(z)) to dL/dz, in place. With fuses_relu and act: from dL/dh, h = act(norm(z)). */
    fathom_status (*backward)(const nn_layer *l, be_mat grad, be_mat h, be_mat z, const be_act *act);
    nn_norm_gathers (*gathers)(const nn_layer *l);          /* NULL: none */
    be_mat (*assignment)(const nn_layer *l, bool training); /* n x G of the last forward; NULL: no groups */
} nn_norm;

#define X(id, name, ...) extern const nn_conv nn_conv_##name;
NN_CONV_LIST(X)
#undef X
#define X(id, name, ...) extern const nn_norm nn_norm_##name;
NN_NORM_LIST(X)
#undef X
extern const nn_conv *const nn_convs[NN_CONV_COUNT];
extern const nn_norm *const nn_norms[NN_NORM_COUNT];

#define NN_EPS 1e-5f      /* batch, group and node norm */
#define NN_PAIR_EPS 1e-6f /* pair norm */
#define NN_SLOPE 0.2f     /* LeakyReLU of the attention */

static inline float nn_eps(const nn_layer *l, float of_norm) {
    return l->config->eps > 0 ? (float)l->config->eps : of_norm;
}

struct nn_model {
    nn_config config;
    nn_shape shape;
    const nn_conv *conv;
    const nn_norm *norm;
    const nn_input *in; /* NULL while only planning */
    be_device *dev;
    nn_bytes bytes;
    nn_plan plan;

    nn_params params;
    be_mat weights, grads, moment1, moment2, best; /* 1 x total or 1 x trained */
    be_mat before; /* with recomputation, 1 x trained: the weights before the last step (nn_first_nonfinite_layer) */

    nn_layer *convs, *norms; /* K each */
    void *conv_states, *conv_shared, *norm_states, *norm_shared;
    /* Z_k and H_k of training (n x out), and at K those of every layer in evaluation (n x widest): after a failed epoch
     * the training values are still there to be examined. */
    be_mat *z, *h;       /* K + 1 */
    bool one_matrix;     /* H_k is Z_k */
    be_mat *b;           /* K: B_k of skip.c, where it is neither H_k nor Z_k */
    be_mat eval_first;   /* H_0 in evaluation: n x hidden, for the skip `initial` */
    be_mat skip_grad;    /* scratch: n x hidden */
    int64_t *pieces;     /* K + 1: where those of layer k begin in the plan */
    bool is_overwritten; /* with recomputation: activations of the last training pass, by an evaluation or backward */

    nn_workspace ws;
    int64_t chunk; /* the first of the trained parameters that this rank updates; the moments are those of its part */
    be_mat stats;  /* 1 x 4: nn_epoch_stats */
    be_ints pred;  /* n */
};

/* The norm of layer k: the last one may have none. */
const nn_norm *nn_norm_at(const nn_model *m, int64_t k);
int64_t nn_widest(const nn_model *m); /* columns of the widest Z_k or of the logits */
/* Expected time of an epoch of this many layers relative to recompute none (plan_check.c). */
double nn_recompute_time(int64_t level, int64_t layers);
/* Is H_k, rather than computed again, in memory until its backward? */
bool nn_keeps_h(const nn_model *m, int64_t k);
/* Adds the bytes of nn_input_make to the plan (input.c). */
void nn_input_bytes(nn_bytes *bytes, const nn_shape *shape, bool transpose);

/* The first rows x cols elements of a larger matrix, as a packed matrix. */
be_mat nn_resize(be_mat m, int64_t rows, int64_t cols);
/* A scratch matrix of n x cols. */
be_mat nn_tmp(const nn_workspace *ws, int64_t cols);
/* ws->grad is n x cols from now on: the gradient buffer, or the scratch matrix (the two are swapped). */
void nn_grad_resize(nn_workspace *ws, int64_t cols);
void nn_grad_from_tmp(nn_workspace *ws, int64_t cols);

/* Mask number `number` of this pass, for the rows of a matrix of `cols` columns; rate 0 in evaluation. */
be_drop nn_dropout(const nn_layer *l, const nn_pass *pass, int64_t number, int64_t cols);
/* Does this forward compute the statistics of a norm over the nodes? */
bool nn_takes_stats(const nn_pass *pass);
/* Neither ReLU nor dropout; ReLU alone. */
be_act nn_act(bool relu);

/* ---- halo.c: one of several ranks; alone nothing happens ---- */

bool nn_alone(const nn_layer *l);
int64_t nn_over(const nn_layer *l); /* `over` of a backward operation: the rows of all ranks; alone 0 */
/* *x, n rows, gets the halo's rows after its own, before an aggregation. It is copied to the scratch matrix (nn_tmp)
 * unless it is there or in the gradient buffer. nn_halo_rows: where *x has capacity for them. */
fathom_status nn_halo(const nn_layer *l, be_mat *x);
fathom_status nn_halo_rows(const nn_layer *l, be_mat *x);
/* Adds the halo's rows of x, on the ranks that have them, to their own. */
fathom_status nn_halo_back(const nn_layer *l, be_mat x);
/* Running estimates that an operation moves; of several ranks none, since nn_combine_stats does. */
be_mat nn_running(const nn_layer *l, be_mat running);
/* Mean and biased variance of n rows become those of all ranks' rows; running estimates [optional] move. */
fathom_status nn_combine_stats(const nn_layer *l, be_mat mean, be_mat var, be_mat rmean, be_mat rvar);
fathom_status nn_combine_sums(const nn_layer *l, be_mat db, be_mat q);
/* The first of the trained parameters that a rank updates. */
int64_t nn_chunk(int64_t trained, int rank, int ranks);
/* The gradients of this rank's part of the parameters become those of all ranks' rows. */
fathom_status nn_total(nn_model *m);
/* Every rank gets the weights that others updated. */
fathom_status nn_share_weights(nn_model *m);
fathom_status nn_staging_make(nn_model *m);
void nn_staging_free(nn_staging *staging);

/* ---- drop_edge.c ---- */

void nn_plan_edges(nn_workspace *ws, nn_plan *plan, const nn_config *config, const nn_shape *shape);
fathom_status nn_upload_roots(const nn_model *m);
/* Draws the edges of this pass, where DropEdge is on. */
fathom_status nn_drop_edges(const nn_model *m, const nn_pass *pass);
/* 1 x entries: Â, in training of the edges of this epoch. */
be_mat nn_adjacency(const nn_layer *l, bool training);

/* ---- skip.c ---- */

bool nn_config_skips(const nn_config *config);
bool nn_has_skip(const nn_model *m, int64_t k);
void nn_plan_branch(nn_model *m, int64_t k);
void nn_plan_skips(nn_model *m);
/* Where B_k is stored. */
be_mat nn_skip_branch(const nn_model *m, bool training, int64_t k, be_mat z);
/* h = H_k from B_k and `before`, H_{k-1}; h may be `before`. */
fathom_status nn_skip_forward(const nn_model *m, bool training, be_mat h, be_mat b, be_mat before, be_drop drop);
/* ws.grad from dL/dH_k to dL/dB_k; the share of H_{k-1} or H_0 is set aside, for nn_skip_add to add it to ws.grad. */
fathom_status nn_skip_backward(const nn_model *m, be_drop drop);
fathom_status nn_skip_add(const nn_model *m);

/* ---- plan_norm.c ---- */

typedef struct nn_stats {
    be_mat mean, var; /* 1 x d, or G x d */
} nn_stats;

typedef struct nn_norm_sums {
    be_mat db, q; /* scratch of backward: 1 x d; 1 x d, or G x d */
} nn_norm_sums;

void nn_plan_stats(nn_stats *stats, nn_plan *plan, int64_t rows, int64_t width);
void nn_plan_sums(nn_norm_sums *sums, const nn_layer *l, nn_plan *plan, int64_t widest);

/* ---- linear.c ---- */

/* Features to hidden to ... to classes; dropout on the input of the first and of the last layer (GCN, GAT). */
void nn_hidden_widths(int64_t *in, int64_t *out, const nn_config *config, const nn_shape *shape, int64_t k);
bool nn_dropout_first_last(const nn_config *config, int64_t k);

typedef struct nn_linear {
    be_mat w, gw; /* in x cols, and its gradient */
    be_mat b, gb; /* with bias: 1 x out */
} nn_linear;

void nn_linear_declare(nn_linear *lin, const nn_layer *l, nn_params *params, int64_t cols);
/* With bias; after the weights of the layer, as in PyTorch Geometric. */
void nn_bias_declare(nn_linear *lin, const nn_layer *l, nn_params *params);
/* z += 1 b', and gb += 1' gz; nothing without bias. */
fathom_status nn_bias_forward(const nn_linear *lin, const nn_layer *l, be_mat z);
fathom_status nn_bias_backward(const nn_linear *lin, const nn_layer *l, be_mat gz);
/* y = H W; H is dropout(X) in layer 0. */
fathom_status nn_linear_forward(const nn_linear *lin, const nn_layer *l, const nn_pass *pass, be_mat y, be_mat h);
/* gW += H' gy, and in layers k > 0 ws->grad = gy W'. */
fathom_status nn_linear_backward(const nn_linear *lin, const nn_layer *l, const nn_pass *pass, be_mat h, be_mat gy);

/* y = dropout(X) W, and gW += dropout(X)' gy, with mask number 0. */
void nn_plan_features(nn_workspace *ws, nn_plan *plan, const nn_config *config, const nn_shape *shape);
fathom_status nn_drop_features(const nn_layer *l, const nn_pass *pass, be_mat *x); /* x: X_d, n x F or its values */
fathom_status nn_project(const nn_layer *l, const nn_pass *pass, be_mat y, be_mat w);
fathom_status nn_project_backward(const nn_layer *l, const nn_pass *pass, be_mat gw, be_mat gy);

#endif
