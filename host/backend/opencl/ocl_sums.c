/* ocl_sums.c - adds blocks, the partial sums that work-groups leave. Sums for gradients and the loss are held: nothing
 * reads them before the backward pass ends, so that one launch adds those of all layers. An operation that reads or
 * writes such a result adds them first: those of HOLDS look at their matrices (OCL_SETTLE), all others and transfers do
 * so always. */
#include <string.h>

#include "backend/opencl/ocl.h"

#define HELD_FLOATS (INT64_C(1) << 20) /* of all held blocks, where a buffer may have as many; */
#define HELD_SHARE 8                   /* of it those of one operation: with more, a launch of its own costs little */

static const bool holds[BE_OP_COUNT] = {
    [BE_OP_fill] = true,
    [BE_OP_gemm] = true,
    [BE_OP_spmm] = true,
    [BE_OP_aggregate] = true,
    [BE_OP_group_backward_sums] = true,
    [BE_OP_group_backward_rows] = true,
};

/* Index of a list of sums in the table on the device, where lists stay: a steady epoch finds all of its own. A full
 * table is begun anew when the device no longer reads it. */
static fathom_status find_sums(ocl_device *dev, const block_sum *list, int count, u32 *first) {
    size_t bytes = (size_t)count * sizeof *list;
    for (int i = 0; i + count <= dev->sum_count; i++)
        if (memcmp(&dev->sums[i], list, bytes) == 0) {
            *first = (u32)i;
            return FATHOM_OK;
        }
    if (dev->sum_count + count > OCL_SUM_TABLE) {
        TRY(ocl_sync(dev));
        dev->sum_count = 0;
    }
    *first = (u32)dev->sum_count;
    memcpy(&dev->sums[*first], list, bytes);
    dev->pending = true;
    /* From the beginning, as Oclgrind takes what one write covers for all that is initialised. */
    CL_TRY(dev, "clEnqueueWriteBuffer", "table of sums",
           clEnqueueWriteBuffer(dev->queue, dev->sum_table, CL_FALSE, 0, *first * sizeof *list + bytes, dev->sums, 0,
                                NULL, NULL));
    dev->sum_count += count; /* only what the device has is found */
    return FATHOM_OK;
}

/* Adds a sum to a list, unless that is full or its results are in two other buffers. */
static bool append(ocl_sums *list, be_mat out, int64_t at, int64_t stride, int64_t blocks, bool add) {
    cl_mem mem = out.buf->handle;
    int buffer = !list->out[0] || list->out[0] == mem ? 0 : 1;
    if (list->count == OCL_MAX_SUMS || (list->out[buffer] && list->out[buffer] != mem))
        return false;
    int64_t vecs = out.rows * ocl_vecs(out.cols);
    list->out[buffer] = mem;
    list->vecs = vecs > list->vecs ? vecs : list->vecs;
    list->sum[list->count++] = (block_sum){.off = (u32)out.off,
                                           .ld = (u32)out.ld,
                                           .rows = (u32)out.rows,
                                           .cols = (u32)out.cols,
                                           .at = (u32)at,
                                           .stride = (u32)stride,
                                           .blocks = (u32)blocks,
                                           .second = (u32)buffer,
                                           .add = add};
    return true;
}

static fathom_status launch(ocl_device *dev, const ocl_sums *list, cl_mem blocks, float alpha, float beta) {
    sum_combine_args args = {.alpha = alpha, .beta = beta};
    if (list->count == 0)
        return FATHOM_OK;
    TRY(ocl_require(dev, K_sum_combine));
    TRY(find_sums(dev, list->sum, list->count, &args.first_sum));
    return OCL_RUN_2D(dev, K_sum_combine, ocl_group_items(dev, K_sum_combine, CEIL_DIV(list->vecs, COMBINE_VECS)),
                      list->count, ocl_mem(list->out[0]), ocl_mem(list->out[1]), ocl_mem(blocks),
                      ocl_mem(dev->sum_table), OCL_COMBINE_LOCAL(1),
                      (ocl_arg){sizeof args, OCL_STRUCT, {.structure = &args}});
}

fathom_status ocl_add_held(ocl_device *dev) {
    dev->held_floats = 0;
    if (dev->held.count == 0)
        return FATHOM_OK;
    ocl_sums list = dev->held;
    dev->held = (ocl_sums){0};
    return launch(dev, &list, dev->held_blocks, 1.0f, 1.0f);
}

/* Times of operations are their own, and a caller's queue must have all commands when a call returns: no sum waits. */
fathom_status ocl_place_blocks(ocl_device *dev, int64_t floats, bool can_wait, ocl_place *to) {
    void *made = NULL;
    int64_t largest = dev->max_alloc_bytes / (int64_t)sizeof(float),
            capacity = largest < HELD_FLOATS ? largest : HELD_FLOATS;
    if (!can_wait || dev->profile || dev->shared || floats > capacity / HELD_SHARE) {
        TRY(ocl_scratch(dev, be_floats(floats)));
        *to = (ocl_place){.mem = dev->scratch};
        return FATHOM_OK;
    }
    if (dev->held_floats + floats > capacity || dev->held.count + OCL_MAX_RESULTS > OCL_MAX_SUMS)
        TRY(ocl_add_held(dev));
    if (!dev->held_blocks) {
        TRY(ocl_alloc(dev, &made, be_floats(capacity), "partial sums"));
        dev->held_blocks = made;
        dev->counters.allocations++;
    }
    *to = (ocl_place){.mem = dev->held_blocks, .off = dev->held_floats, .held = true};
    dev->held_floats += PADDED(floats, 8); /* a sector */
    return FATHOM_OK;
}

fathom_status ocl_combine(ocl_device *dev, ocl_place from, const ocl_sum *sums, int count, int64_t stride,
                          int64_t blocks, float alpha, float beta) {
    ocl_sums now = {0};
    for (int i = 0; i < count; i++) {
        int64_t at = from.off + sums[i].at;
        if (!sums[i].out.buf || (from.held && append(&dev->held, sums[i].out, at, stride, blocks, beta != 0.0f)))
            continue;
        append(&now, sums[i].out, at, stride, blocks, beta != 0.0f);
    }
    return launch(dev, &now, from.mem, alpha, beta);
}

/* Nothing reads the results in a buffer that is released. */
void ocl_drop_held(ocl_device *dev, cl_mem released) {
    ocl_sums *list = &dev->held;
    int kept = 0;
    for (int i = 0; i < list->count; i++)
        if (list->out[list->sum[i].second] != released)
            list->sum[kept++] = list->sum[i];
    list->count = kept;
    for (int b = 0; b < 2; b++)
        if (list->out[b] == released)
            list->out[b] = NULL;
}

static bool overlap(const block_sum *s, be_mat m) {
    int64_t end = (int64_t)s->off + (int64_t)(s->rows - 1) * s->ld + s->cols;
    return m.off < end && (int64_t)s->off < m.off + (m.rows - 1) * m.ld + m.cols;
}

fathom_status ocl_settle(ocl_device *dev, const be_mat *mats, int count) {
    for (int i = 0; i < dev->held.count; i++)
        for (int m = 0; m < count; m++)
            if (mats[m].buf && mats[m].buf->handle == dev->held.out[dev->held.sum[i].second] &&
                overlap(&dev->held.sum[i], mats[m]))
                return ocl_add_held(dev);
    return FATHOM_OK;
}

fathom_status ocl_settle_before(ocl_device *dev, be_op op) { return holds[op] ? FATHOM_OK : ocl_add_held(dev); }
