/* sparse.cl - sparse times dense: graph aggregation, sparse features, and both transposed through a prebuilt transpose
 * with eids, so that no kernel scatters. */
#include "common.h"

/* Sum of val[id] x_{indices[e]} over the entries begin .. end - 1, VEC columns from j, id = eids[e] or e. `whole`,
 * constant at each call, is true when the row has all VEC columns. Branches that do not depend on e are outside the
 * loops.
 * Order: entries ascending. */
HELPER float4 sum_entries(__global const int *indices, __global const int *eids, uint has_eids,
                          __global const float *val, uint has_val, __global const float *x, long xld, uint j, uint d,
                          bool whole, long begin, long end) {
#define ENTRY(e) (whole ? vload4(0, x + (long)indices[e] * xld + j) : load4(x + (long)indices[e] * xld, j, d))
    float4 sum = (float4)(0.0f);
    if (!has_val)
        for (long e = begin; e < end; e++)
            sum += ENTRY(e);
    else if (has_eids)
        for (long e = begin; e < end; e++)
            sum = fma((float4)(val[eids[e]]), ENTRY(e), sum);
    else
        for (long e = begin; e < end; e++)
            sum = fma((float4)(val[e]), ENTRY(e), sum);
    return sum;
#undef ENTRY
}

/* Computes: y_r = alpha sum_{e in row r} val[id] x_{indices[e]} + beta z_r, id = eids[e] or e.
 * Shapes: A rows x K, x K x d, y and z rows x d; z may be y.
 * Launch: one work-item per row and VEC columns.
 * Order: entries of the row ascending. */
__kernel void spmm(__global float *y, long yo, long yld, __global const long *indptr, long po,
                   __global const int *indices, long io, __global const int *eids, long eo, uint has_eids,
                   __global const float *val, long vo, uint has_val, __global const float *x, long xo, long xld,
                   __global const float *z, long zo, long zld, uint has_z, uint rows, uint d, float alpha, float beta) {
    uint vecs = CEIL_DIV(d, VEC);
    ulong i = get_global_id(0), r = row_of(i, vecs);
    if (r >= rows)
        return;
    uint j = VEC * (uint)(i - r * vecs);
    long begin = indptr[po + (long)r], end = indptr[po + (long)r + 1];
    indices += io;
    eids += eo;
    val += vo;
    x += xo;
    float4 sum = j + VEC <= d ? sum_entries(indices, eids, has_eids, val, has_val, x, xld, j, d, true, begin, end)
                              : sum_entries(indices, eids, has_eids, val, has_val, x, xld, j, d, false, begin, end);
    sum *= alpha;
    if (has_z)
        sum += beta * load4(z + zo + (long)r * zld, j, d);
    store4(sum, y + yo + (long)r * yld, j, d);
}

/* Computes: y = (A x) op(w), op(w)_kj = w[k wk + j wj], and p = A x if has_p; values as in spmm.
 * Shapes: A rows x K, x K x d, y rows x m, p rows x d.
 * Launch: one work-group per block of block_rows rows, AGGREGATE_ROWS per iteration: a work-item per row and VEC
 * columns of x, then one per TILE_ROWS rows and VEC columns of y.
 * Memory: WS_AGGREGATE per work-group; the sums are used without p.
 * Order: entries ascending, then columns of x ascending. */
__kernel void aggregate(__global float *y, long yo, long yld, __global float *p, long pofs, long pld, uint has_p,
                        __global const long *indptr, long po, __global const int *indices, long io,
                        __global const int *eids, long eo, uint has_eids, __global const float *val, long vo,
                        uint has_val, __global const float *x, long xo, long xld, __global const float *w, long wo,
                        long wk, long wj, __global float *ws, long wso, uint rows, uint d, uint m, uint block_rows) {
    uint item = (uint)get_local_id(0), size = (uint)get_local_size(0), d_vecs = CEIL_DIV(d, VEC);
    uint m_vecs = CEIL_DIV(m, VEC), m_pad = m_vecs * VEC;
    ulong b = get_group_id(0), end = min((ulong)rows, (b + 1) * block_rows);
    __global float *packed = ws + wso + (long)WS_AGGREGATE(b, d, m_pad), *sums = packed + (long)d * m_pad;
    for (uint i = item; i < d * m_vecs; i += size) {
        uint k = i / m_vecs, j = VEC * (i - k * m_vecs);
        __global const float *from = w + wo + (long)k * wk;
        __global float *to = packed + (long)k * m_pad + j;
        if (wj == 1)
            vstore4(load4(from, j, m), 0, to);
        else
            for (uint c = 0; c < VEC; c++)
                to[c] = j + c < m ? from[(long)(j + c) * wj] : 0.0f;
    }
    indices += io;
    eids += eo;
    val += vo;
    x += xo;
    for (ulong first = b * block_rows; first < end; first += AGGREGATE_ROWS) {
        uint step_rows = (uint)min((ulong)AGGREGATE_ROWS, end - first);
        __global float *ax = has_p ? p + pofs + (long)first * pld : sums;
        long ld = has_p ? pld : (long)d;
        for (uint i = item; i < step_rows * d_vecs; i += size) {
            uint r = div_uint(i, d_vecs), j = VEC * (i - r * d_vecs);
            long e = indptr[po + (long)(first + r)], last = indptr[po + (long)(first + r) + 1];
            float4 sum = j + VEC <= d
                             ? sum_entries(indices, eids, has_eids, val, has_val, x, xld, j, d, true, e, last)
                             : sum_entries(indices, eids, has_eids, val, has_val, x, xld, j, d, false, e, last);
            store4(sum, ax + (long)r * ld, j, d);
        }
        barrier(CLK_GLOBAL_MEM_FENCE);
        for (uint i = item; i < CEIL_DIV(step_rows, TILE_ROWS) * m_vecs; i += size) {
            uint tile = div_uint(i, m_vecs), r = TILE_ROWS * tile, j = VEC * (i - tile * m_vecs),
                 tile_rows = min((uint)TILE_ROWS, step_rows - r);
            __global const float *a0 = ax + (long)r * ld, *a1 = a0 + (tile_rows > 1 ? ld : 0),
                                 *a2 = a0 + (tile_rows > 2 ? 2 * ld : 0), *a3 = a0 + (tile_rows > 3 ? 3 * ld : 0),
                                 *row = packed + j;
            float4 c0 = (float4)(0.0f), c1 = c0, c2 = c0, c3 = c0;
            ACCUMULATE_TILE(d, 1, m_pad, vload4(0, row))
            store_tile(c0, c1, c2, c3, y + yo + (long)(first + r) * yld, yld, tile_rows, j, m);
        }
        barrier(CLK_GLOBAL_MEM_FENCE);
    }
}
