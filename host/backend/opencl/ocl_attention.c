/* ocl_attention.c - launches of cl/attention.cl. */
#include "backend/opencl/ocl.h"

fathom_status ocl_gat_scores(ocl_device *dev, const be_gat_scores_args *a) {
    return OCL_RUN(dev, K_gat_scores, a->z.rows, VEC(a->s), VEC(a->t), MAT(a->z), VEC(a->a_src), VEC(a->a_dst),
                   U32(a->z.rows), U32(a->z.cols));
}

fathom_status ocl_gat_softmax(ocl_device *dev, const be_gat_softmax_args *a) {
    return OCL_RUN(dev, K_gat_softmax, a->a.rows, VEC(a->alpha), CSR(a->a), VEC(a->s), VEC(a->t), U32(a->a.rows),
                   F32(a->slope));
}

fathom_status ocl_gat_backward_edges(ocl_device *dev, const be_gat_backward_edges_args *a) {
    return OCL_RUN(dev, K_gat_backward_edges, a->a.rows, VEC(a->ge), VEC(a->gt), CSR(a->a), VEC(a->alpha), VEC(a->kept),
                   U32(a->kept.buf != NULL), VEC(a->s), VEC(a->t), MAT(a->gy), MAT(a->z), U32(a->a.rows),
                   U32(a->z.cols), F32(a->scale), F32(a->slope));
}

fathom_status ocl_gat_edge_sums(ocl_device *dev, const be_gat_edge_sums_args *a) {
    return OCL_RUN(dev, K_gat_edge_sums, a->at.rows, VEC(a->gs), VEC(a->at.ptr), VEC(a->at.eid),
                   U32(a->at.eid.buf != NULL), VEC(a->ge), U32(a->at.rows));
}

fathom_status ocl_gat_backward_scores(ocl_device *dev, const be_gat_backward_scores_args *a) {
    int64_t n = a->z.rows, d = a->z.cols;
    ocl_blocks blocks = ocl_cut(n, 2 * d);
    TRY(ocl_scratch(dev, be_floats(blocks.count * 2 * d)));
    TRY(OCL_RUN(dev, K_gat_backward_rows, n * ocl_across(dev, d), MAT(a->gz), VEC(a->a_src), VEC(a->a_dst), VEC(a->gs),
                VEC(a->gt), U32(n), U32(d)));
    TRY(OCL_RUN(dev, K_gat_backward_blocks, blocks.count * ocl_across(dev, d), SCRATCH(dev, 0), MAT(a->z), VEC(a->gs),
                VEC(a->gt), U32(n), U32(d), U32(blocks.count), U32(blocks.rows)));
    return ocl_combine(dev, a->ga_src, a->ga_dst, 0, 2 * d, blocks, true);
}
