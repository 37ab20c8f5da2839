/* ocl_dense.c - matrix products: own kernel (cl/dense.cl) where a side is short, CLBlast elsewhere.
 *
 * Of CLBlast only SgemmWithTempBuffer is used: the plain call allocates by itself
 * and ends the process when memory is short. */
#include "backend/opencl/ocl.h"

#include <clblast_c.h>

#define SHORT_SIDE 64   /* up to here the own kernel on a GPU, where nothing was tuned */
#define ENOUGH 8192     /* multiply-adds of 4 x 4 that keep a device busy: with fewer the inner dimension is cut */
#define ONE_LAUNCH 128  /* tiles, and */
#define ONE_INNER 32768 /* inner dimension up to which a small result takes one launch */
#define MOST_BLOCKS 256
#define MOST_FLOATS (INT64_C(1) << 22)

typedef struct shape {
    int64_t m, n, k;
    int64_t tiles;          /* of 4 x COLUMNS in the result */
    int64_t ai, ak, bk, bj; /* strides: op(a)_ik = a[i ai + k ak] */
} shape;

static shape shape_of(const ocl_device *dev, const be_gemm_args *a) {
    return (shape){.m = a->c.rows,
                   .n = a->c.cols,
                   .k = a->ta ? a->a.rows : a->a.cols,
                   .tiles = (a->c.rows + 3) / 4 * ocl_across(dev, a->c.cols),
                   .ai = a->ta ? 1 : a->a.ld,
                   .ak = a->ta ? a->a.ld : 1,
                   .bk = a->tb ? 1 : a->b.ld,
                   .bj = a->tb ? a->b.ld : 1};
}

/* Blocks of the inner dimension, each a multiple of 64: enough of them to fill the device, few enough for scratch. */
static int64_t cut_inner(shape s) {
    int64_t quads = ((s.m + 3) / 4) * ((s.n + 3) / 4), runs = (s.k + 63) / 64;
    int64_t most = MOST_FLOATS / (s.m * s.n), blocks = ENOUGH / quads;
    blocks = blocks > most ? most : blocks;
    blocks = blocks > runs ? runs : blocks > MOST_BLOCKS ? MOST_BLOCKS : blocks;
    return 64 * (blocks < 2 ? runs : (runs + blocks - 1) / blocks);
}

static fathom_status product_rows(ocl_device *dev, const be_gemm_args *a, shape s) {
    bool copy = a->tb || s.n % dev->columns != 0;
    int64_t room = copy ? s.k * ocl_across(dev, s.n) * dev->columns : 0;
    ocl_blocks blocks = ocl_cut_rows(dev, s.m, room > 0 ? room : 1);
    TRY(ocl_need(dev, K_gemm_rows));
    TRY(ocl_scratch(dev, be_floats(blocks.count * room)));
    return OCL_RUN(dev, K_gemm_rows, blocks.count * (int64_t)dev->group[K_gemm_rows], MAT(a->c), VEC(a->a), I64(s.ai),
                   I64(s.ak), VEC(a->b), I64(s.bk), I64(s.bj), SCRATCH(dev, 0), U32(copy), U32(s.m), U32(s.n), U32(s.k),
                   U32(blocks.rows), F32(a->alpha), F32(a->beta));
}

static fathom_status product_inner(ocl_device *dev, const be_gemm_args *a, shape s) {
    TRY(ocl_need(dev, K_gemm_inner));
    int64_t size = (int64_t)dev->group[K_gemm_inner];
    TRY(ocl_scratch(dev, be_floats(s.tiles * size * 4 * dev->columns)));
    return OCL_RUN(dev, K_gemm_inner, s.tiles * size, MAT(a->c), VEC(a->a), I64(s.ai), I64(s.ak), VEC(a->b), I64(s.bk),
                   SCRATCH(dev, 0), U32(s.m), U32(s.n), U32(s.k), U32((s.k + size - 1) / size), F32(a->alpha),
                   F32(a->beta));
}

fathom_status ocl_gemm_own(ocl_device *dev, const be_gemm_args *a) {
    shape s = shape_of(dev, a);
    int64_t each = cut_inner(s), blocks = (s.k + each - 1) / each;
    if (blocks == 1 || a->tb)
        return product_rows(dev, a, s);
    if (s.tiles <= ONE_LAUNCH && s.k <= ONE_INNER)
        return product_inner(dev, a, s);
    TRY(ocl_scratch(dev, be_floats(blocks * s.m * s.n)));
    TRY(OCL_RUN_2D(dev, K_gemm_blocks, s.tiles, blocks, SCRATCH(dev, 0), VEC(a->a), I64(s.ai), I64(s.ak), VEC(a->b),
                   I64(s.bk), U32(s.m), U32(s.n), U32(s.k), U32(each)));
    return OCL_RUN(dev, K_gemm_combine, s.m * ocl_across(dev, s.n), MAT(a->c), SCRATCH(dev, 0), U32(s.m), U32(s.n),
                   U32(blocks), F32(a->alpha), F32(a->beta));
}

/* *code tells CLBlast's own status apart from ours (scratch that could not grow). Its kernels are several
 * launches; the device's time is read from the host's clock when operations are timed. */
fathom_status ocl_gemm_clblast(ocl_device *dev, const be_gemm_args *a, cl_int *code) {
    shape s = shape_of(dev, a);
    CLBlastTranspose ta = a->ta ? CLBlastTransposeYes : CLBlastTransposeNo;
    CLBlastTranspose tb = a->tb ? CLBlastTransposeYes : CLBlastTransposeNo;
    size_t m = (size_t)s.m, n = (size_t)s.n, k = (size_t)s.k, need = 0;
    size_t ao = (size_t)a->a.off, bo = (size_t)a->b.off, co = (size_t)a->c.off;
    size_t ald = (size_t)a->a.ld, bld = (size_t)a->b.ld, cld = (size_t)a->c.ld;
    bool timed = dev->profile && !dev->host_clock;
    double start = 0.0;
    dev->blas_used = dev->unwaited = true;
    *code = (cl_int)CLBlastSGemmTempBufferSize(CLBlastLayoutRowMajor, ta, tb, m, n, k, ao, ald, bo, bld, co, cld,
                                               &dev->queue, &need);
    CL_TRY(dev, "CLBlastSGemmTempBufferSize", "gemm", *code);
    TRY(ocl_scratch(dev, need > 64 ? need : 64));
    if (timed) {
        TRY(ocl_sync(dev));
        start = ocl_now();
    }
    *code = (cl_int)CLBlastSgemmWithTempBuffer(
        CLBlastLayoutRowMajor, ta, tb, m, n, k, a->alpha, (cl_mem)a->a.buf->handle, ao, ald, (cl_mem)a->b.buf->handle,
        bo, bld, a->beta, (cl_mem)a->c.buf->handle, co, cld, &dev->queue, NULL, dev->scratch);
    CL_TRY(dev, "CLBlastSgemmWithTempBuffer", "gemm", *code);
    dev->counters.launches++;
    dev->time[dev->op].launches += dev->profile;
    if (timed) {
        TRY(ocl_sync(dev));
        dev->time[dev->op].seconds += ocl_now() - start;
    }
    return FATHOM_OK;
}

/* The shortest side up to which a product is the own kernel's. CLBlast's kernels are made for GPUs: on CPUs they take
 * four times as long and more. */
static int64_t own_side(const ocl_device *dev) {
    if (dev->tuning.own_gemm > 0)
        return dev->tuning.own_gemm;
    return dev->columns == 16 ? INT64_MAX : SHORT_SIDE;
}

fathom_status ocl_gemm(ocl_device *dev, const be_gemm_args *a) {
    shape s = shape_of(dev, a);
    int64_t own = own_side(dev);
    if (s.m <= own || s.n <= own || s.k <= own)
        return ocl_gemm_own(dev, a);
    if (dev->blas == OCL_BLAS_UNTRIED)
        TRY(ocl_check_clblast(dev));
    if (dev->blas == OCL_BLAS_UNUSABLE)
        return ocl_gemm_own(dev, a);
    cl_int code;
    return ocl_gemm_clblast(dev, a, &code);
}
