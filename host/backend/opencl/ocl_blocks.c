/* ocl_blocks.c - splits a sum over rows into blocks, and adds the blocks. */
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

/* Adds blocks, of which the entries up to `readable` may be read. */
static fathom_status combine(ocl_device *dev, be_mat out, be_mat out2, blocks_args p, bool add) {
    TRY(ocl_require(dev, K_sum_combine));
    return OCL_RUN(
        dev, K_sum_combine, (out2.buf ? 2 : 1) * ocl_combine_items(dev, K_sum_combine, ocl_vecs(out.cols)), BUF(out),
        BUF(out2), SCRATCH_BUF(dev), OCL_COMBINE_LOCAL,
        ARGS(sum_combine_args, .out = ocl_mat(out), .out2 = ocl_mat(out2), .p = p, .len = (u32)out.cols, .add = add));
}

fathom_status ocl_combine_blocks(ocl_device *dev, be_mat out, be_mat out2, int64_t at, int64_t stride,
                                 ocl_blocks blocks, bool add) {
    blocks_args p = {.at = (u32)at,
                     .stride = (u32)stride,
                     .second = (u32)out.cols,
                     .readable = (u32)out.cols,
                     .aligned = at % VEC == 0 && stride % VEC == 0 && (!out2.buf || out.cols % VEC == 0),
                     .count = (u32)blocks.count};
    return combine(dev, out, out2, p, add);
}

blocks_args ocl_padded_blocks(int64_t rows, int64_t cols, ocl_blocks blocks) {
    u32 padded = (u32)PADDED(cols, VEC);
    return (blocks_args){.stride = (u32)rows * padded,
                         .second = padded,
                         .readable = padded,
                         .aligned = true,
                         .count = (u32)blocks.count};
}

fathom_status ocl_combine_padded(ocl_device *dev, be_mat out, be_mat out2, ocl_blocks blocks, bool add) {
    return combine(dev, out, out2, ocl_padded_blocks(out2.buf ? 2 : 1, out.cols, blocks), add);
}

fathom_status ocl_combine_stats(ocl_device *dev, const ocl_stats *s, blocks_args p, int64_t n, ocl_blocks blocks) {
    int64_t width = s->mean.rows * s->mean.cols;
    TRY(ocl_require(dev, K_stats_combine));
    return OCL_RUN(dev, K_stats_combine, ocl_combine_items(dev, K_stats_combine, ocl_vecs(width)), BUF(s->mean),
                   BUF(s->var), BUF(s->rmean), BUF(s->rvar), SCRATCH_BUF(dev),
                   ocl_local((size_t)(2 * COMBINE_VECS * COMBINE_RUNS) * sizeof(cl_float4)),
                   ARGS(stats_combine_args, .mean = ocl_mat(s->mean), .var = ocl_mat(s->var),
                        .rmean = ocl_mat(s->rmean), .rvar = ocl_mat(s->rvar), .p = p, .running = s->rmean.buf != NULL,
                        .width = (u32)width, .n = (u32)n, .block_rows = (u32)blocks.rows, .momentum = s->momentum));
}
