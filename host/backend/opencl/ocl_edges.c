/* ocl_edges.c - launches of cl/edges.cl. */
#include "backend/opencl/ocl.h"

/* Lanes of a row: as many as a mean row has entries, up to a work-group. */
static u32 row_bits(be_csr a) { return ocl_bits(CEIL_DIV(a.nnz, a.rows), SLOT_BITS); }

static int64_t row_items(const ocl_device *dev, ocl_kernel kernel, be_csr a) {
    return ocl_group_items(dev, kernel, CEIL_DIV(a.rows, (int64_t)SLOTS >> row_bits(a)));
}

/* keep_e = 0 or 1, the same for both directions of an edge; degree_r = sum of keep over row r. */
fathom_status ocl_edge_drop(ocl_device *dev, const be_edge_drop_args *a) {
    TRY(ocl_require(dev, K_edge_drop));
    return OCL_RUN(dev, K_edge_drop, row_items(dev, K_edge_drop, a->a), BUF(a->keep), BUF(a->degree), BUF(a->a.indptr),
                   BUF(a->a.indices), ocl_local(be_floats(SLOTS)),
                   ARGS(edge_drop_args, .keep = ocl_mat(a->keep), .indptr = (u32)a->a.indptr.off,
                        .indices = (u32)a->a.indices.off, .degree = (u32)a->degree.off, .n = (u32)a->a.rows,
                        .lane_bits = row_bits(a->a), .threshold = a->drop.threshold, .key0 = a->drop.key[0],
                        .key1 = a->drop.key[1], .epoch = a->drop.epoch, .stream = a->drop.stream));
}

/* val_e *= root[degree_r] root[degree_c]. */
fathom_status ocl_edge_norm(ocl_device *dev, const be_edge_norm_args *a) {
    TRY(ocl_require(dev, K_edge_norm));
    return OCL_RUN(dev, K_edge_norm, row_items(dev, K_edge_norm, a->a), BUF(a->val), BUF(a->a.indptr),
                   BUF(a->a.indices), BUF(a->degree), BUF(a->root),
                   ARGS(edge_norm_args, .val = ocl_mat(a->val), .root = ocl_mat(a->root),
                        .indptr = (u32)a->a.indptr.off, .indices = (u32)a->a.indices.off, .degree = (u32)a->degree.off,
                        .n = (u32)a->a.rows, .lane_bits = row_bits(a->a)));
}
