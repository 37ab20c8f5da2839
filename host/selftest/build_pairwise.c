/* build_pairwise.c - cases of the folds over pairs of rows and of the Dirichlet energy. */
#include <math.h>

#include "selftest/job.h"

static int64_t fold_rows(const op_case *c) { return c->rows ? c->rows : c->n; }

/* Labels -1 .. k: those outside 0 .. k-1 are ignored; with CASE_NONE class 0 is empty. */
static void fold_labels(tensor *labels, const op_case *c) {
    random_ints(labels, -1, c->k + 1);
    for (int64_t v = 0; c->flags & CASE_NONE && v < c->n; v++)
        if (labels->i[v] == 0)
            labels->i[v] = c->k;
}

/* Every third row is a copy of row 0, at distance 0. */
static void equal_rows(tensor *x, const op_case *c) {
    for (int64_t i = 0; c->flags & CASE_ZERO_ROWS && i < x->rows * x->cols; i++)
        if (i / x->cols % 3 == 0)
            x->v[i] = x->v[i % x->cols];
}

/* Entries have deviation 1/sqrt(d): rows are about 1 long and sqrt(2) apart, as unit rows are. */
fathom_status build_pair_fold(case_job *job, const op_case *c) {
    tensor *o = out(job, "out", fold_rows(c), c->k), *x = in(job, "x", c->n, c->d);
    tensor *labels = ints_in(job, "labels", c->n);
    TRY(job->status);
    shift_scale(x, c->flags & CASE_OFFSET ? 1000 : 0, c->flags & CASE_OFFSET ? 1 : 1 / sqrt(c->d));
    equal_rows(x, c);
    fold_labels(labels, c);
    ref_pair_fold(o->want, x->v, labels->i, (be_fold)c->kind, (double)c->a, c->first, fold_rows(c), c->n, c->d, c->k);
    TRY(job_upload(job));
    job->args.pair_fold = (be_pair_fold_args){
        .out = mat(o), .x = mat(x), .labels = ints(labels), .kind = (be_fold)c->kind, .scale = c->a, .first = c->first};
    return FATHOM_OK;
}

/* The matrix is n x d; values are scaled so that rows are about 1 long. */
fathom_status build_pair_fold_sparse(case_job *job, const op_case *c) {
    graph g, t;
    tensor *o = out(job, "out", fold_rows(c), c->k);
    TRY(make_graph(job, &g, c->n, c->d, false));
    TRY(make_transpose(job, &t, &g));
    tensor *val = in(job, "val", 1, g.nnz), *sq = in(job, "sq", 1, c->n), *labels = ints_in(job, "labels", c->n);
    TRY(job->status);
    uniform(val, 0.1, 0.6);
    fold_labels(labels, c);
    ref_csr a = oracle_csr(&g);
    for (int64_t v = 0; v < c->n; v++) {
        double sum = 0;
        for (int64_t e = a.indptr[v]; e < a.indptr[v + 1]; e++)
            sum += val->v[e] * val->v[e];
        sq->v[v] = f32(sum);
    }
    ref_pair_fold_sparse(o->want, &a, val->v, sq->v, labels->i, (double)c->a, c->first, fold_rows(c), c->k);
    TRY(job_upload(job));
    job->args.pair_fold_sparse = (be_pair_fold_sparse_args){.out = mat(o),
                                                            .a = csr(&g),
                                                            .at = csr(&t),
                                                            .val = mat(g.nnz ? val : NULL),
                                                            .sq = mat(sq),
                                                            .labels = ints(labels),
                                                            .scale = c->a,
                                                            .first = c->first};
    return FATHOM_OK;
}

/* Unit rows; with CASE_ZERO_ROWS some rows are equal and every fifth is 0 with length 0. */
fathom_status build_mad_fold(case_job *job, const op_case *c) {
    tensor *sum = out(job, "sum", 1, fold_rows(c)), *count = ints_out(job, "count", fold_rows(c));
    tensor *x = in(job, "x", c->n, c->d), *norm = in(job, "norm", 1, c->n);
    TRY(job->status);
    equal_rows(x, c);
    for (int64_t i = 0; c->flags & CASE_ZERO_ROWS && i < (int64_t)c->n * c->d; i++)
        if (i / c->d % 5 == 4)
            x->v[i] = 0;
    ref_row_normalise(x->v, norm->v, x->v, BE_ROW_L2, c->n, c->d);
    round_to_float(x);
    round_to_float(norm);
    ref_mad_fold(sum->want, count->iwant, x->v, norm->v, c->first, fold_rows(c), c->n, c->d);
    TRY(job_upload(job));
    job->args.mad_fold =
        (be_mad_fold_args){.sum = mat(sum), .count = ints(count), .x = mat(x), .norm = mat(norm), .first = c->first};
    return FATHOM_OK;
}

fathom_status build_dirichlet(case_job *job, const op_case *c) {
    graph g;
    tensor *e = out(job, "e", 1, c->n);
    TRY(make_graph(job, &g, c->n, c->n, c->flags & CASE_TRANSPOSE));
    tensor *x = in(job, "x", c->n, c->d), *w = c->flags & CASE_BARE ? NULL : in(job, "w", 1, c->n);
    TRY(job->status);
    if (w)
        uniform(w, 0.1, 1);
    if (c->flags & CASE_OFFSET)
        shift_scale(x, 1000, 1);
    ref_csr a = oracle_csr(&g);
    ref_dirichlet(e->want, &a, x->v, values(w), c->d);
    TRY(job_upload(job));
    job->args.dirichlet = (be_dirichlet_args){.e = mat(e), .a = csr(&g), .x = mat(x), .w = mat(w)};
    return FATHOM_OK;
}
