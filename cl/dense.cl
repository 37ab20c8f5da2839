/* dense.cl - the matrix product for shapes with a short side (CLBlast does the others). A work-item makes a tile of
 * four rows and COLUMNS columns of the result. Three ways: result with many rows; long inner dimension and small
 * result, in one launch; the same for longer ones, in blocks of the inner dimension that are added up after. */
#include "common.h"

/* Computes: c = alpha op(a) op(b) + beta c; op(a)_ik = a[i ai + k ak], op(b)_kj = b[k bk + j bj].
 * Shapes: c m x n, k inner.   Launch: a work-group per block of `per` rows of c, a multiple of 4.
 * Memory: with `copy` room k x pad for a work-group: op(b), its rows padded with 0 to whole vectors; else bj is 1 and n
 * a multiple of COLUMNS.   Order: k rising. */
__kernel void gemm_rows(__global float *c, long co, long cld, __global const float *a, long ao, long ai, long ak,
                        __global const float *b, long bo, long bk, long bj, __global float *room, long ro, uint copy,
                        uint m, uint n, uint k, uint per, float alpha, float beta) {
    uint me = (uint)get_local_id(0), size = (uint)get_local_size(0);
    uint across = (n + COLUMNS - 1) / COLUMNS, pad = across * COLUMNS;
    ulong begin = (ulong)get_group_id(0) * per, end = min((ulong)m, begin + per);
    __global float *mine = room + ro + (long)((ulong)get_group_id(0) * k * pad);
    __global const float *from = copy ? mine : b + bo;
    long ld = copy ? (long)pad : bk;
    for (uint t = me; copy && t < k; t += size)
        for (uint j = 0; j < pad; j++)
            mine[(long)t * pad + j] = j < n ? b[bo + (long)t * bk + (long)j * bj] : 0.0f;
    barrier(CLK_GLOBAL_MEM_FENCE);
    ulong tiles = (end - begin + 3) / 4 * across;
    for (ulong i = me; i < tiles; i += size) {
        ulong down = row_of(i, across), r = begin + 4 * down;
        uint j = COLUMNS * (uint)(i - down * across), rows = (uint)min((ulong)4, end - r);
        __global const float *a0 = a + ao + (long)r * ai, *a1 = a0 + (rows > 1 ? ai : 0),
                             *a2 = a0 + (rows > 2 ? 2 * ai : 0), *a3 = a0 + (rows > 3 ? 3 * ai : 0), *row = from + j;
        wide c0 = (wide)(0.0f), c1 = c0, c2 = c0, c3 = c0;
        TILE_STEPS(k, ak, ld, LOAD(row))
        __global float *to = c + co + (long)r * cld;
        for (uint q = 0; q < rows; q++, to += cld) {
            wide v = alpha * TILE_ROW(q);
            if (beta != 0.0f)
                v += beta * load_wide(to, j, n);
            store_wide(v, to, j, n);
        }
    }
}

/* Computes: c = alpha op(a) b + beta c.   Shapes: as above, b's rows contiguous.   Launch: a work-group per tile; an
 * item takes `per` of the inner dimension.   Memory: room 4 x COLUMNS for an item: its part of the tile.
 * Order: k rising in an item, then items rising. */
__kernel void gemm_inner(__global float *c, long co, long cld, __global const float *a, long ao, long ai, long ak,
                         __global const float *b, long bo, long ld, __global float *room, long ro, uint m, uint n,
                         uint k, uint per, float alpha, float beta) {
    uint me = (uint)get_local_id(0), size = (uint)get_local_size(0), across = (n + COLUMNS - 1) / COLUMNS;
    uint tile = (uint)get_group_id(0), down = tile / across, r = 4 * down, j = COLUMNS * (tile - down * across);
    uint rows = min(4u, m - r), first = min(k, me * per), count = min(k, first + per) - first;
    __global float *parts = room + ro + (long)tile * size * 4 * COLUMNS, *mine = parts + (long)me * 4 * COLUMNS;
    __global const float *a0 = a + ao + (long)r * ai + (long)first * ak, *a1 = a0 + (rows > 1 ? ai : 0),
                         *a2 = a0 + (rows > 2 ? 2 * ai : 0), *a3 = a0 + (rows > 3 ? 3 * ai : 0),
                         *row = b + bo + (long)first * ld;
    wide c0 = (wide)(0.0f), c1 = c0, c2 = c0, c3 = c0;
    TILE_STEPS(count, ak, ld, load_wide(row, j, n))
    STORE(c0, mine);
    STORE(c1, mine + COLUMNS);
    STORE(c2, mine + 2 * COLUMNS);
    STORE(c3, mine + 3 * COLUMNS);
    barrier(CLK_GLOBAL_MEM_FENCE);
    for (uint q = me; q < rows; q += size) {
        wide v = (wide)(0.0f);
        for (uint part = 0; part < size; part++)
            v += LOAD(parts + (long)(4 * part + q) * COLUMNS);
        __global float *to = c + co + (long)(r + q) * cld;
        v *= alpha;
        if (beta != 0.0f)
            v += beta * load_wide(to, j, n);
        store_wide(v, to, j, n);
    }
}

/* Computes: p[block] = op(a) b over one block of the inner dimension.   Shapes: as above, p blocks x m x n, kblock of
 * the inner dimension per block.   Launch: dimension 0 one item per tile, dimension 1 one per block.   Order: k rising.
 */
__kernel void gemm_blocks(__global float *p, long po, __global const float *a, long ao, long ai, long ak,
                          __global const float *b, long bo, long ld, uint m, uint n, uint k, uint kblock) {
    uint across = (n + COLUMNS - 1) / COLUMNS;
    ulong tile = get_global_id(0), down = row_of(tile, across);
    if (4 * down >= m)
        return;
    uint r = 4 * (uint)down, j = COLUMNS * (uint)(tile - down * across), rows = min(4u, m - r);
    uint first = (uint)get_global_id(1) * kblock, count = min(k, first + kblock) - first;
    __global const float *a0 = a + ao + (long)r * ai + (long)first * ak, *a1 = a0 + (rows > 1 ? ai : 0),
                         *a2 = a0 + (rows > 2 ? 2 * ai : 0), *a3 = a0 + (rows > 3 ? 3 * ai : 0),
                         *row = b + bo + (long)first * ld;
    wide c0 = (wide)(0.0f), c1 = c0, c2 = c0, c3 = c0;
    TILE_STEPS(count, ak, ld, load_wide(row, j, n))
    store_tile(c0, c1, c2, c3, p + po + ((long)get_global_id(1) * m + r) * n, n, rows, j, n);
}

/* Computes: c = alpha (sum over blocks of the partial products) + beta c.   Shapes: c m x n, p blocks x m x n.
 * Launch: one item per row and COLUMNS columns of c.   Order: blocks rising. */
__kernel void gemm_combine(__global float *c, long co, long cld, __global const float *p, long po, uint m, uint n,
                           uint blocks, float alpha, float beta) {
    uint across = (n + COLUMNS - 1) / COLUMNS;
    ulong i = get_global_id(0), r = row_of(i, across);
    if (r >= m)
        return;
    uint j = COLUMNS * (uint)(i - r * across);
    wide sum = (wide)(0.0f);
    for (uint b = 0; b < blocks; b++)
        sum += load_wide(p + po + (long)(((ulong)b * m + r) * n), j, n);
    __global float *to = c + co + (long)r * cld;
    sum *= alpha;
    if (beta != 0.0f)
        sum += beta * load_wide(to, j, n);
    store_wide(sum, to, j, n);
}
