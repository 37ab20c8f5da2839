/* validate_products.c - argument validation of the pointwise, product and attention operations. */
#include "backend/validate.h"

/* ---- pointwise ---- */

fathom_status be_validate_fill(const be_device *dev, const be_fill_args *a) {
    BEGIN("fill");
    validate_mat(&ctx, "y", a->y, 0, 0);
    END;
}

fathom_status be_validate_copy(const be_device *dev, const be_copy_args *a) {
    BEGIN("copy");
    validate_mat(&ctx, "x", a->x, 0, 0);
    validate_mat(&ctx, "y", a->y, a->x.rows, a->x.cols);
    validate_output(&ctx, "y", a->y, NULL);
    END;
}

fathom_status be_validate_activate(const be_device *dev, const be_activate_args *a) {
    BEGIN("activate");
    validate_mat(&ctx, "x", a->x, 0, 0);
    validate_mat(&ctx, "y", a->y, a->x.rows, a->x.cols);
    validate_drop(&ctx, &a->act.drop, a->x.rows, a->x.cols);
    validate_output(&ctx, "y", a->y, "x");
    END;
}

fathom_status be_validate_activate_backward(const be_device *dev, const be_activate_backward_args *a) {
    BEGIN("activate_backward");
    validate_mat(&ctx, "gy", a->gy, 0, 0);
    validate_mat(&ctx, "gx", a->gx, a->gy.rows, a->gy.cols);
    if (a->act.relu)
        validate_mat(&ctx, "y", a->y, a->gy.rows, a->gy.cols);
    validate_drop(&ctx, &a->act.drop, a->gy.rows, a->gy.cols);
    validate_output(&ctx, "gx", a->gx, "gy");
    END;
}

fathom_status be_validate_axpby(const be_device *dev, const be_axpby_args *a) {
    BEGIN("axpby");
    validate_mat(&ctx, "x", a->x, 0, 0);
    validate_mat(&ctx, "y", a->y, a->x.rows, a->x.cols);
    validate_mat_optional(&ctx, "z", a->z, a->x.rows, a->x.cols);
    validate_output(&ctx, "y", a->y, "x z");
    END;
}

fathom_status be_validate_bias_add(const be_device *dev, const be_bias_add_args *a) {
    BEGIN("bias_add");
    validate_mat(&ctx, "x", a->x, 0, 0);
    validate_mat(&ctx, "y", a->y, a->x.rows, a->x.cols);
    validate_vec(&ctx, "b", a->b, a->x.cols);
    validate_output(&ctx, "y", a->y, "x");
    END;
}

fathom_status be_validate_col_sum(const be_device *dev, const be_col_sum_args *a) {
    BEGIN("col_sum");
    validate_mat(&ctx, "x", a->x, 0, 0);
    validate_vec(&ctx, "s", a->s, a->x.cols);
    validate_output(&ctx, "s", a->s, NULL);
    END;
}

fathom_status be_validate_row_normalise(const be_device *dev, const be_row_normalise_args *a) {
    BEGIN("row_normalise");
    validate_mat(&ctx, "x", a->x, 0, 0);
    validate_mat(&ctx, "y", a->y, a->x.rows, a->x.cols);
    if (a->norm.buf)
        validate_vec(&ctx, "norm", a->norm, a->x.rows);
    validate(&ctx, a->kind == BE_ROW_L2 || a->kind == BE_ROW_SUM, "unknown kind");
    validate_output(&ctx, "y", a->y, "x");
    validate_output(&ctx, "norm", a->norm, NULL);
    END;
}

/* ---- products ---- */

fathom_status be_validate_gemm(const be_device *dev, const be_gemm_args *a) {
    BEGIN("gemm");
    validate_mat(&ctx, "a", a->a, 0, 0);
    int64_t m = a->ta ? a->a.cols : a->a.rows, k = a->ta ? a->a.rows : a->a.cols;
    validate_mat(&ctx, "b", a->b, a->tb ? 0 : k, a->tb ? k : 0);
    validate_mat(&ctx, "c", a->c, m, a->tb ? a->b.rows : a->b.cols);
    validate_output(&ctx, "c", a->c, NULL);
    END;
}

fathom_status be_validate_spmm(const be_device *dev, const be_spmm_args *a) {
    BEGIN("spmm");
    validate_csr(&ctx, "a", &a->a);
    validate_mat(&ctx, "x", a->x, a->a.cols, 0);
    validate_mat(&ctx, "y", a->y, a->a.rows, a->x.cols);
    validate_mat_optional(&ctx, "z", a->z, a->a.rows, a->x.cols);
    if (a->val.buf && a->a.nnz > 0 && a->val.rows == a->a.nnz) {
        validate_packed(&ctx, "val", a->val, a->a.nnz, 0);
        validate(&ctx, ctx.status != FATHOM_OK || a->x.cols % a->val.cols == 0,
                 "the columns of x are not a multiple of those of val");
    } else if (a->val.buf && a->a.nnz > 0) {
        validate_vec(&ctx, "val", a->val, a->a.nnz);
    }
    validate_output(&ctx, "y", a->y, "z");
    END;
}

fathom_status be_validate_aggregate(const be_device *dev, const be_aggregate_args *a) {
    BEGIN("aggregate");
    validate_csr(&ctx, "a", &a->a);
    validate_mat(&ctx, "x", a->x, a->a.cols, 0);
    validate_mat(&ctx, "w", a->w, a->tw ? 0 : a->x.cols, a->tw ? a->x.cols : 0);
    validate_mat(&ctx, "y", a->y, a->a.rows, a->tw ? a->w.rows : a->w.cols);
    validate(&ctx, a->x.cols <= BE_FUSED_MAX_COLS && a->y.cols <= BE_FUSED_MAX_COLS, "x or y has too many columns");
    validate_mat_optional(&ctx, "p", a->p, a->a.rows, a->x.cols);
    if (a->val.buf && a->a.nnz > 0)
        validate_vec(&ctx, "val", a->val, a->a.nnz);
    validate_output(&ctx, "y", a->y, NULL);
    validate_output(&ctx, "p", a->p, NULL);
    END;
}

/* ---- DropEdge ---- */

static void validate_graph(validation *ctx, const be_csr *a) {
    validate_csr(ctx, "a", a);
    validate(ctx, a->rows == a->cols, "a must be square");
    validate(ctx, !a->eids.buf, "a must have no entry ids");
}

fathom_status be_validate_edge_drop(const be_device *dev, const be_edge_drop_args *a) {
    BEGIN("edge_drop");
    validate_graph(&ctx, &a->a);
    validate_vec(&ctx, "keep", a->keep, a->a.nnz);
    validate_ints(&ctx, "degree", a->degree, a->a.rows);
    validate_drop(&ctx, &a->drop, 1, 1);
    validate_output(&ctx, "keep", a->keep, NULL);
    validate_output_ints(&ctx, "degree", a->degree);
    END;
}

fathom_status be_validate_edge_norm(const be_device *dev, const be_edge_norm_args *a) {
    BEGIN("edge_norm");
    validate_graph(&ctx, &a->a);
    validate_vec(&ctx, "val", a->val, a->a.nnz);
    validate_ints(&ctx, "degree", a->degree, a->a.rows);
    validate_vec(&ctx, "root", a->root, a->a.rows + 1);
    validate_output(&ctx, "val", a->val, NULL);
    END;
}

/* ---- attention ---- */

/* A matrix with d columns for each head. */
static void validate_heads(validation *ctx, const char *field, be_mat m, int64_t rows, be_mat params) {
    validate_mat(ctx, field, m, rows, params.rows * params.cols);
}

fathom_status be_validate_gat_scores(const be_device *dev, const be_gat_scores_args *a) {
    BEGIN("gat_scores");
    validate_packed(&ctx, "a_src", a->a_src, 0, 0);
    validate_packed(&ctx, "a_dst", a->a_dst, a->a_src.rows, a->a_src.cols);
    validate_heads(&ctx, "z", a->z, 0, a->a_src);
    validate_packed(&ctx, "s", a->s, a->z.rows, a->a_src.rows);
    validate_packed(&ctx, "t", a->t, a->z.rows, a->a_src.rows);
    validate_output(&ctx, "s", a->s, NULL);
    validate_output(&ctx, "t", a->t, NULL);
    END;
}

fathom_status be_validate_gat_softmax(const be_device *dev, const be_gat_softmax_args *a) {
    BEGIN("gat_softmax");
    validate_csr(&ctx, "a", &a->a);
    validate(&ctx, a->a.nnz > 0, "a has no entry");
    validate_packed(&ctx, "s", a->s, a->a.cols, 0);
    validate_packed(&ctx, "t", a->t, a->a.rows, a->s.cols);
    validate_packed(&ctx, "alpha", a->alpha, a->a.nnz, a->s.cols);
    validate_output(&ctx, "alpha", a->alpha, NULL);
    END;
}

fathom_status be_validate_gat_backward_edges(const be_device *dev, const be_gat_backward_edges_args *a) {
    BEGIN("gat_backward_edges");
    validate_csr(&ctx, "a", &a->a);
    validate(&ctx, a->a.nnz > 0, "a has no entry");
    validate_packed(&ctx, "alpha", a->alpha, a->a.nnz, 0);
    validate_packed(&ctx, "ge", a->ge, a->a.nnz, a->alpha.cols);
    validate_packed(&ctx, "gt", a->gt, a->a.rows, a->alpha.cols);
    if (a->alpha_dropped.buf)
        validate_packed(&ctx, "alpha_dropped", a->alpha_dropped, a->a.nnz, a->alpha.cols);
    validate_packed(&ctx, "s", a->s, a->a.cols, a->alpha.cols);
    validate_packed(&ctx, "t", a->t, a->a.rows, a->alpha.cols);
    validate_mat(&ctx, "gy", a->gy, a->a.rows, 0);
    validate_mat(&ctx, "z", a->z, a->a.cols, a->gy.cols);
    validate(&ctx, ctx.status != FATHOM_OK || a->z.cols % a->alpha.cols == 0,
             "the columns of z are not a multiple of the heads");
    validate_output(&ctx, "ge", a->ge, NULL);
    validate_output(&ctx, "gt", a->gt, NULL);
    END;
}

fathom_status be_validate_gat_edge_sums(const be_device *dev, const be_gat_edge_sums_args *a) {
    BEGIN("gat_edge_sums");
    validate_csr(&ctx, "at", &a->at);
    validate(&ctx, a->at.nnz > 0, "at has no entry");
    validate_packed(&ctx, "gs", a->gs, a->at.rows, 0);
    validate_packed(&ctx, "ge", a->ge, a->at.nnz, a->gs.cols);
    validate_output(&ctx, "gs", a->gs, NULL);
    END;
}

fathom_status be_validate_gat_backward_scores(const be_device *dev, const be_gat_backward_scores_args *a) {
    BEGIN("gat_backward_scores");
    validate_packed(&ctx, "a_src", a->a_src, 0, 0);
    validate_packed(&ctx, "a_dst", a->a_dst, a->a_src.rows, a->a_src.cols);
    validate_packed(&ctx, "ga_src", a->ga_src, a->a_src.rows, a->a_src.cols);
    validate_packed(&ctx, "ga_dst", a->ga_dst, a->a_src.rows, a->a_src.cols);
    validate_heads(&ctx, "z", a->z, 0, a->a_src);
    validate_mat(&ctx, "gz", a->gz, a->z.rows, a->z.cols);
    validate_packed(&ctx, "gs", a->gs, a->z.rows, a->a_src.rows);
    validate_packed(&ctx, "gt", a->gt, a->z.rows, a->a_src.rows);
    validate_output(&ctx, "gz", a->gz, NULL);
    validate_output(&ctx, "ga_src", a->ga_src, NULL);
    validate_output(&ctx, "ga_dst", a->ga_dst, NULL);
    END;
}
