/* ocl_loss.c - launches of cl/loss.cl. */
#include "backend/opencl/ocl.h"

/* loss = -1/|set| sum_v log softmax(z_v)[label_v]; gz = (softmax(z) - onehot) / |set|. */
fathom_status ocl_softmax_xent(ocl_device *dev, const be_softmax_xent_args *a) {
    float inverse = a->count > 0 ? (float)(1.0 / (double)a->count) : 0.0f;
    TRY(ocl_scratch(dev, be_floats(a->z.rows)));
    TRY(OCL_RUN(dev, K_softmax_xent, a->z.rows, SCRATCH(dev, 0), MAT(a->gz), U32(a->gz.buf != NULL), MAT(a->z),
                VECTOR(a->labels), VECTOR(a->sets), U32(a->z.rows), U32(a->z.cols), U32(a->set), F32(inverse)));
    TRY(ocl_require(dev, K_loss_sum));
    return OCL_RUN(dev, K_loss_sum, 1, VECTOR(a->loss), SCRATCH(dev, 0), U32(a->z.rows), F32(inverse),
                   LOCAL_FLOATS(dev, K_loss_sum));
}

/* pred_v = argmax_c z_vc. */
fathom_status ocl_argmax(ocl_device *dev, const be_argmax_args *a) {
    return OCL_RUN(dev, K_argmax, a->z.rows, VECTOR(a->pred), MAT(a->z), U32(a->z.rows), U32(a->z.cols));
}

/* correct_k = |{v in set k: pred_v = label_v}|. */
fathom_status ocl_accuracy(ocl_device *dev, const be_accuracy_args *a) {
    TRY(ocl_require(dev, K_accuracy));
    return OCL_RUN_2D(dev, K_accuracy, 1, a->correct.len, VECTOR(a->correct), VECTOR(a->pred), VECTOR(a->labels),
                      VECTOR(a->sets), U32(a->pred.len), LOCAL_FLOATS(dev, K_accuracy));
}
