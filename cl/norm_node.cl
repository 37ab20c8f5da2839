/* norm_node.cl - node normalisation, forward and backward: statistics of each row.
 *
 * 2^lane_bits work-items share a row: neighbours read neighbouring columns. A work-group has SLOTS pairs of a row and a
 * lane; a work-item takes every size-th slot. */
#include "common.h"

/* Columns j .. j + 3 of a row in STATS_UNIT, minus `centre`; 0 past its end. */
HELPER float4 row_minus(__global const float *row, uint j, uint d, uint aligned, float centre) {
    float4 v = STATS_UNIT * load_row4(row, j, d, aligned) - centre;
    return select((float4)(0.0f), v, (uint4)(j, j + 1, j + 2, j + 3) < (uint4)(d));
}

/* The mean of a row in STATS_UNIT from what its lanes summed, and its variance + eps in the square of that unit, NaN
 * when it overflows. */
HELPER float row_mean(__global const float *row, __local const float *sums, uint lanes, uint d) {
    return STATS_UNIT * row[0] + lanes_sum(sums, lanes) / (float)d;
}
HELPER float row_variance(__local const float *squares, uint lanes, uint d, float eps) {
    float var = lanes_sum(squares, lanes) / (float)d;
    return var < VARIANCE_LIMIT ? var + STATS_UNIT * STATS_UNIT * eps : NAN;
}

/* sums[slot] and squares[slot] of row first + slot >> bits: sums minus the row's first value, squares centred. Ends
 * with a barrier. */
HELPER void sum_rows(__local float *sums, __local float *squares, __global const float *x, uint ld, uint aligned,
                     uint first, uint n, uint d, uint bits) {
    uint me = (uint)get_local_id(0), size = (uint)get_local_size(0), lanes = 1u << bits;
    for (uint slot = me; slot < SLOTS; slot += size) {
        uint v = first + (slot >> bits);
        __global const float *row = x + v * ld;
        float4 sum = (float4)(0.0f);
        if (v < n)
            for (uint j = VEC * (slot & (lanes - 1)); j < d; j += VEC * lanes)
                sum += row_minus(row, j, d, aligned, STATS_UNIT * row[0]);
        sums[slot] = sum4(sum);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint slot = me; slot < SLOTS; slot += size) {
        uint v = first + (slot >> bits);
        __global const float *row = x + v * ld;
        float4 sum = (float4)(0.0f);
        if (v < n) {
            float mean = row_mean(row, sums + (slot & -lanes), lanes, d);
            for (uint j = VEC * (slot & (lanes - 1)); j < d; j += VEC * lanes) {
                float4 centred = row_minus(row, j, d, aligned, mean);
                sum = fma(centred, centred, sum);
            }
        }
        squares[slot] = sum4(sum);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

/* Computes: y = act(x_v s_v), s_v = (var_v + eps)^-1/4.
 * Shapes: x and y n x d; y may be x.
 * Launch: one work-group per SLOTS >> lane_bits rows.
 * Memory: local: 2 SLOTS floats.
 * Order: four sums over a lane's columns, ascending; then these, then the lanes. */
__kernel void node_apply(__global float *y, __global const float *x, __local float *sums, node_apply_args a) {
    uint me = (uint)get_local_id(0), size = (uint)get_local_size(0), lanes = 1u << a.lane_bits;
    uint first = (uint)get_group_id(0) * (SLOTS >> a.lane_bits);
    __local float *squares = sums + SLOTS;
    sum_rows(sums, squares, x + a.x.off, a.x.ld, a.x.aligned, first, a.n, a.d, a.lane_bits);
    for (uint slot = me; slot < SLOTS; slot += size) {
        uint v = first + (slot >> a.lane_bits);
        float s = NODE_UNIT * rsqrt(sqrt(row_variance(squares + (slot & -lanes), lanes, a.d, a.eps)));
        if (v < a.n)
            for (uint j = VEC * (slot & (lanes - 1)); j < a.d; j += VEC * lanes) {
                float4 out = s * load_row4(x + a.x.off + v * a.x.ld, j, a.d, a.x.aligned);
                store_row4(act4(out, (ulong)v * a.d + j, a.act), y + a.y.off + v * a.y.ld, j, a.d, a.y.aligned);
            }
    }
}

/* Computes: gx = s_v (go_v - (x_v - mean_v) D_v / (2 d (var_v + eps))), D_v = go_v . x_v, s_v as node_apply.
 * Shapes: gx, go and x n x d; gx may be go.
 * Launch: one work-group per SLOTS >> lane_bits rows.
 * Memory: local: 3 SLOTS floats.
 * Order: four sums over a lane's columns, ascending; then these, then the lanes. */
__kernel void node_backward(__global float *gx, __global const float *go, __global const float *x, __local float *sums,
                            node_backward_args a) {
    uint me = (uint)get_local_id(0), size = (uint)get_local_size(0), lanes = 1u << a.lane_bits;
    uint first = (uint)get_group_id(0) * (SLOTS >> a.lane_bits);
    __local float *squares = sums + SLOTS, *dots = squares + SLOTS;
    for (uint slot = me; slot < SLOTS; slot += size) {
        uint v = first + (slot >> a.lane_bits);
        float4 dot = (float4)(0.0f);
        if (v < a.n)
            for (uint j = VEC * (slot & (lanes - 1)); j < a.d; j += VEC * lanes)
                dot = fma(row_minus(x + a.x.off + v * a.x.ld, j, a.d, a.x.aligned, 0.0f),
                          load_row4(go + a.go.off + v * a.go.ld, j, a.d, a.go.aligned), dot);
        dots[slot] = sum4(dot);
    }
    sum_rows(sums, squares, x + a.x.off, a.x.ld, a.x.aligned, first, a.n, a.d, a.lane_bits);
    for (uint slot = me; slot < SLOTS; slot += size) {
        uint v = first + (slot >> a.lane_bits), row_slot = slot & -lanes;
        __global const float *row = x + a.x.off + v * a.x.ld;
        if (v >= a.n)
            continue;
        float variance = row_variance(squares + row_slot, lanes, a.d, a.eps);
        float mean = row_mean(row, sums + row_slot, lanes, a.d), s = NODE_UNIT * rsqrt(sqrt(variance));
        float pull = lanes_sum(dots + row_slot, lanes) / variance * (0.5f / (float)a.d);
        for (uint j = VEC * (slot & (lanes - 1)); j < a.d; j += VEC * lanes) {
            float4 g = load_row4(go + a.go.off + v * a.go.ld, j, a.d, a.go.aligned) -
                       pull * row_minus(row, j, a.d, a.x.aligned, mean);
            store_row4(s * g, gx + a.gx.off + v * a.gx.ld, j, a.d, a.gx.aligned);
        }
    }
}
