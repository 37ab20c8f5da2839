/* cpu_sparse.c - products with a sparse matrix: graph aggregation, sparse features
 * times weights, and their transposes; Dirichlet energy over edges.
 * Lanes are columns; a row's sum stays in registers over all its entries. */
#include "backend/cpu/loops/loops.h"
#include "backend/cpu/loops/narrow.h"

#define TILE 4 /* vectors of columns held at once */

typedef struct spmm_view { /* what the loop over entries needs, out of the arguments */
    const int64_t *ptr;
    const int32_t *idx, *id;     /* id: NULL when entries are their own */
    const float *weight, *x, *z; /* weight: NULL for ones; z: NULL for none */
    float *y, alpha, beta;
    int64_t ldx, ldy, ldz, first; /* y and z begin with row `first` */
    int64_t last;                 /* entry */
    bool far;                     /* x is too large for a cache */
} spmm_view;

/* Rows of x that are far are asked for this many entries ahead, into the second cache: it waits for more lines at once
 * than the first, and memory needs that many under way. */
#define AHEAD 128 /* entries */
#define LINE 16   /* floats of a cache line */

/* Columns j0 .. of row r, `count` vectors of which the last has `last` floats; `count`, `weighted`, `ids` and `far` are
 * constants for the compiler. */
INLINE void spmm_tile(const spmm_view *s, int64_t r, int64_t j0, const int count, int last, const bool weighted,
                      const bool ids, const bool far) {
    vf sum[TILE] = {{0}};
    const float *columns = s->x + j0;
    for (int64_t e = s->ptr[r], end = s->ptr[r + 1]; e < end; e++) {
        const float *x = columns + s->idx[e] * s->ldx;
        float w = weighted ? s->weight[ids ? s->id[e] : e] : 1.0f;
        if (far) {
            const float *later = columns + s->idx[e + AHEAD < s->last ? e + AHEAD : s->last] * s->ldx;
            for (int j = 0; j < count * VW; j += LINE)
                __builtin_prefetch(later + j, 0, 2);
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
        vf_put(y + i * VW, out, part);
    }
}

/* Columns j0 .. of each of `rows`. The view is a copy: it stays in registers. */
INLINE void spmm_sweep(const spmm_view s, span rows, int64_t j0, const int count, int last, const bool weighted,
                       const bool ids) {
    if (s.far)
        for (int64_t r = rows.begin; r < rows.end; r++)
            spmm_tile(&s, r, j0, count, last, weighted, ids, true);
    else
        for (int64_t r = rows.begin; r < rows.end; r++)
            spmm_tile(&s, r, j0, count, last, weighted, ids, false);
}

INLINE void spmm_kind(const spmm_view *s, span rows, int64_t j0, const int count, int last) {
    if (!s->weight)
        spmm_sweep(*s, rows, j0, count, last, false, false);
    else if (s->id)
        spmm_sweep(*s, rows, j0, count, last, true, true);
    else
        spmm_sweep(*s, rows, j0, count, last, true, false);
}

static spmm_view view_of(const be_csr *a, const float *weight, be_mat x) {
    return (spmm_view){.ptr = csr_ptr(a),
                       .idx = csr_idx(a),
                       .id = int_data(a->eid),
                       .weight = weight,
                       .x = data(x),
                       .ldx = x.ld,
                       .last = a->nnz - 1,
                       .far = is_far(x),
                       .alpha = 1.0f};
}

static void spmm_rows(spmm_view s, int64_t d, span rows) {
    for (int64_t j0 = 0; j0 < d; j0 += TILE * VW) {
        int64_t width = d - j0 < TILE * VW ? d - j0 : TILE * VW;
        int last = vf_part(width, vf_count(width) - 1);
        switch (vf_count(width)) {
        case 1:
            spmm_kind(&s, rows, j0, 1, last);
            break;
        case 2:
            spmm_kind(&s, rows, j0, 2, last);
            break;
        case 3:
            spmm_kind(&s, rows, j0, 3, last);
            break;
        default:
            spmm_kind(&s, rows, j0, 4, last);
        }
    }
}

/* ---- the same, walked by the rows of the transpose ----
 * Row v of the transpose adds its row of x to the sums of the rows that it names. Weights and x are then read in their
 * order, and only the sums are met at random: they are fewer than the rows of x. A thread has rows of y of its own;
 * each is summed in the order of its entries, so the bits are those of the other way. */

INLINE bool by_transpose(const be_spmm_args *a) { return a->at.ptr.buf && a->at.nnz > 0 && a->y.rows <= a->x.rows; }

/* The first of the entries begin .. end - 1, columns ascending, whose column is not below `column`. */
INLINE int64_t first_from(const int32_t *idx, int64_t begin, int64_t end, int64_t column) {
    while (begin < end) {
        int64_t middle = begin + (end - begin) / 2;
        bool below = idx[middle] < column;
        begin = below ? middle + 1 : begin;
        end = below ? end : middle;
    }
    return begin;
}

/* Vectors i .. of `count`, a constant for the compiler, of the sums of rows `mine`, each `width` floats. */
INLINE void scatter_tile(float *sums, int64_t width, const be_spmm_args *a, const float *weight, span mine, int64_t i,
                         const int count) {
    const int64_t *ptr = csr_ptr(&a->at);
    const int32_t *idx = csr_idx(&a->at), *id = int_data(a->at.eid);
    uint64_t rows = (uint64_t)(mine.end - mine.begin);
    for (int64_t v = 0; v < a->at.rows; v++) {
        vf x[TILE];
        for (int c = 0; c < count; c++)
            x[c] = vf_row(row(a->x, v), a->x.cols, i + c);
        int64_t end = ptr[v + 1], e = mine.begin > 0 ? first_from(idx, ptr[v], end, mine.begin) : ptr[v];
        for (; e < end && (uint64_t)(idx[e] - mine.begin) < rows; e++) {
            float *sum = sums + (idx[e] - mine.begin) * width + i * VW, w = weight ? weight[id ? id[e] : e] : 1.0f;
            for (int c = 0; c < count; c++)
                vf_store(sum + c * VW, vf_load(sum + c * VW) + w * x[c]);
        }
    }
}

static void spmm_scatter(const cpu_team *team, const be_spmm_args *a, const float *weight, float *sums) {
    int64_t d = a->x.cols, vectors = vf_count(d), width = vectors * VW, i = 0;
    span mine = csr_share(team, &a->a);
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

SCRATCH(spmm) {
    (void)threads;
    return by_transpose(a) ? floats_bytes(a->y.rows * narrow_width(a->x.cols)) : 0;
}
OP(spmm) {
    const float *weight = a->val.buf && a->a.nnz > 0 ? data(a->val) : NULL;
    if (by_transpose(a)) {
        spmm_scatter(team, a, weight, (float *)(void *)team->scratch);
        return;
    }
    spmm_view s = view_of(&a->a, weight, a->x);
    s.y = data(a->y);
    s.ldy = a->y.ld;
    s.z = data(a->z);
    s.ldz = a->z.ld;
    s.alpha = a->alpha;
    s.beta = a->beta;
    spmm_rows(s, a->x.cols, csr_share(team, &a->a));
}

/* Whether m can be written by vf_stream: rows are whole vectors and begin on one. */
INLINE bool on_vectors(be_mat m) { return m.cols % VW == 0 && m.ld % VW == 0 && (uintptr_t)data(m) % sizeof(vf) == 0; }

static void stream_rows(be_mat to, span rows, const float *from) {
    for (int64_t r = rows.begin; r < rows.end; r++)
        for (int64_t j = 0; j < to.cols; j += VW, from += VW)
            vf_stream(row(to, r) + j, vf_load(from));
}

/* A window of rows after the other: their sums, into p or a place that stays in the cache, then times w. Where x is far
 * y and p are too: they would push rows of x that are still needed out of the caches. */
SCRATCH(aggregate) {
    return (size_t)threads * (floats_bytes(a->x.cols * narrow_width(a->y.cols)) + floats_bytes(BE_ORDER * a->x.cols));
}
OP(aggregate) {
    int64_t d = a->x.cols, m = a->y.cols;
    char *mine = team->scratch + (size_t)team->id * aggregate_bytes(a, 1);
    float *w = take(&mine, d * narrow_width(m)), *sums = take(&mine, BE_ORDER * d);
    narrow_pack(w, a->w, a->tw, d, m);
    spmm_view s = view_of(&a->a, a->val.buf && a->a.nnz > 0 ? data(a->val) : NULL, a->x);
    bool stream = s.far && on_vectors(a->y), stream_p = s.far && a->p.buf && on_vectors(a->p);
    float *p = a->p.buf && !stream_p ? data(a->p) : NULL;
    span windows = csr_windows(team, &a->a);
    for (int64_t b = windows.begin; b < windows.end; b++) {
        span rows = {b * BE_ORDER, (b + 1) * BE_ORDER < a->a.rows ? (b + 1) * BE_ORDER : a->a.rows};
        s.first = rows.begin;
        s.y = p ? p + rows.begin * a->p.ld : sums;
        s.ldy = p ? a->p.ld : d;
        spmm_rows(s, d, rows);
        const narrow_view product = {
            .a = s.y, .b = w, .c = row(a->y, rows.begin), .lda = s.ldy, .ldc = a->y.ld, .n = m, .k = d, .alpha = 1.0f};
        if (stream)
            narrow_rows(&product, rows.end - rows.begin, true);
        else
            narrow_rows(&product, rows.end - rows.begin, false);
        if (stream_p)
            stream_rows(a->p, rows, sums);
    }
    vf_streamed();
}

NO_SCRATCH(dirichlet)
OP(dirichlet) {
    const int64_t *ptr = csr_ptr(&a->a);
    const int32_t *idx = csr_idx(&a->a);
    const float *w = data(a->w);
    int64_t d = a->x.cols, vectors = vf_count(d);
    span rows = csr_share(team, &a->a);
    for (int64_t v = rows.begin; v < rows.end; v++) {
        const float *xv = row(a->x, v);
        float wv = w ? w[v] : 1.0f;
        double energy = 0.0;
        for (int64_t e = ptr[v]; e < ptr[v + 1]; e++) {
            if (idx[e] == v) /* exactly 0, which a fused multiply-add would miss by a rounding */
                continue;
            const float *xu = row(a->x, idx[e]);
            float wu = w ? w[idx[e]] : 1.0f;
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
