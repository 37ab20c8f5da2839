/* ocl_attention.c - launches of cl/attention.cl. */
#include "backend/opencl/ocl.h"

/* s = z a_src, t = z a_dst. */
fathom_status ocl_gat_scores(ocl_device *dev, const be_gat_scores_args *a) {
    return OCL_RUN(dev, K_gat_scores, a->z.rows, VECTOR(a->s), VECTOR(a->t), MAT(a->z), VECTOR(a->a_src),
                   VECTOR(a->a_dst), U32(a->z.rows), U32(a->z.cols));
}

/* alpha = softmax over row v of leakyrelu(s_u + t_v). */
fathom_status ocl_gat_softmax(ocl_device *dev, const be_gat_softmax_args *a) {
    return OCL_RUN(dev, K_gat_softmax, a->a.rows, VECTOR(a->alpha), CSR(a->a), VECTOR(a->s), VECTOR(a->t),
                   U32(a->a.rows), F32(a->slope));
}

/* ge = alpha (q - sum_w alpha_w q_w) leakyrelu'(s_u + t_v), q = mask <gy_v, z_u>; gt_v = sum ge. */
fathom_status ocl_gat_backward_edges(ocl_device *dev, const be_gat_backward_edges_args *a) {
    return OCL_RUN(dev, K_gat_backward_edges, a->a.rows, VECTOR(a->ge), VECTOR(a->gt), CSR(a->a), VECTOR(a->alpha),
                   VECTOR(a->alpha_dropped), U32(a->alpha_dropped.buf != NULL), VECTOR(a->s), VECTOR(a->t), MAT(a->gy),
                   MAT(a->z), U32(a->a.rows), U32(a->z.cols), F32(a->scale), F32(a->slope));
}

/* gs_u = sum of ge over row u of the transpose. */
fathom_status ocl_gat_edge_sums(ocl_device *dev, const be_gat_edge_sums_args *a) {
    return OCL_RUN(dev, K_gat_edge_sums, a->at.rows, VECTOR(a->gs), VECTOR(a->at.indptr), VECTOR(a->at.eids),
                   U32(a->at.eids.buf != NULL), VECTOR(a->ge), U32(a->at.rows));
}

/* gz += gs a_src' + gt a_dst'; ga_src += z' gs, ga_dst += z' gt. */
fathom_status ocl_gat_backward_scores(ocl_device *dev, const be_gat_backward_scores_args *a) {
    int64_t n = a->z.rows, d = a->z.cols;
    ocl_blocks blocks = ocl_split(n, WS_TWO_ROWS(1, d));
    TRY(ocl_scratch(dev, be_floats(WS_TWO_ROWS(blocks.count, d))));
    TRY(OCL_RUN(dev, K_gat_backward_rows, n * ocl_vecs(d), MAT(a->gz), VECTOR(a->a_src), VECTOR(a->a_dst),
                VECTOR(a->gs), VECTOR(a->gt), U32(n), U32(d)));
    TRY(OCL_RUN(dev, K_gat_backward_blocks, blocks.count * ocl_vecs(d), SCRATCH(dev, 0), MAT(a->z), VECTOR(a->gs),
                VECTOR(a->gt), U32(n), U32(d), U32(blocks.count), U32(blocks.rows)));
    return ocl_combine_blocks(dev, a->ga_src, a->ga_dst, 0, WS_TWO_ROWS(1, d), blocks, true);
}
