/* ocl_sparse.c - launches of cl/sparse.cl. */
#include "backend/opencl/ocl.h"

_Static_assert(BE_FUSED_MAX_COLS *(AGGREGATE_COLS + TILE_SEGMENTS) + 2 * TILE_ENTRIES <= 4096,
               "local memory of aggregate is 16 KiB");

#define ENTRIES(a, val) BUF((a).indptr), BUF((a).indices), BUF((a).eids), BUF(val)
#define STAGED ocl_local(be_floats(TILE_ENTRIES)), ocl_local(be_floats(TILE_ENTRIES))

/* The rows of a matrix; with a table the tiles of parts or those of rows. */
static csr_args args_of(const be_csr *a, be_mat val, bool parts) {
    return (csr_args){.indptr = (u32)a->indptr.off,
                      .indices = (u32)a->indices.off,
                      .eids = (u32)a->eids.off,
                      .val = (u32)val.off,
                      .has_eids = a->eids.buf != NULL,
                      .has_val = val.buf != NULL,
                      .has_table = a->plan != NULL,
                      .table = parts ? 0 : 4 * a->plan_part_tiles,
                      .count = !a->plan ? (u32)a->rows
                               : parts  ? a->plan_part_tiles
                                        : a->plan_tiles};
}

static int64_t heads_of(const be_csr *a, be_mat val) { return val.buf && a->nnz > 0 ? be_heads(val, a) : 1; }

/* y = alpha A x + beta z; or, into scratch, the parts of the long rows of A. */
static fathom_status launch_spmm(ocl_device *dev, const be_spmm_args *a, bool parts) {
    csr_args csr = args_of(&a->a, a->val, parts);
    int64_t heads = heads_of(&a->a, a->val);
    u32 d = (u32)(a->x.cols / heads), ld = PADDED(d, VEC);
    mat_args y = parts ? (mat_args){0, ld * (u32)heads, 1} : ocl_head_mat(a->y, heads);
    TRY(ocl_require(dev, K_spmm));
    return OCL_RUN_2D(
        dev, K_spmm, (int64_t)csr.count * CEIL_DIV(d, SPMM_COLS) * (int64_t)dev->group_size[K_spmm], heads,
        parts ? SCRATCH_BUF(dev) : BUF(a->y), BUF(a->x), BUF(a->z), ocl_buf(a->a.plan), ENTRIES(a->a, a->val),
        SCRATCH_BUF(dev), STAGED, ocl_local(be_floats(TILE_SEGMENTS * PADDED(d < SPMM_COLS ? d : SPMM_COLS, VEC))),
        ARGS(spmm_args, .a = csr, .y = y, .x = ocl_head_mat(a->x, heads), .z = ocl_head_mat(a->z, heads),
             .has_z = a->z.buf != NULL, .d = d, .y_head = parts ? ld : d, .alpha = a->alpha, .beta = a->beta));
}

static fathom_status sum_parts(ocl_device *dev, const be_csr *a, be_mat val, be_mat x) {
    if (a->plan_parts == 0)
        return FATHOM_OK;
    int64_t heads = heads_of(a, val);
    TRY(ocl_scratch(dev, be_floats((int64_t)a->plan_parts * heads * PADDED(x.cols / heads, VEC))));
    return launch_spmm(dev, &(be_spmm_args){.a = *a, .val = val, .x = x, .alpha = 1.0f}, true);
}

/* y = alpha A x + beta z. */
fathom_status ocl_spmm(ocl_device *dev, const be_spmm_args *a) {
    TRY(OCL_SETTLE(dev, a->y, a->val, a->x, a->z));
    TRY(sum_parts(dev, &a->a, a->val, a->x));
    return launch_spmm(dev, a, false);
}

/* p = A x, y = p op(w). */
fathom_status ocl_aggregate(ocl_device *dev, const be_aggregate_args *a) {
    csr_args csr = args_of(&a->a, a->val, false);
    int64_t d = a->x.cols;
    TRY(OCL_SETTLE(dev, a->y, a->p, a->val, a->x, a->w));
    TRY(sum_parts(dev, &a->a, a->val, a->x));
    TRY(ocl_require(dev, K_aggregate));
    return OCL_RUN(dev, K_aggregate, (int64_t)csr.count * (int64_t)dev->group_size[K_aggregate], BUF(a->y), BUF(a->p),
                   BUF(a->x), BUF(a->w), ocl_buf(a->a.plan), ENTRIES(a->a, a->val), SCRATCH_BUF(dev), STAGED,
                   ocl_local(be_floats(TILE_SEGMENTS * PADDED(d, VEC))), ocl_local(be_floats(d * AGGREGATE_COLS)),
                   ARGS(aggregate_args, .a = csr, .y = ocl_mat(a->y), .p = ocl_mat(a->p), .x = ocl_mat(a->x),
                        .w = ocl_mat(a->w), .has_p = a->p.buf != NULL, .tw = a->tw, .d = (u32)d, .m = (u32)a->y.cols));
}
