/* build_products.c - cases of the dense and sparse products. */
#include <math.h>

#include "selftest/job.h"

/* c is n x d, the inner dimension k. */
fathom_status build_gemm(case_job *job, const op_case *c) {
    bool ta = c->flags & CASE_TA, tb = c->flags & CASE_TB;
    tensor *m = c->b != 0.0f ? acc(job, "c", c->n, c->d) : out(job, "c", c->n, c->d);
    tensor *a = ta ? in(job, "a", c->k, c->n) : in(job, "a", c->n, c->k);
    tensor *b = tb ? in(job, "b", c->d, c->k) : in(job, "b", c->k, c->d);
    TRY(job->status);
    ref_gemm(m->want, a->v, b->v, ta, tb, (double)c->a, (double)c->b, c->n, c->d, c->k);
    TRY(job_upload(job));
    job->args.gemm =
        (be_gemm_args){.c = mat(m), .a = mat(a), .b = mat(b), .ta = ta, .tb = tb, .alpha = c->a, .beta = c->b};
    return FATHOM_OK;
}

/* The matrix is n x k (k 0: square); z is present when b is not 0, and is y with CASE_ALIAS; kind 1: with a plan
 * that knows its transpose. The columns k that the hub of GRAPH_HUB names are the entries of row 0. */
fathom_status build_spmm(case_job *job, const op_case *c) {
    int64_t cols = c->k ? c->k : c->n, heads = case_heads(c), width = heads * c->d;
    graph g, back;
    tensor *y = out(job, "y", c->n, width);
    if (c->kind == 1) {
        TRY(make_graph(job, &back, cols, c->n, false));
        TRY(make_transpose(job, &g, &back));
    } else {
        TRY(make_graph(job, &g, c->n, cols, c->flags & CASE_TRANSPOSE));
    }
    tensor *x = in(job, "x", cols, width), *z = c->b != 0.0f ? in(job, "z", c->n, width) : NULL, *val = NULL;
    if (!(c->flags & CASE_BARE))
        val = heads > 1 ? packed(in(job, "val", g.nnz, heads)) : in(job, "val", 1, g.nnz);
    be_drop none = {0};
    TRY(job->status);
    if (c->flags & CASE_ALIAS)
        alias(y, z);
    ref_csr a = oracle_csr(&g);
    ref_spmm(y->want, &a, values(val), x->v, values(z), &none, (double)c->a, (double)c->b, heads, c->d);
    TRY(job_upload(job));
    be_csr matrix = csr(&g);
    if (c->kind == 1) {
        be_csr transpose = csr(&back);
        TRY(job_prepare(job, &matrix, &transpose));
    } else if (!(c->flags & CASE_UNPREPARED)) {
        TRY(job_prepare(job, &matrix, NULL));
    }
    job->args.spmm = (be_spmm_args){
        .y = mat(y), .a = matrix, .val = mat(val), .x = mat(x), .z = mat(z), .alpha = c->a, .beta = c->b};
    return FATHOM_OK;
}

/* The matrix is n x n, x n x d, y n x k; kind 1: with p. */
fathom_status build_aggregate(case_job *job, const op_case *c) {
    bool tw = c->flags & CASE_TB;
    graph g;
    tensor *y = out(job, "y", c->n, c->k), *p = c->kind == 1 ? out(job, "p", c->n, c->d) : NULL;
    TRY(make_graph(job, &g, c->n, c->n, c->flags & CASE_TRANSPOSE));
    tensor *val = c->flags & CASE_BARE ? NULL : in(job, "val", 1, g.nnz), *x = in(job, "x", c->n, c->d);
    tensor *w = tw ? in(job, "w", c->k, c->d) : in(job, "w", c->d, c->k);
    TRY(job->status);
    ref_csr a = oracle_csr(&g);
    ref_aggregate(y->want, p ? p->want : NULL, &a, values(val), x->v, w->v, tw, c->d, c->k);
    TRY(job_upload(job));
    be_csr matrix = csr(&g);
    if (!(c->flags & CASE_UNPREPARED))
        TRY(job_prepare(job, &matrix, NULL));
    job->args.aggregate =
        (be_aggregate_args){.y = mat(y), .p = mat(p), .a = matrix, .val = mat(val), .x = mat(x), .w = mat(w), .tw = tw};
    return FATHOM_OK;
}

fathom_status build_edge_drop(case_job *job, const op_case *c) {
    graph g;
    TRY(make_graph(job, &g, c->n, c->n, false));
    tensor *keep = out(job, "keep", 1, g.nnz), *degree = ints_out(job, "degree", c->n);
    be_drop drop = case_drop(c);
    TRY(job->status);
    keep->exact_zeros = true;
    ref_csr a = oracle_csr(&g);
    ref_edge_drop(keep->want, degree->iwant, &a, &drop);
    TRY(job_upload(job));
    job->args.edge_drop = (be_edge_drop_args){.keep = mat(keep), .degree = ints(degree), .a = csr(&g), .drop = drop};
    return FATHOM_OK;
}

/* val: what edge_drop leaves, 0 or 1. */
fathom_status build_edge_norm(case_job *job, const op_case *c) {
    graph g;
    TRY(make_graph(job, &g, c->n, c->n, false));
    tensor *val = acc(job, "val", 1, g.nnz), *degree = ints_in(job, "degree", c->n),
           *root = in(job, "root", 1, c->n + 1);
    be_drop drop = case_drop(c);
    TRY(job->status);
    val->exact_zeros = true;
    ref_csr a = oracle_csr(&g);
    ref_edge_drop(val->v, degree->i, &a, &drop);
    for (int64_t e = 0; e < g.nnz; e++)
        val->want[e] = val->v[e];
    for (int64_t k = 0; k <= c->n; k++)
        root->v[k] = k > 0 ? f32(1 / sqrt((double)k)) : 0;
    ref_edge_norm(val->want, &a, degree->i, root->v);
    TRY(job_upload(job));
    job->args.edge_norm = (be_edge_norm_args){.val = mat(val), .a = csr(&g), .degree = ints(degree), .root = mat(root)};
    return FATHOM_OK;
}
