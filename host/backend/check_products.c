/* check_products.c - what the pointwise, product and attention operations demand. */
#include "backend/rules.h"

/* ---- pointwise ---- */

fathom_status be_check_fill(const be_device *dev, const be_fill_args *a) {
    BEGIN("fill");
    rule_mat(&r, "y", a->y, 0, 0);
    END;
}

fathom_status be_check_copy(const be_device *dev, const be_copy_args *a) {
    BEGIN("copy");
    rule_mat(&r, "x", a->x, 0, 0);
    rule_mat(&r, "y", a->y, a->x.rows, a->x.cols);
    rule_output(&r, "y", a->y, NULL);
    END;
}

fathom_status be_check_activate(const be_device *dev, const be_activate_args *a) {
    BEGIN("activate");
    rule_mat(&r, "x", a->x, 0, 0);
    rule_mat(&r, "y", a->y, a->x.rows, a->x.cols);
    rule_drop(&r, &a->act.drop, a->x.rows, a->x.cols);
    rule_output(&r, "y", a->y, "x");
    END;
}

fathom_status be_check_activate_backward(const be_device *dev, const be_activate_backward_args *a) {
    BEGIN("activate_backward");
    rule_mat(&r, "gy", a->gy, 0, 0);
    rule_mat(&r, "gx", a->gx, a->gy.rows, a->gy.cols);
    if (a->act.relu)
        rule_mat(&r, "y", a->y, a->gy.rows, a->gy.cols);
    rule_drop(&r, &a->act.drop, a->gy.rows, a->gy.cols);
    rule_output(&r, "gx", a->gx, "gy");
    END;
}

fathom_status be_check_axpby(const be_device *dev, const be_axpby_args *a) {
    BEGIN("axpby");
    rule_mat(&r, "x", a->x, 0, 0);
    rule_mat(&r, "y", a->y, a->x.rows, a->x.cols);
    rule_mat_optional(&r, "z", a->z, a->x.rows, a->x.cols);
    rule_output(&r, "y", a->y, "x z");
    END;
}

fathom_status be_check_bias_add(const be_device *dev, const be_bias_add_args *a) {
    BEGIN("bias_add");
    rule_mat(&r, "x", a->x, 0, 0);
    rule_mat(&r, "y", a->y, a->x.rows, a->x.cols);
    rule_vec(&r, "b", a->b, a->x.cols);
    rule_output(&r, "y", a->y, "x");
    END;
}

fathom_status be_check_col_sum(const be_device *dev, const be_col_sum_args *a) {
    BEGIN("col_sum");
    rule_mat(&r, "x", a->x, 0, 0);
    rule_vec(&r, "s", a->s, a->x.cols);
    rule_output(&r, "s", a->s, NULL);
    END;
}

fathom_status be_check_row_normalise(const be_device *dev, const be_row_normalise_args *a) {
    BEGIN("row_normalise");
    rule_mat(&r, "x", a->x, 0, 0);
    rule_mat(&r, "y", a->y, a->x.rows, a->x.cols);
    if (a->norm.buf)
        rule_vec(&r, "norm", a->norm, a->x.rows);
    rule(&r, a->kind == BE_ROW_L2 || a->kind == BE_ROW_SUM, "unknown kind");
    rule_output(&r, "y", a->y, "x");
    rule_output(&r, "norm", a->norm, NULL);
    END;
}

/* ---- products ---- */

fathom_status be_check_gemm(const be_device *dev, const be_gemm_args *a) {
    BEGIN("gemm");
    rule_mat(&r, "a", a->a, 0, 0);
    int64_t m = a->ta ? a->a.cols : a->a.rows, k = a->ta ? a->a.rows : a->a.cols;
    rule_mat(&r, "b", a->b, a->tb ? 0 : k, a->tb ? k : 0);
    rule_mat(&r, "c", a->c, m, a->tb ? a->b.rows : a->b.cols);
    rule_output(&r, "c", a->c, NULL);
    END;
}

fathom_status be_check_spmm(const be_device *dev, const be_spmm_args *a) {
    BEGIN("spmm");
    rule_csr(&r, "a", &a->a);
    if (a->at.ptr.buf) {
        rule_csr(&r, "at", &a->at);
        rule(&r, a->at.rows == a->a.cols && a->at.cols == a->a.rows && a->at.nnz == a->a.nnz,
             "at is not the transpose of a");
    }
    rule_mat(&r, "x", a->x, a->a.cols, 0);
    rule_mat(&r, "y", a->y, a->a.rows, a->x.cols);
    rule_mat_optional(&r, "z", a->z, a->a.rows, a->x.cols);
    if (a->val.buf && a->a.nnz > 0)
        rule_vec(&r, "val", a->val, a->a.nnz);
    rule_output(&r, "y", a->y, "z");
    END;
}

fathom_status be_check_aggregate(const be_device *dev, const be_aggregate_args *a) {
    BEGIN("aggregate");
    rule_csr(&r, "a", &a->a);
    rule_mat(&r, "x", a->x, a->a.cols, 0);
    rule_mat(&r, "w", a->w, a->tw ? 0 : a->x.cols, a->tw ? a->x.cols : 0);
    rule_mat(&r, "y", a->y, a->a.rows, a->tw ? a->w.rows : a->w.cols);
    rule(&r, a->x.cols <= BE_NARROW && a->y.cols <= BE_NARROW, "x or y has too many columns");
    rule_mat_optional(&r, "p", a->p, a->a.rows, a->x.cols);
    if (a->val.buf && a->a.nnz > 0)
        rule_vec(&r, "val", a->val, a->a.nnz);
    rule_output(&r, "y", a->y, NULL);
    rule_output(&r, "p", a->p, NULL);
    END;
}

/* ---- attention ---- */

fathom_status be_check_gat_scores(const be_device *dev, const be_gat_scores_args *a) {
    BEGIN("gat_scores");
    rule_mat(&r, "z", a->z, 0, 0);
    rule_vec(&r, "a_src", a->a_src, a->z.cols);
    rule_vec(&r, "a_dst", a->a_dst, a->z.cols);
    rule_vec(&r, "s", a->s, a->z.rows);
    rule_vec(&r, "t", a->t, a->z.rows);
    rule_output(&r, "s", a->s, NULL);
    rule_output(&r, "t", a->t, NULL);
    END;
}

fathom_status be_check_gat_softmax(const be_device *dev, const be_gat_softmax_args *a) {
    BEGIN("gat_softmax");
    rule_csr(&r, "a", &a->a);
    rule(&r, a->a.nnz > 0, "a has no entry");
    rule_vec(&r, "alpha", a->alpha, a->a.nnz);
    rule_vec(&r, "s", a->s, a->a.cols);
    rule_vec(&r, "t", a->t, a->a.rows);
    rule_output(&r, "alpha", a->alpha, NULL);
    END;
}

fathom_status be_check_gat_backward_edges(const be_device *dev, const be_gat_backward_edges_args *a) {
    BEGIN("gat_backward_edges");
    rule_csr(&r, "a", &a->a);
    rule(&r, a->a.nnz > 0, "a has no entry");
    rule_vec(&r, "ge", a->ge, a->a.nnz);
    rule_vec(&r, "gt", a->gt, a->a.rows);
    rule_vec(&r, "alpha", a->alpha, a->a.nnz);
    if (a->kept.buf)
        rule_vec(&r, "kept", a->kept, a->a.nnz);
    rule_vec(&r, "s", a->s, a->a.cols);
    rule_vec(&r, "t", a->t, a->a.rows);
    rule_mat(&r, "gy", a->gy, a->a.rows, 0);
    rule_mat(&r, "z", a->z, a->a.cols, a->gy.cols);
    rule_output(&r, "ge", a->ge, NULL);
    rule_output(&r, "gt", a->gt, NULL);
    END;
}

fathom_status be_check_gat_edge_sums(const be_device *dev, const be_gat_edge_sums_args *a) {
    BEGIN("gat_edge_sums");
    rule_csr(&r, "at", &a->at);
    rule(&r, a->at.nnz > 0, "at has no entry");
    rule_vec(&r, "gs", a->gs, a->at.rows);
    rule_vec(&r, "ge", a->ge, a->at.nnz);
    rule_output(&r, "gs", a->gs, NULL);
    END;
}

fathom_status be_check_gat_backward_scores(const be_device *dev, const be_gat_backward_scores_args *a) {
    BEGIN("gat_backward_scores");
    rule_mat(&r, "z", a->z, 0, 0);
    rule_mat(&r, "gz", a->gz, a->z.rows, a->z.cols);
    rule_vec(&r, "ga_src", a->ga_src, a->z.cols);
    rule_vec(&r, "ga_dst", a->ga_dst, a->z.cols);
    rule_vec(&r, "a_src", a->a_src, a->z.cols);
    rule_vec(&r, "a_dst", a->a_dst, a->z.cols);
    rule_vec(&r, "gs", a->gs, a->z.rows);
    rule_vec(&r, "gt", a->gt, a->z.rows);
    rule_output(&r, "gz", a->gz, NULL);
    rule_output(&r, "ga_src", a->ga_src, NULL);
    rule_output(&r, "ga_dst", a->ga_dst, NULL);
    END;
}
