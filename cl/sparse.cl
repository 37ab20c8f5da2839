/* sparse.cl - sparse times dense: graph aggregation, sparse features, and both transposed through a prebuilt
 * transpose with entry ids, so that nothing is scattered. */
#include "common.h"

/* The sum of val[id] x_{idx[e]} over the entries begin .. end - 1, COLUMNS columns from j on, id = eid[e] or e;
 * `whole`, a constant where it is called, when the row has them all. What is the same for every entry is asked in front
 * of the loop.   Order: entries rising. */
HELPER wide sum_entries(__global const int *idx, __global const int *eid, uint has_eid, __global const float *val,
                        uint has_val, __global const float *x, long xld, uint j, uint d, bool whole,
                        __global const float *stop, long begin, long end) {
#define ENTRY(e) (whole ? LOAD(x + (long)idx[e] * xld + j) : load_inside(x + (long)idx[e] * xld, j, d, stop))
    wide sum = (wide)(0.0f);
    if (!has_val)
        for (long e = begin; e < end; e++)
            sum += ENTRY(e);
    else if (has_eid)
        for (long e = begin; e < end; e++)
            sum = fma((wide)(val[eid[e]]), ENTRY(e), sum);
    else
        for (long e = begin; e < end; e++)
            sum = fma((wide)(val[e]), ENTRY(e), sum);
    return sum;
#undef ENTRY
}

/* Computes: y_r = alpha sum_{e in row r} val[id] x_{idx[e]} + beta z_r, id = eid[e] or e.
 * Shapes: a rows x K, x K x d, y and z rows x d; z may be y.   Launch: one item per row and COLUMNS columns.
 * Order: entries of the row rising. */
__kernel void spmm(__global float *y, long yo, long yld, __global const long *ptr, long po, __global const int *idx,
                   long io, __global const int *eid, long eo, uint has_eid, __global const float *val, long vo,
                   uint has_val, __global const float *x, long xo, long xld, __global const float *z, long zo, long zld,
                   uint has_z, uint rows, uint x_rows, uint d, float alpha, float beta) {
    uint across = (d + COLUMNS - 1) / COLUMNS;
    ulong i = get_global_id(0), r = row_of(i, across);
    if (r >= rows)
        return;
    uint j = COLUMNS * (uint)(i - r * across);
    long begin = ptr[po + (long)r], end = ptr[po + (long)r + 1];
    __global const float *stop = x + xo + (long)(x_rows - 1) * xld + d;
    idx += io;
    eid += eo;
    val += vo;
    x += xo;
    wide sum = j + COLUMNS <= d ? sum_entries(idx, eid, has_eid, val, has_val, x, xld, j, d, true, stop, begin, end)
                                : sum_entries(idx, eid, has_eid, val, has_val, x, xld, j, d, false, stop, begin, end);
    sum *= alpha;
    if (has_z)
        sum += beta * load_wide(z + zo + (long)r * zld, j, d);
    store_wide(sum, y + yo + (long)r * yld, j, d);
}

/* Computes: y = (A x) op(w), op(w)_kj = w[k wk + j wj], and p = A x when asked; values and ids as above.
 * Shapes: a rows x K, x K x d, y rows x m, p rows x d.   Launch: a work-group per block of `per` rows, AT_ONCE of them
 * at a time: an item per row and COLUMNS columns of x, then one per four rows and COLUMNS columns of y. Memory: room d
 * x pad + AT_ONCE x d for a work-group, pad = COLUMNS ceil(m / COLUMNS): op(w), its rows padded with 0 to whole
 * vectors; the sums where p is absent.   Order: entries rising, then columns of x rising. */
#define AT_ONCE 64
__kernel void aggregate(__global float *y, long yo, long yld, __global float *p, long pofs, long pld, uint has_p,
                        __global const long *ptr, long po, __global const int *idx, long io, __global const int *eid,
                        long eo, uint has_eid, __global const float *val, long vo, uint has_val,
                        __global const float *x, long xo, long xld, __global const float *w, long wo, long wk, long wj,
                        __global float *room, long ro, uint rows, uint x_rows, uint d, uint m, uint per) {
    uint me = (uint)get_local_id(0), size = (uint)get_local_size(0), down = (d + COLUMNS - 1) / COLUMNS;
    uint across = (m + COLUMNS - 1) / COLUMNS, pad = across * COLUMNS;
    ulong b = get_group_id(0), end = min((ulong)rows, (b + 1) * per);
    __global float *packed = room + ro + (long)(b * d * (pad + AT_ONCE)), *sums = packed + (long)d * pad;
    __global const float *stop = x + xo + (long)(x_rows - 1) * xld + d;
    for (uint i = me; i < d * across; i += size) {
        uint k = i / across, j = COLUMNS * (i - k * across);
        __global const float *from = w + wo + (long)k * wk;
        __global float *to = packed + (long)k * pad + j;
        if (wj == 1)
            STORE(load_wide(from, j, m), to);
        else
            for (uint c = 0; c < COLUMNS; c++)
                to[c] = j + c < m ? from[(long)(j + c) * wj] : 0.0f;
    }
    idx += io;
    eid += eo;
    val += vo;
    x += xo;
    for (ulong first = b * per; first < end; first += AT_ONCE) {
        uint here = (uint)min((ulong)AT_ONCE, end - first);
        __global float *left = has_p ? p + pofs + (long)first * pld : sums;
        long ld = has_p ? pld : (long)d;
        for (uint i = me; i < here * down; i += size) {
            uint r = part_of(i, down), j = COLUMNS * (i - r * down);
            long e = ptr[po + (long)(first + r)], last = ptr[po + (long)(first + r) + 1];
            wide sum = j + COLUMNS <= d
                           ? sum_entries(idx, eid, has_eid, val, has_val, x, xld, j, d, true, stop, e, last)
                           : sum_entries(idx, eid, has_eid, val, has_val, x, xld, j, d, false, stop, e, last);
            store_wide(sum, left + (long)r * ld, j, d);
        }
        barrier(CLK_GLOBAL_MEM_FENCE);
        for (uint i = me; i < (here + 3) / 4 * across; i += size) {
            uint tile = part_of(i, across), r = 4 * tile, j = COLUMNS * (i - tile * across), tall = min(4u, here - r);
            __global const float *a0 = left + (long)r * ld, *a1 = a0 + (tall > 1 ? ld : 0),
                                 *a2 = a0 + (tall > 2 ? 2 * ld : 0), *a3 = a0 + (tall > 3 ? 3 * ld : 0),
                                 *row = packed + j;
            wide c0 = (wide)(0.0f), c1 = c0, c2 = c0, c3 = c0;
            TILE_STEPS(d, 1, pad, LOAD(row))
            store_tile(c0, c1, c2, c3, y + yo + (long)(first + r) * yld, yld, tall, j, m);
        }
        barrier(CLK_GLOBAL_MEM_FENCE);
    }
}
