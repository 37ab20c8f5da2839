/* nn.h - the interface of the networks for train, cli and tests. conv_*.c and norm_*.c define the layers as sequences
 * of the operations in backend.h; nothing here depends on a back end.
 *
 *     nn_input *input = NULL;                              // graph, features and labels on the device
 *     nn_model *model = NULL;
 *     TRY(nn_input_make(&input, dev, set, config.model));
 *     TRY(nn_model_make(&model, &config, input));          // plans and allocates all memory
 *     TRY(nn_init(model, seed));
 *     nn_pass pass = {.training = true, .seed = seed, .epoch = 1};
 *     TRY(nn_forward(model, &pass));                       // nn_logits(model): n x C
 *     TRY(nn_loss(model));
 *     TRY(nn_backward(model, &pass));
 *     TRY(nn_step(model, lr, decay, 1));
 *
 * A new model is a file conv_NAME.c and a row of NN_CONV_LIST, a new norm a file norm_NAME.c and a row of NN_NORM_LIST
 * (and its number in the public header); see layers.h. */
#ifndef NN_NN_H
#define NN_NN_H

#include "backend/backend.h"
#include "comm/comm.h"
#include "data/slices.h"

/* X(id, name, cost, title): the only list of the models. `name` is what the command line, recipes and checkpoints
 * write, `title` what charts and tables print; `cost` is the time of a layer relative to GCN's, to estimate the time
 * left. */
#define NN_CONV_LIST(X)     \
    X(GCN, gcn, 1, "GCN")   \
    X(GAT, gat, 1.6, "GAT") \
    X(SGC, sgc, 0.5, "SGC") \
    X(GCNII, gcnii, 1.3, "GCNII")

/* X(id, name, cost): the only list of the norms; `cost` is the time of a layer relative to one without a norm. */
#define NN_NORM_LIST(X)  \
    X(NONE, none, 1)     \
    X(BATCH, batch, 1.3) \
    X(PAIR, pair, 1.3)   \
    X(GROUP, group, 2)   \
    X(MEAN, mean, 1.3)   \
    X(NODE, node, 1.3)

/* X(id, name): the only list of the skip connections (skip.c). */
#define NN_SKIP_LIST(X) X(NONE, none) X(RESIDUAL, residual) X(INITIAL, initial)

#define X(id, ...) NN_##id,
typedef enum nn_conv_kind { NN_CONV_LIST(X) NN_CONV_COUNT } nn_conv_kind;
typedef enum nn_norm_kind { NN_NORM_LIST(X) NN_NORM_COUNT } nn_norm_kind;
#undef X
#define X(id, ...) NN_SKIP_##id,
typedef enum nn_skip_kind { NN_SKIP_LIST(X) NN_SKIP_COUNT } nn_skip_kind;
#undef X

/* A switch of settings, recipes and metadata. */
#define NN_SWITCH_CHOICES "off|on"
typedef enum nn_switch { NN_OFF, NN_ON, NN_SWITCH_COUNT } nn_switch;

/* The names as elements of an array, and as the choices "a|b|c" of an option: constants, for tables. */
#define NN_NAME(id, name, ...) #name,
#define NN_CHOICE(id, name, ...) "|" #name
#define NN_CONV_CHOICES (&(NN_CONV_LIST(NN_CHOICE))[1])
#define NN_NORM_CHOICES (&(NN_NORM_LIST(NN_CHOICE))[1])
#define NN_SKIP_NAME(id, name) #name,
#define NN_SKIP_CHOICE(id, name) "|" #name
#define NN_SKIP_CHOICES (&(NN_SKIP_LIST(NN_SKIP_CHOICE))[1])

const char *nn_conv_name(nn_conv_kind kind);
const char *nn_norm_name(nn_norm_kind kind);
const char *nn_skip_name(nn_skip_kind kind);
const char *nn_conv_title(nn_conv_kind kind);
const char *nn_switch_name(nn_switch on);
bool nn_conv_find(nn_conv_kind *kind, const char *name);
bool nn_norm_find(nn_norm_kind *kind, const char *name);
bool nn_skip_find(nn_skip_kind *kind, const char *name);
bool nn_switch_find(nn_switch *on, const char *name);
/* What of a configuration has no effect on other models: skip and bias (GCN and GAT), last_act (all but SGC). */
bool nn_takes_skip(nn_conv_kind model);
bool nn_takes_bias(nn_conv_kind model);
bool nn_has_act(nn_conv_kind model);

/* What of a training pass stays in memory until its backward pass; what does not is computed again, to the same bits.
 *   none      all of it
 *   norm      Z_k of every layer, but neither H_k nor the assignment to groups
 *   segments  H_k at the end of every segment of S layers: the forward of a segment runs again before its backward
 * As int64_t: one of these, or S > 0. AUTO: the first of them that fits the device. SEGMENTS: the S of the fewest
 * bytes.
 */
#define NN_RECOMPUTE_CHOICES "auto|none|norm|segments"
enum { NN_RECOMPUTE_AUTO = 0, NN_RECOMPUTE_NONE = -1, NN_RECOMPUTE_NORM = -2, NN_RECOMPUTE_SEGMENTS = -3 };

typedef struct nn_config {
    nn_conv_kind model;
    nn_norm_kind norm;
    int64_t layers, hidden, groups;
    int64_t recompute;   /* NN_RECOMPUTE_... or the layers of a segment */
    double lambda;       /* group norm: out = H + lambda * ... */
    double dropout;      /* rate, [0, 1) */
    double momentum;     /* of running estimates: new = (1 - momentum) old + momentum now */
    double eps;          /* added to variances by the norm; 0: NN_EPS, in pair norm NN_PAIR_EPS */
    double alpha, theta; /* GCNII */
    bool assign_bias;    /* group norm: S = softmax(H U + c) or without c */
    nn_skip_kind skip;
    double skip_weight;            /* A of skip.c: the share of the skip */
    double drop_edge;              /* share of the edges that an epoch leaves out, [0, 1) */
    nn_switch bias;                /* GCN, GAT: Z + 1 b' */
    int64_t heads;                 /* GAT: side by side in the hidden columns, averaged in the last layer */
    nn_switch last_norm, last_act; /* the norm and the ReLU after the last layer */
} nn_config;

#define NN_LAYERS_MAX 1000
#define NN_HIDDEN_MAX 65536
#define NN_GROUPS_MAX 4096
#define NN_HEADS_MAX 256
#define NN_LAMBDA_MAX 1e3 /* also its negative is allowed */
#define NN_ALPHA_MAX 1
#define NN_THETA_MAX 1e3
#define NN_SKIP_WEIGHT_MAX 0.999 /* at 1 the layers between compute nothing */

/* Fails with FATHOM_USAGE when a segment is longer than the network. */
fathom_status nn_recompute_check(int64_t recompute, int64_t layers);
/* Fails with FATHOM_USAGE and names the first value out of range. */
fathom_status nn_config_check(const nn_config *config);
/* Training on features above this may overflow in any epoch, depending on roundings; INFINITY: overflow is certain to
 * be found in the loss. */
float nn_feature_limit(const nn_config *config);
/* Fails with FATHOM_USAGE when there are skip connections, but no two layers of equal width. */
fathom_status nn_skip_check(const nn_config *config, int64_t classes);

/* Sizes of a data set, or of the part of it that a rank has: with nn_config they decide the memory plan. */
typedef struct nn_shape {
    int64_t nodes, features, classes;
    int64_t entries;         /* nnz of the graph with self-loops: 2 edges + nodes */
    int64_t feature_entries; /* nnz of sparse features */
    bool dense;
    int64_t beside, beside_largest; /* device bytes that the caller takes beside the network: all, of one buffer */
    /* Of a part; of a whole set 0. */
    int rank, ranks;
    int64_t all_nodes;
    int64_t halo;                                  /* rows of other ranks that an aggregation reads */
    int64_t sends;                                 /* rows that other ranks get, each counted once for every rank */
    int peers;                                     /* ranks that get some, and that the halo is of */
    int64_t first_row, first_entry, first_feature; /* of this part: the numbers of its elements in dropout masks */
} nn_shape;

nn_shape nn_shape_of(const data_set *set);
nn_shape nn_shape_of_slice(const data_set *set, const data_slice *slice);

/* Device bytes by lifetime, known before anything is allocated. */
typedef enum nn_memory {
    NN_MEM_GRAPH,
    NN_MEM_FEATURES,
    NN_MEM_PARAMETERS,
    NN_MEM_ACTIVATIONS,
    NN_MEM_SCRATCH,
    NN_MEM_COUNT
} nn_memory;
typedef struct nn_bytes {
    int64_t part[NN_MEM_COUNT], total, largest; /* largest: of one matrix */
    int64_t parameters;                         /* trained values, not bytes */
    int64_t recompute;                          /* as planned: NONE, NORM, or the layers of a segment */
    double time;                                /* expected time of an epoch relative to recompute none */
} nn_bytes;

const char *nn_memory_name(nn_memory part);
fathom_status nn_plan_bytes(nn_bytes *bytes, const nn_config *config, const nn_shape *shape);
#define NN_RECOMPUTE_TEXT 24
/* "norm", "segments", "segments:8". */
void nn_recompute_text(char text[NN_RECOMPUTE_TEXT], int64_t recompute);
/* Replaces NN_RECOMPUTE_AUTO by what fits the device and takes the least time. */
fathom_status nn_recompute_choose(nn_config *config, const nn_shape *shape, const be_info *info);
/* Fails with FATHOM_MEMORY when the plan exceeds the device; the message names the need and the recomputation or the
 * depth that would fit. */
fathom_status nn_plan_check(const nn_bytes *bytes, const nn_config *config, const nn_shape *shape, const be_info *info);

/* ---- graph, features, labels on a device ---- */

enum { NN_TRAIN, NN_VAL, NN_TEST, NN_SETS };

typedef struct nn_input {
    be_device *dev;
    nn_shape shape;
    be_csr a,
        at;      /* the graph with self-loops, sorted indices; its transpose with entry ids (nn_conv.needs_transpose) */
    be_mat ahat; /* 1 x entries: 1 / sqrt((deg u + 1)(deg v + 1)) */
    be_mat x;    /* n x F, dense features */
    be_csr xs, xt;  /* sparse features and their transpose with entry ids */
    be_mat xval;    /* their values; absent when nothing is stored */
    be_ints labels; /* n */
    be_ints sets;   /* n; bit NN_TRAIN, NN_VAL, NN_TEST */
    int64_t count[NN_SETS];
    be_buf *buf;           /* ahat, labels and sets */
    be_buf *values;        /* values of the features */
    int32_t *order;        /* row i on the device is node order[first_row + i]; NULL: node first_row + i */
    data_features ordered; /* the features of own rows in that order */
    /* One of several ranks (halo.c); else empty. */
    comm *comm;
    int64_t *first;  /* ranks + 1: the rows of each rank */
    data_slice part; /* lists of rows; without its graph, which is on the device */
    be_csr pick;     /* sends x n, ones: the rows that other ranks get, by rank */
    be_csr unpick;   /* its transpose (nn_conv.needs_transpose) */
} nn_input;

/* The set must stay unchanged until nn_input_free: the CPU back end reads its features in place. Nodes are reordered on
 * the device (data_node_order); nn_get_* return rows in the order of the set. */
fathom_status nn_input_make(nn_input **input, be_device *dev, const data_set *set, nn_conv_kind model);

/* The same on one of several ranks: the rows of this rank on `dev`. Every rank calls it, with equal sets. Until
 * nn_input_free, nn_forward, nn_backward, nn_step, nn_read_stats, nn_get_* and nn_first_nonfinite_layer are called by
 * all ranks in the same order: they exchange values. */
typedef struct nn_parts {
    comm *comm;       /* NULL: all rows */
    data_order order; /* AUTO: data_order_choose */
    int64_t hidden;   /* width, which decides what a row weighs against its entries */
} nn_parts;
fathom_status nn_input_make_part(nn_input **input, be_device *dev, const data_set *set, nn_conv_kind model,
                                 const nn_parts *parts);
/* What a row weighs in data_slices_cut, in entries. */
double nn_row_weight(int64_t hidden);
void nn_input_free(nn_input *input);

/* ---- parameters ---- */

/* Trained: updated by Adam. Fixed: stored only (the assignment to one group has gradient 0 and no weight decay).
 * Running: estimates for evaluation. The block of all values is laid out in this order. */
typedef enum nn_param_kind { NN_TRAINED, NN_FIXED, NN_RUNNING } nn_param_kind;

typedef struct nn_param {
    char name[56];
    nn_param_kind kind;
    int64_t off, rows, cols; /* row-major at `off` of the block */
    int dims;                /* in files, as in PyTorch */
    int64_t shape[3];
    bool transposed;     /* files store cols x rows */
    float limit, value;  /* initial: uniform in +-limit, or `value` when limit is 0 */
    be_mat *view, *grad; /* set when the memory is allocated; grad: NN_TRAINED only */
} nn_param;

/* ---- a model ---- */

typedef struct nn_model nn_model;

/* One pass through the layers; `epoch` counts from 1 and with `seed` decides every dropout mask. */
typedef struct nn_pass {
    bool training;
    bool again; /* recomputation of this pass in its backward */
    uint64_t seed;
    uint32_t epoch;
    /* Evaluation only, may be NULL: called with H_k (n x width) of layer k = 0 .. K-1, in the order of the device,
     * while it is there: all layers share its memory. */
    fathom_status (*layer)(void *user, int64_t k, be_mat h);
    void *user;
} nn_pass;

/* A model without device memory: its parameters and its bytes are known. */
fathom_status nn_model_plan(nn_model **model, const nn_config *config, const nn_shape *shape);
fathom_status nn_model_make(nn_model **model, const nn_config *config, const nn_input *input);
void nn_model_free(nn_model *model);

const nn_config *nn_model_config(const nn_model *model);
const nn_shape *nn_model_shape(const nn_model *model);
const nn_bytes *nn_model_bytes(const nn_model *model);
void nn_set_lambda(nn_model *model, double lambda); /* no size depends on it */

/* Initial parameters from the seed, moments 0. */
fathom_status nn_init(nn_model *model, uint64_t seed);

fathom_status nn_forward(nn_model *model, const nn_pass *pass);
be_mat nn_logits(const nn_model *model, const nn_pass *pass); /* n x C, of the last forward of that kind */
fathom_status nn_loss(nn_model *model); /* cross-entropy of the training logits, and its gradient */
fathom_status nn_backward(nn_model *model, const nn_pass *pass);
/* Scales the gradients down to a global norm of at most `limit`; one rank only. */
fathom_status nn_clip(nn_model *model, double limit);
fathom_status nn_step(nn_model *model, double lr, double decay, int64_t step);
/* Predictions of the last evaluation, and the number of correct ones in each set. */
fathom_status nn_count_correct(nn_model *model);

/* The only read of an epoch, 16 bytes, and its only wait. `correct` is of the last nn_count_correct. Sums over all
 * ranks; `stop`, which is not read from the device, is that of the caller, or that of any rank's. */
typedef struct nn_epoch_stats {
    float loss;
    int32_t correct[NN_SETS];
    int32_t stop;
} nn_epoch_stats;
fathom_status nn_read_stats(nn_epoch_stats *stats, nn_model *model);

fathom_status nn_save_best(nn_model *model); /* best = weights and running estimates, on the device */
fathom_status nn_load_best(nn_model *model); /* weights and running estimates = best */

/* Host copies. A block is nn_block_len floats, a moment nn_trained_len. */
typedef enum nn_block { NN_WEIGHTS, NN_GRADS, NN_MOMENT1, NN_MOMENT2, NN_BEST, NN_BLOCKS } nn_block;
int64_t nn_block_len(const nn_model *model, nn_block block);
fathom_status nn_get_block(float *values, const nn_model *model, nn_block block);
fathom_status nn_set_block(nn_model *model, nn_block block, const float *values);
/* The n rows of a matrix on the device, in the order of the set. */
fathom_status nn_get_rows(float *values, const nn_model *model, be_mat rows);
fathom_status nn_get_logits(float *values, const nn_model *model, const nn_pass *pass); /* n x C */

/* Group norm: n x G, how the last layer with a norm of the last forward of that kind assigned nodes to groups. */
fathom_status nn_get_assignment(float *values, const nn_model *model, const nn_pass *pass);

/* What a rank sends to others and receives from them in an epoch, in bytes, and the messages that it sends
 * (comm_counters); the model may be planned only. */
typedef struct nn_traffic {
    int64_t sent, received, messages;
} nn_traffic;
nn_traffic nn_epoch_traffic(const nn_model *model, bool evaluates);

int64_t nn_param_count(const nn_model *model);
const nn_param *nn_param_at(const nn_model *model, int64_t index);
/* Between the block and the layout of files; rows * cols floats. */
void nn_param_export(float *out, const nn_param *param, const float *block);
void nn_param_import(float *block, const nn_param *param, const float *in);

/* After a step of the pass with a non-finite loss: the first layer (from 1) with a non-finite representation, 0: none.
 * With recomputation runs the forward pass again, with the weights before the step, which the model has afterwards. */
fathom_status nn_first_nonfinite_layer(int64_t *layer, nn_model *model, const nn_pass *pass);

#endif
