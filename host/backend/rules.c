/* rules.c - bounds, shapes and aliasing of views; see rules.h. */
#include "backend/rules.h"

#include <string.h>

void rule(rules *r, bool holds, const char *what) {
    if (r->status == FATHOM_OK && !holds)
        r->status = fail(FATHOM_USAGE, "%s: %s", r->op, what);
}

static void see(rules *r, const char *field, be_mat view) {
    if (r->status != FATHOM_OK || !view.buf || view.cols == 0)
        return;
    if (r->count == RULES_VIEWS) {
        r->status = fail(FATHOM_FAILURE, "%s: more than %d views", r->op, RULES_VIEWS);
        return;
    }
    r->seen[r->count].field = field;
    r->seen[r->count++].view = view;
}

static void range(rules *r, const char *field, const be_buf *buf, int64_t off, int64_t count, size_t size) {
    if (r->status != FATHOM_OK)
        return;
    if (!buf)
        r->status = fail(FATHOM_USAGE, "%s: %s is missing", r->op, field);
    else if (buf->dev != r->dev)
        r->status = fail(FATHOM_USAGE, "%s: %s lies on another device", r->op, field);
    else if (off < 0 || count < 0 || (uint64_t)off > buf->bytes / size ||
             (uint64_t)count > buf->bytes / size - (uint64_t)off)
        r->status = fail(FATHOM_USAGE, "%s: %s ends outside its buffer of %zu bytes", r->op, field, buf->bytes);
}

void rule_mat(rules *r, const char *field, be_mat m, int64_t rows, int64_t cols) {
    if (r->status != FATHOM_OK)
        return;
    bool sane = !m.buf || (m.rows > 0 && m.cols > 0 && m.ld >= m.cols && m.rows <= INT32_MAX && m.cols <= INT32_MAX);
    if (!sane || (m.buf && ((rows && m.rows != rows) || (cols && m.cols != cols)))) {
        r->status =
            fail(FATHOM_USAGE, "%s: %s is %lld x %lld (leading dimension %lld), expected %lld x %lld (0: any)", r->op,
                 field, (long long)m.rows, (long long)m.cols, (long long)m.ld, (long long)rows, (long long)cols);
        return;
    }
    int64_t last;
    if (m.buf && (__builtin_mul_overflow(m.rows - 1, m.ld, &last) || __builtin_add_overflow(last, m.cols, &last))) {
        r->status = fail(FATHOM_USAGE, "%s: %s is too large", r->op, field);
        return;
    }
    range(r, field, m.buf, m.off, m.buf ? last : 0, sizeof(float));
    see(r, field, m);
}

void rule_mat_optional(rules *r, const char *field, be_mat m, int64_t rows, int64_t cols) {
    if (m.buf)
        rule_mat(r, field, m, rows, cols);
}

void rule_vec(rules *r, const char *field, be_mat m, int64_t len) { rule_mat(r, field, m, 1, len); }

void rule_packed(rules *r, const char *field, be_mat m, int64_t rows, int64_t cols) {
    rule_mat(r, field, m, rows, cols);
    if (r->status == FATHOM_OK && m.rows > 1 && m.ld != m.cols)
        r->status = fail(FATHOM_USAGE, "%s: %s must have its rows side by side", r->op, field);
}

void rule_ints(rules *r, const char *field, be_ints v, int64_t len) {
    range(r, field, v.buf, v.off, v.len, sizeof(int32_t));
    if (r->status == FATHOM_OK && v.len != len)
        r->status = fail(FATHOM_USAGE, "%s: %s has %lld entries, expected %lld", r->op, field, (long long)v.len,
                         (long long)len);
    see(r, field, be_vector(v.buf, v.off, v.len));
}

void rule_csr(rules *r, const char *field, const be_csr *a) {
    if (r->status == FATHOM_OK &&
        (a->rows < 1 || a->cols < 1 || a->nnz < 0 || a->rows > INT32_MAX || a->cols > INT32_MAX))
        r->status = fail(FATHOM_USAGE, "%s: %s has an impossible shape", r->op, field);
    range(r, field, a->ptr.buf, a->ptr.off, a->rows + 1, sizeof(int64_t));
    range(r, field, a->idx.buf, a->idx.off, a->nnz, sizeof(int32_t));
    if (a->eid.buf)
        range(r, field, a->eid.buf, a->eid.off, a->nnz, sizeof(int32_t));
    range(r, field, a->order.buf, a->order.off, a->rows, sizeof(int32_t));
    see(r, field, be_vector(a->ptr.buf, 2 * a->ptr.off, 2 * (a->rows + 1)));
    see(r, field, be_vector(a->idx.buf, a->idx.off, a->nnz));
    see(r, field, be_vector(a->eid.buf, a->eid.off, a->nnz));
    see(r, field, be_vector(a->order.buf, a->order.off, a->rows));
}

/* By the first and one-past-last element a view touches. */
static bool overlap(be_mat x, be_mat y) {
    if (!x.buf || x.buf != y.buf)
        return false;
    int64_t x_end = x.off + (x.rows - 1) * x.ld + x.cols, y_end = y.off + (y.rows - 1) * y.ld + y.cols;
    if (x.off >= y_end || y.off >= x_end)
        return false;
    /* Column blocks of one matrix may lie beside each other. */
    if (x.ld == y.ld && x.rows > 1 && y.rows > 1) {
        int64_t shift = (y.off - x.off) % x.ld;
        shift = shift < 0 ? shift + x.ld : shift;
        return shift < x.cols || shift + y.cols > x.ld;
    }
    return true;
}

static bool same(be_mat x, be_mat y) {
    return x.buf == y.buf && x.off == y.off && x.rows == y.rows && x.cols == y.cols && x.ld == y.ld;
}

static bool listed(const char *list, const char *name) {
    size_t length = strlen(name);
    for (const char *at = list ? strstr(list, name) : NULL; at; at = strstr(at + 1, name))
        if ((at == list || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
            return true;
    return false;
}

void rule_output(rules *r, const char *field, be_mat m, const char *may_be) {
    for (int i = 0; r->status == FATHOM_OK && i < r->count; i++) {
        be_mat other = r->seen[i].view;
        if (strcmp(r->seen[i].field, field) == 0 || !overlap(m, other))
            continue;
        if (!(same(m, other) && listed(may_be, r->seen[i].field)))
            r->status = fail(FATHOM_USAGE, "%s: the output %s overlaps %s", r->op, field, r->seen[i].field);
    }
}

void rule_output_ints(rules *r, const char *field, be_ints v) {
    rule_output(r, field, be_vector(v.buf, v.off, v.len), NULL);
}

void rule_drop(rules *r, const be_drop *drop, int64_t rows, int64_t cols) {
    int64_t elements;
    rule(r, drop->rate >= 0.0f && drop->rate < 1.0f, "the dropout rate must be at least 0 and below 1");
    bool counts = !__builtin_mul_overflow(rows, cols, &elements) && elements <= INT64_C(4) * UINT32_MAX;
    rule(r, drop->rate == 0.0f || counts, "too many elements for one dropout mask");
}
