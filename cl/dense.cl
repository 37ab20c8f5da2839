/* dense.cl - matrix products with a short side (CLBlast computes the others). A work-item computes a tile of TILE_ROWS
 * rows and VEC columns of the result. Three kernels: gemm_rows for a result with many rows; gemm_inner for a small
 * result with a long inner dimension, in one launch; gemm_blocks and gemm_combine for a longer one, split into blocks.
 */
#include "common.h"

/* Computes: c = alpha op(a) op(b) + beta c; op(a)_ik = a[i ai + k ak], op(b)_kj = b[k bk + j bj].
 * Shapes: c m x n, inner dimension k.
 * Launch: one work-group per block of block_rows rows of c, a multiple of TILE_ROWS.
 * Memory: with `copy` WS_GEMM_ROWS per work-group; without it bj is 1 and n a multiple of VEC.
 * Order: k ascending. */
__kernel void gemm_rows(__global float *c, long co, long cld, __global const float *a, long ao, long ai, long ak,
                        __global const float *b, long bo, long bk, long bj, __global float *ws, long wso, uint copy,
                        uint m, uint n, uint k, uint block_rows, float alpha, float beta) {
    uint item = (uint)get_local_id(0), size = (uint)get_local_size(0);
    uint vecs = CEIL_DIV(n, VEC), n_pad = vecs * VEC;
    ulong begin = (ulong)get_group_id(0) * block_rows, end = min((ulong)m, begin + block_rows);
    __global float *packed = ws + wso + (long)WS_GEMM_ROWS((ulong)get_group_id(0), k, n_pad);
    __global const float *right = copy ? packed : b + bo;
    long ld = copy ? (long)n_pad : bk;
    for (uint t = item; copy && t < k; t += size)
        for (uint j = 0; j < n_pad; j++)
            packed[(long)t * n_pad + j] = j < n ? b[bo + (long)t * bk + (long)j * bj] : 0.0f;
    barrier(CLK_GLOBAL_MEM_FENCE);
    ulong tiles = CEIL_DIV(end - begin, TILE_ROWS) * vecs;
    for (ulong i = item; i < tiles; i += size) {
        ulong down = row_of(i, vecs), r = begin + TILE_ROWS * down;
        uint j = VEC * (uint)(i - down * vecs), rows = (uint)min((ulong)TILE_ROWS, end - r);
        __global const float *a0 = a + ao + (long)r * ai, *a1 = a0 + (rows > 1 ? ai : 0),
                             *a2 = a0 + (rows > 2 ? 2 * ai : 0), *a3 = a0 + (rows > 3 ? 3 * ai : 0), *row = right + j;
        float4 c0 = (float4)(0.0f), c1 = c0, c2 = c0, c3 = c0;
        ACCUMULATE_TILE(k, ak, ld, vload4(0, row))
        __global float *out = c + co + (long)r * cld;
        for (uint q = 0; q < rows; q++, out += cld) {
            float4 v = alpha * TILE_ROW(q);
            if (beta != 0.0f)
                v += beta * load4(out, j, n);
            store4(v, out, j, n);
        }
    }
}

/* Computes: c = alpha op(a) b + beta c.
 * Shapes: as gemm_rows, rows of b contiguous.
 * Launch: one work-group per tile; a work-item covers item_k of the inner dimension.
 * Memory: WS_GEMM_INNER per work-item.
 * Order: k ascending within a work-item, then work-items ascending. */
__kernel void gemm_inner(__global float *c, long co, long cld, __global const float *a, long ao, long ai, long ak,
                         __global const float *b, long bo, long ld, __global float *ws, long wso, uint m, uint n,
                         uint k, uint item_k, float alpha, float beta) {
    uint item = (uint)get_local_id(0), size = (uint)get_local_size(0), vecs = CEIL_DIV(n, VEC);
    uint tile = (uint)get_group_id(0), down = tile / vecs, r = TILE_ROWS * down, j = VEC * (tile - down * vecs);
    uint rows = min((uint)TILE_ROWS, m - r), first = min(k, item * item_k), count = min(k, first + item_k) - first;
    __global float *parts = ws + wso + WS_GEMM_INNER((long)tile * size), *own = parts + WS_GEMM_INNER((long)item);
    __global const float *a0 = a + ao + (long)r * ai + (long)first * ak, *a1 = a0 + (rows > 1 ? ai : 0),
                         *a2 = a0 + (rows > 2 ? 2 * ai : 0), *a3 = a0 + (rows > 3 ? 3 * ai : 0),
                         *row = b + bo + (long)first * ld;
    float4 c0 = (float4)(0.0f), c1 = c0, c2 = c0, c3 = c0;
    ACCUMULATE_TILE(count, ak, ld, load4(row, j, n))
    vstore4(c0, 0, own);
    vstore4(c1, 0, own + VEC);
    vstore4(c2, 0, own + 2 * VEC);
    vstore4(c3, 0, own + 3 * VEC);
    barrier(CLK_GLOBAL_MEM_FENCE);
    for (uint q = item; q < rows; q += size) {
        float4 v = (float4)(0.0f);
        for (uint part = 0; part < size; part++)
            v += vload4(0, parts + (long)(TILE_ROWS * part + q) * VEC);
        __global float *out = c + co + (long)(r + q) * cld;
        v *= alpha;
        if (beta != 0.0f)
            v += beta * load4(out, j, n);
        store4(v, out, j, n);
    }
}

/* Computes: p[b] = op(a) b over block b of the inner dimension, k_block long.
 * Shapes: as gemm_inner, p blocks x m x n (WS_GEMM_BLOCKS).
 * Launch: dimension 0 one work-item per tile, dimension 1 one per block.
 * Order: k ascending. */
__kernel void gemm_blocks(__global float *p, long po, __global const float *a, long ao, long ai, long ak,
                          __global const float *b, long bo, long ld, uint m, uint n, uint k, uint k_block) {
    uint vecs = CEIL_DIV(n, VEC);
    ulong tile = get_global_id(0), down = row_of(tile, vecs);
    if (TILE_ROWS * down >= m)
        return;
    uint r = TILE_ROWS * (uint)down, j = VEC * (uint)(tile - down * vecs), rows = min((uint)TILE_ROWS, m - r);
    uint first = (uint)get_global_id(1) * k_block, count = min(k, first + k_block) - first;
    __global const float *a0 = a + ao + (long)r * ai + (long)first * ak, *a1 = a0 + (rows > 1 ? ai : 0),
                         *a2 = a0 + (rows > 2 ? 2 * ai : 0), *a3 = a0 + (rows > 3 ? 3 * ai : 0),
                         *row = b + bo + (long)first * ld;
    float4 c0 = (float4)(0.0f), c1 = c0, c2 = c0, c3 = c0;
    ACCUMULATE_TILE(count, ak, ld, load4(row, j, n))
    store_tile(c0, c1, c2, c3, p + po + ((long)get_global_id(1) * m + r) * n, n, rows, j, n);
}

/* Computes: c = alpha (sum over b of p[b]) + beta c.
 * Shapes: c m x n, p blocks x m x n.
 * Launch: one work-item per row and VEC columns of c.
 * Order: blocks ascending. */
__kernel void gemm_combine(__global float *c, long co, long cld, __global const float *p, long po, uint m, uint n,
                           uint blocks, float alpha, float beta) {
    uint vecs = CEIL_DIV(n, VEC);
    ulong i = get_global_id(0), r = row_of(i, vecs);
    if (r >= m)
        return;
    uint j = VEC * (uint)(i - r * vecs);
    float4 sum = (float4)(0.0f);
    for (uint b = 0; b < blocks; b++)
        sum += load4(p + po + (long)(((ulong)b * m + r) * n), j, n);
    __global float *out = c + co + (long)r * cld;
    sum *= alpha;
    if (beta != 0.0f)
        sum += beta * load4(out, j, n);
    store4(sum, out, j, n);
}
