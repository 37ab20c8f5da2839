/* ocl_blocks.c - how a sum over rows is cut into blocks, and the step that adds the blocks up. */
#include "backend/opencl/ocl.h"

#define MOST_BLOCKS 256
#define MOST_FLOATS (INT64_C(1) << 22)

ocl_blocks ocl_cut(int64_t n, int64_t width) {
    int64_t most = MOST_FLOATS / width;
    most = most < 1 ? 1 : most > MOST_BLOCKS ? MOST_BLOCKS : most;
    int64_t runs = (n + OCL_BLOCK - 1) / OCL_BLOCK, each = (runs + most - 1) / most;
    return (ocl_blocks){.count = (runs + each - 1) / each, .rows = each * OCL_BLOCK};
}

fathom_status ocl_combine(ocl_device *dev, be_mat out, int64_t at, int64_t stride, ocl_blocks blocks, bool add) {
    return OCL_RUN(dev, K_sum_combine, out.cols, VEC(out), SCRATCH(dev, at), I64(stride), U32(out.cols),
                   U32(blocks.count), U32(add));
}
