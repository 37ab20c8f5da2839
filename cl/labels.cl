/* labels.cl - several labels per node: cross-entropy of independent labels with its gradient, counts for the F1 score.
 *
 * `lanes` (2^lane_bits) work-items share a row, as in loss.cl. A work-group has SLOTS pairs of a row and a lane, and
 * walks block_rows rows, SLOTS / lanes at a time; a work-item takes every size-th slot. */
#include "common.h"

/* Computes: gz_vc = (sigmoid(z_vc) - target_vc) inverse for nodes of the set, 0 for the others; parts_b = inverse times
 * the sum of max(z, 0) - z target + log(1 + exp(-|z|)) over the nodes of the set in block b; inverse = 1 / (nodes in
 * the set C). Shapes: z, target and gz n x C, sets n, parts a float4 per work-group, which sum_combine adds; gz may be
 * z. Launch: one work-group per block_rows rows. Memory: local: SLOTS floats. Order: every lanes-th class ascending,
 * rows of a slot ascending, then the slots. */
__kernel void sigmoid_xent(__global float4 *parts, __global float *gz, __global const float *z,
                           __global const float *target, __global const int *sets, __local float *terms,
                           sigmoid_xent_args a) {
    uint bits = a.lane_bits, lanes = 1u << bits, rows = SLOTS >> bits;
    uint first = (uint)get_group_id(0) * a.block_rows, end = min(a.n, first + a.block_rows);
    for (uint slot = (uint)get_local_id(0); slot < SLOTS; slot += (uint)get_local_size(0)) {
        float sum = 0.0f;
        for (uint v = first + (slot >> bits); v < end; v += rows) {
            __global const float *row = z + a.z.off + v * a.z.ld, *wanted = target + a.target.off + v * a.target.ld;
            __global float *out = gz + a.gz.off + v * a.gz.ld;
            bool member = a.inverse > 0.0f && ((uint)sets[a.sets + v] >> a.set & 1u);
            for (uint c = slot & (lanes - 1); c < a.classes; c += lanes) {
                float x = row[c], t = wanted[c], e = exp(-fabs(x));
                if (member)
                    sum += fmax(x, 0.0f) - x * t + log1p(e);
                if (a.has_gz)
                    out[c] = member ? ((x >= 0.0f ? 1.0f : e) / (1.0f + e) - t) * a.inverse : 0.0f;
            }
        }
        terms[slot] = sum;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0)
        parts[a.parts / VEC + get_group_id(0)] = (float4)(a.inverse * lanes_sum(terms, SLOTS), 0.0f, 0.0f, 0.0f);
}

/* Computes: for sets k, over the nodes of set k in block b and all classes, with predictions z_vc > 0: parts_bk =
 * number of predictions with target_vc = 1; parts_b(K + k) = number of predictions. Shapes: z and target n x C, sets n,
 * parts count x 2 K, one row per work-group. Launch: one work-group per block_rows rows. Memory: local: 8 SLOTS ints.
 * Order: integers; any order gives the same count. */
__kernel void label_counts(__global int *parts, __global const float *z, __global const float *target,
                           __global const int *sets, __local int *counts, label_counts_args a) {
    uint me = (uint)get_local_id(0), size = (uint)get_local_size(0);
    uint bits = a.lane_bits, lanes = 1u << bits, rows = SLOTS >> bits, count = a.sets_counted;
    uint first = (uint)get_group_id(0) * a.block_rows, end = min(a.n, first + a.block_rows);
    for (uint slot = me; slot < SLOTS; slot += size) {
        for (uint k = 0; k < 2 * count; k++)
            counts[k * SLOTS + slot] = 0;
        for (uint v = first + (slot >> bits); v < end; v += rows) {
            int hits = 0, predicted = 0, in = sets[a.sets + v];
            for (uint c = slot & (lanes - 1); c < a.classes; c += lanes)
                if (z[a.z.off + v * a.z.ld + c] > 0.0f) {
                    predicted++;
                    hits += target[a.target.off + v * a.target.ld + c] > 0.0f ? 1 : 0;
                }
            for (uint k = 0; k < count; k++)
                if (in >> k & 1) {
                    counts[k * SLOTS + slot] += hits;
                    counts[(count + k) * SLOTS + slot] += predicted;
                }
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = me; k < 2 * count; k += size) {
        int sum = 0;
        for (uint slot = 0; slot < SLOTS; slot++)
            sum += counts[k * SLOTS + slot];
        parts[(uint)get_group_id(0) * 2 * count + k] = sum;
    }
}
