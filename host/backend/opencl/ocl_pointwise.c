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
    TRY(OCL_SETTLE(dev, y));
    join_rows(&y, &none, &none);
    return OCL_RUN(dev, K_fill, ocl_items(y), BUF(y),
                   ARGS(fill_args, .y = ocl_mat(y), .rows = (u32)y.rows, .cols = (u32)y.cols, .value = a->value));
}

/* y = a x + b z. */
fathom_status ocl_axpby(ocl_device *dev, const be_axpby_args *a) {
    be_mat y = a->y, x = a->x, z = a->z;
    join_rows(&y, &x, &z);
    return OCL_RUN(dev, K_axpby, ocl_items(y), BUF(y), BUF(x), BUF(z),
                   ARGS(axpby_args, .y = ocl_mat(y), .x = ocl_mat(x), .z = ocl_mat(z), .has_z = z.buf != NULL,
                        .rows = (u32)y.rows, .cols = (u32)y.cols, .a = a->a, .b = a->b));
}

/* y = x. */
fathom_status ocl_copy(ocl_device *dev, const be_copy_args *a) {
    return ocl_axpby(dev, &(be_axpby_args){.y = a->y, .x = a->x, .a = 1.0f});
}

/* y = dropout(relu(x)). */
fathom_status ocl_activate(ocl_device *dev, const be_activate_args *a) {
    be_mat y = a->y, x = a->x, none = {0};
    join_rows(&y, &x, &none);
    return OCL_RUN(dev, K_activate, ocl_items(y), BUF(y), BUF(x),
                   ARGS(activate_args, .y = ocl_mat(y), .x = ocl_mat(x), .rows = (u32)y.rows, .cols = (u32)y.cols,
                        .act = ocl_act_args(a->act)));
}

/* gx = act'(x) gy: (y > 0) gy scale; without relu the same dropout mask as forward. */
fathom_status ocl_activate_backward(ocl_device *dev, const be_activate_backward_args *a) {
    if (!a->act.relu)
        return ocl_activate(dev, &(be_activate_args){.y = a->gx, .x = a->gy, .act = a->act});
    be_mat gx = a->gx, gy = a->gy, y = a->y;
    join_rows(&gx, &gy, &y);
    return OCL_RUN(dev, K_activate_backward, ocl_items(gx), BUF(gx), BUF(gy), BUF(y),
                   ARGS(activate_backward_args, .gx = ocl_mat(gx), .gy = ocl_mat(gy), .y = ocl_mat(y),
                        .rows = (u32)gx.rows, .cols = (u32)gx.cols,
                        .scale = a->act.drop.rate > 0.0f ? a->act.drop.scale : 1.0f));
}

/* y = x + 1 b'. */
fathom_status ocl_bias_add(ocl_device *dev, const be_bias_add_args *a) {
    return OCL_RUN(dev, K_bias_add, ocl_items(a->y), BUF(a->y), BUF(a->x), BUF(a->b),
                   ARGS(bias_add_args, .y = ocl_mat(a->y), .x = ocl_mat(a->x), .b = ocl_mat(a->b),
                        .rows = (u32)a->y.rows, .cols = (u32)a->y.cols));
}

/* y_v = x_v / norm_v. */
fathom_status ocl_row_normalise(ocl_device *dev, const be_row_normalise_args *a) {
    return OCL_RUN(dev, K_row_normalise, a->x.rows, BUF(a->y), BUF(a->norm), BUF(a->x),
                   ARGS(row_normalise_args, .y = ocl_mat(a->y), .norm = ocl_mat(a->norm), .x = ocl_mat(a->x),
                        .has_norm = a->norm.buf != NULL, .by_sum = a->kind == BE_ROW_SUM, .rows = (u32)a->x.rows,
                        .cols = (u32)a->x.cols));
}

/* s += sum_v x_v. */
fathom_status ocl_col_sum(ocl_device *dev, const be_col_sum_args *a) {
    int64_t width = PADDED(a->x.cols, VEC);
    ocl_blocks blocks = ocl_split_rows(a->x.rows, width);
    rows_args rows = ocl_rows(a->x, blocks);
    TRY(ocl_scratch(dev, be_floats(blocks.count * width)));
    TRY(ocl_require(dev, K_sum_blocks));
    TRY(OCL_RUN(dev, K_sum_blocks, ocl_row_items(dev, K_sum_blocks, rows, blocks), SCRATCH_BUF(dev), BUF(a->x),
                ocl_mem(NULL), ocl_mem(NULL), OCL_ROWS_LOCAL(1),
                ARGS(sum_blocks_args, .go = ocl_mat(a->x), .rows = rows)));
    return OCL_COMBINE(dev, (ocl_place){.mem = dev->scratch}, width, blocks.count, 1.0f, 1.0f, {a->s, 0});
}
