/* ocl_optim.c - launch of cl/optim.cl. */
#include <math.h>

#include "backend/opencl/ocl.h"

/* w -= lr m^ / (sqrt(v^) + eps) with m^ = m / (1 - beta1^step), v^ = v / (1 - beta2^step). */
fathom_status ocl_adam(ocl_device *dev, const be_adam_args *a) {
    float correct1 = (float)(1.0 - pow((double)a->beta1, (double)a->step));
    float correct2 = (float)(1.0 - pow((double)a->beta2, (double)a->step));
    return OCL_RUN(dev, K_adam, a->w.cols, VECTOR(a->w), VECTOR(a->m), VECTOR(a->v), VECTOR(a->g), I64(a->w.cols),
                   F32(a->lr), F32(a->beta1), F32(a->beta2), F32(a->eps), F32(a->decay), F32(correct1), F32(correct2));
}
