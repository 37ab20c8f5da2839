/* build_attention.c - cases of GAT's edge operations. Attention comes from the oracle's softmax, rounded, so that rows
 * sum to 1 as in a model. */
#include "selftest/job.h"

#define SLOPE 0.2f

/* Columns of all heads. */
static int64_t width(const op_case *c) { return case_heads(c) * c->d; }

/* A value of each node or entry for each head. */
static tensor *heads_in(case_job *job, const char *name, int64_t count, const op_case *c) {
    return packed(in(job, name, count, case_heads(c)));
}

static tensor *heads_out(case_job *job, const char *name, int64_t count, const op_case *c) {
    return packed(out(job, name, count, case_heads(c)));
}

fathom_status build_gat_scores(case_job *job, const op_case *c) {
    tensor *s = heads_out(job, "s", c->n, c), *t = heads_out(job, "t", c->n, c), *z = in(job, "z", c->n, width(c));
    tensor *a_src = packed(in(job, "a_src", case_heads(c), c->d)),
           *a_dst = packed(in(job, "a_dst", case_heads(c), c->d));
    TRY(job->status);
    ref_gat_scores(s->want, t->want, z->v, a_src->v, a_dst->v, c->n, case_heads(c), c->d);
    TRY(job_upload(job));
    job->args.gat_scores =
        (be_gat_scores_args){.s = mat(s), .t = mat(t), .z = mat(z), .a_src = mat(a_src), .a_dst = mat(a_dst)};
    return FATHOM_OK;
}

/* Scores are scaled by a: exp of the difference to the row maximum underflows for large ones. */
fathom_status build_gat_softmax(case_job *job, const op_case *c) {
    graph g;
    TRY(make_graph(job, &g, c->n, c->n, c->flags & CASE_TRANSPOSE));
    tensor *alpha = heads_out(job, "alpha", g.nnz, c), *s = heads_in(job, "s", c->n, c),
           *t = heads_in(job, "t", c->n, c);
    TRY(job->status);
    shift_scale(s, 0, (double)c->a);
    shift_scale(t, 0, (double)c->a);
    ref_csr a = oracle_csr(&g);
    ref_gat_softmax(alpha->want, &a, s->v, t->v, (double)SLOPE, case_heads(c));
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
    tensor *ge = heads_out(job, "ge", g.nnz, c), *gt = heads_out(job, "gt", c->n, c),
           *alpha = heads_in(job, "alpha", g.nnz, c);
    tensor *s = heads_in(job, "s", c->n, c), *t = heads_in(job, "t", c->n, c);
    tensor *gy = in(job, "gy", c->n, width(c)), *z = in(job, "z", c->n, width(c));
    be_drop drop = case_drop(c);
    tensor *alpha_dropped = drop.rate > 0.0f ? heads_in(job, "alpha_dropped", g.nnz, c) : NULL;
    TRY(job->status);
    for (int64_t v = 0; c->flags & CASE_CONSTANT && v < c->n * case_heads(c); v += 2)
        s->v[v] = t->v[v] = 0; /* scores of exactly 0, where LeakyReLU' is the slope */
    if (c->a >
        0.0f) { /* so far apart that attention is 1 for one neighbour and 0 for the others: all gradients are 0 */
        shift_scale(s, 0, (double)c->a);
        shift_scale(t, 0, (double)c->a);
    }
    ref_csr a = oracle_csr(&g);
    ref_gat_softmax(alpha->v, &a, s->v, t->v, (double)SLOPE, case_heads(c));
    round_to_float(alpha);
    for (int64_t i = 0; alpha_dropped && i < g.nnz * case_heads(c); i++)
        alpha_dropped->v[i] = alpha->v[i] * ref_drop_factor(&drop, i);
    if (alpha_dropped)
        round_to_float(alpha_dropped);
    ref_gat_backward_edges(ge->want, gt->want, &a, alpha->v, s->v, t->v, gy->v, z->v, &drop, (double)SLOPE,
                           case_heads(c), c->d);
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
    tensor *gs = heads_out(job, "gs", c->n, c), *ge = heads_in(job, "ge", g.nnz, c);
    TRY(job->status);
    ref_csr at = oracle_csr(&g);
    ref_gat_edge_sums(gs->want, &at, ge->v, case_heads(c));
    TRY(job_upload(job));
    job->args.gat_edge_sums = (be_gat_edge_sums_args){.gs = mat(gs), .at = csr(&g), .ge = mat(ge)};
    return FATHOM_OK;
}

fathom_status build_gat_backward_scores(case_job *job, const op_case *c) {
    tensor *gz = acc(job, "gz", c->n, width(c)), *ga_src = packed(acc(job, "ga_src", case_heads(c), c->d));
    tensor *ga_dst = packed(acc(job, "ga_dst", case_heads(c), c->d)), *z = in(job, "z", c->n, width(c));
    tensor *a_src = packed(in(job, "a_src", case_heads(c), c->d)),
           *a_dst = packed(in(job, "a_dst", case_heads(c), c->d));
    tensor *gs = heads_in(job, "gs", c->n, c), *gt = heads_in(job, "gt", c->n, c);
    TRY(job->status);
    ref_gat_backward_scores(gz->want, ga_src->want, ga_dst->want, z->v, a_src->v, a_dst->v, gs->v, gt->v, c->n,
                            case_heads(c), c->d);
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
