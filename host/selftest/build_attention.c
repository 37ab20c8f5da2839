/* build_attention.c - cases of GAT's edge operations. Attention comes from the oracle's softmax, rounded, so that rows
 * sum to 1 as in a model. */
#include "selftest/job.h"

#define SLOPE 0.2f

fathom_status build_gat_scores(case_job *job, const op_case *c) {
    tensor *s = out(job, "s", 1, c->n), *t = out(job, "t", 1, c->n), *z = in(job, "z", c->n, c->d);
    tensor *a_src = in(job, "a_src", 1, c->d), *a_dst = in(job, "a_dst", 1, c->d);
    TRY(job->status);
    ref_gat_scores(s->want, t->want, z->v, a_src->v, a_dst->v, c->n, c->d);
    TRY(job_upload(job));
    job->args.gat_scores =
        (be_gat_scores_args){.s = mat(s), .t = mat(t), .z = mat(z), .a_src = mat(a_src), .a_dst = mat(a_dst)};
    return FATHOM_OK;
}

/* Scores are scaled by a: exp of the difference to the row maximum underflows for large ones. */
fathom_status build_gat_softmax(case_job *job, const op_case *c) {
    graph g;
    TRY(make_graph(job, &g, c->n, c->n, c->flags & CASE_TRANSPOSE));
    tensor *alpha = out(job, "alpha", 1, g.nnz), *s = in(job, "s", 1, c->n), *t = in(job, "t", 1, c->n);
    TRY(job->status);
    shift_scale(s, 0, (double)c->a);
    shift_scale(t, 0, (double)c->a);
    ref_csr a = oracle_csr(&g);
    ref_gat_softmax(alpha->want, &a, s->v, t->v, (double)SLOPE);
    TRY(job_upload(job));
    be_csr matrix = csr(&g);
    if (!g.eids) /* with a plan and without */
        TRY(job_prepare(job, &matrix, NULL));
    job->args.gat_softmax =
        (be_gat_softmax_args){.alpha = mat(alpha), .a = matrix, .s = mat(s), .t = mat(t), .slope = SLOPE};
    return FATHOM_OK;
}

fathom_status build_gat_backward_edges(case_job *job, const op_case *c) {
    graph g;
    TRY(make_graph(job, &g, c->n, c->n, c->flags & CASE_TRANSPOSE));
    tensor *ge = out(job, "ge", 1, g.nnz), *gt = out(job, "gt", 1, c->n), *alpha = in(job, "alpha", 1, g.nnz);
    tensor *s = in(job, "s", 1, c->n), *t = in(job, "t", 1, c->n);
    tensor *gy = in(job, "gy", c->n, c->d), *z = in(job, "z", c->n, c->d);
    be_drop drop = case_drop(c);
    tensor *alpha_dropped = drop.rate > 0.0f ? in(job, "alpha_dropped", 1, g.nnz) : NULL;
    TRY(job->status);
    for (int64_t v = 0; c->flags & CASE_CONSTANT && v < c->n; v += 2)
        s->v[v] = t->v[v] = 0; /* scores of exactly 0, where LeakyReLU' is the slope */
    if (c->a >
        0.0f) { /* so far apart that attention is 1 for one neighbour and 0 for the others: all gradients are 0 */
        shift_scale(s, 0, (double)c->a);
        shift_scale(t, 0, (double)c->a);
    }
    ref_csr a = oracle_csr(&g);
    ref_gat_softmax(alpha->v, &a, s->v, t->v, (double)SLOPE);
    round_to_float(alpha);
    for (int64_t i = 0; alpha_dropped && i < g.nnz; i++)
        alpha_dropped->v[i] = alpha->v[i] * ref_drop_factor(&drop, i);
    if (alpha_dropped)
        round_to_float(alpha_dropped);
    ref_gat_backward_edges(ge->want, gt->want, &a, alpha->v, s->v, t->v, gy->v, z->v, &drop, (double)SLOPE, c->d);
    TRY(job_upload(job));
    be_csr matrix = csr(&g);
    if (!g.eids) /* with a plan and without */
        TRY(job_prepare(job, &matrix, NULL));
    job->args.gat_backward_edges = (be_gat_backward_edges_args){.ge = mat(ge),
                                                                .gt = mat(gt),
                                                                .a = matrix,
                                                                .alpha = mat(alpha),
                                                                .alpha_dropped = mat(alpha_dropped),
                                                                .s = mat(s),
                                                                .t = mat(t),
                                                                .gy = mat(gy),
                                                                .z = mat(z),
                                                                .scale = drop.scale,
                                                                .slope = SLOPE};
    return FATHOM_OK;
}

/* Without CASE_TRANSPOSE the matrix has no entry ids, as a symmetric pattern that is its own transpose. */
fathom_status build_gat_edge_sums(case_job *job, const op_case *c) {
    graph g;
    TRY(make_graph(job, &g, c->n, c->n, c->flags & CASE_TRANSPOSE));
    tensor *gs = out(job, "gs", 1, c->n), *ge = in(job, "ge", 1, g.nnz);
    TRY(job->status);
    ref_csr at = oracle_csr(&g);
    ref_gat_edge_sums(gs->want, &at, ge->v);
    TRY(job_upload(job));
    job->args.gat_edge_sums = (be_gat_edge_sums_args){.gs = mat(gs), .at = csr(&g), .ge = mat(ge)};
    return FATHOM_OK;
}

fathom_status build_gat_backward_scores(case_job *job, const op_case *c) {
    tensor *gz = acc(job, "gz", c->n, c->d), *ga_src = acc(job, "ga_src", 1, c->d);
    tensor *ga_dst = acc(job, "ga_dst", 1, c->d), *z = in(job, "z", c->n, c->d);
    tensor *a_src = in(job, "a_src", 1, c->d), *a_dst = in(job, "a_dst", 1, c->d);
    tensor *gs = in(job, "gs", 1, c->n), *gt = in(job, "gt", 1, c->n);
    TRY(job->status);
    ref_gat_backward_scores(gz->want, ga_src->want, ga_dst->want, z->v, a_src->v, a_dst->v, gs->v, gt->v, c->n, c->d);
    TRY(job_upload(job));
    job->args.gat_backward_scores = (be_gat_backward_scores_args){.gz = mat(gz),
                                                                  .ga_src = mat(ga_src),
                                                                  .ga_dst = mat(ga_dst),
                                                                  .z = mat(z),
                                                                  .a_src = mat(a_src),
                                                                  .a_dst = mat(a_dst),
                                                                  .gs = mat(gs),
                                                                  .gt = mat(gt)};
    return FATHOM_OK;
}
