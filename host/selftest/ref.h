/* ref.h - the oracles: every operation of the contract in double, by plain loops
 * straight from the formula in backend/operations.h. Slow and simple by design:
 * they share no code with a back end. Matrices are row-major without padding; an
 * absent optional argument is NULL; `+=` outputs accumulate, as in the contract. */
#ifndef SELFTEST_REF_H
#define SELFTEST_REF_H

#include "backend/operations.h"

typedef struct ref_csr {
    int64_t rows, cols, nnz;
    const int64_t *indptr;
    const int32_t *indices, *eids; /* eids NULL: the id of entry e is e */
} ref_csr;

static inline int64_t ref_id(const ref_csr *a, int64_t e) { return a->eids ? a->eids[e] : e; }

/* The factor of element i under dropout: 0 or 1 / (1 - rate). */
double ref_drop_factor(const be_drop *drop, int64_t i);
double ref_act(const be_act *act, double x, int64_t i);

/* pointwise */
void ref_fill(double *y, double value, int64_t n, int64_t d);
void ref_copy(double *y, const double *x, int64_t n, int64_t d);
void ref_activate(double *y, const double *x, const be_act *act, int64_t n, int64_t d);
void ref_activate_backward(double *gx, const double *gy, const double *y, const be_act *act, int64_t n, int64_t d);
void ref_axpby(double *y, const double *x, const double *z, double a, double b, int64_t n, int64_t d);
void ref_bias_add(double *y, const double *x, const double *b, int64_t n, int64_t d);
void ref_col_sum(double *s, const double *x, int64_t n, int64_t d);
void ref_row_normalise(double *y, double *norm, const double *x, be_row_norm kind, int64_t n, int64_t d);

/* dense, sparse: c is m x n, the inner dimension k */
void ref_gemm(double *c, const double *a, const double *b, bool ta, bool tb, double alpha, double beta, int64_t m,
              int64_t n, int64_t k);
/* y is rows x m, p rows x d or NULL, op(w) d x m. */
void ref_aggregate(double *y, double *p, const ref_csr *a, const double *val, const double *x, const double *w, bool tw,
                   int64_t d, int64_t m);
/* Here and in attention: d columns of each head; val, if any, has a value of each entry for each head. */
void ref_spmm(double *y, const ref_csr *a, const double *val, const double *x, const double *z, const be_drop *drop,
              double alpha, double beta, int64_t heads, int64_t d);

/* DropEdge */
void ref_edge_drop(double *keep, int32_t *degree, const ref_csr *a, const be_drop *drop);
void ref_edge_norm(double *val, const ref_csr *a, const int32_t *degree, const double *root);

/* attention */
void ref_gat_scores(double *s, double *t, const double *z, const double *a_src, const double *a_dst, int64_t n,
                    int64_t heads, int64_t d);
void ref_gat_softmax(double *alpha, const ref_csr *a, const double *s, const double *t, double slope, int64_t heads);
void ref_gat_backward_edges(double *ge, double *gt, const ref_csr *a, const double *alpha, const double *s,
                            const double *t, const double *gy, const double *z, const be_drop *drop, double slope,
                            int64_t heads, int64_t d);
void ref_gat_edge_sums(double *gs, const ref_csr *at, const double *ge, int64_t heads);
void ref_gat_backward_scores(double *gz, double *ga_src, double *ga_dst, const double *z, const double *a_src,
                             const double *a_dst, const double *gs, const double *gt, int64_t n, int64_t heads,
                             int64_t d);

/* batch and pair normalisation */
void ref_col_stats(double *mean, double *var, double *rmean, double *rvar, const double *x, double momentum, int64_t n,
                   int64_t d);
void ref_batch_apply(double *y, const double *x, const double *mean, const double *var, const double *gamma,
                     const double *beta, double eps, const be_act *act, int64_t n, int64_t d);
void ref_pair_apply(double *y, const double *x, const double *mean, const double *var, double eps, const be_act *act,
                    int64_t n, int64_t d);
void ref_norm_sums(double *db, double *q, const double *go, const double *x, const double *mean, int64_t n, int64_t d);
void ref_batch_backward(double *gx, double *ggamma, double *gbeta, const double *go, const double *x,
                        const double *mean, const double *var, const double *gamma, const double *db, const double *q,
                        double eps, int64_t over, int64_t n, int64_t d);
void ref_pair_backward(double *gx, const double *go, const double *x, const double *mean, const double *var,
                       const double *db, const double *q, double eps, int64_t over, int64_t n, int64_t d);

/* node normalisation */
void ref_node_apply(double *y, const double *x, double eps, const be_act *act, int64_t n, int64_t d);
void ref_node_backward(double *gx, const double *go, const double *x, double eps, int64_t n, int64_t d);

/* group normalisation */
void ref_group_assign(double *s, const double *h, const double *u, const double *c, int64_t n, int64_t d,
                      int64_t groups);
void ref_group_stats(double *mean, double *var, double *rmean, double *rvar, const double *s, const double *h,
                     double momentum, int64_t n, int64_t d, int64_t groups);
void ref_group_apply(double *y, const double *h, const double *s, const double *mean, const double *var,
                     const double *gamma, const double *beta, double eps, double lambda, const be_act *act, int64_t n,
                     int64_t d, int64_t groups);
void ref_group_backward_sums(double *db, double *q, double *ggamma, double *gbeta, const double *go, const double *h,
                             const double *s, const double *mean, const double *var, double eps, double lambda,
                             int64_t n, int64_t d, int64_t groups);
void ref_group_backward_rows(double *gh, double *gz, double *gc, double *gu, const double *go, const double *h,
                             const double *s, const double *mean, const double *var, const double *gamma,
                             const double *u, const double *db, const double *q, double eps, double lambda,
                             int64_t over, int64_t n, int64_t d, int64_t groups);

/* loss, accuracy, optimiser */
void ref_softmax_xent(double *loss, double *gz, const double *z, const double *weight, const int32_t *labels,
                      const int32_t *sets, int set, int64_t count, int64_t n, int64_t classes);
void ref_sigmoid_xent(double *loss, double *gz, const double *z, const double *target, const int32_t *sets, int set,
                      int64_t count, int64_t n, int64_t classes);
void ref_label_counts(int32_t *hits, int32_t *predicted, int64_t sets_counted, const double *z, const double *target,
                      const int32_t *sets, int64_t n, int64_t classes);
void ref_clip_norm(double *y, const double *x, double limit, int64_t len);
void ref_argmax(int32_t *pred, const double *z, int64_t n, int64_t classes);
void ref_accuracy(int32_t *correct, int64_t sets_counted, const int32_t *pred, const int32_t *labels,
                  const int32_t *sets, int64_t n);
void ref_adam(double *w, double *m, double *v, const double *g, double lr, double beta1, double beta2, double eps,
              double decay, int64_t step, int64_t len);

/* pairwise: rows first .. first + rows - 1 of n */
void ref_pair_fold(double *out, const double *x, const int32_t *labels, be_fold kind, double scale, int64_t first,
                   int64_t rows, int64_t n, int64_t d, int64_t classes);
void ref_pair_fold_sparse(double *out, const ref_csr *a, const double *val, const double *sq, const int32_t *labels,
                          double scale, int64_t first, int64_t rows, int64_t classes);
void ref_mad_fold(double *sum, int32_t *count, const double *x, const double *norm, int64_t first, int64_t rows,
                  int64_t n, int64_t d);
void ref_dirichlet(double *e, const ref_csr *a, const double *x, const double *w, int64_t d);

#endif
