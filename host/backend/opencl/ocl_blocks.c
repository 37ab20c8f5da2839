/* ocl_blocks.c - how a sum over rows is cut into blocks, and the step that adds the blocks up. */
#include "backend/opencl/ocl.h"

#define MOST_BLOCKS 256 /* whose results are added up, one after the other */
#define MOST_FLOATS (INT64_C(1) << 22)

static ocl_blocks cut(int64_t n, int64_t width, int64_t limit) {
    int64_t most = MOST_FLOATS / width;
    most = most < 1 ? 1 : most > limit ? limit : most;
    int64_t runs = (n + OCL_BLOCK - 1) / OCL_BLOCK, each = (runs + most - 1) / most;
    return (ocl_blocks){.count = (runs + each - 1) / each, .rows = each * OCL_BLOCK};
}

ocl_blocks ocl_cut(int64_t n, int64_t width) { return cut(n, width, MOST_BLOCKS); }
ocl_blocks ocl_cut_rows(const ocl_device *dev, int64_t n, int64_t width) { return cut(n, width, dev->rooms); }

fathom_status ocl_combine(ocl_device *dev, be_mat out, be_mat also, int64_t at, int64_t stride, ocl_blocks blocks,
                          bool add) {
    return OCL_RUN_2D(dev, K_sum_combine, ocl_across(dev, out.cols), also.buf ? 2 : 1, VEC(out), VEC(also),
                      SCRATCH(dev, at), I64(stride), U32(out.cols), U32(blocks.count), U32(add));
}
