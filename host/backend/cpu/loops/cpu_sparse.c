/* cpu_sparse.c - products with a sparse matrix: graph aggregation, sparse features
 * times weights, and their transposes; Dirichlet energy over edges.
 * Lanes are columns; the sum of a row stays in registers over its entries. */
#include "backend/cpu/loops/heads.h"
#include "backend/cpu/loops/loops.h"
#include "backend/cpu/loops/small_gemm.h"

#define TILE 4 /* vectors of columns per pass over the entries */

typedef struct spmm_view { /* the arguments as pointers */
    const int64_t *indptr;
    const int32_t *indices, *id; /* id: NULL: entry e has id e */
    const float *weight, *x, *z; /* weight: NULL for ones; z: NULL for none */
    float *y, alpha, beta;
    int64_t ldx, ldy, ldz, first; /* y and z begin with row `first` */
    int64_t last;                 /* entry */
    int64_t heads, head_cols;     /* values of an entry; columns of x for each of them */
    bool prefetch;                /* x exceeds the cache */
} spmm_view;

/* Prefetch distance for rows of x, into L2: it has more outstanding misses than L1, and memory bandwidth needs them
 * in flight. */
#define PREFETCH_ENTRIES 128 /* entries */
#define LINE_FLOATS 16       /* floats of a cache line */

typedef enum spmm_values { ONES, ONE_VALUE, HEADS } spmm_values; /* of an entry */

/* Columns j0 .. of row r, `count` vectors of which the last has `last` floats; lanes: of HEADS. `count`, `values`,
 * `ids` and `prefetch` are compile-time constants. */
INLINE void spmm_tile(const spmm_view *s, int64_t r, int64_t j0, const int count, int last, const head_lanes *lanes,
                      const spmm_values values, const bool ids, const bool prefetch) {
    vf sum[TILE] = {{0}};
    const float *columns = s->x + j0;
    for (int64_t e = s->indptr[r], end = s->indptr[r + 1]; e < end; e++) {
        const float *x = columns + s->indices[e] * s->ldx;
        int64_t id = ids ? s->id[e] : e;
        float w = values == ONE_VALUE ? s->weight[id] : 1.0f;
        if (prefetch) {
            const float *later =
                columns + s->indices[e + PREFETCH_ENTRIES < s->last ? e + PREFETCH_ENTRIES : s->last] * s->ldx;
            for (int j = 0; j < count * VW; j += LINE_FLOATS)
                __builtin_prefetch(later + j, 0, 2);
        }
        if (values == HEADS) {
            for (int i = 0; i < count; i++)
                sum[i] += head_values(s->weight + id * s->heads, &lanes[i]) *
                          vf_load_n(x + i * VW, i < count - 1 ? VW : last);
            continue;
        }
        for (int i = 0; i < count - 1; i++)
            sum[i] += w * vf_load(x + i * VW);
        sum[count - 1] += w * vf_load_n(x + (count - 1) * VW, last);
    }
    float *y = s->y + (r - s->first) * s->ldy + j0;
    const float *z = s->z ? s->z + (r - s->first) * s->ldz + j0 : NULL;
    for (int i = 0; i < count; i++) {
        int part = i < count - 1 ? VW : last;
        vf out = s->alpha * sum[i];
        if (z)
            out += s->beta * vf_load_n(z + i * VW, part);
        vf_store_part(y + i * VW, out, part);
    }
}

/* Columns j0 .. of each of `rows`. The view is passed by value, so that it stays in registers. */
INLINE void spmm_sweep(const spmm_view s, range rows, int64_t j0, const int count, int last, const spmm_values values,
                       const bool ids) {
    head_lanes lanes[TILE];
    for (int i = 0; values == HEADS && i < count; i++)
        lanes[i] = head_lanes_of(j0 + i * VW, i < count - 1 ? VW : last, s.head_cols);
    if (s.prefetch)
        for (int64_t r = rows.begin; r < rows.end; r++)
            spmm_tile(&s, r, j0, count, last, lanes, values, ids, true);
    else
        for (int64_t r = rows.begin; r < rows.end; r++)
            spmm_tile(&s, r, j0, count, last, lanes, values, ids, false);
}

INLINE void spmm_heads(const spmm_view *s, range rows, int64_t j0, const int count, int last) {
    if (s->id)
        spmm_sweep(*s, rows, j0, count, last, HEADS, true);
    else
        spmm_sweep(*s, rows, j0, count, last, HEADS, false);
}

INLINE void spmm_dispatch(const spmm_view *s, range rows, int64_t j0, const int count, int last) {
    if (!s->weight)
        spmm_sweep(*s, rows, j0, count, last, ONES, false);
    else if (s->heads > 1)
        spmm_heads(s, rows, j0, count, last);
    else if (s->id)
        spmm_sweep(*s, rows, j0, count, last, ONE_VALUE, true);
    else
        spmm_sweep(*s, rows, j0, count, last, ONE_VALUE, false);
}

static spmm_view spmm_view_of(const be_csr *a, be_mat val, be_mat x) {
    const float *weight = val.buf && a->nnz > 0 ? data(val) : NULL;
    int64_t heads = weight ? be_heads(val, a) : 1;
    return (spmm_view){.indptr = csr_indptr(a),
                       .indices = csr_indices(a),
                       .id = int_data(a->eids),
                       .weight = weight,
                       .x = data(x),
                       .ldx = x.ld,
                       .last = a->nnz - 1,
                       .heads = heads,
                       .head_cols = x.cols / heads,
                       .prefetch = exceeds_cache(x),
                       .alpha = 1.0f};
}

static void spmm_rows(spmm_view s, int64_t d, range rows) {
    for (int64_t j0 = 0; j0 < d; j0 += TILE * VW) {
        int64_t width = d - j0 < TILE * VW ? d - j0 : TILE * VW;
        int last = vf_part(width, vf_count(width) - 1);
        switch (vf_count(width)) {
        case 1:
            spmm_dispatch(&s, rows, j0, 1, last);
            break;
        case 2:
            spmm_dispatch(&s, rows, j0, 2, last);
            break;
        case 3:
            spmm_dispatch(&s, rows, j0, 3, last);
            break;
        default:
            spmm_dispatch(&s, rows, j0, 4, last);
        }
    }
}

/* ---- the same by scattering: over the rows of the transpose ----
 * Row v of the transpose adds val x_v to the sums of its columns. Values and x are read sequentially and only the sums
 * at random, which are fewer than the rows of x. A thread owns a range of rows of y; each is summed in ascending order
 * of its entries, so the bits equal those of the gather. */

INLINE bool walks_transpose(const be_spmm_args *a) {
    bool heads = a->val.buf && a->a.nnz > 0 && be_heads(a->val, &a->a) > 1;
    return a->a.plan && csr_plan(&a->a)->transpose.nnz > 0 && a->y.rows <= a->x.rows && !heads;
}

/* The first entry of begin .. end-1 (columns ascending) whose column is >= `column`. */
INLINE int64_t lower_bound(const int32_t *indices, int64_t begin, int64_t end, int64_t column) {
    while (begin < end) {
        int64_t middle = begin + (end - begin) / 2;
        bool below = indices[middle] < column;
        begin = below ? middle + 1 : begin;
        end = below ? end : middle;
    }
    return begin;
}

/* Vectors i .. i + count - 1 of the sums of rows `mine`, each `width` floats; `count` is a compile-time constant. */
INLINE void scatter_tile(float *sums, int64_t width, const be_spmm_args *a, const float *weight, range mine, int64_t i,
                         const int count) {
    const be_csr *at = &csr_plan(&a->a)->transpose;
    const int64_t *indptr = csr_indptr(at);
    const int32_t *indices = csr_indices(at), *id = int_data(at->eids);
    uint64_t rows = (uint64_t)(mine.end - mine.begin);
    for (int64_t v = 0; v < at->rows; v++) {
        vf x[TILE];
        for (int c = 0; c < count; c++)
            x[c] = vf_row(row(a->x, v), a->x.cols, i + c);
        int64_t end = indptr[v + 1], e = mine.begin > 0 ? lower_bound(indices, indptr[v], end, mine.begin) : indptr[v];
        for (; e < end && (uint64_t)(indices[e] - mine.begin) < rows; e++) {
            float *sum = sums + (indices[e] - mine.begin) * width + i * VW, w = weight ? weight[id ? id[e] : e] : 1.0f;
            for (int c = 0; c < count; c++)
                vf_store(sum + c * VW, vf_load(sum + c * VW) + w * x[c]);
        }
    }
}

static void spmm_scatter(const thread_ctx *ctx, const be_spmm_args *a, const float *weight, float *sums) {
    int64_t d = a->x.cols, vectors = vf_count(d), width = vectors * VW, i = 0;
    range mine = csr_partition(ctx, &a->a);
    sums += mine.begin * width;
    memset(sums, 0, (size_t)((mine.end - mine.begin) * width) * sizeof *sums);
    for (; i + TILE <= vectors; i += TILE)
        scatter_tile(sums, width, a, weight, mine, i, TILE);
    for (; i < vectors; i++)
        scatter_tile(sums, width, a, weight, mine, i, 1);
    for (int64_t r = mine.begin; r < mine.end; r++, sums += width)
        for (i = 0; i < vectors; i++) {
            vf out = a->alpha * vf_load(sums + i * VW);
            if (a->z.buf)
                out += a->beta * vf_row(row(a->z, r), d, i);
            vf_row_set(row(a->y, r), d, i, out);
        }
}

/* ---- the operations ---- */

CPU_SCRATCH(spmm) {
    (void)threads;
    return walks_transpose(a) ? floats_bytes(a->y.rows * padded_cols(a->x.cols)) : 0;
}
CPU_OP(spmm) {
    spmm_view s = spmm_view_of(&a->a, a->val, a->x);
    if (walks_transpose(a)) {
        spmm_scatter(ctx, a, s.weight, (float *)(void *)ctx->scratch);
        return;
    }
    s.y = data(a->y);
    s.ldy = a->y.ld;
    s.z = data(a->z);
    s.ldz = a->z.ld;
    s.alpha = a->alpha;
    s.beta = a->beta;
    spmm_rows(s, a->x.cols, csr_partition(ctx, &a->a));
}

static void stream_rows(be_mat to, range rows, const float *from) {
    for (int64_t r = rows.begin; r < rows.end; r++)
        for (int64_t j = 0; j < to.cols; j += VW, from += VW)
            vf_stream(row(to, r) + j, vf_load(from));
}

/* Per window of rows: P = A x into p or scratch that stays in L1, then y = P op(w). Where x exceeds the cache so do y
 * and p: non-temporal stores keep them from evicting rows of x. */
CPU_SCRATCH(aggregate) {
    return (size_t)threads * (floats_bytes(a->x.cols * padded_cols(a->y.cols)) + floats_bytes(CPU_WINDOW * a->x.cols));
}
CPU_OP(aggregate) {
    int64_t d = a->x.cols, m = a->y.cols;
    char *mine = ctx->scratch + (size_t)ctx->id * aggregate_bytes(a, 1);
    float *w = take_floats(&mine, d * padded_cols(m)), *sums = take_floats(&mine, CPU_WINDOW * d);
    small_gemm_pack(w, a->w, a->tw, d, m);
    spmm_view s = spmm_view_of(&a->a, a->val, a->x);
    bool stream = s.prefetch && on_vectors(a->y), stream_p = s.prefetch && a->p.buf && on_vectors(a->p);
    float *p = a->p.buf && !stream_p ? data(a->p) : NULL;
    range windows = window_partition(ctx, &a->a);
    for (int64_t b = windows.begin; b < windows.end; b++) {
        range rows = {b * CPU_WINDOW, (b + 1) * CPU_WINDOW < a->a.rows ? (b + 1) * CPU_WINDOW : a->a.rows};
        s.first = rows.begin;
        s.y = p ? p + rows.begin * a->p.ld : sums;
        s.ldy = p ? a->p.ld : d;
        spmm_rows(s, d, rows);
        const small_gemm product = {
            .a = s.y, .b = w, .c = row(a->y, rows.begin), .lda = s.ldy, .ldc = a->y.ld, .n = m, .k = d, .alpha = 1.0f};
        if (stream)
            small_gemm_rows(&product, rows.end - rows.begin, true);
        else
            small_gemm_rows(&product, rows.end - rows.begin, false);
        if (stream_p)
            stream_rows(a->p, rows, sums);
    }
    vf_sfence();
}

CPU_NO_SCRATCH(dirichlet)
CPU_OP(dirichlet) {
    const int64_t *indptr = csr_indptr(&a->a);
    const int32_t *indices = csr_indices(&a->a);
    const float *w = data(a->w);
    int64_t d = a->x.cols, vectors = vf_count(d);
    range rows = csr_partition(ctx, &a->a);
    for (int64_t v = rows.begin; v < rows.end; v++) {
        const float *xv = row(a->x, v);
        float wv = w ? w[v] : 1.0f;
        double energy = 0.0;
        for (int64_t e = indptr[v]; e < indptr[v + 1]; e++) {
            if (indices[e] == v) /* exactly 0; a fused multiply-add would leave a rounding error */
                continue;
            const float *xu = row(a->x, indices[e]);
            float wu = w ? w[indices[e]] : 1.0f;
            vf sum = {0};
            for (int64_t i = 0; i < vectors; i++) {
                vf difference = wv * vf_row(xv, d, i) - wu * vf_row(xu, d, i);
                sum += difference * difference;
            }
            energy += (double)vf_sum(sum);
        }
        data(a->e)[v] = (float)energy;
    }
}
