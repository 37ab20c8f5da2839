/* nn.h - the networks, as their users (train, cli, tests) see them. The mathematics is in conv_*.c and norm_*.c,
 * written as sequences of operations of backend.h; nothing here knows a device.
 *
 *     nn_input *input = NULL;                              // graph, features, labels on the device
 *     nn_model *model = NULL;
 *     TRY(nn_input_make(&input, dev, set, config.model));
 *     TRY(nn_model_make(&model, &config, input));          // plans and allocates all it will ever need
 *     TRY(nn_init(model, seed));
 *     nn_pass pass = {.training = true, .seed = seed, .epoch = 1};
 *     TRY(nn_forward(model, &pass));                       // nn_logits(model): n x C
 *     TRY(nn_loss(model));
 *     TRY(nn_backward(model, &pass));
 *     TRY(nn_step(model, lr, decay, 1));
 *
 * A new model is a file conv_NAME.c and a row of nn_convs, a new normalisation a file norm_NAME.c and a row of
 * nn_norms (both in tables.c); see layers.h. */
#ifndef NN_NN_H
#define NN_NN_H

#include "backend/backend.h"
#include "data/data.h"

typedef enum nn_conv_kind { NN_GCN, NN_GAT, NN_SGC, NN_GCNII, NN_CONV_COUNT } nn_conv_kind;
typedef enum nn_norm_kind { NN_NONE, NN_BATCH, NN_PAIR, NN_GROUP, NN_NORM_COUNT } nn_norm_kind;

/* Their names as the command line and checkpoints write them, and a line about each. */
const char *nn_conv_name(nn_conv_kind kind);
const char *nn_norm_name(nn_norm_kind kind);
bool nn_conv_find(nn_conv_kind *kind, const char *name);
bool nn_norm_find(nn_norm_kind *kind, const char *name);

typedef struct nn_config {
    nn_conv_kind model;
    nn_norm_kind norm;
    int64_t layers, hidden, groups;
    double lambda;       /* group norm: out = H + lambda * ... */
    double dropout;      /* rate, [0, 1) */
    double momentum;     /* of running estimates: new = (1 - momentum) old + momentum now */
    double alpha, theta; /* GCNII */
    bool assign_bias;    /* group norm: S = softmax(H U + c) or without c */
} nn_config;

#define NN_LAYERS_MAX 1000
#define NN_HIDDEN_MAX 65536
#define NN_GROUPS_MAX 4096

/* Names the first value that cannot be used. */
fathom_status nn_config_check(const nn_config *config);

/* What decides sizes, apart from the configuration. */
typedef struct nn_shape {
    int64_t nodes, features, classes;
    int64_t entries;         /* of the graph with self-loops: 2 edges + nodes */
    int64_t feature_entries; /* stored, when not dense */
    bool dense;
} nn_shape;

nn_shape nn_shape_of(const data_set *set);

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
    int64_t part[NN_MEM_COUNT], total, largest; /* largest: the biggest single piece */
    int64_t parameters;                         /* numbers trained */
} nn_bytes;

const char *nn_memory_name(nn_memory part);
fathom_status nn_plan_bytes(nn_bytes *bytes, const nn_config *config, const nn_shape *shape);
/* Fails with FATHOM_MEMORY, what is needed and the depth that would fit, when the plan is larger than the device. */
fathom_status nn_plan_check(const nn_bytes *bytes, const nn_config *config, const nn_shape *shape, const be_info *info);

/* ---- graph, features, labels on a device ---- */

enum { NN_TRAIN, NN_VAL, NN_TEST, NN_SETS };

typedef struct nn_input {
    be_device *dev;
    nn_shape shape;
    be_csr a, at;   /* the graph with self-loops, columns ascending; its transpose with entry ids (GAT only) */
    be_mat ahat;    /* 1 x entries: 1 / sqrt((deg u + 1)(deg v + 1)) */
    be_mat x;       /* n x F, dense features */
    be_csr xs, xt;  /* sparse features and their transpose with entry ids */
    be_mat xval;    /* their values; absent when nothing is stored */
    be_ints labels; /* n */
    be_ints sets;   /* n; bit NN_TRAIN, NN_VAL, NN_TEST */
    int64_t count[NN_SETS];
    be_buf *buf;           /* everything but the sparse patterns and */
    be_buf *values;        /* the values of the features */
    int32_t *order;        /* row i on the device is node order[i] of the set (data_order); NULL: node i */
    data_features ordered; /* the features in that order */
} nn_input;

/* The set stays as it is while the input lives: on the CPU its features are used where they lie. Nodes lie on the
 * device in an order of their own; what is read back is in the order of the set. */
fathom_status nn_input_make(nn_input **input, be_device *dev, const data_set *set, nn_conv_kind model);
void nn_input_free(nn_input *input);

/* ---- parameters ---- */

/* Trained: Adam sees it. Fixed: stored only (the assignment of one group, whose gradient is 0 and which is not
 * decayed). Running: estimates for evaluation. The block of all values is laid out in this order. */
typedef enum nn_part { NN_TRAINED, NN_FIXED, NN_RUNNING } nn_part;

typedef struct nn_param {
    char name[56];
    nn_part part;
    int64_t off, rows, cols; /* in memory: row-major at `off` of the block */
    int dims;                /* on disk, as PyTorch has it */
    int64_t shape[3];
    bool transposed;     /* the disk holds cols x rows */
    float limit, value;  /* at first uniform in +-limit, or `value` when limit is 0 */
    be_mat *view, *grad; /* where the views are kept; grad NULL unless trained */
} nn_param;

/* ---- a model ---- */

typedef struct nn_model nn_model;

/* One walk through the layers; `epoch` counts from 1 and with `seed` decides every dropout mask. */
typedef struct nn_pass {
    bool training;
    uint64_t seed;
    uint32_t epoch;
} nn_pass;

/* A model without memory on any device: its parameters are known, and how many bytes it would take. */
fathom_status nn_model_plan(nn_model **model, const nn_config *config, const nn_shape *shape);
fathom_status nn_model_make(nn_model **model, const nn_config *config, const nn_input *input);
void nn_model_free(nn_model *model);

const nn_config *nn_model_config(const nn_model *model);
const nn_shape *nn_model_shape(const nn_model *model);
const nn_bytes *nn_model_bytes(const nn_model *model);
void nn_set_lambda(nn_model *model, double lambda); /* no size depends on it */

/* Initial parameters by the seed, moments 0. */
fathom_status nn_init(nn_model *model, uint64_t seed);

fathom_status nn_forward(nn_model *model, const nn_pass *pass);
be_mat nn_logits(const nn_model *model, const nn_pass *pass); /* n x C, of the last forward of that kind */
fathom_status nn_loss(nn_model *model);                       /* of the training logits, and its gradient */
fathom_status nn_backward(nn_model *model, const nn_pass *pass);
fathom_status nn_step(nn_model *model, double lr, double decay, int64_t step);
/* Predictions of the last evaluation and how many are right in each set. */
fathom_status nn_score(nn_model *model);

/* The one small read of an epoch: the only wait. `correct` is that of the last nn_score. */
typedef struct nn_record {
    float loss;
    int32_t correct[NN_SETS];
} nn_record;
fathom_status nn_read(nn_record *record, nn_model *model);

fathom_status nn_keep(nn_model *model);    /* best = parameters and running estimates, on the device */
fathom_status nn_restore(nn_model *model); /* and back */

/* Host copies. A block is nn_block_len floats, a moment nn_trained_len. */
typedef enum nn_block { NN_WEIGHTS, NN_GRADS, NN_MOMENT1, NN_MOMENT2, NN_BEST, NN_BLOCKS } nn_block;
int64_t nn_block_len(const nn_model *model, nn_block block);
fathom_status nn_get(float *values, const nn_model *model, nn_block block);
fathom_status nn_put(nn_model *model, nn_block block, const float *values);
/* The n rows of a matrix on the device, node after node. */
fathom_status nn_get_rows(float *values, const nn_model *model, be_mat rows);
fathom_status nn_get_logits(float *values, const nn_model *model, const nn_pass *pass); /* n x C */

/* Group norm: n x G, how the last layer of the last forward of that kind assigned nodes to groups. */
fathom_status nn_get_assignment(float *values, const nn_model *model, const nn_pass *pass);

int64_t nn_param_count(const nn_model *model);
const nn_param *nn_param_at(const nn_model *model, int64_t index);
/* Between the block and the order of the disk; rows * cols floats. */
void nn_to_disk(float *out, const nn_param *param, const float *block);
void nn_from_disk(float *block, const nn_param *param, const float *in);

/* After a loss that is not finite: the first layer (from 1) whose representations are not, 0 when all are. */
fathom_status nn_find_bad_layer(int64_t *layer, const nn_model *model);

#endif
