/* cpu_edges.c - DropEdge: which edges an epoch keeps, and Â of those. */
#include "backend/cpu/loops/loops.h"

#define LANES (VW / 2) /* edges per run of the generator */

/* The first numbers of philox4x32_10 for the counters {c0, c1, epoch, stream}, in the lower halves of the lanes. */
INLINE vl first_numbers(vl c0, vl c1, const be_drop *drop) {
    vl c2 = (vl){0} + drop->epoch, c3 = (vl){0} + drop->stream;
    uint32_t k0 = drop->key[0], k1 = drop->key[1];
    for (int round = 0; round < 10; round++, k0 += 0x9E3779B9u, k1 += 0xBB67AE85u) {
        vl p0 = vl_mul_lo32(c0, 0xD2511F53u), p1 = vl_mul_lo32(c2, 0xCD9E8D57u);
        c0 = (p1 >> 32) ^ c1 ^ k0;
        c2 = (p0 >> 32) ^ c3 ^ k1;
        c1 = p1;
        c3 = p0;
    }
    return c0;
}

/* keep of `count` <= LANES entries of row r; returns how many are kept. */
INLINE int32_t drop_run(float *keep, const int32_t *indices, int64_t r, int64_t count, const be_drop *drop) {
    uint64_t low[LANES] = {0}, high[LANES] = {0};
    int32_t kept = 0;
    vl c0, c1;
    for (int64_t i = 0; i < count; i++) {
        bool after = indices[i] > r;
        low[i] = (uint64_t)(after ? r : indices[i]);
        high[i] = (uint64_t)(after ? indices[i] : r);
    }
    memcpy(&c0, low, sizeof c0);
    memcpy(&c1, high, sizeof c1);
    vl bits = first_numbers(c0, c1, drop);
    for (int64_t i = 0; i < count; i++) {
        bool stays = indices[i] == r || (uint32_t)bits[i] >= drop->threshold;
        keep[i] = stays ? 1.0f : 0.0f;
        kept += stays;
    }
    return kept;
}

CPU_NO_SCRATCH(edge_drop)
CPU_OP(edge_drop) {
    const int64_t *indptr = csr_indptr(&a->a);
    const int32_t *indices = csr_indices(&a->a);
    range rows = csr_partition(ctx, &a->a);
    for (int64_t r = rows.begin; r < rows.end; r++) {
        int32_t kept = 0;
        for (int64_t e = indptr[r], end = indptr[r + 1]; e < end; e += LANES)
            kept += drop_run(data(a->keep) + e, indices + e, r, end - e < LANES ? end - e : LANES, &a->drop);
        int_data(a->degree)[r] = kept;
    }
}

CPU_NO_SCRATCH(edge_norm)
CPU_OP(edge_norm) {
    const int64_t *indptr = csr_indptr(&a->a);
    const int32_t *indices = csr_indices(&a->a), *degree = int_data(a->degree);
    const float *root = data(a->root);
    float *val = data(a->val);
    range rows = csr_partition(ctx, &a->a);
    for (int64_t r = rows.begin; r < rows.end; r++)
        for (int64_t e = indptr[r]; e < indptr[r + 1]; e++)
            val[e] *= root[degree[r]] * root[degree[indices[e]]];
}
