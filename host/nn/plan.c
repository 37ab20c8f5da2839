/* plan.c - see plan.h. */
#include "nn/plan.h"

#include "core/mem.h"

#define CHUNK_BYTES (INT64_C(256) * 1024 * 1024) /* target size of a buffer; a larger piece gets its own */

/* The piece that the next one shares memory with, or itself. */
static int64_t next_owner(nn_plan *plan) {
    while (plan->next < plan->end && plan->pieces[plan->next].alone)
        plan->next++;
    return !plan->alone && plan->next < plan->end ? plan->next++ : plan->count;
}

static void add(nn_plan *plan, nn_piece piece) {
    if (plan->status == FATHOM_OK)
        plan->status =
            mem_reserve(&plan->pieces, &plan->capacity, plan->count + 1, sizeof *plan->pieces, "memory plan");
    if (plan->status != FATHOM_OK)
        return;
    int64_t floats = mem_pad_words(piece.rows * piece.cols);
    piece.alone = plan->alone;
    piece.owner = piece.mat ? next_owner(plan) : plan->count;
    plan->pieces[plan->count++] = piece;
    nn_piece *owner = &plan->pieces[piece.owner];
    owner->floats = floats > owner->floats ? floats : owner->floats;
}

void nn_plan_share(nn_plan *plan, int64_t begin, int64_t end) {
    plan->next = begin;
    plan->end = end;
}

void nn_plan_mat(nn_plan *plan, nn_memory part, be_mat *mat, int64_t rows, int64_t cols) {
    add(plan, (nn_piece){.mat = mat, .rows = rows, .cols = cols, .part = part});
}

void nn_plan_ints(nn_plan *plan, nn_memory part, be_ints *ints, int64_t len) {
    add(plan, (nn_piece){.ints = ints, .rows = 1, .cols = len, .part = part});
}

fathom_status nn_plan_sum(nn_bytes *bytes, const nn_plan *plan) {
    if (plan->status != FATHOM_OK)
        return plan->status;
    for (int64_t i = 0; i < plan->count; i++) {
        int64_t size = plan->pieces[i].floats * (int64_t)sizeof(float);
        bytes->part[plan->pieces[i].part] += size;
        bytes->total += size;
        if (size > bytes->largest)
            bytes->largest = size;
    }
    return FATHOM_OK;
}

/* Pieces first .. end - 1 share one buffer of `floats`. */
static fathom_status alloc_chunk(nn_plan *plan, be_device *dev, int64_t first, int64_t end, int64_t floats) {
    be_buf *buf = NULL;
    TRY(be_alloc(dev, &buf, be_floats(floats), "the network's memory"));
    plan->buffers[plan->buffer_count++] = buf;
    int64_t off = 0;
    for (int64_t i = first; i < end; i++) {
        nn_piece *piece = &plan->pieces[i];
        const be_mat *owner = plan->pieces[piece->owner].mat;
        if (piece->owner != i)
            *piece->mat = be_view(owner->buf, owner->off, piece->rows, piece->cols);
        else if (piece->mat)
            *piece->mat = be_view(buf, off, piece->rows, piece->cols);
        else
            *piece->ints = be_int_view(buf, off, piece->cols);
        off += piece->floats;
    }
    return FATHOM_OK;
}

fathom_status nn_plan_alloc(nn_plan *plan, be_device *dev) {
    int64_t limit = be_device_info(dev)->max_alloc_bytes;
    limit = (limit > 0 && limit < CHUNK_BYTES ? limit : CHUNK_BYTES) / (int64_t)sizeof(float);
    TRY(mem_new(&plan->buffers, plan->count, 1, sizeof(be_buf *), "list of buffers"));
    int64_t first = 0, floats = 0;
    for (int64_t i = 0; i < plan->count; i++) {
        int64_t size = plan->pieces[i].floats;
        if (i > first && size > 0 && floats + size > limit) {
            TRY(alloc_chunk(plan, dev, first, i, floats));
            first = i;
            floats = 0;
        }
        floats += size;
    }
    return alloc_chunk(plan, dev, first, plan->count, floats);
}

void nn_plan_free(nn_plan *plan, be_device *dev) {
    for (int64_t i = 0; i < plan->buffer_count; i++)
        be_free(dev, plan->buffers[i]);
    mem_free(plan->buffers);
    mem_free(plan->pieces);
    *plan = (nn_plan){0};
}
