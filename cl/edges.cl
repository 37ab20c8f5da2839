/* edges.cl - DropEdge: which edges an epoch keeps, and the weights of a graph convolution on those.
 *
 * 2^lane_bits work-items share a row and take its entries side by side; a work-group has SLOTS pairs of a row and a
 * lane, and a work-item takes every size-th slot. */
#include "common.h"

/* Computes: keep_e = 0 or 1 for entry e = (r, c): 0 where r != c and the first number of the counter {min(r, c),
 * max(r, c), epoch, stream} is below `threshold`; degree_r = sum of keep over row r.
 * Shapes: keep 1 x nnz, degree n.
 * Launch: one work-group per SLOTS >> lane_bits rows.
 * Memory: local: SLOTS ints.
 * Order: integers; any order gives the same count. */
__kernel void edge_drop(__global float *keep, __global int *degree, __global const long *indptr,
                        __global const int *indices, __local int *counts, edge_drop_args a) {
    uint me = (uint)get_local_id(0), size = (uint)get_local_size(0), lanes = 1u << a.lane_bits;
    uint rows = SLOTS >> a.lane_bits, first = (uint)get_group_id(0) * rows;
    for (uint slot = me; slot < SLOTS; slot += size) {
        uint r = first + (slot >> a.lane_bits);
        int kept = 0;
        if (r < a.n)
            for (uint e = (uint)indptr[a.indptr + r] + (slot & (lanes - 1)), end = (uint)indptr[a.indptr + r + 1];
                 e < end; e += lanes) {
                uint c = (uint)indices[a.indices + e];
                philox_block b;
                philox_into(&b, min(r, c), max(r, c), a.epoch, a.stream, a.key0, a.key1);
                bool stays = r == c || b.v[0] >= a.threshold;
                keep[a.keep.off + e] = stays ? 1.0f : 0.0f;
                kept += stays ? 1 : 0;
            }
        counts[slot] = kept;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint r = me; r < rows && first + r < a.n; r += size) {
        int kept = 0;
        for (uint lane = 0; lane < lanes; lane++)
            kept += counts[(r << a.lane_bits) + lane];
        degree[a.degree + first + r] = kept;
    }
}

/* Computes: val_e *= root[degree_r] root[degree_c] for entry e = (r, c).
 * Shapes: val 1 x nnz, degree n, root 1 x (n + 1).
 * Launch: one work-group per SLOTS >> lane_bits rows. */
__kernel void edge_norm(__global float *val, __global const long *indptr, __global const int *indices,
                        __global const int *degree, __global const float *root, edge_norm_args a) {
    uint me = (uint)get_local_id(0), size = (uint)get_local_size(0), lanes = 1u << a.lane_bits;
    uint first = (uint)get_group_id(0) * (SLOTS >> a.lane_bits);
    for (uint slot = me; slot < SLOTS; slot += size) {
        uint r = first + (slot >> a.lane_bits);
        if (r >= a.n)
            continue;
        float own = root[a.root.off + (uint)degree[a.degree + r]];
        for (uint e = (uint)indptr[a.indptr + r] + (slot & (lanes - 1)), end = (uint)indptr[a.indptr + r + 1]; e < end;
             e += lanes)
            val[a.val.off + e] *= own * root[a.root.off + (uint)degree[a.degree + (uint)indices[a.indices + e]]];
    }
}
