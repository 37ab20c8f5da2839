/* validate_loss.c - argument validation of loss, accuracy, optimiser and pairwise folds. */
#include "backend/validate.h"

/* ---- loss, accuracy, optimiser ---- */

fathom_status be_validate_softmax_xent(const be_device *dev, const be_softmax_xent_args *a) {
    BEGIN("softmax_xent");
    validate_mat(&ctx, "z", a->z, 0, 0);
    validate_vec(&ctx, "loss", a->loss, 1);
    validate_mat_optional(&ctx, "gz", a->gz, a->z.rows, a->z.cols);
    validate_ints(&ctx, "labels", a->labels, a->z.rows);
    validate_ints(&ctx, "sets", a->sets, a->z.rows);
    validate(&ctx, a->set >= 0 && a->set < 31, "the set is a bit number below 31");
    validate(&ctx, a->count >= 0 && a->count <= a->z.rows, "count is not the size of a set");
    if (a->weight.buf)
        validate_vec(&ctx, "weight", a->weight, a->z.cols);
    validate_output(&ctx, "loss", a->loss, NULL);
    validate_output(&ctx, "gz", a->gz, "z");
    END;
}

fathom_status be_validate_sigmoid_xent(const be_device *dev, const be_sigmoid_xent_args *a) {
    BEGIN("sigmoid_xent");
    validate_mat(&ctx, "z", a->z, 0, 0);
    validate_mat(&ctx, "target", a->target, a->z.rows, a->z.cols);
    validate_vec(&ctx, "loss", a->loss, 1);
    validate_mat_optional(&ctx, "gz", a->gz, a->z.rows, a->z.cols);
    validate_ints(&ctx, "sets", a->sets, a->z.rows);
    validate(&ctx, a->set >= 0 && a->set < 31, "the set is a bit number below 31");
    validate(&ctx, a->count >= 0 && a->count <= a->z.rows, "count is not the size of a set");
    validate_output(&ctx, "loss", a->loss, NULL);
    validate_output(&ctx, "gz", a->gz, "z");
    END;
}

fathom_status be_validate_label_counts(const be_device *dev, const be_label_counts_args *a) {
    BEGIN("label_counts");
    validate(&ctx, a->hits.len >= 1 && a->hits.len <= 4, "between 1 and 4 sets can be counted");
    validate_mat(&ctx, "z", a->z, 0, 0);
    validate_mat(&ctx, "target", a->target, a->z.rows, a->z.cols);
    validate(&ctx, a->z.rows * a->z.cols <= INT32_MAX, "the counts have 32 bits");
    validate_ints(&ctx, "hits", a->hits, a->hits.len);
    validate_ints(&ctx, "predicted", a->predicted, a->hits.len);
    validate_ints(&ctx, "sets", a->sets, a->z.rows);
    validate_output_ints(&ctx, "hits", a->hits);
    validate_output_ints(&ctx, "predicted", a->predicted);
    END;
}

fathom_status be_validate_clip_norm(const be_device *dev, const be_clip_norm_args *a) {
    BEGIN("clip_norm");
    validate_vec(&ctx, "x", a->x, 0);
    validate_vec(&ctx, "y", a->y, a->x.cols);
    validate(&ctx, a->limit > 0.0f, "the limit must be above 0");
    validate_output(&ctx, "y", a->y, "x");
    END;
}

fathom_status be_validate_accuracy(const be_device *dev, const be_accuracy_args *a) {
    BEGIN("accuracy");
    validate(&ctx, a->correct.len >= 1 && a->correct.len <= 8, "between 1 and 8 sets can be counted");
    validate_mat(&ctx, "z", a->z, 0, 0);
    validate_ints(&ctx, "correct", a->correct, a->correct.len);
    validate_ints(&ctx, "pred", a->pred, a->z.rows);
    validate_ints(&ctx, "labels", a->labels, a->z.rows);
    validate_ints(&ctx, "sets", a->sets, a->z.rows);
    validate_output_ints(&ctx, "correct", a->correct);
    validate_output_ints(&ctx, "pred", a->pred);
    END;
}

fathom_status be_validate_adam(const be_device *dev, const be_adam_args *a) {
    BEGIN("adam");
    validate_vec(&ctx, "w", a->w, 0);
    validate_vec(&ctx, "m", a->m, a->w.cols);
    validate_vec(&ctx, "v", a->v, a->w.cols);
    validate_vec(&ctx, "g", a->g, a->w.cols);
    validate(&ctx, a->step >= 1, "steps count from 1");
    validate_output(&ctx, "w", a->w, NULL);
    validate_output(&ctx, "m", a->m, NULL);
    validate_output(&ctx, "v", a->v, NULL);
    END;
}

/* ---- pairwise ---- */

static void fold_rows(validation *ctx, int64_t first, int64_t rows, int64_t n) {
    validate(ctx, first >= 0 && rows <= n && first <= n - rows, "the rows are out of range");
}

fathom_status be_validate_pair_fold(const be_device *dev, const be_pair_fold_args *a) {
    BEGIN("pair_fold");
    validate_mat(&ctx, "x", a->x, 0, 0);
    validate_mat(&ctx, "out", a->out, 0, 0);
    fold_rows(&ctx, a->first, a->out.rows, a->x.rows);
    validate_ints(&ctx, "labels", a->labels, a->x.rows);
    validate(&ctx, a->kind == BE_FOLD_EUCLID || a->kind == BE_FOLD_SQUARED || a->kind == BE_FOLD_GAUSS, "unknown kind");
    validate_output(&ctx, "out", a->out, NULL);
    END;
}

fathom_status be_validate_pair_fold_sparse(const be_device *dev, const be_pair_fold_sparse_args *a) {
    BEGIN("pair_fold_sparse");
    validate_csr(&ctx, "a", &a->a);
    validate_csr(&ctx, "at", &a->at);
    validate(&ctx, a->at.rows == a->a.cols && a->at.cols == a->a.rows && a->at.nnz == a->a.nnz,
             "at is not the transpose of a");
    validate_mat(&ctx, "out", a->out, 0, 0);
    fold_rows(&ctx, a->first, a->out.rows, a->a.rows);
    if (a->a.nnz > 0) {
        validate_vec(&ctx, "val", a->val, a->a.nnz);
        validate(&ctx, a->at.eids.buf != NULL, "at needs entry ids");
    }
    validate_vec(&ctx, "sq", a->sq, a->a.rows);
    validate_ints(&ctx, "labels", a->labels, a->a.rows);
    validate_output(&ctx, "out", a->out, NULL);
    END;
}

fathom_status be_validate_mad_fold(const be_device *dev, const be_mad_fold_args *a) {
    BEGIN("mad_fold");
    validate_mat(&ctx, "x", a->x, 0, 0);
    validate_vec(&ctx, "norm", a->norm, a->x.rows);
    validate_vec(&ctx, "sum", a->sum, 0);
    validate_ints(&ctx, "count", a->count, a->sum.cols);
    fold_rows(&ctx, a->first, a->sum.cols, a->x.rows);
    validate_output(&ctx, "sum", a->sum, NULL);
    validate_output_ints(&ctx, "count", a->count);
    END;
}

fathom_status be_validate_dirichlet(const be_device *dev, const be_dirichlet_args *a) {
    BEGIN("dirichlet");
    validate_csr(&ctx, "a", &a->a);
    validate(&ctx, a->a.rows == a->a.cols, "a is not square");
    validate_mat(&ctx, "x", a->x, a->a.rows, 0);
    validate_vec(&ctx, "e", a->e, a->a.rows);
    validate_mat_optional(&ctx, "w", a->w, 1, a->a.rows);
    validate_output(&ctx, "e", a->e, NULL);
    END;
}
