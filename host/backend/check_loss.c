/* check_loss.c - what loss, accuracy, optimiser and pairwise folds demand. */
#include "backend/rules.h"

/* ---- loss, accuracy, optimiser ---- */

fathom_status be_check_softmax_xent(const be_device *dev, const be_softmax_xent_args *a) {
    BEGIN("softmax_xent");
    rule_mat(&r, "z", a->z, 0, 0);
    rule_vec(&r, "loss", a->loss, 1);
    rule_mat_optional(&r, "gz", a->gz, a->z.rows, a->z.cols);
    rule_ints(&r, "labels", a->labels, a->z.rows);
    rule_ints(&r, "sets", a->sets, a->z.rows);
    rule(&r, a->set >= 0 && a->set < 31, "the set is a bit number below 31");
    rule(&r, a->count >= 0 && a->count <= a->z.rows, "count is not the size of a set");
    rule_output(&r, "loss", a->loss, NULL);
    rule_output(&r, "gz", a->gz, "z");
    END;
}

fathom_status be_check_argmax(const be_device *dev, const be_argmax_args *a) {
    BEGIN("argmax");
    rule_mat(&r, "z", a->z, 0, 0);
    rule_ints(&r, "pred", a->pred, a->z.rows);
    rule_output_ints(&r, "pred", a->pred);
    END;
}

fathom_status be_check_accuracy(const be_device *dev, const be_accuracy_args *a) {
    BEGIN("accuracy");
    rule(&r, a->correct.len >= 1 && a->correct.len <= 8, "between 1 and 8 sets can be counted");
    rule(&r, a->pred.len >= 1, "pred is empty");
    rule_ints(&r, "correct", a->correct, a->correct.len);
    rule_ints(&r, "pred", a->pred, a->pred.len);
    rule_ints(&r, "labels", a->labels, a->pred.len);
    rule_ints(&r, "sets", a->sets, a->pred.len);
    rule_output_ints(&r, "correct", a->correct);
    END;
}

fathom_status be_check_adam(const be_device *dev, const be_adam_args *a) {
    BEGIN("adam");
    rule_vec(&r, "w", a->w, 0);
    rule_vec(&r, "m", a->m, a->w.cols);
    rule_vec(&r, "v", a->v, a->w.cols);
    rule_vec(&r, "g", a->g, a->w.cols);
    rule(&r, a->step >= 1, "steps count from 1");
    rule_output(&r, "w", a->w, NULL);
    rule_output(&r, "m", a->m, NULL);
    rule_output(&r, "v", a->v, NULL);
    END;
}

/* ---- pairwise ---- */

static void fold_rows(rules *r, int64_t first, int64_t rows, int64_t n) {
    rule(r, first >= 0 && rows <= n && first <= n - rows, "the rows asked for are not all there");
}

fathom_status be_check_pair_fold(const be_device *dev, const be_pair_fold_args *a) {
    BEGIN("pair_fold");
    rule_mat(&r, "x", a->x, 0, 0);
    rule_mat(&r, "out", a->out, 0, 0);
    fold_rows(&r, a->first, a->out.rows, a->x.rows);
    rule_ints(&r, "labels", a->labels, a->x.rows);
    rule(&r, a->kind == BE_FOLD_EUCLID || a->kind == BE_FOLD_SQUARED || a->kind == BE_FOLD_GAUSS, "unknown kind");
    rule_output(&r, "out", a->out, NULL);
    END;
}

fathom_status be_check_pair_fold_sparse(const be_device *dev, const be_pair_fold_sparse_args *a) {
    BEGIN("pair_fold_sparse");
    rule_csr(&r, "a", &a->a);
    rule_csr(&r, "at", &a->at);
    rule(&r, a->at.rows == a->a.cols && a->at.cols == a->a.rows && a->at.nnz == a->a.nnz,
         "at is not the transpose of a");
    rule_mat(&r, "out", a->out, 0, 0);
    fold_rows(&r, a->first, a->out.rows, a->a.rows);
    if (a->a.nnz > 0) {
        rule_vec(&r, "val", a->val, a->a.nnz);
        rule(&r, a->at.eid.buf != NULL, "at needs entry ids");
    }
    rule_vec(&r, "sq", a->sq, a->a.rows);
    rule_ints(&r, "labels", a->labels, a->a.rows);
    rule_output(&r, "out", a->out, NULL);
    END;
}

fathom_status be_check_mad_fold(const be_device *dev, const be_mad_fold_args *a) {
    BEGIN("mad_fold");
    rule_mat(&r, "x", a->x, 0, 0);
    rule_vec(&r, "norm", a->norm, a->x.rows);
    rule_vec(&r, "sum", a->sum, 0);
    rule_ints(&r, "count", a->count, a->sum.cols);
    fold_rows(&r, a->first, a->sum.cols, a->x.rows);
    rule_output(&r, "sum", a->sum, NULL);
    rule_output_ints(&r, "count", a->count);
    END;
}

fathom_status be_check_dirichlet(const be_device *dev, const be_dirichlet_args *a) {
    BEGIN("dirichlet");
    rule_csr(&r, "a", &a->a);
    rule(&r, a->a.rows == a->a.cols, "a is not square");
    rule_mat(&r, "x", a->x, a->a.rows, 0);
    rule_vec(&r, "e", a->e, a->a.rows);
    rule_mat_optional(&r, "w", a->w, 1, a->a.rows);
    rule_output(&r, "e", a->e, NULL);
    END;
}
