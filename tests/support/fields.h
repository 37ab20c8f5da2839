/* fields.h - every view in the arguments of every operation: outputs, inputs,
 * which may be absent, and which output may be exactly which input. Written from
 * backend/operations.h; unit_contract.c breaks each of them in turn. */
#ifndef SUPPORT_FIELDS_H
#define SUPPORT_FIELDS_H

#include <stddef.h>

#include "backend/backend.h"

typedef enum field_kind { FIELD_OUT, FIELD_IN, FIELD_INTS_OUT, FIELD_INTS_IN, FIELD_CSR } field_kind;

typedef struct field {
    be_op op;
    const char *name;
    size_t offset;
    field_kind kind;
    bool optional;
    const char *may_be; /* outputs: the inputs they may be, blank separated */
} field;

#define OUT(op, f, may) \
    { BE_OP_##op, #f, offsetof(be_##op##_args, f), FIELD_OUT, false, may }
#define OUT_OPTIONAL(op, f, may) \
    { BE_OP_##op, #f, offsetof(be_##op##_args, f), FIELD_OUT, true, may }
#define IN(op, f) \
    { BE_OP_##op, #f, offsetof(be_##op##_args, f), FIELD_IN, false, "" }
#define IN_OPTIONAL(op, f) \
    { BE_OP_##op, #f, offsetof(be_##op##_args, f), FIELD_IN, true, "" }
#define INTS_OUT(op, f) \
    { BE_OP_##op, #f, offsetof(be_##op##_args, f), FIELD_INTS_OUT, false, "" }
#define INTS_IN(op, f) \
    { BE_OP_##op, #f, offsetof(be_##op##_args, f), FIELD_INTS_IN, false, "" }
#define CSR(op, f) \
    { BE_OP_##op, #f, offsetof(be_##op##_args, f), FIELD_CSR, false, "" }

/* clang-format off */
static const field fields[] = {
    OUT(fill, y, ""),
    OUT(copy, y, ""), IN(copy, x),
    OUT(activate, y, "x"), IN(activate, x),
    OUT(activate_backward, gx, "gy"), IN(activate_backward, gy), IN(activate_backward, y),
    OUT(axpby, y, "x z"), IN(axpby, x), IN_OPTIONAL(axpby, z),
    OUT(bias_add, y, "x"), IN(bias_add, x), IN(bias_add, b),
    OUT(col_sum, s, ""), IN(col_sum, x),
    OUT(row_normalise, y, "x"), OUT_OPTIONAL(row_normalise, norm, ""), IN(row_normalise, x),
    OUT(gemm, c, ""), IN(gemm, a), IN(gemm, b),
    OUT(spmm, y, "z"), CSR(spmm, a), IN_OPTIONAL(spmm, val), IN(spmm, x), IN_OPTIONAL(spmm, z),
    OUT(aggregate, y, ""), OUT_OPTIONAL(aggregate, p, ""), CSR(aggregate, a), IN_OPTIONAL(aggregate, val),
    IN(aggregate, x), IN(aggregate, w),
    OUT(edge_drop, keep, ""), INTS_OUT(edge_drop, degree), CSR(edge_drop, a),
    OUT(edge_norm, val, ""), CSR(edge_norm, a), INTS_IN(edge_norm, degree), IN(edge_norm, root),
    OUT(gat_scores, s, ""), OUT(gat_scores, t, ""), IN(gat_scores, z), IN(gat_scores, a_src), IN(gat_scores, a_dst),
    OUT(gat_softmax, alpha, ""), CSR(gat_softmax, a), IN(gat_softmax, s), IN(gat_softmax, t),
    OUT(gat_backward_edges, ge, ""), OUT(gat_backward_edges, gt, ""), CSR(gat_backward_edges, a),
    IN(gat_backward_edges, alpha), IN_OPTIONAL(gat_backward_edges, alpha_dropped), IN(gat_backward_edges, s), IN(gat_backward_edges, t), IN(gat_backward_edges, gy),
    IN(gat_backward_edges, z),
    OUT(gat_edge_sums, gs, ""), CSR(gat_edge_sums, at), IN(gat_edge_sums, ge),
    OUT(gat_backward_scores, gz, ""), OUT(gat_backward_scores, ga_src, ""), OUT(gat_backward_scores, ga_dst, ""),
    IN(gat_backward_scores, z), IN(gat_backward_scores, a_src), IN(gat_backward_scores, a_dst),
    IN(gat_backward_scores, gs), IN(gat_backward_scores, gt),
    OUT(col_stats, mean, ""), OUT(col_stats, var, ""), OUT_OPTIONAL(col_stats, rmean, ""),
    OUT_OPTIONAL(col_stats, rvar, ""), IN(col_stats, x),
    OUT(batch_apply, y, "x"), IN(batch_apply, x), IN(batch_apply, mean), IN(batch_apply, var), IN(batch_apply, gamma),
    IN(batch_apply, beta),
    OUT(pair_apply, y, "x"), IN(pair_apply, x), IN(pair_apply, mean), IN(pair_apply, var),
    OUT(norm_sums, db, ""), OUT(norm_sums, q, ""), IN(norm_sums, go), IN(norm_sums, x), IN(norm_sums, mean),
    OUT(batch_backward, gx, "go"), OUT_OPTIONAL(batch_backward, ggamma, ""), OUT_OPTIONAL(batch_backward, gbeta, ""),
    IN(batch_backward, go), IN(batch_backward, x), IN(batch_backward, mean), IN(batch_backward, var),
    IN(batch_backward, gamma), IN(batch_backward, db), IN(batch_backward, q),
    OUT(pair_backward, gx, "go"), IN(pair_backward, go), IN(pair_backward, x), IN(pair_backward, mean),
    IN(pair_backward, var), IN(pair_backward, db), IN(pair_backward, q),
    OUT(node_apply, y, "x"), IN(node_apply, x),
    OUT(node_backward, gx, "go"), IN(node_backward, go), IN(node_backward, x),
    OUT(group_assign, s, ""), IN(group_assign, h), IN(group_assign, u), IN_OPTIONAL(group_assign, c),
    OUT(group_stats, mean, ""), OUT(group_stats, var, ""), OUT_OPTIONAL(group_stats, rmean, ""),
    OUT_OPTIONAL(group_stats, rvar, ""), OUT(group_stats, s, ""), IN(group_stats, h), IN_OPTIONAL(group_stats, u),
    IN_OPTIONAL(group_stats, c),
    OUT(group_apply, y, "h"), OUT(group_apply, s, ""), IN(group_apply, h), IN_OPTIONAL(group_apply, u),
    IN_OPTIONAL(group_apply, c), IN(group_apply, mean), IN(group_apply, var), IN(group_apply, gamma),
    IN(group_apply, beta),
    OUT(group_backward_sums, db, ""), OUT(group_backward_sums, q, ""), OUT(group_backward_sums, ggamma, ""),
    OUT(group_backward_sums, gbeta, ""), IN(group_backward_sums, go), IN(group_backward_sums, h),
    IN(group_backward_sums, s), IN(group_backward_sums, mean), IN(group_backward_sums, var),
    OUT(group_backward_rows, gh, "go"), OUT(group_backward_rows, gz, ""), OUT_OPTIONAL(group_backward_rows, gc, ""),
    OUT_OPTIONAL(group_backward_rows, gu, ""),
    IN(group_backward_rows, go), IN(group_backward_rows, h), IN(group_backward_rows, s), IN(group_backward_rows, mean),
    IN(group_backward_rows, var), IN(group_backward_rows, gamma), IN(group_backward_rows, u),
    IN(group_backward_rows, db), IN(group_backward_rows, q),
    OUT(softmax_xent, loss, ""), OUT_OPTIONAL(softmax_xent, gz, "z"), IN(softmax_xent, z),
    INTS_IN(softmax_xent, labels), INTS_IN(softmax_xent, sets), IN_OPTIONAL(softmax_xent, weight),
    OUT(sigmoid_xent, loss, ""), OUT_OPTIONAL(sigmoid_xent, gz, "z"), IN(sigmoid_xent, z), IN(sigmoid_xent, target),
    INTS_IN(sigmoid_xent, sets),
    INTS_OUT(label_counts, hits), INTS_OUT(label_counts, predicted), IN(label_counts, z), IN(label_counts, target),
    INTS_IN(label_counts, sets),
    OUT(clip_norm, y, "x"), IN(clip_norm, x),
    INTS_OUT(accuracy, correct), INTS_OUT(accuracy, pred), IN(accuracy, z), INTS_IN(accuracy, labels),
    INTS_IN(accuracy, sets),
    OUT(adam, w, ""), OUT(adam, m, ""), OUT(adam, v, ""), IN(adam, g),
    OUT(pair_fold, out, ""), IN(pair_fold, x), INTS_IN(pair_fold, labels),
    OUT(pair_fold_sparse, out, ""), CSR(pair_fold_sparse, a), CSR(pair_fold_sparse, at), IN(pair_fold_sparse, val),
    IN(pair_fold_sparse, sq), INTS_IN(pair_fold_sparse, labels),
    OUT(mad_fold, sum, ""), INTS_OUT(mad_fold, count), IN(mad_fold, x), IN(mad_fold, norm),
    OUT(dirichlet, e, ""), CSR(dirichlet, a), IN(dirichlet, x), IN_OPTIONAL(dirichlet, w),
};
/* clang-format on */

enum { FIELDS = sizeof fields / sizeof *fields };

#endif
