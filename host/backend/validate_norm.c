/* validate_norm.c - argument validation of the normalisations. */
#include "backend/validate.h"

/* ---- batch and pair ---- */

static void stats(validation *ctx, be_mat mean, be_mat var, be_mat rmean, be_mat rvar, int64_t rows, int64_t cols,
                  float momentum) {
    validate_packed(ctx, "mean", mean, rows, cols);
    validate_packed(ctx, "var", var, rows, cols);
    validate(ctx, !rmean.buf == !rvar.buf, "rmean and rvar are given together");
    if (rmean.buf) {
        validate_packed(ctx, "rmean", rmean, rows, cols);
        validate_packed(ctx, "rvar", rvar, rows, cols);
        validate(ctx, momentum >= 0.0f && momentum <= 1.0f, "momentum must be between 0 and 1");
    }
}

fathom_status be_validate_col_stats(const be_device *dev, const be_col_stats_args *a) {
    BEGIN("col_stats");
    validate_mat(&ctx, "x", a->x, 0, 0);
    stats(&ctx, a->mean, a->var, a->rmean, a->rvar, 1, a->x.cols, a->momentum);
    validate_output(&ctx, "mean", a->mean, NULL);
    validate_output(&ctx, "var", a->var, NULL);
    validate_output(&ctx, "rmean", a->rmean, NULL);
    validate_output(&ctx, "rvar", a->rvar, NULL);
    END;
}

fathom_status be_validate_batch_apply(const be_device *dev, const be_batch_apply_args *a) {
    BEGIN("batch_apply");
    validate_mat(&ctx, "x", a->x, 0, 0);
    validate_mat(&ctx, "y", a->y, a->x.rows, a->x.cols);
    validate_vec(&ctx, "mean", a->mean, a->x.cols);
    validate_vec(&ctx, "var", a->var, a->x.cols);
    validate_vec(&ctx, "gamma", a->gamma, a->x.cols);
    validate_vec(&ctx, "beta", a->beta, a->x.cols);
    validate_drop(&ctx, &a->act.drop, a->x.rows, a->x.cols);
    validate_output(&ctx, "y", a->y, "x");
    END;
}

fathom_status be_validate_pair_apply(const be_device *dev, const be_pair_apply_args *a) {
    BEGIN("pair_apply");
    validate_mat(&ctx, "x", a->x, 0, 0);
    validate_mat(&ctx, "y", a->y, a->x.rows, a->x.cols);
    validate_vec(&ctx, "mean", a->mean, a->x.cols);
    validate_vec(&ctx, "var", a->var, a->x.cols);
    validate_drop(&ctx, &a->act.drop, a->x.rows, a->x.cols);
    validate_output(&ctx, "y", a->y, "x");
    END;
}

fathom_status be_validate_norm_sums(const be_device *dev, const be_norm_sums_args *a) {
    BEGIN("norm_sums");
    validate_mat(&ctx, "x", a->x, 0, 0);
    validate_mat(&ctx, "go", a->go, a->x.rows, a->x.cols);
    validate_vec(&ctx, "mean", a->mean, a->x.cols);
    validate_vec(&ctx, "db", a->db, a->x.cols);
    validate_vec(&ctx, "q", a->q, a->x.cols);
    validate_output(&ctx, "db", a->db, NULL);
    validate_output(&ctx, "q", a->q, NULL);
    END;
}

/* `over` of a backward operation on rows of x. */
static void over(validation *ctx, int64_t rows, be_mat x) {
    validate(ctx, rows == 0 || (rows >= x.rows && rows <= INT32_MAX), "`over` must be 0 or at least the rows of x");
}

fathom_status be_validate_batch_backward(const be_device *dev, const be_batch_backward_args *a) {
    BEGIN("batch_backward");
    validate_mat(&ctx, "x", a->x, 0, 0);
    validate_mat(&ctx, "go", a->go, a->x.rows, a->x.cols);
    validate_mat(&ctx, "gx", a->gx, a->x.rows, a->x.cols);
    const struct {
        const char *name;
        be_mat m;
    } vectors[] = {
        {"mean", a->mean}, {"var", a->var}, {"gamma", a->gamma}, {"db", a->db}, {"q", a->q},
    };
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        validate_vec(&ctx, vectors[i].name, vectors[i].m, a->x.cols);
    validate(&ctx, !a->ggamma.buf == !a->gbeta.buf, "ggamma and gbeta are given together");
    validate_mat_optional(&ctx, "ggamma", a->ggamma, 1, a->x.cols);
    validate_mat_optional(&ctx, "gbeta", a->gbeta, 1, a->x.cols);
    over(&ctx, a->over, a->x);
    validate_output(&ctx, "gx", a->gx, "go");
    validate_output(&ctx, "ggamma", a->ggamma, NULL);
    validate_output(&ctx, "gbeta", a->gbeta, NULL);
    END;
}

fathom_status be_validate_pair_backward(const be_device *dev, const be_pair_backward_args *a) {
    BEGIN("pair_backward");
    validate_mat(&ctx, "x", a->x, 0, 0);
    validate_mat(&ctx, "go", a->go, a->x.rows, a->x.cols);
    validate_mat(&ctx, "gx", a->gx, a->x.rows, a->x.cols);
    validate_vec(&ctx, "mean", a->mean, a->x.cols);
    validate_vec(&ctx, "var", a->var, a->x.cols);
    validate_vec(&ctx, "db", a->db, a->x.cols);
    validate_vec(&ctx, "q", a->q, a->x.cols);
    over(&ctx, a->over, a->x);
    validate_output(&ctx, "gx", a->gx, "go");
    END;
}

/* ---- node ---- */

fathom_status be_validate_node_apply(const be_device *dev, const be_node_apply_args *a) {
    BEGIN("node_apply");
    validate_mat(&ctx, "x", a->x, 0, 0);
    validate_mat(&ctx, "y", a->y, a->x.rows, a->x.cols);
    validate_drop(&ctx, &a->act.drop, a->x.rows, a->x.cols);
    validate_output(&ctx, "y", a->y, "x");
    END;
}

fathom_status be_validate_node_backward(const be_device *dev, const be_node_backward_args *a) {
    BEGIN("node_backward");
    validate_mat(&ctx, "x", a->x, 0, 0);
    validate_mat(&ctx, "go", a->go, a->x.rows, a->x.cols);
    validate_mat(&ctx, "gx", a->gx, a->x.rows, a->x.cols);
    validate_output(&ctx, "gx", a->gx, "go");
    END;
}

/* ---- group ---- */

fathom_status be_validate_group_assign(const be_device *dev, const be_group_assign_args *a) {
    BEGIN("group_assign");
    validate_mat(&ctx, "h", a->h, 0, 0);
    validate_packed(&ctx, "u", a->u, 0, a->h.cols);
    validate_mat(&ctx, "s", a->s, a->h.rows, a->u.rows);
    validate_mat_optional(&ctx, "c", a->c, 1, a->u.rows);
    validate_output(&ctx, "s", a->s, NULL);
    END;
}

/* u and c of an operation that computes s first. */
static void assigning(validation *ctx, be_mat s, be_mat h, be_mat u, be_mat c) {
    if (!u.buf)
        return;
    validate_packed(ctx, "u", u, s.cols, h.cols);
    validate_mat_optional(ctx, "c", c, 1, s.cols);
    validate_output(ctx, "s", s, NULL);
}

fathom_status be_validate_group_stats(const be_device *dev, const be_group_stats_args *a) {
    BEGIN("group_stats");
    validate_mat(&ctx, "h", a->h, 0, 0);
    validate_mat(&ctx, "s", a->s, a->h.rows, 0);
    stats(&ctx, a->mean, a->var, a->rmean, a->rvar, a->s.cols, a->h.cols, a->momentum);
    assigning(&ctx, a->s, a->h, a->u, a->c);
    validate_output(&ctx, "mean", a->mean, NULL);
    validate_output(&ctx, "var", a->var, NULL);
    validate_output(&ctx, "rmean", a->rmean, NULL);
    validate_output(&ctx, "rvar", a->rvar, NULL);
    END;
}

fathom_status be_validate_group_apply(const be_device *dev, const be_group_apply_args *a) {
    BEGIN("group_apply");
    validate_mat(&ctx, "h", a->h, 0, 0);
    validate_mat(&ctx, "s", a->s, a->h.rows, 0);
    validate_mat(&ctx, "y", a->y, a->h.rows, a->h.cols);
    validate_packed(&ctx, "mean", a->mean, a->s.cols, a->h.cols);
    validate_packed(&ctx, "var", a->var, a->s.cols, a->h.cols);
    validate_packed(&ctx, "gamma", a->gamma, a->s.cols, a->h.cols);
    validate_packed(&ctx, "beta", a->beta, a->s.cols, a->h.cols);
    assigning(&ctx, a->s, a->h, a->u, a->c);
    validate_drop(&ctx, &a->act.drop, a->h.rows, a->h.cols);
    validate_output(&ctx, "y", a->y, "h");
    END;
}

fathom_status be_validate_group_backward_sums(const be_device *dev, const be_group_backward_sums_args *a) {
    BEGIN("group_backward_sums");
    validate_mat(&ctx, "h", a->h, 0, 0);
    validate_mat(&ctx, "s", a->s, a->h.rows, 0);
    validate_mat(&ctx, "go", a->go, a->h.rows, a->h.cols);
    validate_mat_optional(&ctx, "y", a->y, a->h.rows, a->h.cols);
    int64_t g = a->s.cols, d = a->h.cols;
    validate_vec(&ctx, "db", a->db, d);
    validate_packed(&ctx, "q", a->q, g, d);
    validate_packed(&ctx, "ggamma", a->ggamma, g, d);
    validate_packed(&ctx, "gbeta", a->gbeta, g, d);
    validate_packed(&ctx, "mean", a->mean, g, d);
    validate_packed(&ctx, "var", a->var, g, d);
    validate_output(&ctx, "db", a->db, NULL);
    validate_output(&ctx, "q", a->q, NULL);
    validate_output(&ctx, "ggamma", a->ggamma, NULL);
    validate_output(&ctx, "gbeta", a->gbeta, NULL);
    END;
}

fathom_status be_validate_group_backward_rows(const be_device *dev, const be_group_backward_rows_args *a) {
    BEGIN("group_backward_rows");
    validate_mat(&ctx, "h", a->h, 0, 0);
    validate_mat(&ctx, "s", a->s, a->h.rows, 0);
    int64_t n = a->h.rows, g = a->s.cols, d = a->h.cols;
    validate_mat(&ctx, "go", a->go, n, d);
    validate_mat_optional(&ctx, "y", a->y, n, d);
    validate_mat(&ctx, "gh", a->gh, n, d);
    validate_mat(&ctx, "gz", a->gz, n, g);
    validate_mat_optional(&ctx, "gc", a->gc, 1, g);
    if (a->gu.buf)
        validate_packed(&ctx, "gu", a->gu, g, d);
    validate_packed(&ctx, "mean", a->mean, g, d);
    validate_packed(&ctx, "var", a->var, g, d);
    validate_packed(&ctx, "gamma", a->gamma, g, d);
    validate_packed(&ctx, "u", a->u, g, d);
    validate_vec(&ctx, "db", a->db, d);
    validate_packed(&ctx, "q", a->q, g, d);
    over(&ctx, a->over, a->h);
    validate_output(&ctx, "gh", a->gh, "go");
    validate_output(&ctx, "gz", a->gz, NULL);
    validate_output(&ctx, "gc", a->gc, NULL);
    validate_output(&ctx, "gu", a->gu, NULL);
    END;
}
