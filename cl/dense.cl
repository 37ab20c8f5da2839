/* dense.cl - the matrix product for shapes with a short side (CLBlast does the others). Transposes are strides, so
 * one kernel serves all four cases; a long inner dimension is cut into blocks, each with a partial product. */
#include "common.h"

/* Computes: c = alpha op(a) op(b) + beta c over one block of the inner dimension; op(a)_ik = a[i ai + k ak],
 * op(b)_kj = b[k bk + j bj].   Shapes: c m x n, written at c + block * cstep; k inner, kblock of them per block.
 * Launch: dimension 0 one item per 4 x 4 tile of c, dimension 1 one per block.   Order: k rising. */
__kernel void gemm_tile(__global float *c, long co, long cld, long cstep, __global const float *a, long ao, long ai,
                        long ak, __global const float *b, long bo, long bk, long bj, uint m, uint n, uint k,
                        uint kblock, float alpha, float beta) {
    uint across = (n + 3) / 4;
    ulong tile = get_global_id(0), down = row_of(tile, across);
    if (4 * down >= m)
        return;
    uint i = 4 * (uint)down, j = 4 * (uint)(tile - down * across);
    uint first = (uint)get_global_id(1) * kblock, last = min(k, first + kblock);
    __global const float *a0 = a + ao + (long)i * ai + (long)first * ak;
    __global const float *a1 = a0 + (i + 1 < m ? ai : 0), *a2 = a0 + (i + 2 < m ? 2 * ai : 0),
                         *a3 = a0 + (i + 3 < m ? 3 * ai : 0);
    __global const float *row = b + bo + (long)first * bk + (long)j * bj;
    long j1 = j + 1 < n ? bj : 0, j2 = j + 2 < n ? 2 * bj : 0, j3 = j + 3 < n ? 3 * bj : 0;
    uint packed = bj == 1 && j + 3 < n;
    float4 c0 = (float4)(0.0f), c1 = c0, c2 = c0, c3 = c0;
    for (uint t = first; t < last; t++) {
        float4 v = packed ? vload4(0, row) : (float4)(row[0], row[j1], row[j2], row[j3]);
        c0 += *a0 * v;
        c1 += *a1 * v;
        c2 += *a2 * v;
        c3 += *a3 * v;
        a0 += ak;
        a1 += ak;
        a2 += ak;
        a3 += ak;
        row += bk;
    }
    __global float *to = c + co + (long)get_global_id(1) * cstep + (long)i * cld;
    uint rows = min(4u, m - i);
    for (uint r = 0; r < rows; r++) {
        float4 v = alpha * (r < 2 ? (r == 0 ? c0 : c1) : (r == 2 ? c2 : c3));
        if (beta != 0.0f)
            v += beta * load4(to, j, n);
        store4(v, to, j, n);
        to += cld;
    }
}

/* Computes: c = alpha (sum over blocks of the partial products) + beta c.   Shapes: c m x n, p blocks x m x n.
 * Launch: one item per entry of c.   Order: blocks rising. */
__kernel void gemm_combine(__global float *c, long co, long cld, __global const float *p, long po, uint m, uint n,
                           uint blocks, float alpha, float beta) {
    ulong i = get_global_id(0), size = (ulong)m * n;
    if (i >= size)
        return;
    float sum = 0.0f;
    for (uint b = 0; b < blocks; b++)
        sum += p[po + (long)(b * size + i)];
    ulong r = row_of(i, n);
    __global float *to = c + co + (long)r * cld + (long)(i - r * n);
    *to = beta != 0.0f ? alpha * sum + beta * *to : alpha * sum;
}
