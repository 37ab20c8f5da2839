/* attention.cl - graph attention: scores, softmax over the edges of a node, and their gradients. Row v of the CSR
 * matrix holds the neighbours u of v; spmm with alpha as values does the aggregation. A launch has a row of work-groups
 * in dimension 1 for each head, which is all that a work-group knows of; a.d columns are those of a head.
 *
 * A work-group of an edge kernel has a tile of rows. Its work-items walk the tile's entries side by side, whatever rows
 * they belong to, and leave a value of each in local memory; then the lanes of a row add its values. Rows that do not
 * fit together are taken in batches; a row that alone exceeds local memory is a batch, cut into chunks, with SLOTS
 * lanes. */
#include "common.h"

/* Computes: s_v = z_v . a_src, t_v = z_v . a_dst.
 * Shapes: z n x heads d, a_* heads x d, s and t n x heads.
 * Launch: one work-group per SLOTS >> lane_bits rows and head.
 * Memory: 2 SLOTS floats.
 * Order: four sums over a lane's columns, ascending; then these, then the lanes. */
__kernel void gat_scores(__global float *s, __global float *t, __global const float *z, __global const float *a_src,
                         __global const float *a_dst, __local float *src_sums, gat_scores_args a) {
    uint me = (uint)get_local_id(0), size = (uint)get_local_size(0), lanes = 1u << a.lane_bits;
    uint rows = SLOTS >> a.lane_bits, first = (uint)get_group_id(0) * rows;
    uint head = (uint)get_group_id(1), heads = (uint)get_num_groups(1);
    __local float *dst_sums = src_sums + SLOTS;
    z += head * a.d;
    a_src += head * a.d;
    a_dst += head * a.d;
    for (uint slot = me; slot < SLOTS; slot += size) {
        uint v = first + (slot >> a.lane_bits);
        float4 src = (float4)(0.0f), dst = src;
        if (v < a.n)
            for (uint j = VEC * (slot & (lanes - 1)); j < a.d; j += VEC * lanes) {
                float4 x = load_at(z, &a.z, v, j, a.d);
                src = fma(x, load_at(a_src, &a.a_src, 0, j, a.d), src);
                dst = fma(x, load_at(a_dst, &a.a_dst, 0, j, a.d), dst);
            }
        src_sums[slot] = sum4(src);
        dst_sums[slot] = sum4(dst);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint r = me; r < rows && first + r < a.n; r += size) {
        s[a.s.off + (first + r) * heads + head] = lanes_sum(src_sums + (r << a.lane_bits), lanes);
        t[a.t.off + (first + r) * heads + head] = lanes_sum(dst_sums + (r << a.lane_bits), lanes);
    }
}

/* Rows r0 .. r1 - 1 of a tile, processed together: 2^lane_bits lanes each, entries begin .. end - 1. */
typedef struct batch {
    uint r0, r1, lane_bits, begin, end;
} batch;

/* Loads at[r], the first entry of each row of a tile, and the end. */
HELPER void open_tile(__local uint *at, __global const long *indptr, uint rows) {
    for (uint r = (uint)get_local_id(0); r <= rows; r += (uint)get_local_size(0))
        at[r] = (uint)indptr[r];
    barrier(CLK_LOCAL_MEM_FENCE);
}

/* The batch from row r0: the rows that together have at most `capacity` entries, at least one. */
HELPER void open_batch(batch *b, __local const uint *at, uint r0, uint rows, uint lane_bits, uint capacity) {
    b->r0 = r0;
    b->r1 = r0 + 1;
    while (b->r1 < rows && at[b->r1 + 1] - at[r0] <= capacity)
        b->r1++;
    b->lane_bits = b->r1 - r0 > 1 ? lane_bits : SLOT_BITS;
    b->begin = at[r0];
    b->end = at[b->r1];
}

/* The row of entry e. */
HELPER uint row_of_entry(const batch *b, __local const uint *at, uint e) {
    uint low = b->r0, high = b->r1;
    while (high - low > 1) {
        uint middle = (low + high) / 2;
        if (at[middle] <= e)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* sums[slot] += values of the row's entries among start .. stop - 1, every lanes-th, ascending; that of entry e is
 * values[(e - start) << value_bits]. All work-items have stored their values, and may store others afterwards. */
HELPER void add_values(__local float *sums, __local const float *values, const batch *b, __local const uint *at,
                       uint start, uint stop, uint value_bits) {
    uint lanes = 1u << b->lane_bits;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint slot = (uint)get_local_id(0); slot < SLOTS; slot += (uint)get_local_size(0)) {
        uint r = b->r0 + (slot >> b->lane_bits);
        float sum = sums[slot];
        if (r < b->r1)
            for (uint e = max(at[r], start) + (slot & (lanes - 1)), end = min(at[r + 1], stop); e < end; e += lanes)
                sum += values[(e - start) << value_bits];
        sums[slot] = sum;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

/* Computes: alpha[id] = softmax over row v of leakyrelu(s_u + t_v), with the row maximum subtracted.
 * Shapes: alpha nnz x heads indexed by eid, s cols x heads, t rows x heads.
 * Launch: one work-group per tile of tile_rows rows and head.
 * Memory: tile_rows + 1 uints; EDGE_VALUES floats: scores; 3 SLOTS floats.
 * Order: entries of a lane ascending, then the lanes; a sum is rescaled when a later chunk has a larger maximum. */
__kernel void gat_softmax(__global float *alpha, __global const long *indptr, __global const int *indices,
                          __global const int *eids, __global const float *s, __global const float *t, __local uint *at,
                          __local float *scores, __local float *maxima, gat_softmax_args a) {
    uint me = (uint)get_local_id(0), size = (uint)get_local_size(0);
    uint first = (uint)get_group_id(0) * a.tile_rows, rows = min(a.tile_rows, a.rows - first);
    uint head = (uint)get_group_id(1), heads = (uint)get_num_groups(1);
    __local float *sums = maxima + SLOTS, *largest_of = sums + SLOTS;
    batch b;
    indices += a.a.indices;
    s += a.s.off + head;
    t += a.t.off + first * heads + head;
    open_tile(at, indptr + a.a.indptr + first, rows);
    for (uint r0 = 0; r0 < rows; r0 = b.r1) {
        open_batch(&b, at, r0, rows, a.lane_bits, EDGE_VALUES);
        uint lanes = 1u << b.lane_bits;
        for (uint slot = me; slot < SLOTS; slot += size) {
            maxima[slot] = -INFINITY;
            sums[slot] = 0.0f;
        }
        barrier(CLK_LOCAL_MEM_FENCE); /* a batch may have no entry */
        for (uint start = b.begin; start < b.end; start += EDGE_VALUES) {
            uint stop = min(b.end, start + EDGE_VALUES);
            for (uint e = start + me; e < stop; e += size)
                scores[e - start] =
                    leaky_relu(s[(uint)indices[e] * heads] + t[row_of_entry(&b, at, e) * heads], a.slope);
            barrier(CLK_LOCAL_MEM_FENCE);
            for (uint slot = me; slot < SLOTS; slot += size) {
                uint r = b.r0 + (slot >> b.lane_bits);
                if (r >= b.r1)
                    continue;
                uint from = max(at[r], start) + (slot & (lanes - 1)), end = min(at[r + 1], stop);
                float largest = maxima[slot], sum = 0.0f;
                for (uint e = from; e < end; e += lanes)
                    largest = fmax(largest, scores[e - start]);
                for (uint e = from; e < end; e += lanes)
                    sum += exp(scores[e - start] - largest);
                if (from < end)
                    sums[slot] = fma(sums[slot], exp(maxima[slot] - largest), sum);
                maxima[slot] = largest;
            }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        for (uint slot = me; slot < SLOTS; slot += size) /* relative to the maximum of the row; -inf: no entry */
            if (maxima[slot] > -INFINITY)
                sums[slot] *= exp(maxima[slot] - lanes_max(maxima + (slot & -lanes), lanes));
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint slot = me << b.lane_bits; slot < SLOTS; slot += size << b.lane_bits) { /* one per row */
            largest_of[slot] = lanes_max(maxima + slot, lanes);
            sums[slot] = 1.0f / lanes_sum(sums + slot, lanes);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint e = b.begin + me; e < b.end; e += size) {
            uint r = row_of_entry(&b, at, e), slot = (r - b.r0) << b.lane_bits;
            float score = b.end - b.begin <= EDGE_VALUES
                              ? scores[e - b.begin]
                              : leaky_relu(s[(uint)indices[e] * heads] + t[r * heads], a.slope);
            alpha[a.alpha.off + (a.a.has_eids ? (uint)eids[a.a.eids + e] : e) * heads + head] =
                exp(score - largest_of[slot]) * sums[slot];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

/* Computes: q = mask <gy_v, z_u>, ge[id] = (alpha q - alpha sum_w alpha_w q_w) leakyrelu'(s_u + t_v), gt_v = sum ge;
 * mask is `scale` where alpha_dropped, alpha after dropout, is not 0.
 * Shapes: ge, alpha, alpha_dropped nnz x heads indexed by eid, gt and t rows x heads, s cols x heads, gy rows x heads
 * d, z cols x heads d. Launch: one work-group per tile of tile_rows rows and head; 2^dot_bits lanes per product.
 * Memory: tile_rows + 1 uints; EDGE_VALUES floats: parts of products, then alpha q, then ge; 2 SLOTS floats. A row of
 * several chunks keeps alpha q in ge, where the work-item that stored it finds it.
 * Order: columns of a lane as in gat_scores; entries of a lane ascending, then the lanes. */
__kernel void gat_backward_edges(__global float *ge, __global float *gt, __global const long *indptr,
                                 __global const int *indices, __global const int *eids, __global const float *alpha,
                                 __global const float *alpha_dropped, __global const float *s, __global const float *t,
                                 __global const float *gy, __global const float *z, __local uint *at,
                                 __local float *values, __local float *means, gat_backward_edges_args a) {
    uint me = (uint)get_local_id(0), size = (uint)get_local_size(0), dots = 1u << a.dot_bits;
    uint first = (uint)get_group_id(0) * a.tile_rows, rows = min(a.tile_rows, a.rows - first);
    uint capacity = EDGE_VALUES >> a.dot_bits, head = (uint)get_group_id(1), heads = (uint)get_num_groups(1);
    __local float *sums = means + SLOTS;
    batch b;
    ge += a.ge.off + head;
    gt += a.gt.off + first * heads + head;
    alpha += a.alpha.off + head;
    alpha_dropped += a.alpha_dropped.off + head;
    s += a.s.off + head;
    t += a.t.off + first * heads + head;
    gy += a.gy.off + head * a.d;
    z += a.z.off + head * a.d;
    open_tile(at, indptr + a.a.indptr + first, rows);
    for (uint r0 = 0; r0 < rows; r0 = b.r1) {
        open_batch(&b, at, r0, rows, a.lane_bits, capacity);
        bool chunks = b.end - b.begin > capacity;
        for (uint slot = me; slot < 2 * SLOTS; slot += size)
            means[slot] = 0.0f;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint start = b.begin; start < b.end; start += capacity) {
            uint stop = min(b.end, start + capacity), count = stop - start;
            for (uint i = me; i < count << a.dot_bits; i += size) {
                uint e = start + (i >> a.dot_bits), v = first + row_of_entry(&b, at, e);
                __global const float *g = gy + v * a.gy.ld;
                __global const float *x = z + (uint)indices[a.a.indices + e] * a.z.ld;
                float4 dot = (float4)(0.0f);
                for (uint j = VEC * (i & (dots - 1)); j < a.d; j += VEC * dots)
                    dot = fma(load_row4(g, j, a.d, a.gy.aligned), load_row4(x, j, a.d, a.z.aligned), dot);
                values[i] = sum4(dot);
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            for (uint k = me; k < count; k += size) {
                uint id = (a.a.has_eids ? (uint)eids[a.a.eids + start + k] : start + k) * heads;
                float q = lanes_sum(values + (k << a.dot_bits), dots);
                if (a.has_dropped)
                    q *= alpha_dropped[id] != 0.0f ? a.scale : 0.0f;
                q *= alpha[id];
                values[k << a.dot_bits] = q;
                if (chunks)
                    ge[id] = q;
            }
            add_values(means, values, &b, at, start, stop, a.dot_bits);
        }
        for (uint slot = me << b.lane_bits; slot < SLOTS; slot += size << b.lane_bits) /* one per row */
            means[slot] = lanes_sum(means + slot, 1u << b.lane_bits);
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint start = b.begin; start < b.end; start += capacity) {
            uint stop = min(b.end, start + capacity);
            for (uint e = start + me; e < stop; e += size) {
                uint r = row_of_entry(&b, at, e), id = (a.a.has_eids ? (uint)eids[a.a.eids + e] : e) * heads;
                uint k = (e - start) << a.dot_bits;
                bool positive = s[(uint)indices[a.a.indices + e] * heads] + t[r * heads] > 0.0f;
                float q = chunks ? ge[id] : values[k];
                q = (q - alpha[id] * means[(r - b.r0) << b.lane_bits]) * (positive ? 1.0f : a.slope);
                ge[id] = q;
                values[k] = q;
            }
            add_values(sums, values, &b, at, start, stop, a.dot_bits);
        }
        for (uint r = b.r0 + me; r < b.r1; r += size)
            gt[r * heads] = lanes_sum(sums + ((r - b.r0) << b.lane_bits), 1u << b.lane_bits);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

/* Computes: gs_u = sum of ge[id] over the entries of row u of the transpose.
 * Shapes: gs rows x heads, ge nnz x heads indexed by eid.
 * Launch: one work-group per tile of tile_rows rows and head.
 * Memory: tile_rows + 1 uints; EDGE_VALUES floats; SLOTS floats.
 * Order: entries of a lane ascending, then the lanes. */
__kernel void gat_edge_sums(__global float *gs, __global const long *indptr, __global const int *eids,
                            __global const float *ge, __local uint *at, __local float *values, __local float *sums,
                            gat_edge_sums_args a) {
    uint me = (uint)get_local_id(0), size = (uint)get_local_size(0);
    uint first = (uint)get_group_id(0) * a.tile_rows, rows = min(a.tile_rows, a.rows - first);
    uint head = (uint)get_group_id(1), heads = (uint)get_num_groups(1);
    batch b;
    open_tile(at, indptr + a.a.indptr + first, rows);
    for (uint r0 = 0; r0 < rows; r0 = b.r1) {
        open_batch(&b, at, r0, rows, a.lane_bits, EDGE_VALUES);
        for (uint slot = me; slot < SLOTS; slot += size)
            sums[slot] = 0.0f;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint start = b.begin; start < b.end; start += EDGE_VALUES) {
            uint stop = min(b.end, start + EDGE_VALUES);
            for (uint e = start + me; e < stop; e += size)
                values[e - start] = ge[a.ge.off + (a.a.has_eids ? (uint)eids[a.a.eids + e] : e) * heads + head];
            add_values(sums, values, &b, at, start, stop, 0);
        }
        for (uint r = b.r0 + me; r < b.r1; r += size)
            gs[a.gs.off + (first + r) * heads + head] =
                lanes_sum(sums + ((r - b.r0) << b.lane_bits), 1u << b.lane_bits);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

/* Computes: gz_v += gs_v a_src + gt_v a_dst; p[b][0][j] = sum_v gs_v z_vj and p[b][1][j] = sum_v gt_v z_vj over block b
 * of block_rows rows.
 * Shapes: z and gz n x heads d, gs and gt n x heads, a_* heads x d, p blocks x 2 x heads d_pad (WS_ROWS).
 * Launch: one work-group per block, 2^vec_bits vectors of VEC columns, and head.
 * Memory: 2 SLOTS float4.
 * Order: every (SLOTS >> vec_bits)-th row ascending, then the lanes; sum_combine adds the blocks. */
__kernel void gat_backward_scores(__global float *p, __global float *gz, __global const float *z,
                                  __global const float *a_src, __global const float *a_dst, __global const float *gs,
                                  __global const float *gt, __local float4 *src_sums, gat_backward_scores_args a) {
    uint me = (uint)get_local_id(0), size = (uint)get_local_size(0), width = 1u << a.vec_bits;
    uint vecs = CEIL_DIV(a.d, VEC), tiles = CEIL_DIV(vecs, width), block = (uint)get_group_id(0) / tiles;
    uint col = VEC * width * ((uint)get_group_id(0) - block * tiles), end = min(a.n, (block + 1) * a.block_rows);
    uint head = (uint)get_group_id(1), heads = (uint)get_num_groups(1);
    __local float4 *dst_sums = src_sums + SLOTS;
    gz += head * a.d;
    z += head * a.d;
    a_src += head * a.d;
    a_dst += head * a.d;
    for (uint slot = me; slot < SLOTS; slot += size) {
        uint j = col + VEC * (slot & (width - 1));
        float4 src = (float4)(0.0f), dst = src;
        if (j < a.d) {
            float4 src_j = load4(a_src + a.a_src.off, j, a.d), dst_j = load4(a_dst + a.a_dst.off, j, a.d);
            for (uint v = block * a.block_rows + (slot >> a.vec_bits); v < end; v += SLOTS >> a.vec_bits) {
                float4 x = load_at(z, &a.z, v, j, a.d);
                float4 gs_v = (float4)(gs[a.gs.off + v * heads + head]);
                float4 gt_v = (float4)(gt[a.gt.off + v * heads + head]);
                __global float *row = gz + a.gz.off + v * a.gz.ld;
                src = fma(gs_v, x, src);
                dst = fma(gt_v, x, dst);
                store_row4(load_row4(row, j, a.d, a.gz.aligned) + gs_v * src_j + gt_v * dst_j, row, j, a.d,
                           a.gz.aligned);
            }
        }
        src_sums[slot] = src;
        dst_sums[slot] = dst;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = me; i < width && col + VEC * i < a.d; i += size) {
        float4 src = src_sums[i], dst = dst_sums[i];
        for (uint slot = i + width; slot < SLOTS; slot += width) {
            src += src_sums[slot];
            dst += dst_sums[slot];
        }
        __global float4 *to = (__global float4 *)p + WS_ROWS(block, 2 * heads, vecs) + head * vecs + col / VEC + i;
        to[0] = src;
        to[heads * vecs] = dst;
    }
}
