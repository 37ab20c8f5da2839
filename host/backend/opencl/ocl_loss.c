/* ocl_loss.c - launches of cl/loss.cl and cl/labels.cl. */
#include "backend/opencl/ocl.h"

#define LANE_BITS 4     /* up to 16 lanes for a row */
#define MAX_BLOCKS 4096 /* added by one work-group: 128 parts per run */

/* Rows of a work-group: the fewest, unless that makes more than MAX_BLOCKS. */
static ocl_blocks split(int64_t n, u32 lane_bits) {
    int64_t rows = SLOTS >> lane_bits;
    rows *= CEIL_DIV(n, rows * MAX_BLOCKS);
    return (ocl_blocks){.count = CEIL_DIV(n, rows), .rows = rows};
}

/* loss = -1/|set| sum_v log softmax(z_v)[label_v]; gz = (softmax(z) - onehot) / |set|. */
fathom_status ocl_softmax_xent(ocl_device *dev, const be_softmax_xent_args *a) {
    float inverse = a->count > 0 ? (float)(1.0 / (double)a->count) : 0.0f;
    u32 lane_bits = ocl_bits(a->z.cols, LANE_BITS);
    ocl_blocks blocks = split(a->z.rows, lane_bits);
    ocl_place place;
    TRY(ocl_place_blocks(dev, blocks.count * VEC, true, &place));
    TRY(ocl_require(dev, K_softmax_xent));
    TRY(OCL_RUN(dev, K_softmax_xent, ocl_group_items(dev, K_softmax_xent, blocks.count), ocl_mem(place.mem), BUF(a->gz),
                BUF(a->z), BUF(a->labels), BUF(a->sets), BUF(a->weight), ocl_local(be_floats(3 * SLOTS)),
                ocl_local(be_floats(SLOTS)),
                ARGS(softmax_xent_args, .parts = (u32)place.off, .weight = (u32)a->weight.off,
                     .has_weight = a->weight.buf != NULL, .gz = ocl_mat(a->gz), .z = ocl_mat(a->z),
                     .labels = (u32)a->labels.off, .sets = (u32)a->sets.off, .has_gz = a->gz.buf != NULL,
                     .n = (u32)a->z.rows, .classes = (u32)a->z.cols, .set = (u32)a->set, .lane_bits = lane_bits,
                     .block_rows = (u32)blocks.rows, .inverse = inverse)));
    return OCL_COMBINE(dev, place, VEC, blocks.count, 1.0f, 0.0f, {a->loss, 0});
}

/* counts_k = sum over blocks of part `from` + k of `stride`. */
static fathom_status sum_counts(ocl_device *dev, be_ints counts, ocl_blocks blocks, int64_t from, int64_t stride) {
    return OCL_RUN(dev, K_accuracy_sum, 1, BUF(counts), SCRATCH_BUF(dev), ocl_local(be_floats(SLOTS)),
                   ARGS(accuracy_sum_args, .correct = (u32)counts.off, .count = (u32)blocks.count,
                        .sets_counted = (u32)counts.len, .from = (u32)from, .stride = (u32)stride));
}

/* pred_v = argmax_c z_vc; correct_k = |{v in set k: pred_v = label_v}|. */
fathom_status ocl_accuracy(ocl_device *dev, const be_accuracy_args *a) {
    int64_t sets = a->correct.len;
    u32 lane_bits = ocl_bits(a->z.cols, LANE_BITS);
    ocl_blocks blocks = split(a->z.rows, lane_bits);
    TRY(ocl_scratch(dev, be_floats(blocks.count * sets)));
    TRY(ocl_require(dev, K_accuracy));
    TRY(OCL_RUN(dev, K_accuracy, ocl_group_items(dev, K_accuracy, blocks.count), SCRATCH_BUF(dev), BUF(a->pred),
                BUF(a->z), BUF(a->labels), BUF(a->sets), ocl_local(be_floats(SLOTS)), ocl_local(be_floats(SLOTS)),
                ocl_local(be_floats(sets)),
                ARGS(accuracy_args, .z = ocl_mat(a->z), .pred = (u32)a->pred.off, .labels = (u32)a->labels.off,
                     .sets = (u32)a->sets.off, .n = (u32)a->z.rows, .classes = (u32)a->z.cols,
                     .sets_counted = (u32)sets, .lane_bits = lane_bits, .block_rows = (u32)blocks.rows)));
    return sum_counts(dev, a->correct, blocks, 0, sets);
}

/* loss = 1/(|set| C) sum_vc max(z, 0) - z t + log(1 + exp(-|z|)); gz = (sigmoid(z) - t) / (|set| C). */
fathom_status ocl_sigmoid_xent(ocl_device *dev, const be_sigmoid_xent_args *a) {
    float inverse = a->count > 0 ? (float)(1.0 / ((double)a->count * (double)a->z.cols)) : 0.0f;
    u32 lane_bits = ocl_bits(a->z.cols, LANE_BITS);
    ocl_blocks blocks = split(a->z.rows, lane_bits);
    ocl_place place;
    TRY(ocl_place_blocks(dev, blocks.count * VEC, true, &place));
    TRY(ocl_require(dev, K_sigmoid_xent));
    TRY(OCL_RUN(dev, K_sigmoid_xent, ocl_group_items(dev, K_sigmoid_xent, blocks.count), ocl_mem(place.mem), BUF(a->gz),
                BUF(a->z), BUF(a->target), BUF(a->sets), ocl_local(be_floats(SLOTS)),
                ARGS(sigmoid_xent_args, .parts = (u32)place.off, .gz = ocl_mat(a->gz), .z = ocl_mat(a->z),
                     .target = ocl_mat(a->target), .sets = (u32)a->sets.off, .has_gz = a->gz.buf != NULL,
                     .n = (u32)a->z.rows, .classes = (u32)a->z.cols, .set = (u32)a->set, .lane_bits = lane_bits,
                     .block_rows = (u32)blocks.rows, .inverse = inverse)));
    return OCL_COMBINE(dev, place, VEC, blocks.count, 1.0f, 0.0f, {a->loss, 0});
}

/* hits_k = |{(v, c), v in set k: z > 0, t = 1}|, predicted_k = |{(v, c), v in set k: z > 0}|. */
fathom_status ocl_label_counts(ocl_device *dev, const be_label_counts_args *a) {
    int64_t sets = a->hits.len;
    u32 lane_bits = ocl_bits(a->z.cols, LANE_BITS);
    ocl_blocks blocks = split(a->z.rows, lane_bits);
    TRY(ocl_scratch(dev, be_floats(blocks.count * 2 * sets)));
    TRY(ocl_require(dev, K_label_counts));
    TRY(OCL_RUN(dev, K_label_counts, ocl_group_items(dev, K_label_counts, blocks.count), SCRATCH_BUF(dev), BUF(a->z),
                BUF(a->target), BUF(a->sets), ocl_local(8 * be_floats(SLOTS)),
                ARGS(label_counts_args, .z = ocl_mat(a->z), .target = ocl_mat(a->target), .sets = (u32)a->sets.off,
                     .n = (u32)a->z.rows, .classes = (u32)a->z.cols, .sets_counted = (u32)sets, .lane_bits = lane_bits,
                     .block_rows = (u32)blocks.rows)));
    TRY(sum_counts(dev, a->hits, blocks, 0, 2 * sets));
    return sum_counts(dev, a->predicted, blocks, sets, 2 * sets);
}
