/* operations.h - every operation of the contract: its formula, shapes, what may
 * alias, and what it adds to instead of overwriting. The rules that hold for all
 * of them are in backend.h. */
#ifndef BACKEND_OPERATIONS_H
#define BACKEND_OPERATIONS_H

#include "backend/operations_loss.h"
#include "backend/views.h"

/* The list drives the table of a back end (a missing entry does not build), the
 * checks, the timing table and the test that every operation has a case. */
#define BE_OPERATIONS(X)   \
    X(fill)                \
    X(copy)                \
    X(gemm)                \
    X(spmm)                \
    X(edge_drop)           \
    X(edge_norm)           \
    X(gat_scores)          \
    X(gat_softmax)         \
    X(gat_backward_edges)  \
    X(gat_edge_sums)       \
    X(gat_backward_scores) \
    X(activate)            \
    X(activate_backward)   \
    X(axpby)               \
    X(bias_add)            \
    X(col_sum)             \
    X(row_normalise)       \
    X(col_stats)           \
    X(batch_apply)         \
    X(pair_apply)          \
    X(norm_sums)           \
    X(batch_backward)      \
    X(pair_backward)       \
    X(node_apply)          \
    X(node_backward)       \
    X(group_assign)        \
    X(group_stats)         \
    X(group_apply)         \
    X(group_backward_sums) \
    X(group_backward_rows) \
    X(softmax_xent)        \
    X(accuracy)            \
    X(sigmoid_xent)        \
    X(label_counts)        \
    X(clip_norm)           \
    X(adam)                \
    X(pair_fold)           \
    X(pair_fold_sparse)    \
    X(mad_fold)            \
    X(dirichlet)           \
    X(aggregate)

/* -- pointwise -- */

/* y = value. */
typedef struct be_fill_args {
    be_mat y;
    float value;
} be_fill_args;

/* y = x, same shape. */
typedef struct be_copy_args {
    be_mat y;
    be_mat x;
} be_copy_args;

/* y = act(x), same shape; y may be x. Backward needs y when there is a relu, else nothing. */
typedef struct be_activate_args {
    be_mat y;
    be_mat x;
    be_act act;
} be_activate_args;

/* gx = gy * act'(x), same shape; gx may be gy. With relu the output y alone
 * determines the mask: gx = (y > 0) * gy * scale. Without relu y is not read (and may
 * be absent [optional]) and the mask comes from the counter. */
typedef struct be_activate_backward_args {
    be_mat gx;
    be_mat gy, y;
    be_act act;
} be_activate_backward_args;

/* y = a x + b z, same shape; y may be x or z; z [optional] then y = a x.
 * Add, scale, and the residual steps of GCNII: (1-b) P + b P W. */
typedef struct be_axpby_args {
    be_mat y;
    be_mat x, z;
    float a, b;
} be_axpby_args;

/* y = x + 1 b', b of 1 x cols; y may be x. */
typedef struct be_bias_add_args {
    be_mat y;
    be_mat x, b;
} be_bias_add_args;

/* s_j += sum_v x_vj; s is 1 x cols. */
typedef struct be_col_sum_args {
    be_mat s;
    be_mat x;
} be_col_sum_args;

/* y_v = x_v / norm_v with norm_v = ||x_v||_2 (BE_ROW_L2) or sum_j x_vj
 * (BE_ROW_SUM); a row whose norm is 0 becomes 0. y may be x.
 * norm: 1 x n [optional]. */
typedef enum be_row_norm { BE_ROW_L2, BE_ROW_SUM } be_row_norm;
typedef struct be_row_normalise_args {
    be_mat y, norm;
    be_mat x;
    be_row_norm kind;
} be_row_normalise_args;

/* -- dense and sparse products -- */

/* c = alpha op(a) op(b) + beta c, op(x) = x or its transpose; with beta 0 c is
 * not read. c is M x N, op(a) M x K, op(b) K x N. */
typedef struct be_gemm_args {
    be_mat c;
    be_mat a, b;
    bool ta, tb;
    float alpha, beta;
} be_gemm_args;

/* y_r = alpha sum_{e in row r} val[id] x_{indices[e]} + beta z_r
 * with id the entry's id; a is R x K, x is K x d, y and
 * z are R x d. val: 1 x (number of ids) [optional: all ones]; z [optional] and
 * may be y (accumulate). A row without entries gives beta z_r.
 * val of (number of ids) x H, rows contiguous: H heads, d a multiple of H; column j of head h = j / (d / H) is
 * weighed by val[id][h].
 * Graph aggregation; sparse features times weights; with the transpose,
 * gradients: gW += X' gP. Dropout of values is done before, by activate: the masked values are stored in val. */
typedef struct be_spmm_args {
    be_mat y;
    be_csr a;
    be_mat val, x, z;
    float alpha, beta;
} be_spmm_args;

/* Values of each entry: the heads of spmm. a has entries. */
static inline int64_t be_heads(be_mat val, const be_csr *a) { return val.rows * val.cols / a->nnz; }

/* y_r = (sum_{e in row r} val[id] x_{indices[e]}) op(w), op(w) = w or its transpose; a is R x K, x is K x d, op(w) d x
 * m, y is R x m; neither d nor m is above BE_FUSED_MAX_COLS. p [optional]: R x d, the sums themselves. val: as for
 * spmm. A fused graph convolution, Z = (A H) W, and its gradient gH = (A gZ) W' with gP = A gZ stored for gW. */
#define BE_FUSED_MAX_COLS 64
typedef struct be_aggregate_args {
    be_mat y, p;
    be_csr a;
    be_mat val, x, w;
    bool tw;
} be_aggregate_args;

/* -- DropEdge (Rong and others 2020): the graph of one epoch; a is n x n without entry ids -- */

/* keep_e = 0 or 1 for entry e = (r, c): 0 where r != c and the first number of philox4x32_10(key, counter = {min(r, c),
 * max(r, c), epoch, stream}) is below the threshold of `drop`. Both directions of an edge have the same number.
 * degree_r = sum of keep over row r. keep is 1 x nnz, degree n. */
typedef struct be_edge_drop_args {
    be_mat keep;
    be_ints degree;
    be_csr a;
    be_drop drop;
} be_edge_drop_args;

/* val_e *= root[degree_r] root[degree_c] for entry e = (r, c): Â of the edges that were kept, with root_k = k^-1/2 from
 * the host, so that every device has the same bits. val is 1 x nnz, degree n, root 1 x (n + 1). */
typedef struct be_edge_norm_args {
    be_mat val;
    be_csr a;
    be_ints degree;
    be_mat root;
} be_edge_norm_args;

/* -- attention (GAT): row v of the CSR holds v's neighbours u --
 * H heads, from 1: z and gy are n x (H d), columns h d .. (h + 1) d - 1 those of head h; values of nodes (s, t, gs, gt)
 * n x H, values of entries (alpha, ge) nnz x H by entry id, parameters (a_src, a_dst) H x d; these three have
 * contiguous rows. The formulas hold for each head. */

/* s_v = z_v . a_src, t_v = z_v . a_dst. */
typedef struct be_gat_scores_args {
    be_mat s, t;
    be_mat z, a_src, a_dst;
} be_gat_scores_args;

/* alpha_vu = softmax over u in row v of leakyrelu(s_u + t_v); the row maximum is
 * subtracted. The weighted aggregation that follows is
 * spmm with val = alpha, or with the masked alpha that activate stores under dropout. */
typedef struct be_gat_softmax_args {
    be_mat alpha;
    be_csr a;
    be_mat s, t;
    float slope;
} be_gat_softmax_args;

/* Given gy = dL/dy of y_v = sum_u mask_vu alpha_vu z_u:
 *   q_vu  = mask_vu <gy_v, z_u>
 *   ge_vu = alpha_vu (q_vu - sum_w alpha_vw q_vw) leakyrelu'(s_u + t_v)
 *   gt_v  = sum_u ge_vu
 * alpha_dropped [optional: mask = 1]: mask alpha, like alpha; mask is `scale` where it is not 0, else 0 (where alpha is
 * 0 so is ge, whatever the mask). leakyrelu'(0) = slope. */
typedef struct be_gat_backward_edges_args {
    be_mat ge, gt;
    be_csr a;
    be_mat alpha, alpha_dropped, s, t, gy, z;
    float scale, slope;
} be_gat_backward_edges_args;

/* gs_u = sum over row u of the transpose of ge[id]. */
typedef struct be_gat_edge_sums_args {
    be_mat gs;
    be_csr at;
    be_mat ge;
} be_gat_edge_sums_args;

/* gz_v += gs_v a_src + gt_v a_dst   (on top of the aggregation's part)
 * ga_src += sum_v gs_v z_v, ga_dst += sum_v gt_v z_v. */
typedef struct be_gat_backward_scores_args {
    be_mat gz, ga_src, ga_dst;
    be_mat z, a_src, a_dst, gs, gt;
} be_gat_backward_scores_args;

/* -- batch and pair normalisation: statistics over all n rows -- */

/* mean_j, var_j: mean and biased variance of column j of x (n x d), by means and
 * centred sums of blocks of rows, never as E[x^2] - mean^2. All 1 x d.
 * rmean, rvar [optional, both or none], +=-like:
 *   r = (1 - momentum) r + momentum now, the variance unbiased, n/(n-1) (n = 1: 0). */
typedef struct be_col_stats_args {
    be_mat mean, var, rmean, rvar;
    be_mat x;
    float momentum;
} be_col_stats_args;

/* y = act(gamma (x - mean) r + beta), r = (var + eps)^-1/2. In evaluation mean and
 * var are the running ones. y may be x. */
typedef struct be_batch_apply_args {
    be_mat y;
    be_mat x, mean, var, gamma, beta;
    float eps;
    be_act act;
} be_batch_apply_args;

/* y = act((x - mean) s), s = (eps + sum_j var_j)^-1/2: the sum of the column
 * variances is the mean squared length of the centred rows. y may be x. */
typedef struct be_pair_apply_args {
    be_mat y;
    be_mat x, mean, var;
    float eps;
    be_act act;
} be_pair_apply_args;

/* db_j = sum_v go_vj; q_j = sum_v go_vj (x_vj - mean_j). All 1 x d. */
typedef struct be_norm_sums_args {
    be_mat db, q;
    be_mat go, x, mean;
} be_norm_sums_args;

/* With db, q of norm_sums and r as above:
 *   ggamma += r q, gbeta += db                        [optional, both or none]
 *   gx = gamma r (go - db/n - (x - mean) r^2 q / n).   gx may be go.
 * n is the number of rows of the statistics, db and q: `over`, which is 0 for those of x, more where x is a part. */
static inline int64_t be_over(int64_t over, be_mat x) { return over > 0 ? over : x.rows; }
typedef struct be_batch_backward_args {
    be_mat gx, ggamma, gbeta;
    be_mat go, x, mean, var, gamma, db, q;
    int64_t over;
    float eps;
} be_batch_backward_args;

/* gx = s (go - db/n) - s^3 (sum_j q_j / n) (x - mean), n as above.   gx may be go. */
typedef struct be_pair_backward_args {
    be_mat gx;
    be_mat go, x, mean, var, db, q;
    int64_t over;
    float eps;
} be_pair_backward_args;

/* -- node normalisation: statistics of each row -- */

/* With m_v and w_v the mean and biased variance of row v, s_v = (w_v + eps)^-1/4, the inverse root of its deviation:
 *   y = act(x_v s_v)   y may be x. */
typedef struct be_node_apply_args {
    be_mat y;
    be_mat x;
    float eps;
    be_act act;
} be_node_apply_args;

/* With m, w and s as above, computed again from x, and D_v = sum_k go_vk x_vk:
 *   gx_vj = s_v (go_vj - (x_vj - m_v) D_v / (2 d (w_v + eps)))   gx may be go. */
typedef struct be_node_backward_args {
    be_mat gx;
    be_mat go, x;
    float eps;
} be_node_backward_args;

/* -- differentiable group normalisation, t_vgj = S_vg H_vj never stored -- */

/* S = softmax over g of (H u' + c): s n x G, h n x d, u G x d, c 1 x G
 * [optional]. G = 1 gives ones. */
typedef struct be_group_assign_args {
    be_mat s;
    be_mat h, u, c;
} be_group_assign_args;

/* mean_gj, var_gj of t over the n rows, biased, centred by blocks; G x d, rows
 * contiguous (ld = d). rmean, rvar as in col_stats.
 * u [optional]: s is an output too, computed first as by group_assign with u and c. */
typedef struct be_group_stats_args {
    be_mat mean, var, rmean, rvar;
    be_mat s, h, u, c;
    float momentum;
} be_group_stats_args;

/* With r = (var + eps)^-1/2, A = gamma r, b_j = sum_g (beta_gj - A_gj mean_gj):
 *   y = act(H (1 + lambda S A) + lambda b).
 * mean, var, gamma, beta G x d. y may be h. u [optional]: s is an output too, as in group_stats. */
typedef struct be_group_apply_args {
    be_mat y;
    be_mat h, s, u, c, mean, var, gamma, beta;
    float eps, lambda;
    be_act act;
} be_group_apply_args;

/* db_j = lambda sum_v go_vj; q_gj = lambda sum_v go_vj (t_vgj - mean_gj);
 * ggamma += r q; gbeta_g += db. db 1 x d, the others G x d.
 * y [optional]: the output, n x d, of the ReLU (and dropout) that follows the norm: go is then
 * (y > 0) scale go, as in activate_backward, here and in group_backward_rows. */
typedef struct be_group_backward_sums_args {
    be_mat db, q, ggamma, gbeta;
    be_mat go, y, h, s, mean, var;
    float scale, eps, lambda;
} be_group_backward_sums_args;

/* With db and q of group_backward_sums, A and r as above, D = -1/2 r^3 gamma q:
 *   dt_vgj = lambda A_gj go_vj + (2/n)(t_vgj - mean_gj) D_gj - (1/n) A_gj db_j
 *   dS_vg  = sum_j H_vj dt_vgj
 *   gz_vg  = S_vg (dS_vg - sum_k dS_vk S_vk)          gradient of H u' + c
 *   gh_vj  = go_vj + sum_g S_vg dt_vgj + sum_g gz_vg u_gj
 *   gc_g  += sum_v gz_vg [optional]
 *   gu_gj += sum_v gz_vg H_vj [optional]
 * gz n x G, gu G x d; gh may be go; y as above; 1/n and 2/n with n as in batch_backward. */
typedef struct be_group_backward_rows_args {
    be_mat gh, gz, gc, gu;
    be_mat go, y, h, s, mean, var, gamma, u, db, q;
    int64_t over;
    float scale, eps, lambda;
} be_group_backward_rows_args;

/* -- pairwise folds for the metrics; rows first .. first + out.rows - 1, so that a
 *    caller can split a long fold into launches (at most 2^26 pairs each) -- */

/* out_ic = sum over j with label_j = c of f(||x_{first+i} - x_j||^2), j over all n
 * rows (j = i included), f = sqrt (BE_FOLD_EUCLID), the identity
 * (BE_FOLD_SQUARED) or exp(-scale .) (BE_FOLD_GAUSS). Distances come from
 * differences of entries, so equal rows are at 0. labels n, others than 0..C-1
 * are left out. */
typedef enum be_fold { BE_FOLD_EUCLID, BE_FOLD_SQUARED, BE_FOLD_GAUSS } be_fold;
typedef struct be_pair_fold_args {
    be_mat out;
    be_mat x;
    be_ints labels;
    be_fold kind;
    float scale;
    int64_t first;
} be_pair_fold_args;

/* BE_FOLD_GAUSS for sparse rows: ||x_i - x_j||^2 = sq_i + sq_j - 2 <x_i, x_j>,
 * not below 0. a is n x F with values val (1 x nnz), at its transpose with entry
 * ids, sq 1 x n squared lengths. */
typedef struct be_pair_fold_sparse_args {
    be_mat out;
    be_csr a, at;
    be_mat val, sq;
    be_ints labels;
    float scale;
    int64_t first;
} be_pair_fold_sparse_args;

/* Mean average distance: x unit or zero rows (n x d), norm their lengths (1 x n),
 * D_ij = 1 - <x_i, x_j> computed as ||x_i - x_j||^2 / 2, and 0 when either norm is 0:
 *   sum_i = sum_j D_ij over D_ij > 1e-12, count_i their number. sum 1 x rows, count rows. */
typedef struct be_mad_fold_args {
    be_mat sum;
    be_ints count;
    be_mat x, norm;
    int64_t first;
} be_mad_fold_args;

/* e_v = sum over u in row v of ||w_v x_v - w_u x_u||^2; w 1 x n [optional: ones].
 * e is 1 x n, x n x d. A self-loop adds 0. */
typedef struct be_dirichlet_args {
    be_mat e;
    be_csr a;
    be_mat x, w;
} be_dirichlet_args;

#endif
