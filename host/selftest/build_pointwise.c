/* build_pointwise.c - cases of the element-wise operations and of row and column sums. */
#include "selftest/job.h"

fathom_status build_fill(case_job *job, const op_case *c) {
    tensor *y = out(job, "y", c->n, c->d);
    TRY(job->status);
    ref_fill(y->want, (double)c->a, c->n, c->d);
    TRY(job_upload(job));
    job->args.fill = (be_fill_args){.y = mat(y), .value = c->a};
    return FATHOM_OK;
}

fathom_status build_copy(case_job *job, const op_case *c) {
    tensor *y = out(job, "y", c->n, c->d), *x = in(job, "x", c->n, c->d);
    TRY(job->status);
    ref_copy(y->want, x->v, c->n, c->d);
    TRY(job_upload(job));
    job->args.copy = (be_copy_args){.y = mat(y), .x = mat(x)};
    return FATHOM_OK;
}

fathom_status build_activate(case_job *job, const op_case *c) {
    tensor *y = out(job, "y", c->n, c->d), *x = in(job, "x", c->n, c->d);
    be_act act = case_act(c);
    TRY(job->status);
    y->exact_zeros = true;
    if (c->flags & CASE_ALIAS)
        alias(y, x);
    ref_activate(y->want, x->v, &act, c->n, c->d);
    TRY(job_upload(job));
    job->args.activate = (be_activate_args){.y = mat(y), .x = mat(x), .act = act};
    return FATHOM_OK;
}

fathom_status build_activate_backward(case_job *job, const op_case *c) {
    tensor *gx = out(job, "gx", c->n, c->d), *gy = in(job, "gy", c->n, c->d);
    tensor *y = c->flags & CASE_BARE ? NULL : in(job, "y", c->n, c->d);
    be_act act = case_act(c);
    TRY(job->status);
    gx->exact_zeros = true;
    if (c->flags & CASE_ALIAS)
        alias(gx, gy);
    for (int64_t i = 0; y && i < (int64_t)c->n * c->d; i++) /* an output of activate */
        y->v[i] = f32(ref_act(&act, y->v[i], i));
    ref_activate_backward(gx->want, gy->v, values(y), &act, c->n, c->d);
    TRY(job_upload(job));
    job->args.activate_backward = (be_activate_backward_args){.gx = mat(gx), .gy = mat(gy), .y = mat(y), .act = act};
    return FATHOM_OK;
}

fathom_status build_axpby(case_job *job, const op_case *c) {
    tensor *y = out(job, "y", c->n, c->d), *x = in(job, "x", c->n, c->d);
    tensor *z = c->flags & CASE_BARE ? NULL : in(job, "z", c->n, c->d);
    TRY(job->status);
    if (c->flags & CASE_ALIAS)
        alias(y, x);
    if (c->flags & CASE_ALIAS2)
        alias(y, z);
    ref_axpby(y->want, x->v, values(z), (double)c->a, (double)c->b, c->n, c->d);
    TRY(job_upload(job));
    job->args.axpby = (be_axpby_args){.y = mat(y), .x = mat(x), .z = mat(z), .a = c->a, .b = c->b};
    return FATHOM_OK;
}

fathom_status build_bias_add(case_job *job, const op_case *c) {
    tensor *y = out(job, "y", c->n, c->d), *x = in(job, "x", c->n, c->d), *b = in(job, "b", 1, c->d);
    TRY(job->status);
    if (c->flags & CASE_ALIAS)
        alias(y, x);
    ref_bias_add(y->want, x->v, b->v, c->n, c->d);
    TRY(job_upload(job));
    job->args.bias_add = (be_bias_add_args){.y = mat(y), .x = mat(x), .b = mat(b)};
    return FATHOM_OK;
}

fathom_status build_col_sum(case_job *job, const op_case *c) {
    tensor *s = acc(job, "s", 1, c->d), *x = in(job, "x", c->n, c->d);
    TRY(job->status);
    if (c->flags & CASE_OFFSET)
        shift_scale(x, 1000, 1);
    ref_col_sum(s->want, x->v, c->n, c->d);
    TRY(job_upload(job));
    job->args.col_sum = (be_col_sum_args){.s = mat(s), .x = mat(x)};
    return FATHOM_OK;
}

/* Positive rows for BE_ROW_SUM, as features are: division by a sum near 0 has no digits to compare. */
fathom_status build_row_normalise(case_job *job, const op_case *c) {
    tensor *y = out(job, "y", c->n, c->d), *x = in(job, "x", c->n, c->d);
    tensor *norm = c->flags & CASE_BARE ? NULL : out(job, "norm", 1, c->n);
    be_row_norm kind = (be_row_norm)c->kind;
    TRY(job->status);
    y->exact_zeros = true;
    if (kind == BE_ROW_SUM)
        uniform(x, 0.1, 1);
    for (int64_t i = 0; c->flags & CASE_ZERO_ROWS && i < (int64_t)c->n * c->d; i++)
        if (i / c->d % 3 == 0)
            x->v[i] = 0;
    if (c->flags & CASE_ALIAS)
        alias(y, x);
    ref_row_normalise(y->want, wanted(norm), x->v, kind, c->n, c->d);
    TRY(job_upload(job));
    job->args.row_normalise = (be_row_normalise_args){.y = mat(y), .norm = mat(norm), .x = mat(x), .kind = kind};
    return FATHOM_OK;
}
