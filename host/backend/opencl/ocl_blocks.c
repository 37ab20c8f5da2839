/* ocl_blocks.c - splits a sum over rows into blocks, and adds the blocks. */
#include <string.h>

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

/* Index of a list of sums in the table on the device, where lists stay: a steady epoch finds all of its own. A full
 * table is begun anew when the device no longer reads it. */
static fathom_status find_sums(ocl_device *dev, const block_sum *list, int count, u32 *first) {
    size_t bytes = (size_t)count * sizeof *list;
    for (int i = 0; i + count <= dev->sum_count; i++)
        if (memcmp(&dev->sums[i], list, bytes) == 0) {
            *first = (u32)i;
            return FATHOM_OK;
        }
    if (dev->sum_count + count > OCL_SUMS) {
        TRY(ocl_sync(dev));
        dev->sum_count = 0;
    }
    *first = (u32)dev->sum_count;
    memcpy(&dev->sums[*first], list, bytes);
    dev->pending = true;
    CL_TRY(dev, "clEnqueueWriteBuffer", "table of sums",
           clEnqueueWriteBuffer(dev->queue, dev->sum_table, CL_FALSE, *first * sizeof *list, bytes, &dev->sums[*first],
                                0, NULL, NULL));
    dev->sum_count += count; /* only what the device has is found */
    return FATHOM_OK;
}

fathom_status ocl_combine(ocl_device *dev, const ocl_sum *sums, int count, int64_t stride, int64_t blocks, float alpha,
                          float beta) {
    block_sum list[OCL_MAX_RESULTS];
    const be_buf *out = NULL, *out2 = NULL;
    sum_combine_args args = {.alpha = alpha, .beta = beta};
    int64_t most = 0;
    int used = 0;
    for (int i = 0; i < count; i++) {
        be_mat m = sums[i].out;
        if (!m.buf)
            continue;
        int64_t vecs = m.rows * ocl_vecs(m.cols);
        most = vecs > most ? vecs : most;
        out = out ? out : m.buf;
        out2 = m.buf != out ? m.buf : out2;
        list[used++] = (block_sum){.off = (u32)m.off,
                                   .ld = (u32)m.ld,
                                   .rows = (u32)m.rows,
                                   .cols = (u32)m.cols,
                                   .at = (u32)sums[i].at,
                                   .stride = (u32)stride,
                                   .blocks = (u32)blocks,
                                   .second = m.buf != out,
                                   .add = beta != 0.0f};
    }
    if (used == 0)
        return FATHOM_OK;
    TRY(ocl_require(dev, K_sum_combine));
    TRY(find_sums(dev, list, used, &args.first_sum));
    return OCL_RUN_2D(dev, K_sum_combine, ocl_group_items(dev, K_sum_combine, CEIL_DIV(most, COMBINE_VECS)), used,
                      ocl_buf(out), ocl_buf(out2), SCRATCH_BUF(dev), ocl_mem(dev->sum_table), OCL_COMBINE_LOCAL(1),
                      (ocl_arg){sizeof args, OCL_STRUCT, {.structure = &args}});
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
