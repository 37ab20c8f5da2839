/* sparse.cl - sparse times dense: graph aggregation, sparse features, and both transposed through a prebuilt transpose
 * with eids, so that no kernel scatters. A work-group sums a tile of rows (args.h): it stages the entries in local
 * memory, and each work-item sums a segment for 4 columns, so that a long row keeps every work-item busy. */
#include "common.h"

/* `segments` is 0 for a single row, `words` 0: its segments are computed. */
typedef struct tile {
    uint row, rows, entry, entries, segments, words, parts;
} tile;

HELPER void read_tile(tile *t, __global const uint *table, __global const long *indptr, const csr_args *a, uint i) {
    t->rows = 1;
    t->segments = t->words = t->parts = 0;
    if (!a->has_table) {
        t->row = i;
        t->entry = (uint)indptr[a->indptr + i];
        t->entries = (uint)indptr[a->indptr + i + 1] - t->entry;
        return;
    }
    uint4 w = *(__global const uint4 *)(table + a->table + 4 * i);
    t->row = w.x & ~TILE_PARTS;
    t->parts = w.x & TILE_PARTS;
    t->entry = w.y;
    t->entries = w.z;
    t->words = w.w;
    if (t->words) {
        t->entries = w.z & 0xffff;
        t->segments = w.z >> 16 & 0xff;
        t->rows = w.z >> 24;
    }
}

/* Entries first .. first + count - 1 of a tile: where the row of x begins that each multiplies, and by what. Parts are
 * rows of their own matrix, `parts_ld` wide for each head. */
HELPER void stage_entries(__local uint *at, __local float *factor, const tile *t, uint first, uint count,
                          __global const int *indices, __global const int *eids, __global const float *val,
                          const csr_args *a, const mat_args *x, uint parts_ld) {
    for (uint i = (uint)get_local_id(0); i < count; i += (uint)get_local_size(0)) {
        uint e = t->entry + first + i;
        if (t->parts) {
            at[i] = e * parts_ld * (uint)get_num_groups(1);
            factor[i] = 1.0f;
        } else {
            at[i] = x->off + (uint)indices[a->indices + e] * x->ld;
            uint id = a->has_eids ? (uint)eids[a->eids + e] : e;
            factor[i] = a->has_val ? val[a->val + id * (uint)get_num_groups(1)] : 1.0f;
        }
    }
}

/* Sum of factor x over the staged entries begin .. end - 1, columns j .. j + 3; four loads in flight. How rows are
 * loaded is constant at each call.
 * Order: entries ascending. */
#define LOAD_ALIGNED 0
#define LOAD_LOOSE 1
#define LOAD_NARROW 2 /* fewer than 4 columns */

HELPER float4 load_columns(__global const float *row, uint d, int how) {
    return how == LOAD_ALIGNED ? *(__global const float4 *)row : how == LOAD_LOOSE ? vload4(0, row) : load4(row, 0, d);
}

HELPER float4 sum_segment(__local const uint *at, __local const float *factor, uint begin, uint end,
                          __global const float *x, uint d, int how) {
    float4 sum = (float4)(0.0f);
    for (uint e = begin; e < end; e += 4) {
        uint e1 = min(e + 1, end - 1), e2 = min(e + 2, end - 1), e3 = min(e + 3, end - 1);
        float4 x0 = load_columns(x + at[e], d, how), x1 = load_columns(x + at[e1], d, how);
        float4 x2 = load_columns(x + at[e2], d, how), x3 = load_columns(x + at[e3], d, how);
        sum = fma((float4)(factor[e]), x0, sum);
        sum = e + 1 < end ? fma((float4)(factor[e1]), x1, sum) : sum;
        sum = e + 2 < end ? fma((float4)(factor[e2]), x2, sum) : sum;
        sum = e + 3 < end ? fma((float4)(factor[e3]), x3, sum) : sum;
    }
    return sum;
}

/* The same for columns j .. of d, 0 past the end. The last columns are loaded as the last four of the row, so that
 * neighbouring work-items load alike. */
HELPER float4 sum_columns(__local const uint *at, __local const float *factor, uint begin, uint end,
                          __global const float *x, uint j, uint d, uint aligned) {
    if (d < 4)
        return sum_segment(at, factor, begin, end, x, d, LOAD_NARROW);
    if (aligned && d % 4 == 0)
        return sum_segment(at, factor, begin, end, x + j, d, LOAD_ALIGNED);
    uint from = min(j, d - 4);
    float4 v = sum_segment(at, factor, begin, end, x + from, d, LOAD_LOOSE);
    return j == from ? v
                     : (j == from + 1 ? (float4)(v.yzw, 0.0f)
                                      : (j == from + 2 ? (float4)(v.zw, 0.0f, 0.0f) : (float4)(v.w, 0.0f, 0.0f, 0.0f)));
}

/* The sums of the segments of a tile, `vecs` float4 each from column `col`: sums[slot vecs + v], visible to the
 * work-group. A row in passes: slot 0 has the sum of the sums of its passes, visible to the item that adds row 0 in
 * row_sum. */
HELPER void sum_tile(tile *t, __local float4 *sums, __local uint *at, __local float *factor, __global const uint *table,
                     __global const int *indices, __global const int *eids, __global const float *val,
                     __global const float *x, __global const float *parts, const csr_args *a, const mat_args *xm,
                     uint col, uint vecs, uint d) {
    uint item = (uint)get_local_id(0), size = (uint)get_local_size(0), passes = t->entries > TILE_ENTRIES;
    for (uint first = 0; first == 0 || first < t->entries; first += TILE_ENTRIES) {
        uint count = min((uint)TILE_ENTRIES, t->entries - first);
        stage_entries(at, factor, t, first, count, indices, eids, val, a, xm, PADDED(d, VEC));
        barrier(CLK_LOCAL_MEM_FENCE);
        uint segments = t->words ? t->segments : max(1u, CEIL_DIV(count, SEGMENT)), each = CEIL_DIV(count, segments);
        for (uint i = item; i < segments * vecs; i += size) {
            uint s = i / vecs, v = i - s * vecs, begin = s * each, end = min(count, begin + each);
            if (t->words) {
                uint word = table[t->words + s];
                s = SEGMENT_SLOT(word);
                begin = SEGMENT_BEGIN(word);
                end = begin + SEGMENT_LENGTH(word);
            }
            sums[(s + passes) * vecs + v] =
                sum_columns(at, factor, begin, end, t->parts ? parts : x, col + VEC * v, d, t->parts ? 1 : xm->aligned);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        t->segments = passes ? 1 : segments;
        for (uint v = item; passes && v < vecs; v += size) {
            float4 sum = sums[vecs + v];
            for (uint s = 2; s <= segments; s++)
                sum += sums[s * vecs + v];
            sums[v] = first ? sums[v] + sum : sum;
        }
    }
}

/* The first slot of row r of a tile. */
HELPER uint row_slot(const tile *t, __global const uint *table, uint r) {
    return t->segments == t->rows ? r : t->words ? ROW_SLOT_OF(table[t->words + r]) : 0;
}

/* The sum of row r: its segments ascending. */
HELPER float4 row_sum(const tile *t, __local const float4 *sums, __global const uint *table, uint r, uint v,
                      uint vecs) {
    uint s = row_slot(t, table, r), end = r + 1 < t->rows ? row_slot(t, table, r + 1) : t->segments;
    float4 sum = sums[s * vecs + v];
    for (s++; s < end; s++)
        sum += sums[s * vecs + v];
    return sum;
}

/* Computes: y_r = alpha sum_{e in row r} val[id] x_{indices[e]} + beta z_r, id = eids[e] or e.
 * Shapes: A rows x K, x K x heads d, y and z rows x heads d, val ids x heads; z may be y; parts: of long rows,
 * heads PADDED(d) wide.
 * Launch: one work-group per tile, SPMM_COLS columns and, in dimension 1, head; a work-item per segment and 4 columns,
 * then per row and 4. Memory: at, factor: TILE_ENTRIES; sums: TILE_SEGMENTS x columns. Order: entries of a segment,
 * segments of a pass, passes or parts of the row, each ascending. */
__kernel void spmm(__global float *y, __global const float *x, __global const float *z, __global const uint *table,
                   __global const long *indptr, __global const int *indices, __global const int *eids,
                   __global const float *val, __global const float *parts, __local uint *at, __local float *factor,
                   __local float4 *sums, spmm_args a) {
    uint group = (uint)get_group_id(0), chunk = group / a.a.count, col = SPMM_COLS * chunk;
    uint vecs = CEIL_DIV(min((uint)SPMM_COLS, a.d - col), VEC), head = (uint)get_group_id(1);
    tile t;
    y += head * a.y_head;
    x += head * a.d;
    z += head * a.d;
    val += head;
    parts += head * PADDED(a.d, VEC);
    read_tile(&t, table, indptr, &a.a, group - chunk * a.a.count);
    sum_tile(&t, sums, at, factor, table, indices, eids, val, x, parts, &a.a, &a.x, col, vecs, a.d);
    for (uint i = (uint)get_local_id(0); i < t.rows * vecs; i += (uint)get_local_size(0)) {
        uint r = i / vecs, v = i - r * vecs, row = t.row + r, j = col + VEC * v;
        float4 sum = a.alpha * row_sum(&t, sums, table, r, v, vecs);
        if (a.has_z)
            sum += a.beta * load_at(z, &a.z, row, j, a.d);
        store_at(sum, y, &a.y, row, j, a.d);
    }
}

/* Columns first .. of op(w): packed[k AGGREGATE_COLS + j], 0 past the end. */
HELPER void pack_columns(__local float *packed, __global const float *w, const aggregate_args *a, uint first) {
    uint cols = min((uint)AGGREGATE_COLS, a->m - first), wide = PADDED(cols, VEC);
    for (uint i = (uint)get_local_id(0); i < a->d * wide; i += (uint)get_local_size(0)) {
        uint slow = i / (a->tw ? a->d : wide), fast = i - slow * (a->tw ? a->d : wide);
        uint k = a->tw ? fast : slow, j = a->tw ? slow : fast;
        packed[k * AGGREGATE_COLS + j] =
            j < cols ? w[a->w.off + (a->tw ? (first + j) * a->w.ld + k : k * a->w.ld + first + j)] : 0.0f;
    }
}

/* Computes: y = (A x) op(w), op(w)_kj = w_kj or, with tw, w_jk; p = A x if has_p; values as in spmm.
 * Shapes: A rows x K, x K x d, op(w) d x m, y rows x m, p rows x d; d and m at most BE_FUSED_MAX_COLS.
 * Launch: one work-group per tile; a work-item per segment and 4 columns of x, then per row and 4 columns of y.
 * Memory: as spmm, for d columns; packed: AGGREGATE_COLS columns of op(w).
 * Order: as spmm, then columns of x ascending. */
__kernel void aggregate(__global float *y, __global float *p, __global const float *x, __global const float *w,
                        __global const uint *table, __global const long *indptr, __global const int *indices,
                        __global const int *eids, __global const float *val, __global const float *parts,
                        __local uint *at, __local float *factor, __local float4 *sums, __local float4 *packed,
                        aggregate_args a) {
    uint item = (uint)get_local_id(0), size = (uint)get_local_size(0), vecs = CEIL_DIV(a.d, VEC);
    tile t;
    read_tile(&t, table, indptr, &a.a, (uint)get_group_id(0));
    pack_columns((__local float *)packed, w, &a, 0);
    sum_tile(&t, sums, at, factor, table, indices, eids, val, x, parts, &a.a, &a.x, 0, vecs, a.d);
    if (a.has_p || t.segments > t.rows)
        for (uint i = item; i < t.rows * vecs; i += size) {
            uint r = i / vecs, v = i - r * vecs;
            float4 sum = row_sum(&t, sums, table, r, v, vecs);
            sums[row_slot(&t, table, r) * vecs + v] = sum;
            if (a.has_p)
                store_at(sum, p, &a.p, t.row + r, VEC * v, a.d);
        }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint first = 0;; first += AGGREGATE_COLS) {
        uint wide = CEIL_DIV(min((uint)AGGREGATE_COLS, a.m - first), VEC);
        for (uint i = item; i < t.rows * wide; i += size) {
            uint r = i / wide, v = i - r * wide;
            __local const float *ax = (__local const float *)(sums + row_slot(&t, table, r) * vecs);
            float4 sum = (float4)(0.0f);
            for (uint k = 0; k < a.d; k++)
                sum = fma((float4)(ax[k]), packed[k * (AGGREGATE_COLS / VEC) + v], sum);
            store_at(sum, y, &a.y, t.row + r, first + VEC * v, a.m);
        }
        if (first + AGGREGATE_COLS >= a.m)
            break;
        barrier(CLK_LOCAL_MEM_FENCE);
        pack_columns((__local float *)packed, w, &a, first + AGGREGATE_COLS);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
