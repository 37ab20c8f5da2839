/* ocl_optim.c - launches of cl/optim.cl. */
#include <math.h>

#include "backend/opencl/ocl.h"

/* w -= lr m^ / (sqrt(v^) + eps) with m^ = m / (1 - beta1^step), v^ = v / (1 - beta2^step). */
fathom_status ocl_adam(ocl_device *dev, const be_adam_args *a) {
    float correct1 = (float)(1.0 - pow((double)a->beta1, (double)a->step));
    float correct2 = (float)(1.0 - pow((double)a->beta2, (double)a->step));
    return OCL_RUN(dev, K_adam, a->w.cols, BUF(a->w), BUF(a->m), BUF(a->v), BUF(a->g),
                   ARGS(adam_args, .w = ocl_mat(a->w), .m = ocl_mat(a->m), .v = ocl_mat(a->v), .g = ocl_mat(a->g),
                        .len = (u32)a->w.cols, .lr = a->lr, .beta1 = a->beta1, .beta2 = a->beta2, .eps = a->eps,
                        .decay = a->decay, .correct1 = correct1, .correct2 = correct2));
}

/* y = x min(1, limit / (||x|| + 1e-6)). */
fathom_status ocl_clip_norm(ocl_device *dev, const be_clip_norm_args *a) {
    int64_t len = a->x.cols, part = CEIL_DIV(len, CLIP_PARTS);
    TRY(ocl_scratch(dev, be_floats(CLIP_PARTS)));
    TRY(ocl_require(dev, K_clip_squares));
    TRY(OCL_RUN(dev, K_clip_squares, ocl_group_items(dev, K_clip_squares, CLIP_PARTS), SCRATCH_BUF(dev), BUF(a->x),
                ocl_local(be_floats(SLOTS)), ARGS(clip_args, .x = ocl_mat(a->x), .len = (u32)len, .part = (u32)part)));
    return OCL_RUN(dev, K_clip_scale, len, BUF(a->y), BUF(a->x), SCRATCH_BUF(dev), ocl_local(be_floats(CLIP_PARTS)),
                   ARGS(clip_args, .y = ocl_mat(a->y), .x = ocl_mat(a->x), .len = (u32)len, .limit = a->limit));
}
