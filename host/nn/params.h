/* params.h - the list of parameters of a network, or of one norm: layers declare them, the list assigns each an offset
 * in one block of floats. The trained part of the block comes first, so Adam and the gradients see one vector. */
#ifndef NN_PARAMS_H
#define NN_PARAMS_H

#include "nn/nn.h"

typedef struct nn_params {
    nn_param *list;
    int64_t count, capacity;
    fathom_status status;   /* the first failure of nn_declare */
    int64_t trained, total; /* floats of the trained part and of the block, with padding */
    int64_t trained_values; /* without padding */
} nn_params;

typedef struct nn_declaration {
    be_mat *view, *grad; /* set by nn_params_bind; grad only for NN_TRAINED */
    nn_param_kind kind;
    int64_t rows, cols;
    bool transposed; /* stored as cols x rows in files */
    int dims;        /* in files: 1, 2, or 3 (1 x rows x cols) */
    double limit, value;
} nn_declaration;

/* The order of declarations decides the random numbers of nn_init and the order in files. */
void nn_declare(nn_params *params, nn_declaration d, const char *name_format, ...) CORE_PRINTF(3, 4);
double nn_glorot(int64_t fan_in, int64_t fan_out); /* limit of the uniform distribution */

/* Sets the offsets and the three totals. */
void nn_params_layout(nn_params *params);
/* Points every declared view into `weights` (1 x total) and `grads` (1 x trained). */
void nn_params_bind(const nn_params *params, be_mat weights, be_mat grads);

#endif
