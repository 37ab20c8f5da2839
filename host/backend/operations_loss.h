/* operations_loss.h - the operations of losses, scores and the optimiser; operations.h includes this file. */
#ifndef BACKEND_OPERATIONS_LOSS_H
#define BACKEND_OPERATIONS_LOSS_H

#include "backend/views.h"

/* -- loss, accuracy, optimiser -- */

/* Rows of a set: node v belongs to set k when bit k of sets[v] is 1.
 *   loss = -(1/count) sum_{v in set} log softmax(z_v)[label_v]         (1 x 1)
 *   gz_v = (softmax(z_v) - onehot(label_v)) / count in the set, else 0
 * z and gz n x C, labels and sets n; `count` is the size of the set (0: loss 0,
 * gz 0). A node of the set has a label in 0..C-1. gz [optional]. gz may be z.
 * weight [optional]: 1 x C, takes the place of 1/count: the term of node v is multiplied by weight[label_v]. */
typedef struct be_softmax_xent_args {
    be_mat loss, gz;
    be_mat z, weight;
    be_ints labels, sets;
    int32_t set;
    int64_t count;
} be_softmax_xent_args;

/* pred_v = the column of the largest entry of row v, the lowest one of equals;
 * NaN never wins (a row of NaN gives 0).
 * correct_k = number of v in set k with pred_v = label_v, for k < correct.len <= 8. */
typedef struct be_accuracy_args {
    be_ints correct, pred;
    be_mat z;
    be_ints labels, sets;
} be_accuracy_args;

/* Several labels per node, target_vc = 0 or 1, sets and count as for softmax_xent:
 *   loss = -(1/(count C)) sum_{v in set, c} target log sigmoid(z) + (1 - target) log(1 - sigmoid(z))      (1 x 1)
 *   gz_vc = (sigmoid(z_vc) - target_vc) / (count C) in the set, else 0
 * z, target and gz n x C; gz [optional], may be z. */
typedef struct be_sigmoid_xent_args {
    be_mat loss, gz;
    be_mat z, target;
    be_ints sets;
    int32_t set;
    int64_t count;
} be_sigmoid_xent_args;

/* For sets k < hits.len <= 4, over their nodes v and all c, with predictions z_vc > 0:
 *   hits_k = number of predictions with target_vc = 1;  predicted_k = number of predictions. */
typedef struct be_label_counts_args {
    be_ints hits, predicted;
    be_mat z, target;
    be_ints sets;
} be_label_counts_args;

/* y = x min(1, limit / (||x|| + 1e-6)), all 1 x len; y may be x. NaN where the norm is not finite. */
typedef struct be_clip_norm_args {
    be_mat y;
    be_mat x;
    float limit;
} be_clip_norm_args;

/* Adam with classic L2 over a whole block of parameters; all 1 x len, step from 1:
 *   g' = g + decay w;  m = beta1 m + (1-beta1) g';  v = beta2 v + (1-beta2) g'^2
 *   w -= lr (m / (1-beta1^step)) / (sqrt(v / (1-beta2^step)) + eps).
 * w, m, v are read and written. */
typedef struct be_adam_args {
    be_mat w, m, v;
    be_mat g;
    float lr, beta1, beta2, eps, decay;
    int64_t step;
} be_adam_args;

#endif
