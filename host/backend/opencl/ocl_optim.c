/* ocl_optim.c - launch of cl/optim.cl. */
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
