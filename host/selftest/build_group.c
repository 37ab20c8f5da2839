/* build_group.c - cases of differentiable group normalisation. d is the width, k the number of groups. Assignments,
 * statistics and sums that an operation reads come from the oracle, rounded to float, as in a model. */
#include <math.h>
#include <string.h>

#include "core/mem.h"
#include "selftest/job.h"

#define EPS 1e-5f
#define MOMENTUM 0.3f

/* h, and the assignment s, n x G: softmax of normal draws. With CASE_OFFSET h has mean 1000 and s hardly differs from
 * node to node: the over-smoothed regime, where uncentred sums lose all digits. */
static void shape_inputs(tensor *h, tensor *s, const op_case *c) {
    double spread = c->flags & CASE_OFFSET ? 1e-3 : 1;
    if (c->flags & CASE_OFFSET)
        shift_scale(h, 1000, 1);
    if (c->flags & CASE_HUGE)
        shift_scale(h, 0, 1e18);
    for (int64_t v = 0; v < s->rows; v++) {
        double sum = 0, *row = s->v + v * s->cols;
        for (int64_t g = 0; g < s->cols; g++)
            sum += row[g] = exp(spread * row[g]);
        for (int64_t g = 0; g < s->cols; g++)
            row[g] = f32(row[g] / sum);
    }
}

/* With kind 1 an operation computes s first, from u of size b and c. Added last: the values of a tensor depend on its
 * number. */
typedef struct assign_inputs {
    tensor *u, *c;
} assign_inputs;

static assign_inputs add_assign_inputs(case_job *job, const op_case *c) {
    if (c->kind != 1)
        return (assign_inputs){0};
    return (assign_inputs){.u = packed(in(job, "u", c->k, c->d)),
                           .c = c->flags & CASE_BARE ? NULL : in(job, "c", 1, c->k)};
}

static void assign_or_shape(tensor *h, tensor *s, const assign_inputs *a, const op_case *c) {
    shape_inputs(h, s, c);
    if (!a->u)
        return;
    shift_scale(a->u, 0, (double)c->b);
    ref_group_assign(s->want, h->v, a->u->v, values(a->c), c->n, c->d, c->k);
    memcpy(s->v, s->want, (size_t)(c->n * c->k) * sizeof *s->v);
}

/* A single row has variance 0 (kept with CASE_CONSTANT); otherwise its variance is drawn: with the exact one every
 * gradient is 0 up to rounding, and there is nothing to compare. */
static void statistics(tensor *mean, tensor *var, const tensor *s, const tensor *h, const op_case *c) {
    if (c->n == 1 && !(c->flags & CASE_CONSTANT)) {
        uniform(var, 0.5, 2);
        return;
    }
    ref_group_stats(mean->v, var->v, NULL, NULL, s->v, h->v, 0, h->rows, h->cols, s->cols);
    round_to_float(mean);
    round_to_float(var);
}

fathom_status build_group_assign(case_job *job, const op_case *c) {
    tensor *s = out(job, "s", c->n, c->k), *h = in(job, "h", c->n, c->d), *u = packed(in(job, "u", c->k, c->d));
    tensor *bias = c->flags & CASE_BARE ? NULL : in(job, "c", 1, c->k);
    TRY(job->status);
    shift_scale(u, 0, (double)c->a);
    if (c->flags & CASE_OFFSET)
        shift_scale(h, 1000, 1);
    if (c->flags & CASE_HUGE)
        shift_scale(h, 0, 1e18);
    ref_group_assign(s->want, h->v, u->v, values(bias), c->n, c->d, c->k);
    TRY(job_upload(job));
    job->args.group_assign = (be_group_assign_args){.s = mat(s), .h = mat(h), .u = mat(u), .c = mat(bias)};
    return FATHOM_OK;
}

fathom_status build_group_stats(case_job *job, const op_case *c) {
    bool bare = c->flags & CASE_BARE;
    tensor *mean = packed(out(job, "mean", c->k, c->d)), *var = packed(out(job, "var", c->k, c->d));
    tensor *s = c->kind == 1 ? out(job, "s", c->n, c->k) : in(job, "s", c->n, c->k), *h = in(job, "h", c->n, c->d);
    tensor *rmean = bare ? NULL : packed(acc(job, "rmean", c->k, c->d));
    tensor *rvar = bare ? NULL : packed(acc(job, "rvar", c->k, c->d));
    assign_inputs assign = add_assign_inputs(job, c);
    TRY(job->status);
    if (rvar)
        uniform(rvar, 0.5, 2);
    if (c->flags & CASE_OFFSET) /* an error of the mean is relative to the deviation, about 1 / G */
        mean->error_scale = 1.0 / c->k;
    if (c->flags & CASE_OFFSET && rmean)
        rmean->error_scale = 1.0 / c->k;
    assign_or_shape(h, s, &assign, c);
    ref_group_stats(mean->want, var->want, wanted(rmean), wanted(rvar), s->v, h->v, (double)MOMENTUM, c->n, c->d, c->k);
    TRY(job_upload(job));
    job->args.group_stats = (be_group_stats_args){.mean = mat(mean),
                                                  .var = mat(var),
                                                  .rmean = mat(rmean),
                                                  .rvar = mat(rvar),
                                                  .s = mat(s),
                                                  .h = mat(h),
                                                  .u = mat(assign.u),
                                                  .c = mat(assign.c),
                                                  .momentum = MOMENTUM};
    return FATHOM_OK;
}

fathom_status build_group_apply(case_job *job, const op_case *c) {
    tensor *y = out(job, "y", c->n, c->d), *h = in(job, "h", c->n, c->d);
    tensor *s = c->kind == 1 ? out(job, "s", c->n, c->k) : in(job, "s", c->n, c->k);
    tensor *mean = packed(in(job, "mean", c->k, c->d)), *var = packed(in(job, "var", c->k, c->d));
    tensor *gamma = packed(in(job, "gamma", c->k, c->d)), *beta = packed(in(job, "beta", c->k, c->d));
    assign_inputs assign = add_assign_inputs(job, c);
    be_act act = case_act(c);
    TRY(job->status);
    y->exact_zeros = c->rate > 0.0f && !c->relu;
    assign_or_shape(h, s, &assign, c);
    statistics(mean, var, s, h, c);
    if (c->flags & CASE_ALIAS)
        alias(y, h);
    ref_group_apply(y->want, h->v, s->v, mean->v, var->v, gamma->v, beta->v, (double)EPS, (double)c->a, &act, c->n,
                    c->d, c->k);
    if (c->flags & CASE_OVERFLOW) { /* of the last group */
        var->v[c->k * c->d - 1] = f32(1e38);
        want_overflow(y, c->d - 1);
    }
    TRY(job_upload(job));
    job->args.group_apply = (be_group_apply_args){.y = mat(y),
                                                  .h = mat(h),
                                                  .u = mat(assign.u),
                                                  .c = mat(assign.c),
                                                  .s = mat(s),
                                                  .mean = mat(mean),
                                                  .var = mat(var),
                                                  .gamma = mat(gamma),
                                                  .beta = mat(beta),
                                                  .eps = EPS,
                                                  .lambda = c->a,
                                                  .act = act};
    return FATHOM_OK;
}

/* What both backward operations read. With kind 1 they also apply the mask of a ReLU, whose output is y; the oracle is
 * given the gradient before it, go_norm. */
typedef struct backward_inputs {
    tensor *go, *h, *s, *mean, *var, *y;
    double *go_norm; /* n x d */
} backward_inputs;

#define RELU_SCALE 2.5f /* of the dropout that follows the ReLU */

/* The values of a tensor depend on its number, so the order counts. */
static void add_backward_inputs(backward_inputs *b, case_job *job, const op_case *c) {
    b->go = in(job, "go", c->n, c->d);
    b->h = in(job, "h", c->n, c->d);
    b->s = in(job, "s", c->n, c->k);
    b->mean = packed(in(job, "mean", c->k, c->d));
    b->var = packed(in(job, "var", c->k, c->d));
}

/* Adds y and computes the values; all other tensors of the case have been added. */
static fathom_status fill_backward_inputs(backward_inputs *b, case_job *job, const op_case *c) {
    b->y = c->kind == 1 ? in(job, "y", c->n, c->d) : NULL;
    TRY(job->status);
    shape_inputs(b->h, b->s, c);
    statistics(b->mean, b->var, b->s, b->h, c);
    TRY(mem_new(&b->go_norm, c->n, c->d, sizeof *b->go_norm, "gradient before an activation"));
    for (int64_t i = 0; i < (int64_t)c->n * c->d; i++)
        b->go_norm[i] = !b->y ? b->go->v[i] : b->y->v[i] > 0.0 ? f32((double)RELU_SCALE * b->go->v[i]) : 0.0;
    return FATHOM_OK;
}

static void oracle_sums(double *db, double *q, double *ggamma, double *gbeta, const backward_inputs *b,
                        const op_case *c) {
    ref_group_backward_sums(db, q, ggamma, gbeta, b->go_norm, b->h->v, b->s->v, b->mean->v, b->var->v, (double)EPS,
                            (double)c->a, c->n, c->d, c->k);
}

fathom_status build_group_backward_sums(case_job *job, const op_case *c) {
    tensor *db = out(job, "db", 1, c->d), *q = packed(out(job, "q", c->k, c->d));
    tensor *ggamma = packed(acc(job, "ggamma", c->k, c->d)), *gbeta = packed(acc(job, "gbeta", c->k, c->d));
    backward_inputs b;
    add_backward_inputs(&b, job, c);
    TRY(fill_backward_inputs(&b, job, c));
    oracle_sums(db->want, q->want, ggamma->want, gbeta->want, &b, c);
    mem_free(b.go_norm);
    TRY(job_upload(job));
    job->args.group_backward_sums = (be_group_backward_sums_args){.db = mat(db),
                                                                  .q = mat(q),
                                                                  .ggamma = mat(ggamma),
                                                                  .gbeta = mat(gbeta),
                                                                  .go = mat(b.go),
                                                                  .y = mat(b.y),
                                                                  .h = mat(b.h),
                                                                  .s = mat(b.s),
                                                                  .mean = mat(b.mean),
                                                                  .var = mat(b.var),
                                                                  .scale = RELU_SCALE,
                                                                  .eps = EPS,
                                                                  .lambda = c->a};
    return FATHOM_OK;
}

fathom_status build_group_backward_rows(case_job *job, const op_case *c) {
    tensor *gh = out(job, "gh", c->n, c->d), *gz = out(job, "gz", c->n, c->k);
    tensor *gc = c->flags & CASE_BARE ? NULL : acc(job, "gc", 1, c->k);
    backward_inputs b;
    add_backward_inputs(&b, job, c);
    tensor *gamma = packed(in(job, "gamma", c->k, c->d)), *u = packed(in(job, "u", c->k, c->d));
    tensor *db = in(job, "db", 1, c->d), *q = packed(in(job, "q", c->k, c->d));
    tensor *gu = c->flags & CASE_BARE ? NULL : packed(acc(job, "gu", c->k, c->d));
    TRY(fill_backward_inputs(&b, job, c));
    oracle_sums(db->v, q->v, u->v, u->v, &b, c); /* u receives ggamma and gbeta, which are not needed */
    round_to_float(db);
    round_to_float(q);
    uniform(u, -1, 1);
    if (c->flags & CASE_ALIAS)
        alias(gh, b.go);
    ref_group_backward_rows(gh->want, gz->want, wanted(gc), wanted(gu), b.go_norm, b.h->v, b.s->v, b.mean->v, b.var->v,
                            gamma->v, u->v, db->v, q->v, (double)EPS, (double)c->a, c->rows ? c->rows : c->n, c->n,
                            c->d, c->k);
    mem_free(b.go_norm);
    TRY(job_upload(job));
    job->args.group_backward_rows = (be_group_backward_rows_args){.gh = mat(gh),
                                                                  .gz = mat(gz),
                                                                  .gc = mat(gc),
                                                                  .gu = mat(gu),
                                                                  .go = mat(b.go),
                                                                  .y = mat(b.y),
                                                                  .h = mat(b.h),
                                                                  .s = mat(b.s),
                                                                  .mean = mat(b.mean),
                                                                  .var = mat(b.var),
                                                                  .gamma = mat(gamma),
                                                                  .u = mat(u),
                                                                  .db = mat(db),
                                                                  .q = mat(q),
                                                                  .over = c->rows,
                                                                  .scale = RELU_SCALE,
                                                                  .eps = EPS,
                                                                  .lambda = c->a};
    return FATHOM_OK;
}
