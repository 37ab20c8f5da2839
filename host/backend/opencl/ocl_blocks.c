/* ocl_blocks.c - splits sums and statistics over rows into blocks, and merges those of statistics. */
#include "backend/opencl/ocl.h"

#define MAX_ROW_BLOCKS 512 /* ocl_split_rows: added in COMBINE_RUNS runs */
#define ROW_BLOCK_STEP 16
#define MAX_ACROSS 16 /* float4 of neighbouring columns in a work-group, which read whole cache lines */

static ocl_blocks split(int64_t n, int64_t width, int64_t step, int64_t limit) {
    int64_t max = OCL_MAX_PARTIAL_FLOATS / width;
    max = max < 1 ? 1 : max > limit ? limit : max;
    int64_t steps = CEIL_DIV(n, step), steps_per_block = CEIL_DIV(steps, max);
    return (ocl_blocks){.count = CEIL_DIV(steps, steps_per_block), .rows = steps_per_block * step};
}

ocl_blocks ocl_split(int64_t n, int64_t width) { return split(n, width, RUN_ROWS, OCL_MAX_BLOCKS); }
ocl_blocks ocl_split_rows(int64_t n, int64_t width) { return split(n, width, ROW_BLOCK_STEP, MAX_ROW_BLOCKS); }

rows_args ocl_rows(be_mat x, ocl_blocks blocks) {
    u32 across = 1;
    while (across < MAX_ACROSS && across < ocl_vecs(x.cols))
        across *= 2;
    return (rows_args){.n = (u32)x.rows, .d = (u32)x.cols, .block_rows = (u32)blocks.rows, .across = across};
}

int64_t ocl_row_items(const ocl_device *dev, ocl_kernel kernel, rows_args rows, ocl_blocks blocks) {
    return blocks.count * CEIL_DIV(ocl_vecs(rows.d), rows.across) * (int64_t)dev->group_size[kernel];
}

fathom_status ocl_combine_stats(ocl_device *dev, const ocl_stats *s, int64_t n, ocl_blocks blocks) {
    int64_t groups = s->mean.rows, d = s->mean.cols;
    TRY(ocl_require(dev, K_stats_combine));
    return OCL_RUN(
        dev, K_stats_combine, ocl_group_items(dev, K_stats_combine, CEIL_DIV(groups * ocl_vecs(d), COMBINE_VECS)),
        BUF(s->mean), BUF(s->var), BUF(s->rmean), BUF(s->rvar), SCRATCH_BUF(dev), OCL_COMBINE_LOCAL(2),
        ARGS(stats_combine_args, .mean = ocl_mat(s->mean), .var = ocl_mat(s->var), .rmean = ocl_mat(s->rmean),
             .rvar = ocl_mat(s->rvar), .running = s->rmean.buf != NULL, .n = (u32)n, .d = (u32)d, .groups = (u32)groups,
             .blocks = (u32)blocks.count, .block_rows = (u32)blocks.rows, .momentum = s->momentum));
}
