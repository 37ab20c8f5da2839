/* loss.cl - cross-entropy over a set of nodes with its gradient; predictions and counts of correct ones.
 *
 * `lanes` (2^lane_bits) work-items share a row of logits: neighbours read neighbouring columns. A work-group has SLOTS
 * pairs of a row and a lane, and walks block_rows rows, SLOTS / lanes at a time; a work-item takes every size-th slot.
 */
#include "common.h"

/* Computes: gz_v = (softmax(z_v) - onehot(label_v)) inverse for nodes of the set, 0 for the others; parts_b = inverse
 * times the sum of -log softmax(z_v)[label_v] over the nodes of the set in block b, which sum_combine adds; inverse = 1
 * / number of nodes in the set; with weights the term of node v has weight[label_v] in place of inverse.
 * Shapes: z and gz n x C, labels and sets n, weight C, parts a float4 per work-group; gz may be z.
 * Launch: one work-group per block_rows rows.
 * Memory: 3 SLOTS floats: maxima, sums, terms; SLOTS ints: the label of each slot's row, -1 outside the set.
 * Order: every lanes-th class ascending, then the lanes; rows of a slot ascending, then the slots. */
__kernel void softmax_xent(__global float4 *parts, __global float *gz, __global const float *z,
                           __global const int *labels, __global const int *sets, __global const float *weight,
                           __local float *maxima, __local int *label_of, softmax_xent_args a) {
    uint me = (uint)get_local_id(0), size = (uint)get_local_size(0), bits = a.lane_bits, lanes = 1u << bits,
         rows = SLOTS >> bits;
    uint first = (uint)get_group_id(0) * a.block_rows, end = min(a.n, first + a.block_rows);
    __local float *sums = maxima + SLOTS, *terms = sums + SLOTS;
    for (uint slot = me; slot < SLOTS; slot += size)
        terms[slot] = 0.0f;
    for (uint base = first; base < end; base += rows) {
        for (uint slot = me; slot < SLOTS; slot += size) {
            uint v = base + (slot >> bits);
            __global const float *row = z + a.z.off + v * a.z.ld;
            bool member = v < end && a.inverse > 0.0f && ((uint)sets[a.sets + v] >> a.set & 1u);
            float max_z = -INFINITY;
            if (member)
                for (uint c = (slot & (lanes - 1)); c < a.classes; c += lanes)
                    max_z = fmax(max_z, row[c]);
            maxima[slot] = max_z;
            label_of[slot] = member ? labels[a.labels + v] : -1;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint slot = me; slot < SLOTS; slot += size) {
            uint v = base + (slot >> bits);
            __global const float *row = z + a.z.off + v * a.z.ld;
            float max_z = lanes_max(maxima + (slot & -lanes), lanes), sum = 0.0f;
            if (label_of[slot] >= 0)
                for (uint c = (slot & (lanes - 1)); c < a.classes; c += lanes)
                    sum += exp(row[c] - max_z);
            sums[slot] = sum;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint slot = me; slot < SLOTS; slot += size) {
            uint v = base + (slot >> bits), lane = (slot & (lanes - 1));
            int label = label_of[slot];
            __global const float *row = z + a.z.off + v * a.z.ld;
            __global float *out = gz + a.gz.off + v * a.gz.ld;
            float max_z = lanes_max(maxima + slot - lane, lanes), sum = lanes_sum(sums + slot - lane, lanes);
            float factor = a.has_weight && label >= 0 ? weight[a.weight + (uint)label] : a.inverse;
            if (label >= 0 && ((uint)label & (lanes - 1)) == lane) /* before its own gz, which may be z, is stored */
                terms[slot] += (a.has_weight ? factor : 1.0f) * (log(sum) - (row[label] - max_z));
            if (a.has_gz && v < end)
                for (uint c = lane; c < a.classes; c += lanes)
                    out[c] = label < 0 ? 0.0f : (exp(row[c] - max_z) / sum - ((int)c == label ? 1.0f : 0.0f)) * factor;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (me == 0)
        parts[a.parts / VEC + get_group_id(0)] = (float4)((a.has_weight ? 1.0f : a.inverse) * lanes_sum(terms, SLOTS), 0.0f, 0.0f, 0.0f);
}

/* Whether entry x of column c is a better prediction than `best` of column `at`: the largest, the first of equal ones;
 * NaN is never chosen over a number. */
HELPER bool is_better(float x, int c, float best, int at) {
    return x > best || (x == best && c < at) || (isnan(best) && !isnan(x));
}

/* Computes: pred_v = column of the largest entry of row v; parts_bk = number of nodes v of block b in set k with
 * pred_v = label_v.
 * Shapes: z n x C, pred, labels and sets n, parts count x K, one row per work-group.
 * Launch: one work-group per block_rows rows.
 * Memory: SLOTS floats and ints: entry and column of each slot's prediction; K ints: counts.
 * Order: integers; any order gives the same count. */
__kernel void accuracy(__global int *parts, __global int *pred, __global const float *z, __global const int *labels,
                       __global const int *sets, __local float *best, __local int *column, __local int *counts,
                       accuracy_args a) {
    uint me = (uint)get_local_id(0), size = (uint)get_local_size(0), bits = a.lane_bits, lanes = 1u << bits,
         rows = SLOTS >> bits;
    uint first = (uint)get_group_id(0) * a.block_rows, end = min(a.n, first + a.block_rows);
    for (uint k = me; k < a.sets_counted; k += size)
        counts[k] = 0;
    for (uint base = first; base < end; base += rows) {
        for (uint slot = me; slot < SLOTS; slot += size) {
            uint v = base + (slot >> bits);
            float most = NAN;
            int at = 0;
            if (v < end)
                for (uint c = (slot & (lanes - 1)); c < a.classes; c += lanes) {
                    float x = z[a.z.off + v * a.z.ld + c];
                    if (is_better(x, (int)c, most, at)) {
                        most = x;
                        at = (int)c;
                    }
                }
            best[slot] = most;
            column[slot] = at;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint r = me; r < rows; r += size) { /* column of lane 0 becomes the sets in which the row counts */
            uint v = base + r, slot = r * lanes, win = slot;
            for (uint i = slot + 1; i < slot + lanes; i++)
                if (is_better(best[i], column[i], best[win], column[win]))
                    win = i;
            int at = column[win];
            if (v < end)
                pred[a.pred + v] = at;
            column[slot] = v < end && at == labels[a.labels + v] ? sets[a.sets + v] : 0;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint k = me; k < a.sets_counted; k += size)
            for (uint slot = 0; slot < SLOTS; slot += lanes)
                counts[k] += column[slot] >> k & 1;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (uint k = me; k < a.sets_counted; k += size)
        parts[(uint)get_group_id(0) * a.sets_counted + k] = counts[k];
}

/* Computes: correct_k = sum_b parts_bk.
 * Shapes: parts count x stride, of which K from `from` on; correct K.
 * Launch: one work-group.
 * Memory: SLOTS ints, of which a multiple of K is used.
 * Order: integers; any order gives the same count. */
__kernel void accuracy_sum(__global int *correct, __global const int *parts, __local int *sums, accuracy_sum_args a) {
    uint me = (uint)get_local_id(0), size = (uint)get_local_size(0), per_slot = SLOTS / a.sets_counted;
    uint used = per_slot * a.sets_counted; /* a slot adds parts of one set */
    for (uint slot = me; slot < used; slot += size) {
        int sum = 0;
        for (uint b = slot / a.sets_counted; b < a.count; b += per_slot)
            sum += parts[b * a.stride + a.from + slot % a.sets_counted];
        sums[slot] = sum;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = me; k < a.sets_counted; k += size) {
        int sum = 0;
        for (uint slot = k; slot < used; slot += a.sets_counted)
            sum += sums[slot];
        correct[a.correct + k] = sum;
    }
}
