/* ocl_loss.c - launches of cl/loss.cl. */
#include "backend/opencl/ocl.h"

fathom_status ocl_softmax_xent(ocl_device *dev, const be_softmax_xent_args *a) {
    float inverse = a->count > 0 ? (float)(1.0 / (double)a->count) : 0.0f;
    TRY(ocl_scratch(dev, be_floats(a->z.rows)));
    TRY(OCL_RUN(dev, K_softmax_xent, a->z.rows, SCRATCH(dev, 0), MAT(a->gz), U32(a->gz.buf != NULL), MAT(a->z),
                VEC(a->labels), VEC(a->sets), U32(a->z.rows), U32(a->z.cols), U32(a->set), F32(inverse)));
    TRY(ocl_need(dev, K_loss_sum));
    return OCL_RUN(dev, K_loss_sum, 1, VEC(a->loss), SCRATCH(dev, 0), U32(a->z.rows), F32(inverse),
                   LOCAL_FLOATS(dev, K_loss_sum));
}

fathom_status ocl_argmax(ocl_device *dev, const be_argmax_args *a) {
    return OCL_RUN(dev, K_argmax, a->z.rows, VEC(a->pred), MAT(a->z), U32(a->z.rows), U32(a->z.cols));
}

fathom_status ocl_accuracy(ocl_device *dev, const be_accuracy_args *a) {
    TRY(ocl_need(dev, K_accuracy));
    return OCL_RUN_2D(dev, K_accuracy, 1, a->correct.len, VEC(a->correct), VEC(a->pred), VEC(a->labels), VEC(a->sets),
                      U32(a->pred.len), LOCAL_FLOATS(dev, K_accuracy));
}
