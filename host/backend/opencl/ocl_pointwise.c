/* ocl_pointwise.c - launches of cl/pointwise.cl, and column sums. */
#include "backend/opencl/ocl.h"

/* One work-item per four elements. */
static int64_t quads(be_mat m) { return (m.rows * m.cols + 3) / 4; }

fathom_status ocl_fill(ocl_device *dev, const be_fill_args *a) {
    return OCL_RUN(dev, K_fill, quads(a->y), MAT(a->y), U32(a->y.rows), U32(a->y.cols), F32(a->value));
}

fathom_status ocl_axpby(ocl_device *dev, const be_axpby_args *a) {
    return OCL_RUN(dev, K_axpby, quads(a->y), MAT(a->y), MAT(a->x), MAT(a->z), U32(a->z.buf != NULL), U32(a->y.rows),
                   U32(a->y.cols), F32(a->a), F32(a->b));
}

fathom_status ocl_copy(ocl_device *dev, const be_copy_args *a) {
    return ocl_axpby(dev, &(be_axpby_args){.y = a->y, .x = a->x, .a = 1.0f});
}

fathom_status ocl_activate(ocl_device *dev, const be_activate_args *a) {
    return OCL_RUN(dev, K_activate, quads(a->y), MAT(a->y), MAT(a->x), U32(a->y.rows), U32(a->y.cols), ACT(a->act));
}

/* Without relu the gradient passes the same mask as the value did. */
fathom_status ocl_activate_backward(ocl_device *dev, const be_activate_backward_args *a) {
    if (!a->act.relu)
        return ocl_activate(dev, &(be_activate_args){.y = a->gx, .x = a->gy, .act = a->act});
    return OCL_RUN(dev, K_activate_backward, quads(a->gx), MAT(a->gx), MAT(a->gy), MAT(a->y), U32(a->gx.rows),
                   U32(a->gx.cols), F32(a->act.drop.rate > 0.0f ? a->act.drop.scale : 1.0f));
}

fathom_status ocl_bias_add(ocl_device *dev, const be_bias_add_args *a) {
    return OCL_RUN(dev, K_bias_add, quads(a->y), MAT(a->y), MAT(a->x), VEC(a->b), U32(a->y.rows), U32(a->y.cols));
}

fathom_status ocl_row_normalise(ocl_device *dev, const be_row_normalise_args *a) {
    return OCL_RUN(dev, K_row_normalise, a->x.rows, MAT(a->y), VEC(a->norm), U32(a->norm.buf != NULL), MAT(a->x),
                   U32(a->x.rows), U32(a->x.cols), U32(a->kind == BE_ROW_SUM));
}

fathom_status ocl_col_sum(ocl_device *dev, const be_col_sum_args *a) {
    ocl_blocks blocks = ocl_cut(a->x.rows, a->x.cols);
    TRY(ocl_scratch(dev, be_floats(blocks.count * a->x.cols)));
    TRY(OCL_RUN(dev, K_sum_blocks, blocks.count * a->x.cols, SCRATCH(dev, 0), MAT(a->x), U32(a->x.rows), U32(a->x.cols),
                U32(blocks.count), U32(blocks.rows)));
    return ocl_combine(dev, a->s, 0, a->x.cols, blocks, true);
}
