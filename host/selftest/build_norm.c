/* build_norm.c - cases of batch, pair and node normalisation. Statistics that an operation reads are the oracle's of x,
 * rounded to float, as in a model. */
#include "selftest/job.h"

#define EPS 1e-5f
#define PAIR_EPS 1e-6f
#define MOMENTUM 0.3f
#define HUGE_VARIANCE 1e38 /* above VARIANCE_LIMIT */

/* x with mean 1000, of order 1e18 or with a constant column, by the flags of the case. */
static void shape_input(tensor *x, const op_case *c) {
    if (c->flags & CASE_OFFSET)
        shift_scale(x, 1000, 1);
    if (c->flags & CASE_HUGE)
        shift_scale(x, 0, 1e18);
    for (int64_t v = 0; c->flags & CASE_CONSTANT && v < x->rows; v++)
        x->v[v * x->cols] = 0.75;
}

static void statistics(tensor *mean, tensor *var, const tensor *x) {
    ref_col_stats(mean->v, var->v, NULL, NULL, x->v, 0, x->rows, x->cols);
    round_to_float(mean);
    round_to_float(var);
}

/* The inputs of a backward operation: statistics of x, and db and q of norm_sums, all rounded. */
static void backward_inputs(tensor *x, tensor *mean, tensor *var, tensor *db, tensor *q, const tensor *go,
                            const op_case *c) {
    shape_input(x, c);
    statistics(mean, var, x);
    ref_norm_sums(db->v, q->v, go->v, x->v, mean->v, x->rows, x->cols);
    round_to_float(db);
    round_to_float(q);
}

fathom_status build_col_stats(case_job *job, const op_case *c) {
    bool bare = c->flags & CASE_BARE;
    tensor *mean = out(job, "mean", 1, c->d), *var = out(job, "var", 1, c->d), *x = in(job, "x", c->n, c->d);
    tensor *rmean = bare ? NULL : acc(job, "rmean", 1, c->d), *rvar = bare ? NULL : acc(job, "rvar", 1, c->d);
    TRY(job->status);
    if (rvar)
        uniform(rvar, 0.5, 2);
    if (c->flags & CASE_OFFSET) /* an error of the mean is relative to the deviation */
        mean->error_scale = 1;
    if (c->flags & CASE_OFFSET && rmean)
        rmean->error_scale = 1;
    shape_input(x, c);
    ref_col_stats(mean->want, var->want, wanted(rmean), wanted(rvar), x->v, (double)MOMENTUM, c->n, c->d);
    TRY(job_upload(job));
    job->args.col_stats = (be_col_stats_args){
        .mean = mat(mean), .var = mat(var), .rmean = mat(rmean), .rvar = mat(rvar), .x = mat(x), .momentum = MOMENTUM};
    return FATHOM_OK;
}

fathom_status build_batch_apply(case_job *job, const op_case *c) {
    tensor *y = out(job, "y", c->n, c->d), *x = in(job, "x", c->n, c->d);
    tensor *mean = in(job, "mean", 1, c->d), *var = in(job, "var", 1, c->d);
    tensor *gamma = in(job, "gamma", 1, c->d), *beta = in(job, "beta", 1, c->d);
    be_act act = case_act(c);
    TRY(job->status);
    y->exact_zeros = c->rate > 0.0f && !c->relu;
    shape_input(x, c);
    statistics(mean, var, x);
    if (c->flags & CASE_ALIAS)
        alias(y, x);
    ref_batch_apply(y->want, x->v, mean->v, var->v, gamma->v, beta->v, (double)EPS, &act, c->n, c->d);
    if (c->flags & CASE_OVERFLOW) {
        var->v[c->d - 1] = f32(HUGE_VARIANCE);
        want_overflow(y, c->d - 1);
    }
    TRY(job_upload(job));
    job->args.batch_apply = (be_batch_apply_args){.y = mat(y),
                                                  .x = mat(x),
                                                  .mean = mat(mean),
                                                  .var = mat(var),
                                                  .gamma = mat(gamma),
                                                  .beta = mat(beta),
                                                  .eps = EPS,
                                                  .act = act};
    return FATHOM_OK;
}

fathom_status build_pair_apply(case_job *job, const op_case *c) {
    tensor *y = out(job, "y", c->n, c->d), *x = in(job, "x", c->n, c->d);
    tensor *mean = in(job, "mean", 1, c->d), *var = in(job, "var", 1, c->d);
    be_act act = case_act(c);
    TRY(job->status);
    shape_input(x, c);
    statistics(mean, var, x);
    if (c->flags & CASE_ALIAS)
        alias(y, x);
    ref_pair_apply(y->want, x->v, mean->v, var->v, (double)PAIR_EPS, &act, c->n, c->d);
    if (c->flags & CASE_OVERFLOW)
        var->v[c->d - 1] = f32(HUGE_VARIANCE);
    for (int64_t j = 0; c->flags & CASE_OVERFLOW && j < c->d; j++)
        want_overflow(y, j);
    TRY(job_upload(job));
    job->args.pair_apply =
        (be_pair_apply_args){.y = mat(y), .x = mat(x), .mean = mat(mean), .var = mat(var), .eps = PAIR_EPS, .act = act};
    return FATHOM_OK;
}

fathom_status build_norm_sums(case_job *job, const op_case *c) {
    tensor *db = out(job, "db", 1, c->d), *q = out(job, "q", 1, c->d), *go = in(job, "go", c->n, c->d);
    tensor *x = in(job, "x", c->n, c->d), *mean = in(job, "mean", 1, c->d);
    TRY(job->status);
    shape_input(x, c);
    for (int64_t j = 0; j < c->d; j++) /* not exactly the mean of x, so that q does not cancel */
        mean->v[j] = f32((c->flags & CASE_OFFSET ? 1000 : 0) + (c->flags & CASE_HUGE ? 1e17 : 0.1) * mean->v[j]);
    ref_norm_sums(db->want, q->want, go->v, x->v, mean->v, c->n, c->d);
    TRY(job_upload(job));
    job->args.norm_sums =
        (be_norm_sums_args){.db = mat(db), .q = mat(q), .go = mat(go), .x = mat(x), .mean = mat(mean)};
    return FATHOM_OK;
}

fathom_status build_batch_backward(case_job *job, const op_case *c) {
    bool bare = c->flags & CASE_BARE;
    tensor *gx = out(job, "gx", c->n, c->d), *ggamma = bare ? NULL : acc(job, "ggamma", 1, c->d);
    tensor *gbeta = bare ? NULL : acc(job, "gbeta", 1, c->d);
    tensor *go = in(job, "go", c->n, c->d), *x = in(job, "x", c->n, c->d);
    tensor *mean = in(job, "mean", 1, c->d), *var = in(job, "var", 1, c->d), *gamma = in(job, "gamma", 1, c->d);
    tensor *db = in(job, "db", 1, c->d), *q = in(job, "q", 1, c->d);
    TRY(job->status);
    backward_inputs(x, mean, var, db, q, go, c);
    if (c->flags & CASE_ALIAS)
        alias(gx, go);
    ref_batch_backward(gx->want, wanted(ggamma), wanted(gbeta), go->v, x->v, mean->v, var->v, gamma->v, db->v, q->v,
                       (double)EPS, c->rows ? c->rows : c->n, c->n, c->d);
    TRY(job_upload(job));
    job->args.batch_backward = (be_batch_backward_args){.gx = mat(gx),
                                                        .ggamma = mat(ggamma),
                                                        .gbeta = mat(gbeta),
                                                        .go = mat(go),
                                                        .x = mat(x),
                                                        .mean = mat(mean),
                                                        .var = mat(var),
                                                        .gamma = mat(gamma),
                                                        .db = mat(db),
                                                        .q = mat(q),
                                                        .over = c->rows,
                                                        .eps = EPS};
    return FATHOM_OK;
}

fathom_status build_pair_backward(case_job *job, const op_case *c) {
    tensor *gx = out(job, "gx", c->n, c->d), *go = in(job, "go", c->n, c->d), *x = in(job, "x", c->n, c->d);
    tensor *mean = in(job, "mean", 1, c->d), *var = in(job, "var", 1, c->d);
    tensor *db = in(job, "db", 1, c->d), *q = in(job, "q", 1, c->d);
    TRY(job->status);
    backward_inputs(x, mean, var, db, q, go, c);
    if (c->flags & CASE_ALIAS)
        alias(gx, go);
    ref_pair_backward(gx->want, go->v, x->v, mean->v, var->v, db->v, q->v, (double)PAIR_EPS, c->rows ? c->rows : c->n,
                      c->n, c->d);
    TRY(job_upload(job));
    job->args.pair_backward = (be_pair_backward_args){.gx = mat(gx),
                                                      .go = mat(go),
                                                      .x = mat(x),
                                                      .mean = mat(mean),
                                                      .var = mat(var),
                                                      .db = mat(db),
                                                      .q = mat(q),
                                                      .over = c->rows,
                                                      .eps = PAIR_EPS};
    return FATHOM_OK;
}

/* x is of order 1e18 (CASE_HUGE), or one row of it overflows; CASE_CONSTANT: rows of equal values have variance 0. */
static void shape_rows(tensor *x, const op_case *c) {
    shape_input(x, c);
    for (int64_t i = 0; c->flags & CASE_ZERO_ROWS && i < x->rows * x->cols; i++)
        if (i / x->cols % 3 == 0)
            x->v[i] = i / x->cols % 2 ? 0 : 0.75;
}

fathom_status build_node_apply(case_job *job, const op_case *c) {
    tensor *y = out(job, "y", c->n, c->d), *x = in(job, "x", c->n, c->d);
    be_act act = case_act(c);
    TRY(job->status);
    shape_rows(x, c);
    if (c->flags & CASE_ALIAS)
        alias(y, x);
    ref_node_apply(y->want, x->v, (double)EPS, &act, c->n, c->d);
    TRY(job_upload(job));
    job->args.node_apply = (be_node_apply_args){.y = mat(y), .x = mat(x), .eps = EPS, .act = act};
    return FATHOM_OK;
}

fathom_status build_node_backward(case_job *job, const op_case *c) {
    tensor *gx = out(job, "gx", c->n, c->d), *go = in(job, "go", c->n, c->d), *x = in(job, "x", c->n, c->d);
    TRY(job->status);
    shape_rows(x, c);
    if (c->flags & CASE_ALIAS)
        alias(gx, go);
    ref_node_backward(gx->want, go->v, x->v, (double)EPS, c->n, c->d);
    TRY(job_upload(job));
    job->args.node_backward = (be_node_backward_args){.gx = mat(gx), .go = mat(go), .x = mat(x), .eps = EPS};
    return FATHOM_OK;
}
