/* ocl_pointwise.c - launches of cl/pointwise.cl, and column sums. */
#include "backend/opencl/ocl.h"

/* Turns matrices with contiguous rows into one long row: fewer partial vectors, and elements keep their index in a
 * dropout mask. Absent matrices are ignored. */
static void join_rows(be_mat *a, be_mat *b, be_mat *c) {
    be_mat *all[] = {a, b, c};
    int64_t size = a->rows * a->cols;
    for (int i = 0; i < 3; i++)
        if (all[i]->buf && all[i]->ld != all[i]->cols)
            return;
    if (size > INT32_MAX)
        return;
    for (int i = 0; i < 3; i++)
        *all[i] = (be_mat){all[i]->buf, all[i]->off, 1, size, size};
}

/* y = value. */
fathom_status ocl_fill(ocl_device *dev, const be_fill_args *a) {
    be_mat y = a->y, none = {0};
    join_rows(&y, &none, &none);
    return OCL_RUN(dev, K_fill, ocl_items(y), MAT(y), U32(y.rows), U32(y.cols), F32(a->value));
}

/* y = a x + b z. */
fathom_status ocl_axpby(ocl_device *dev, const be_axpby_args *a) {
    be_mat y = a->y, x = a->x, z = a->z;
    join_rows(&y, &x, &z);
    return OCL_RUN(dev, K_axpby, ocl_items(y), MAT(y), MAT(x), MAT(z), U32(z.buf != NULL), U32(y.rows), U32(y.cols),
                   F32(a->a), F32(a->b));
}

/* y = x. */
fathom_status ocl_copy(ocl_device *dev, const be_copy_args *a) {
    return ocl_axpby(dev, &(be_axpby_args){.y = a->y, .x = a->x, .a = 1.0f});
}

/* y = dropout(relu(x)). */
fathom_status ocl_activate(ocl_device *dev, const be_activate_args *a) {
    be_mat y = a->y, x = a->x, none = {0};
    join_rows(&y, &x, &none);
    return OCL_RUN(dev, K_activate, ocl_items(y), MAT(y), MAT(x), U32(y.rows), U32(y.cols), ACT(a->act));
}

/* gx = act'(x) gy: (y > 0) gy scale; without relu the same dropout mask as forward. */
fathom_status ocl_activate_backward(ocl_device *dev, const be_activate_backward_args *a) {
    if (!a->act.relu)
        return ocl_activate(dev, &(be_activate_args){.y = a->gx, .x = a->gy, .act = a->act});
    be_mat gx = a->gx, gy = a->gy, y = a->y;
    join_rows(&gx, &gy, &y);
    return OCL_RUN(dev, K_activate_backward, ocl_items(gx), MAT(gx), MAT(gy), MAT(y), U32(gx.rows), U32(gx.cols),
                   F32(a->act.drop.rate > 0.0f ? a->act.drop.scale : 1.0f));
}

/* y = x + 1 b'. */
fathom_status ocl_bias_add(ocl_device *dev, const be_bias_add_args *a) {
    return OCL_RUN(dev, K_bias_add, ocl_items(a->y), MAT(a->y), MAT(a->x), VECTOR(a->b), U32(a->y.rows),
                   U32(a->y.cols));
}

/* y_v = x_v / norm_v. */
fathom_status ocl_row_normalise(ocl_device *dev, const be_row_normalise_args *a) {
    return OCL_RUN(dev, K_row_normalise, a->x.rows, MAT(a->y), VECTOR(a->norm), U32(a->norm.buf != NULL), MAT(a->x),
                   U32(a->x.rows), U32(a->x.cols), U32(a->kind == BE_ROW_SUM));
}

/* s += sum_v x_v. */
fathom_status ocl_col_sum(ocl_device *dev, const be_col_sum_args *a) {
    ocl_blocks blocks = ocl_split(a->x.rows, a->x.cols);
    TRY(ocl_scratch(dev, be_floats(blocks.count * a->x.cols)));
    TRY(OCL_RUN(dev, K_sum_blocks, blocks.count * ocl_vecs(a->x.cols), SCRATCH(dev, 0), MAT(a->x), U32(a->x.rows),
                U32(a->x.cols), U32(blocks.count), U32(blocks.rows)));
    return ocl_combine_blocks(dev, a->s, (be_mat){0}, 0, a->x.cols, blocks, true);
}
