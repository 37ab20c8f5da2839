/* sparse.cl - sparse times dense: graph aggregation, sparse features, and both transposed through a prebuilt
 * transpose with entry ids, so that nothing is scattered. */
#include "common.h"

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
    long end = ptr[po + (long)r + 1];
    __global const float *stop = x + xo + (long)(x_rows - 1) * xld + d;
    wide sum = (wide)(0.0f);
    for (long e = ptr[po + (long)r]; e < end; e++) {
        float w = has_val ? val[vo + (has_eid ? eid[eo + e] : e)] : 1.0f;
        sum += w * load_inside(x + xo + (long)idx[io + e] * xld, j, d, stop);
    }
    sum *= alpha;
    if (has_z)
        sum += beta * load_wide(z + zo + (long)r * zld, j, d);
    store_wide(sum, y + yo + (long)r * yld, j, d);
}
