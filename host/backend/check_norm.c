/* check_norm.c - what the normalisations demand. */
#include "backend/rules.h"

/* ---- batch and pair ---- */

static void stats(rules *r, be_mat mean, be_mat var, be_mat rmean, be_mat rvar, int64_t rows, int64_t cols,
                  float momentum) {
    rule_packed(r, "mean", mean, rows, cols);
    rule_packed(r, "var", var, rows, cols);
    rule(r, !rmean.buf == !rvar.buf, "rmean and rvar are given together");
    if (rmean.buf) {
        rule_packed(r, "rmean", rmean, rows, cols);
        rule_packed(r, "rvar", rvar, rows, cols);
        rule(r, momentum >= 0.0f && momentum <= 1.0f, "momentum must be between 0 and 1");
    }
}

fathom_status be_check_col_stats(const be_device *dev, const be_col_stats_args *a) {
    BEGIN("col_stats");
    rule_mat(&r, "x", a->x, 0, 0);
    stats(&r, a->mean, a->var, a->rmean, a->rvar, 1, a->x.cols, a->momentum);
    rule_output(&r, "mean", a->mean, NULL);
    rule_output(&r, "var", a->var, NULL);
    rule_output(&r, "rmean", a->rmean, NULL);
    rule_output(&r, "rvar", a->rvar, NULL);
    END;
}

fathom_status be_check_batch_apply(const be_device *dev, const be_batch_apply_args *a) {
    BEGIN("batch_apply");
    rule_mat(&r, "x", a->x, 0, 0);
    rule_mat(&r, "y", a->y, a->x.rows, a->x.cols);
    rule_vec(&r, "mean", a->mean, a->x.cols);
    rule_vec(&r, "var", a->var, a->x.cols);
    rule_vec(&r, "gamma", a->gamma, a->x.cols);
    rule_vec(&r, "beta", a->beta, a->x.cols);
    rule_drop(&r, &a->act.drop, a->x.rows, a->x.cols);
    rule_output(&r, "y", a->y, "x");
    END;
}

fathom_status be_check_pair_apply(const be_device *dev, const be_pair_apply_args *a) {
    BEGIN("pair_apply");
    rule_mat(&r, "x", a->x, 0, 0);
    rule_mat(&r, "y", a->y, a->x.rows, a->x.cols);
    rule_vec(&r, "mean", a->mean, a->x.cols);
    rule_vec(&r, "var", a->var, a->x.cols);
    rule_drop(&r, &a->act.drop, a->x.rows, a->x.cols);
    rule_output(&r, "y", a->y, "x");
    END;
}

fathom_status be_check_norm_sums(const be_device *dev, const be_norm_sums_args *a) {
    BEGIN("norm_sums");
    rule_mat(&r, "x", a->x, 0, 0);
    rule_mat(&r, "go", a->go, a->x.rows, a->x.cols);
    rule_vec(&r, "mean", a->mean, a->x.cols);
    rule_vec(&r, "db", a->db, a->x.cols);
    rule_vec(&r, "q", a->q, a->x.cols);
    rule_output(&r, "db", a->db, NULL);
    rule_output(&r, "q", a->q, NULL);
    END;
}

fathom_status be_check_batch_backward(const be_device *dev, const be_batch_backward_args *a) {
    BEGIN("batch_backward");
    rule_mat(&r, "x", a->x, 0, 0);
    rule_mat(&r, "go", a->go, a->x.rows, a->x.cols);
    rule_mat(&r, "gx", a->gx, a->x.rows, a->x.cols);
    const struct {
        const char *name;
        be_mat m;
    } vectors[] = {{"ggamma", a->ggamma}, {"gbeta", a->gbeta}, {"mean", a->mean}, {"var", a->var},
                   {"gamma", a->gamma},   {"db", a->db},       {"q", a->q}};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        rule_vec(&r, vectors[i].name, vectors[i].m, a->x.cols);
    rule_output(&r, "gx", a->gx, "go");
    rule_output(&r, "ggamma", a->ggamma, NULL);
    rule_output(&r, "gbeta", a->gbeta, NULL);
    END;
}

fathom_status be_check_pair_backward(const be_device *dev, const be_pair_backward_args *a) {
    BEGIN("pair_backward");
    rule_mat(&r, "x", a->x, 0, 0);
    rule_mat(&r, "go", a->go, a->x.rows, a->x.cols);
    rule_mat(&r, "gx", a->gx, a->x.rows, a->x.cols);
    rule_vec(&r, "mean", a->mean, a->x.cols);
    rule_vec(&r, "var", a->var, a->x.cols);
    rule_vec(&r, "db", a->db, a->x.cols);
    rule_vec(&r, "q", a->q, a->x.cols);
    rule_output(&r, "gx", a->gx, "go");
    END;
}

/* ---- group ---- */

fathom_status be_check_group_assign(const be_device *dev, const be_group_assign_args *a) {
    BEGIN("group_assign");
    rule_mat(&r, "h", a->h, 0, 0);
    rule_packed(&r, "u", a->u, 0, a->h.cols);
    rule_mat(&r, "s", a->s, a->h.rows, a->u.rows);
    rule_mat_optional(&r, "c", a->c, 1, a->u.rows);
    rule_output(&r, "s", a->s, NULL);
    END;
}

fathom_status be_check_group_stats(const be_device *dev, const be_group_stats_args *a) {
    BEGIN("group_stats");
    rule_mat(&r, "h", a->h, 0, 0);
    rule_mat(&r, "s", a->s, a->h.rows, 0);
    stats(&r, a->mean, a->var, a->rmean, a->rvar, a->s.cols, a->h.cols, a->momentum);
    rule_output(&r, "mean", a->mean, NULL);
    rule_output(&r, "var", a->var, NULL);
    rule_output(&r, "rmean", a->rmean, NULL);
    rule_output(&r, "rvar", a->rvar, NULL);
    END;
}

fathom_status be_check_group_apply(const be_device *dev, const be_group_apply_args *a) {
    BEGIN("group_apply");
    rule_mat(&r, "h", a->h, 0, 0);
    rule_mat(&r, "s", a->s, a->h.rows, 0);
    rule_mat(&r, "y", a->y, a->h.rows, a->h.cols);
    rule_packed(&r, "mean", a->mean, a->s.cols, a->h.cols);
    rule_packed(&r, "var", a->var, a->s.cols, a->h.cols);
    rule_packed(&r, "gamma", a->gamma, a->s.cols, a->h.cols);
    rule_packed(&r, "beta", a->beta, a->s.cols, a->h.cols);
    rule_drop(&r, &a->act.drop, a->h.rows, a->h.cols);
    rule_output(&r, "y", a->y, "h");
    END;
}

fathom_status be_check_group_backward_sums(const be_device *dev, const be_group_backward_sums_args *a) {
    BEGIN("group_backward_sums");
    rule_mat(&r, "h", a->h, 0, 0);
    rule_mat(&r, "s", a->s, a->h.rows, 0);
    rule_mat(&r, "go", a->go, a->h.rows, a->h.cols);
    rule_mat_optional(&r, "y", a->y, a->h.rows, a->h.cols);
    int64_t g = a->s.cols, d = a->h.cols;
    rule_vec(&r, "db", a->db, d);
    rule_packed(&r, "q", a->q, g, d);
    rule_packed(&r, "ggamma", a->ggamma, g, d);
    rule_packed(&r, "gbeta", a->gbeta, g, d);
    rule_packed(&r, "mean", a->mean, g, d);
    rule_packed(&r, "var", a->var, g, d);
    rule_output(&r, "db", a->db, NULL);
    rule_output(&r, "q", a->q, NULL);
    rule_output(&r, "ggamma", a->ggamma, NULL);
    rule_output(&r, "gbeta", a->gbeta, NULL);
    END;
}

fathom_status be_check_group_backward_rows(const be_device *dev, const be_group_backward_rows_args *a) {
    BEGIN("group_backward_rows");
    rule_mat(&r, "h", a->h, 0, 0);
    rule_mat(&r, "s", a->s, a->h.rows, 0);
    int64_t n = a->h.rows, g = a->s.cols, d = a->h.cols;
    rule_mat(&r, "go", a->go, n, d);
    rule_mat_optional(&r, "y", a->y, n, d);
    rule_mat(&r, "gh", a->gh, n, d);
    rule_mat(&r, "gz", a->gz, n, g);
    rule_mat_optional(&r, "gc", a->gc, 1, g);
    rule_packed(&r, "mean", a->mean, g, d);
    rule_packed(&r, "var", a->var, g, d);
    rule_packed(&r, "gamma", a->gamma, g, d);
    rule_packed(&r, "u", a->u, g, d);
    rule_vec(&r, "db", a->db, d);
    rule_packed(&r, "q", a->q, g, d);
    rule_output(&r, "gh", a->gh, "go");
    rule_output(&r, "gz", a->gz, NULL);
    rule_output(&r, "gc", a->gc, NULL);
    END;
}
