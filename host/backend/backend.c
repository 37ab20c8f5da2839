/* backend.c - the validating functions of the contract: buffers, uploads of sparse
 * matrices, and one wrapper per operation that validates and dispatches. */
#ifdef FATHOM_SABOTAGE
#include <stdlib.h>
#endif
#include <string.h>

#include "backend/validate_ops.h"
#include "core/mem.h"

/* ---- operations ---- */

#ifdef FATHOM_SABOTAGE
/* Only in the test that selftest can fail (tests/fault_sabotage.sh): the operation that $FATHOM_SABOTAGE names gets
 * the first element of its first output wrong by 1 % and 0.01. Every view begins with its buffer and offset. */
static fathom_status corrupt_output(be_device *dev, const char *op, const void *args, fathom_status status) {
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
#define corrupt_output(dev, op, args, status) (status)
#endif

#define X(op)                                                                         \
    fathom_status be_##op(be_device *dev, const be_##op##_args *args) {               \
        TRY(be_validate_##op(dev, args));                                             \
        dev->used |= UINT64_C(1) << BE_OP_##op;                                       \
        return corrupt_output(dev, #op, args, dev->driver->run.op(dev->state, args)); \
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

/* Wrapped host memory counts too: a plan reports the working set of a network, whoever owns it. */
static void add_buffer(be_device *dev, be_buf *b) {
    b->next = dev->buffers;
    if (dev->buffers)
        dev->buffers->prev = b;
    dev->buffers = b;
    dev->live_bytes += (int64_t)b->bytes;
    if (dev->live_bytes > dev->peak_bytes)
        dev->peak_bytes = dev->live_bytes;
}

bool be_has_host_memory(const be_device *dev) { return dev->driver->host_memory; }

fathom_status be_wrap_host(be_device *dev, be_buf **buf, const void *memory, size_t bytes) {
    be_buf *b = NULL;
    *buf = NULL;
    if (!be_has_host_memory(dev))
        return fail(FATHOM_USAGE, "%s has its own memory and cannot compute in the caller's", dev->info.name);
    TRY(mem_new(&b, 1, 1, sizeof *b, "buffer record"));
    *b = (be_buf){.dev = dev, .bytes = bytes, .handle = (void *)(uintptr_t)memory, .borrowed = true};
    add_buffer(dev, b);
    *buf = b;
    return FATHOM_OK;
}

fathom_status be_wrap_shared(be_device *dev, be_buf **buf, void *memory, bool written, const char *what) {
    be_buf *b = NULL;
    *buf = NULL;
    if (!dev->driver->wrap || be_is_foreign(dev))
        return fail(FATHOM_USAGE, "%s: %s was not opened from the context of an OpenCL program", what, dev->info.name);
    TRY(mem_new(&b, 1, 1, sizeof *b, "buffer record"));
    *b = (be_buf){.dev = dev, .borrowed = true};
    fathom_status status = dev->driver->wrap(dev->state, b, memory, written, what);
    if (status != FATHOM_OK) {
        mem_free(b);
        return status;
    }
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

size_t be_bytes(const be_buf *buf) { return buf->bytes; }

void be_free(be_device *dev, be_buf *buf) {
    if (!buf)
        return;
    if (buf->borrowed && be_has_host_memory(dev))
        dev->driver->sync(dev->state);
    else if (buf->borrowed && !be_is_foreign(dev))
        dev->driver->unwrap(dev->state, buf->handle);
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

static fathom_status validate_transfer(const be_device *dev, const char *call, const be_buf *buf, size_t offset,
                                       size_t bytes) {
    if (!buf || buf->dev != dev)
        return fail(FATHOM_USAGE, "%s: the buffer is missing or belongs to another device", call);
    if (offset > buf->bytes || bytes > buf->bytes - offset)
        return fail(FATHOM_USAGE, "%s: bytes %zu to %zu of a buffer of %zu", call, offset, offset + bytes, buf->bytes);
    return FATHOM_OK;
}

fathom_status be_upload(be_device *dev, be_buf *buf, size_t offset, const void *source, size_t bytes) {
    TRY(validate_transfer(dev, "upload", buf, offset, bytes));
    return bytes == 0 ? FATHOM_OK : dev->driver->upload(dev->state, buf->handle, offset, source, bytes);
}

fathom_status be_download(be_device *dev, void *target, const be_buf *buf, size_t offset, size_t bytes) {
    TRY(validate_transfer(dev, "download", buf, offset, bytes));
    return bytes == 0 ? dev->driver->sync(dev->state)
                      : dev->driver->download(dev->state, target, buf->handle, offset, bytes);
}

fathom_status be_sync(be_device *dev) { return dev->driver->sync(dev->state); }

/* ---- sparse matrices ---- */

static fathom_status validate_csr_arrays(int64_t rows, int64_t cols, const int64_t *indptr, const int32_t *indices,
                                         const int32_t *eids, const char *what) {
    if (rows < 1 || cols < 1 || rows > INT32_MAX || cols > INT32_MAX || indptr[0] != 0)
        return fail(FATHOM_DATA, "%s: a sparse matrix of %lld x %lld cannot be used", what, (long long)rows,
                    (long long)cols);
    for (int64_t r = 0; r < rows; r++)
        if (indptr[r + 1] < indptr[r])
            return fail(FATHOM_DATA, "%s: the offset of row %lld is below the one before", what, (long long)r + 1);
    for (int64_t e = 0; e < indptr[rows]; e++)
        if (indices[e] < 0 || indices[e] >= cols)
            return fail(FATHOM_DATA, "%s: entry %lld names column %d of %lld", what, (long long)e, indices[e],
                        (long long)cols);
    if (eids && indptr[rows] > INT32_MAX)
        return fail(FATHOM_DATA, "%s: %lld entries are too many for entry ids", what, (long long)indptr[rows]);
    for (int64_t e = 0; eids && e < indptr[rows]; e++)
        if (eids[e] < 0 || eids[e] >= indptr[rows])
            return fail(FATHOM_DATA, "%s: entry %lld has the id %d of %lld", what, (long long)e, eids[e],
                        (long long)indptr[rows]);
    return FATHOM_OK;
}

static fathom_status new_filled(be_device *dev, be_buf **buf, const void *source, size_t bytes, bool wrap,
                                const char *what) {
    if (wrap && be_has_host_memory(dev))
        return be_wrap_host(dev, buf, source, bytes);
    TRY(be_alloc(dev, buf, bytes, what));
    return be_upload(dev, *buf, 0, source, bytes);
}

/* A plan in memory of the device itself. */
static fathom_status make_device_plan(be_device *dev, be_csr *csr, const int64_t *indptr, const be_csr *transpose) {
    const be_driver *driver = dev->driver;
    void *memory = NULL;
    fathom_status status;
    size_t bytes = driver->csr_plan_bytes(csr, indptr);
    TRY(mem_new(&memory, (int64_t)bytes, 1, 1, "plan of a sparse matrix"));
    driver->csr_make_plan(memory, csr, indptr, transpose);
    TRY_OUT(be_alloc(dev, &csr->plan, bytes, "plan of a sparse matrix"));
    TRY_OUT(be_upload(dev, csr->plan, 0, memory, bytes));
out:
    mem_free(memory);
    return status;
}

static fathom_status make_plan(be_device *dev, be_csr *csr, const int64_t *indptr, const be_csr *transpose) {
    const be_driver *driver = dev->driver;
    if (!driver->csr_make_plan)
        return FATHOM_OK;
    if (!be_has_host_memory(dev))
        return make_device_plan(dev, csr, indptr, transpose);
    if (csr->plan) /* queued operations may read it */
        TRY(be_sync(dev));
    else
        TRY(be_alloc(dev, &csr->plan, driver->csr_plan_bytes(csr, indptr), "plan of a sparse matrix"));
    driver->csr_make_plan(csr->plan->handle, csr, indptr, transpose);
    return FATHOM_OK;
}

fathom_status be_csr_prepare(be_device *dev, be_csr *csr, const be_csr *transpose) {
    int64_t *copy = NULL;
    fathom_status status;
    if (transpose && (transpose->rows != csr->cols || transpose->cols != csr->rows || transpose->nnz != csr->nnz))
        return fail(FATHOM_USAGE, "csr_prepare: the matrix given is not the transpose");
    if (be_has_host_memory(dev))
        return make_plan(dev, csr, (const int64_t *)csr->indptr.buf->handle + csr->indptr.off, transpose);
    if (csr->plan || !dev->driver->csr_make_plan) /* a device's plan does not depend on a transpose */
        return FATHOM_OK;
    TRY_OUT(mem_new(&copy, csr->rows + 1, 1, sizeof *copy, "offsets of a sparse matrix"));
    TRY_OUT(be_download(dev, copy, csr->indptr.buf, (size_t)csr->indptr.off * sizeof *copy,
                        (size_t)(csr->rows + 1) * sizeof *copy));
    TRY_OUT(make_plan(dev, csr, copy, transpose));
out:
    mem_free(copy);
    return status;
}

static fathom_status make_csr(be_device *dev, be_csr *csr, int64_t rows, int64_t cols, const int64_t *indptr,
                              const int32_t *indices, const int32_t *eids, bool wrap, const char *what) {
    *csr = (be_csr){0};
    TRY(validate_csr_arrays(rows, cols, indptr, indices, eids, what));
    int64_t nnz = indptr[rows];
    be_csr made = {.rows = rows, .cols = cols, .nnz = nnz};
    fathom_status status;
    TRY_OUT(new_filled(dev, &made.indptr.buf, indptr, (size_t)(rows + 1) * sizeof *indptr, wrap, what));
    TRY_OUT(new_filled(dev, &made.indices.buf, indices, (size_t)nnz * sizeof *indices, wrap, what));
    if (eids)
        TRY_OUT(new_filled(dev, &made.eids.buf, eids, (size_t)nnz * sizeof *eids, wrap, what));
    made.indptr.len = rows + 1;
    made.indices.len = nnz;
    made.eids.len = eids ? nnz : 0;
    TRY_OUT(make_plan(dev, &made, indptr, NULL));
    *csr = made;
    return FATHOM_OK;
out:
    be_csr_free(dev, &made);
    return status;
}

fathom_status be_csr_upload(be_device *dev, be_csr *csr, int64_t rows, int64_t cols, const int64_t *indptr,
                            const int32_t *indices, const int32_t *eids, const char *what) {
    return make_csr(dev, csr, rows, cols, indptr, indices, eids, false, what);
}

fathom_status be_csr_wrap_host(be_device *dev, be_csr *csr, int64_t rows, int64_t cols, const int64_t *indptr,
                               const int32_t *indices, const char *what) {
    return make_csr(dev, csr, rows, cols, indptr, indices, NULL, true, what);
}

int64_t be_csr_bytes(int64_t rows, int64_t nnz, bool eids) {
    const int64_t offset = sizeof(int64_t), index = sizeof(int32_t);
    /* indptr and row order, or tiles and segments; indices and eids */
    return (rows + 1) * (offset + index) + nnz * (eids ? 2 * index : index);
}

void be_csr_free(be_device *dev, be_csr *csr) {
    be_free(dev, csr->indptr.buf);
    be_free(dev, csr->indices.buf);
    be_free(dev, csr->eids.buf);
    be_free(dev, csr->plan);
    *csr = (be_csr){0};
}
