/* sparse.cl - sparse times dense: graph aggregation, sparse features, and both transposed through a prebuilt
 * transpose with entry ids, so that nothing is scattered. */
#include "common.h"

/* The sum of val[id] x_{idx[e]} over the entries begin .. end - 1, COLUMNS columns from j on, id = eid[e] or e;
 * `whole`, a constant where it is called, when the row has them all. What is the same for every entry is asked in front
 * of the loop.   Order: entries rising. */
static inline __attribute__((always_inline)) wide sum_entries(__global const int *idx, __global const int *eid,
                                                              uint has_eid, __global const float *val, uint has_val,
                                                              __global const float *x, long xld, uint j, uint d,
                                                              bool whole, __global const float *stop, long begin,
                                                              long end) {
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

/* Computes: y_r = alpha sum_{e in row r} val[id] x_{idx[e]} + beta z_r, id = eid[e] or e; a mask on the values was laid
 * over them before (once per id, not once per id and column).   Shapes: a rows x K, x K x d, y and z rows x d; z may be
 * y.   Launch: one item per row and COLUMNS columns.   Order: entries of the row rising. */
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
