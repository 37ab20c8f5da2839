/* ocl_blocks.c - splits a sum over rows into blocks, and adds the blocks. */
#include "backend/opencl/ocl.h"

static ocl_blocks split(int64_t n, int64_t width, int64_t limit) {
    int64_t max = OCL_MAX_PARTIAL_FLOATS / width;
    max = max < 1 ? 1 : max > limit ? limit : max;
    int64_t runs = CEIL_DIV(n, RUN_ROWS), runs_per_block = CEIL_DIV(runs, max);
    return (ocl_blocks){.count = CEIL_DIV(runs, runs_per_block), .rows = runs_per_block * RUN_ROWS};
}

ocl_blocks ocl_split(int64_t n, int64_t width) { return split(n, width, OCL_MAX_BLOCKS); }
ocl_blocks ocl_split_workspaces(const ocl_device *dev, int64_t n, int64_t width) {
    return split(n, width, dev->traits->max_workspaces);
}

fathom_status ocl_combine_blocks(ocl_device *dev, be_mat out, be_mat out2, int64_t at, int64_t stride,
                                 ocl_blocks blocks, bool add) {
    return OCL_RUN_2D(dev, K_sum_combine, ocl_vecs(out.cols), out2.buf ? 2 : 1, VECTOR(out), VECTOR(out2),
                      SCRATCH(dev, at), I64(stride), U32(out.cols), U32(blocks.count), U32(add));
}
