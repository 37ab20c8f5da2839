/* validate.c - bounds, shapes and aliasing of views; see validate.h. */
#include "backend/validate.h"

#include <string.h>

void validate(validation *ctx, bool holds, const char *what) {
    if (ctx->status == FATHOM_OK && !holds)
        ctx->status = fail(FATHOM_USAGE, "%s: %s", ctx->op, what);
}

static void add_view(validation *ctx, const char *field, be_mat view) {
    if (ctx->status != FATHOM_OK || !view.buf || view.cols == 0)
        return;
    if (ctx->count == VALIDATE_MAX_VIEWS) {
        ctx->status = fail(FATHOM_FAILURE, "%s: more than %d views", ctx->op, VALIDATE_MAX_VIEWS);
        return;
    }
    ctx->seen[ctx->count].field = field;
    ctx->seen[ctx->count++].view = view;
}

static void validate_range(validation *ctx, const char *field, const be_buf *buf, int64_t off, int64_t count,
                           size_t size) {
    if (ctx->status != FATHOM_OK)
        return;
    if (!buf)
        ctx->status = fail(FATHOM_USAGE, "%s: %s is missing", ctx->op, field);
    else if (buf->dev != ctx->dev)
        ctx->status = fail(FATHOM_USAGE, "%s: %s belongs to another device", ctx->op, field);
    else if (off < 0 || count < 0 || (uint64_t)off > buf->bytes / size ||
             (uint64_t)count > buf->bytes / size - (uint64_t)off)
        ctx->status = fail(FATHOM_USAGE, "%s: %s ends outside its buffer of %zu bytes", ctx->op, field, buf->bytes);
}

void validate_mat(validation *ctx, const char *field, be_mat m, int64_t rows, int64_t cols) {
    if (ctx->status != FATHOM_OK)
        return;
    bool sane = !m.buf || (m.rows > 0 && m.cols > 0 && m.ld >= m.cols && m.rows <= INT32_MAX && m.cols <= INT32_MAX);
    if (!sane || (m.buf && ((rows && m.rows != rows) || (cols && m.cols != cols)))) {
        ctx->status =
            fail(FATHOM_USAGE, "%s: %s is %lld x %lld (leading dimension %lld), expected %lld x %lld (0: any)", ctx->op,
                 field, (long long)m.rows, (long long)m.cols, (long long)m.ld, (long long)rows, (long long)cols);
        return;
    }
    int64_t last;
    if (m.buf && (__builtin_mul_overflow(m.rows - 1, m.ld, &last) || __builtin_add_overflow(last, m.cols, &last))) {
        ctx->status = fail(FATHOM_USAGE, "%s: %s is too large", ctx->op, field);
        return;
    }
    validate_range(ctx, field, m.buf, m.off, m.buf ? last : 0, sizeof(float));
    add_view(ctx, field, m);
}

void validate_mat_optional(validation *ctx, const char *field, be_mat m, int64_t rows, int64_t cols) {
    if (m.buf)
        validate_mat(ctx, field, m, rows, cols);
}

void validate_vec(validation *ctx, const char *field, be_mat m, int64_t len) { validate_mat(ctx, field, m, 1, len); }

void validate_packed(validation *ctx, const char *field, be_mat m, int64_t rows, int64_t cols) {
    validate_mat(ctx, field, m, rows, cols);
    if (ctx->status == FATHOM_OK && m.rows > 1 && m.ld != m.cols)
        ctx->status = fail(FATHOM_USAGE, "%s: %s must have its rows side by side", ctx->op, field);
}

void validate_ints(validation *ctx, const char *field, be_ints v, int64_t len) {
    validate_range(ctx, field, v.buf, v.off, v.len, sizeof(int32_t));
    if (ctx->status == FATHOM_OK && v.len != len)
        ctx->status = fail(FATHOM_USAGE, "%s: %s has %lld entries, expected %lld", ctx->op, field, (long long)v.len,
                           (long long)len);
    add_view(ctx, field, be_vector(v.buf, v.off, v.len));
}

void validate_csr(validation *ctx, const char *field, const be_csr *a) {
    if (ctx->status == FATHOM_OK &&
        (a->rows < 1 || a->cols < 1 || a->nnz < 0 || a->rows > INT32_MAX || a->cols > INT32_MAX))
        ctx->status = fail(FATHOM_USAGE, "%s: %s has an impossible shape", ctx->op, field);
    validate_range(ctx, field, a->indptr.buf, a->indptr.off, a->rows + 1, sizeof(int64_t));
    validate_range(ctx, field, a->indices.buf, a->indices.off, a->nnz, sizeof(int32_t));
    if (a->eids.buf)
        validate_range(ctx, field, a->eids.buf, a->eids.off, a->nnz, sizeof(int32_t));
    if (a->plan)
        validate_range(ctx, field, a->plan, 0, 0, 1);
    add_view(ctx, field, be_vector(a->indptr.buf, 2 * a->indptr.off, 2 * (a->rows + 1)));
    add_view(ctx, field, be_vector(a->indices.buf, a->indices.off, a->nnz));
    add_view(ctx, field, be_vector(a->eids.buf, a->eids.off, a->nnz));
}

/* By the first and one-past-last element of each view. */
bool be_overlap(be_mat x, be_mat y) {
    bool same_memory = x.buf && y.buf && (x.buf == y.buf || (x.buf->root && x.buf->root == y.buf->root));
    if (!same_memory)
        return false;
    x.off += (int64_t)(x.buf->root_offset / sizeof(float));
    y.off += (int64_t)(y.buf->root_offset / sizeof(float));
    int64_t x_end = x.off + (x.rows - 1) * x.ld + x.cols, y_end = y.off + (y.rows - 1) * y.ld + y.cols;
    if (x.off >= y_end || y.off >= x_end)
        return false;
    /* Disjoint column blocks of one matrix do not overlap. */
    if (x.ld == y.ld && x.rows > 1 && y.rows > 1) {
        int64_t shift = (y.off - x.off) % x.ld;
        shift = shift < 0 ? shift + x.ld : shift;
        return shift < x.cols || shift + y.cols > x.ld;
    }
    return true;
}

static bool same_view(be_mat x, be_mat y) {
    return x.buf == y.buf && x.off == y.off && x.rows == y.rows && x.cols == y.cols && x.ld == y.ld;
}

static bool listed(const char *list, const char *name) {
    size_t length = strlen(name);
    for (const char *at = list ? strstr(list, name) : NULL; at; at = strstr(at + 1, name))
        if ((at == list || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
            return true;
    return false;
}

void validate_output(validation *ctx, const char *field, be_mat m, const char *may_be) {
    for (int i = 0; ctx->status == FATHOM_OK && i < ctx->count; i++) {
        be_mat other = ctx->seen[i].view;
        if (strcmp(ctx->seen[i].field, field) == 0 || !be_overlap(m, other))
            continue;
        if (!(same_view(m, other) && listed(may_be, ctx->seen[i].field)))
            ctx->status = fail(FATHOM_USAGE, "%s: the output %s overlaps %s", ctx->op, field, ctx->seen[i].field);
    }
}

void validate_output_ints(validation *ctx, const char *field, be_ints v) {
    validate_output(ctx, field, be_vector(v.buf, v.off, v.len), NULL);
}

void validate_drop(validation *ctx, const be_drop *drop, int64_t rows, int64_t cols) {
    int64_t elements;
    validate(ctx, drop->rate >= 0.0f && drop->rate < 1.0f, "the dropout rate must be at least 0 and below 1");
    bool counts = drop->first >= 0 && !__builtin_mul_overflow(rows, cols, &elements) &&
                  !__builtin_add_overflow(elements, drop->first, &elements) && elements <= INT64_C(4) * UINT32_MAX;
    validate(ctx, drop->rate == 0.0f || counts, "too many elements for one dropout mask");
}
