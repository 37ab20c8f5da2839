/* views.h - how operations see memory: matrices, index lists, sparse matrices,
 * and the two element-wise numbers-only arguments, dropout and activation.
 * Offsets and sizes count elements, not bytes. */
#ifndef BACKEND_VIEWS_H
#define BACKEND_VIEWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct be_buf be_buf;

typedef struct be_mat { /* rows x cols floats, row r starting at off + r*ld; a vector is a matrix of one row */
    be_buf *buf;
    int64_t off, rows, cols, ld;
} be_mat;

typedef struct be_ints { /* len int32 */
    be_buf *buf;
    int64_t off, len;
} be_ints;

typedef struct be_longs { /* len int64 */
    be_buf *buf;
    int64_t off, len;
} be_longs;

static inline be_mat be_view(be_buf *buf, int64_t off, int64_t rows, int64_t cols) {
    return (be_mat){buf, off, rows, cols, cols};
}
static inline be_mat be_view_ld(be_buf *buf, int64_t off, int64_t rows, int64_t cols, int64_t ld) {
    return (be_mat){buf, off, rows, cols, ld};
}
static inline be_mat be_vector(be_buf *buf, int64_t off, int64_t len) { return (be_mat){buf, off, 1, len, len}; }
static inline be_ints be_int_view(be_buf *buf, int64_t off, int64_t len) { return (be_ints){buf, off, len}; }
static inline size_t be_floats(int64_t count) { return (size_t)count * sizeof(float); }

/* A sparse matrix: the columns of row r are indices[indptr[r]] .. indices[indptr[r+1]-1].
 * Values are not part of it: an operation is handed them as a vector indexed by
 * entry id. The id of entry e is e itself, or eids[e] in a transpose, so that a
 * matrix and its transpose share one value array. Masked values (dropout of features, of attention) are stored as
 * another such array.
 * Built by be_csr_upload, which checks every index. */
typedef struct be_csr {
    int64_t rows, cols, nnz;
    be_longs indptr; /* rows + 1 */
    be_ints indices; /* nnz */
    be_ints eids;    /* nnz [optional] */
    be_buf *plan;    /* private to the back end, which derives it from the arrays [optional]; see be_csr_prepare */
    uint32_t plan_parts, plan_part_tiles, plan_tiles; /* private too: what the plan holds */
} be_csr;

/* Dropout by counter: element i is kept when the (i mod 4)-th number of
 * philox4x32_10(key = seed, counter = {i / 4, layer, epoch, stream}) is not
 * below `threshold` = rate * 2^32, and is then multiplied by `scale` =
 * 1 / (1 - rate). Rate 0 keeps everything. `first` is added to the number of every element: a matrix that is a part of
 * a larger one gets its part of the larger one's mask. The mask itself is not stored: an operation draws it from the
 * counter, or reads it off its stored output (0 where dropped). */
typedef struct be_drop {
    float rate, scale;
    uint32_t threshold, key[2], stream, epoch, layer;
    int64_t first;
} be_drop;

/* rate in [0, 1); see core/random.h for the streams. */
be_drop be_drop_make(float rate, uint64_t seed, uint32_t stream, uint32_t epoch, uint32_t layer);

/* What follows a normalisation, element by element: act(x) = dropout(relu(x)),
 * each part only when it is set. In a matrix the element is r * cols + j. */
typedef struct be_act {
    bool relu;
    be_drop drop;
} be_act;

#endif
