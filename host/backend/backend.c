/* backend.c - the checked functions of the contract: buffers, uploads of sparse
 * matrices, and one wrapper per operation that validates and dispatches. */
#ifdef FATHOM_SABOTAGE
#include <stdlib.h>
#endif
#include <string.h>

#include "backend/check.h"
#include "core/mem.h"

/* ---- operations ---- */

#ifdef FATHOM_SABOTAGE
/* Only in the test that selftest can fail (tests/test_sabotage.sh): the operation that $FATHOM_SABOTAGE names gets
 * the first element of its first output wrong by 1 % and 0.01. Every view begins with its buffer and offset. */
static fathom_status spoil(be_device *dev, const char *op, const void *args, fathom_status status) {
    const char *victim = getenv("FATHOM_SABOTAGE");
    if (status != FATHOM_OK || !victim || strcmp(victim, op) != 0)
        return status;
    be_ints first;
    float value;
    memcpy(&first, args, sizeof first);
    TRY(be_download(dev, &value, first.buf, be_floats(first.off), sizeof value));
    value = value * 1.01f + 0.01f;
    return be_upload(dev, first.buf, be_floats(first.off), &value, sizeof value);
}
#else
#define spoil(dev, op, args, status) (status)
#endif

#define X(op)                                                                \
    fathom_status be_##op(be_device *dev, const be_##op##_args *args) {      \
        TRY(be_check_##op(dev, args));                                       \
        dev->used |= UINT64_C(1) << BE_OP_##op;                              \
        return spoil(dev, #op, args, dev->driver->run.op(dev->state, args)); \
    }
BE_OPERATIONS(X)
#undef X

_Static_assert(BE_OP_COUNT <= 64, "operations are bits of be_used");
bool be_trusted(const be_device *dev) { return dev->trusted; }
uint64_t be_used(const be_device *dev) { return dev->used; }
uint64_t *be_checked(be_device *dev) { return &dev->checked; }

const char *be_op_name(be_op op) {
    static const char *const names[] = {
#define X(op) #op,
        BE_OPERATIONS(X)
#undef X
    };
    return op >= 0 && op < BE_OP_COUNT ? names[op] : "?";
}

be_drop be_drop_make(float rate, uint64_t seed, uint32_t stream, uint32_t epoch, uint32_t layer) {
    be_drop drop = {.rate = rate, .scale = 1.0f, .stream = stream, .epoch = epoch, .layer = layer};
    drop.key[0] = (uint32_t)seed;
    drop.key[1] = (uint32_t)(seed >> 32);
    if (rate > 0.0f && rate < 1.0f) { /* in double: a float rate times 2^32 is exact there */
        drop.threshold = (uint32_t)((double)rate * 4294967296.0);
        drop.scale = (float)(1.0 / (1.0 - (double)rate));
    }
    return drop;
}

/* ---- buffers ---- */

/* Borrowed memory counts too: a plan says how much a network works in, wherever it lies. */
static void add_buffer(be_device *dev, be_buf *b) {
    b->next = dev->buffers;
    if (dev->buffers)
        dev->buffers->prev = b;
    dev->buffers = b;
    dev->live_bytes += (int64_t)b->bytes;
    if (dev->live_bytes > dev->peak_bytes)
        dev->peak_bytes = dev->live_bytes;
}

bool be_borrows(const be_device *dev) { return dev->driver->host_memory; }

fathom_status be_borrow(be_device *dev, be_buf **buf, const void *memory, size_t bytes) {
    be_buf *b = NULL;
    *buf = NULL;
    if (!be_borrows(dev))
        return fail(FATHOM_USAGE, "%s has its own memory and cannot compute in the caller's", dev->info.name);
    TRY(mem_new(&b, 1, 1, sizeof *b, "buffer record"));
    *b = (be_buf){.dev = dev, .bytes = bytes, .handle = (void *)(uintptr_t)memory, .borrowed = true};
    add_buffer(dev, b);
    *buf = b;
    return FATHOM_OK;
}

fathom_status be_alloc(be_device *dev, be_buf **buf, size_t bytes, const char *what) {
    *buf = NULL;
    if (be_is_foreign(dev))
        return fail(FATHOM_DEVICE,
                    "%s was opened before this process was forked, which OpenCL does not survive; open a "
                    "device in the child",
                    dev->info.name);
    if (dev->info.max_alloc_bytes > 0 && bytes > (uint64_t)dev->info.max_alloc_bytes)
        return fail(FATHOM_MEMORY, "%s: %zu bytes are wanted, but %s gives at most %lld bytes in one piece", what,
                    bytes, dev->info.name, (long long)dev->info.max_alloc_bytes);
    be_buf *b = NULL;
    TRY(mem_new(&b, 1, 1, sizeof *b, "buffer record"));
    fathom_status status = dev->driver->alloc(dev->state, &b->handle, bytes > 0 ? bytes : 1, what);
    if (status != FATHOM_OK) {
        mem_free(b);
        return status;
    }
    *b = (be_buf){.dev = dev, .bytes = bytes, .handle = b->handle};
    add_buffer(dev, b);
    dev->allocations++;
    *buf = b;
    return FATHOM_OK;
}

void be_free(be_device *dev, be_buf *buf) {
    if (!buf)
        return;
    if (buf->borrowed)
        dev->driver->sync(dev->state);
    else if (!be_is_foreign(dev))
        dev->driver->release(dev->state, buf->handle);
    dev->live_bytes -= (int64_t)buf->bytes;
    if (buf->prev)
        buf->prev->next = buf->next;
    else
        dev->buffers = buf->next;
    if (buf->next)
        buf->next->prev = buf->prev;
    mem_free(buf);
}

static fathom_status check_transfer(const be_device *dev, const char *call, const be_buf *buf, size_t offset,
                                    size_t bytes) {
    if (!buf || buf->dev != dev)
        return fail(FATHOM_USAGE, "%s: the buffer is missing or lies on another device", call);
    if (offset > buf->bytes || bytes > buf->bytes - offset)
        return fail(FATHOM_USAGE, "%s: bytes %zu to %zu of a buffer of %zu", call, offset, offset + bytes, buf->bytes);
    return FATHOM_OK;
}

fathom_status be_upload(be_device *dev, be_buf *buf, size_t offset, const void *source, size_t bytes) {
    TRY(check_transfer(dev, "upload", buf, offset, bytes));
    return bytes == 0 ? FATHOM_OK : dev->driver->upload(dev->state, buf->handle, offset, source, bytes);
}

fathom_status be_download(be_device *dev, void *target, const be_buf *buf, size_t offset, size_t bytes) {
    TRY(check_transfer(dev, "download", buf, offset, bytes));
    return bytes == 0 ? dev->driver->sync(dev->state)
                      : dev->driver->download(dev->state, target, buf->handle, offset, bytes);
}

fathom_status be_sync(be_device *dev) { return dev->driver->sync(dev->state); }

/* ---- sparse matrices ---- */

static fathom_status check_csr(int64_t rows, int64_t cols, const int64_t *ptr, const int32_t *idx, const int32_t *eid,
                               const char *what) {
    if (rows < 1 || cols < 1 || rows > INT32_MAX || cols > INT32_MAX || ptr[0] != 0)
        return fail(FATHOM_DATA, "%s: a sparse matrix of %lld x %lld cannot be used", what, (long long)rows,
                    (long long)cols);
    for (int64_t r = 0; r < rows; r++)
        if (ptr[r + 1] < ptr[r])
            return fail(FATHOM_DATA, "%s: the offset of row %lld is below the one before", what, (long long)r + 1);
    for (int64_t e = 0; e < ptr[rows]; e++)
        if (idx[e] < 0 || idx[e] >= cols)
            return fail(FATHOM_DATA, "%s: entry %lld names column %d of %lld", what, (long long)e, idx[e],
                        (long long)cols);
    if (eid && ptr[rows] > INT32_MAX)
        return fail(FATHOM_DATA, "%s: %lld entries are too many for entry ids", what, (long long)ptr[rows]);
    for (int64_t e = 0; eid && e < ptr[rows]; e++)
        if (eid[e] < 0 || eid[e] >= ptr[rows])
            return fail(FATHOM_DATA, "%s: entry %lld has the id %d of %lld", what, (long long)e, eid[e],
                        (long long)ptr[rows]);
    return FATHOM_OK;
}

static fathom_status new_filled(be_device *dev, be_buf **buf, const void *source, size_t bytes, bool keep,
                                const char *what) {
    if (keep && be_borrows(dev))
        return be_borrow(dev, buf, source, bytes);
    TRY(be_alloc(dev, buf, bytes, what));
    return be_upload(dev, *buf, 0, source, bytes);
}

/* order[first .. end-1] = the rows first .. end-1, sorted by length (all of LONG entries and more alike), else as they
 * were. */
#define LONG 127
static int64_t length_of(const int64_t *ptr, int64_t r) {
    return ptr[r + 1] - ptr[r] < LONG ? ptr[r + 1] - ptr[r] : LONG;
}
static void order_window(int32_t *order, const int64_t *ptr, int64_t first, int64_t end) {
    int64_t place[LONG + 2] = {0};
    for (int64_t r = first; r < end; r++)
        place[length_of(ptr, r) + 1]++;
    for (int length = 0; length <= LONG; length++)
        place[length + 1] += place[length];
    for (int64_t r = first; r < end; r++)
        order[first + place[length_of(ptr, r)]++] = (int32_t)r;
}

static fathom_status upload_order(be_device *dev, be_ints *out, const int64_t *ptr, int64_t rows, const char *what) {
    int32_t *order = NULL;
    TRY(mem_new(&order, rows, 1, sizeof *order, what));
    for (int64_t first = 0; first < rows; first += BE_ORDER)
        order_window(order, ptr, first, first + BE_ORDER < rows ? first + BE_ORDER : rows);
    fathom_status status = new_filled(dev, &out->buf, order, (size_t)rows * sizeof *order, false, what);
    out->len = rows;
    mem_free(order);
    return status;
}

static fathom_status make_csr(be_device *dev, be_csr *csr, int64_t rows, int64_t cols, const int64_t *ptr,
                              const int32_t *idx, const int32_t *eid, bool keep, const char *what) {
    *csr = (be_csr){0};
    TRY(check_csr(rows, cols, ptr, idx, eid, what));
    int64_t nnz = ptr[rows];
    be_csr made = {.rows = rows, .cols = cols, .nnz = nnz};
    fathom_status status;
    TRY_OUT(new_filled(dev, &made.ptr.buf, ptr, (size_t)(rows + 1) * sizeof *ptr, keep, what));
    TRY_OUT(new_filled(dev, &made.idx.buf, idx, (size_t)nnz * sizeof *idx, keep, what));
    if (eid)
        TRY_OUT(new_filled(dev, &made.eid.buf, eid, (size_t)nnz * sizeof *eid, keep, what));
    TRY_OUT(upload_order(dev, &made.order, ptr, rows, what));
    made.ptr.len = rows + 1;
    made.idx.len = nnz;
    made.eid.len = eid ? nnz : 0;
    *csr = made;
    return FATHOM_OK;
out:
    be_csr_free(dev, &made);
    return status;
}

fathom_status be_csr_upload(be_device *dev, be_csr *csr, int64_t rows, int64_t cols, const int64_t *ptr,
                            const int32_t *idx, const int32_t *eid, const char *what) {
    return make_csr(dev, csr, rows, cols, ptr, idx, eid, false, what);
}

fathom_status be_csr_keep(be_device *dev, be_csr *csr, int64_t rows, int64_t cols, const int64_t *ptr,
                          const int32_t *idx, const char *what) {
    return make_csr(dev, csr, rows, cols, ptr, idx, NULL, true, what);
}

void be_csr_free(be_device *dev, be_csr *csr) {
    be_free(dev, csr->ptr.buf);
    be_free(dev, csr->idx.buf);
    be_free(dev, csr->eid.buf);
    be_free(dev, csr->order.buf);
    *csr = (be_csr){0};
}
