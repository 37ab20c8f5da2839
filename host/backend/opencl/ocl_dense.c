/* ocl_dense.c - matrix products: own kernels (cl/dense.cl) for a short side, CLBlast for the rest.
 *
 * Of CLBlast only SgemmWithTempBuffer is used: the plain call allocates itself
 * and terminates the process when memory is short. */
#include "backend/opencl/ocl.h"
#include "core/clock.h"

#include <clblast_c.h>

#define BUSY_TILES 8192     /* tiles of 4 x 4 that keep a device busy; with fewer the inner dimension is split */
#define INNER_MAX_TILES 128 /* gemm_inner: largest result, and */
#define INNER_MAX_K 32768   /* longest inner dimension */
#define INNER_STEP 64       /* blocks of the inner dimension are multiples of it */

typedef struct gemm_shape {
    int64_t m, n, k;
    int64_t tiles;          /* of TILE_ROWS x vec in the result */
    int64_t ai, ak, bk, bj; /* strides: op(a)_ik = a[i ai + k ak] */
} gemm_shape;

static gemm_shape gemm_shape_of(const be_gemm_args *a) {
    return (gemm_shape){.m = a->c.rows,
                        .n = a->c.cols,
                        .k = a->ta ? a->a.rows : a->a.cols,
                        .tiles = CEIL_DIV(a->c.rows, TILE_ROWS) * ocl_vecs(a->c.cols),
                        .ai = a->ta ? 1 : a->a.ld,
                        .ak = a->ta ? a->a.ld : 1,
                        .bk = a->tb ? 1 : a->b.ld,
                        .bj = a->tb ? a->b.ld : 1};
}

/* Length of a block of the inner dimension: enough blocks to fill the device, few enough for the workspace. */
static int64_t inner_block(gemm_shape s) {
    int64_t quads = CEIL_DIV(s.m, TILE_ROWS) * CEIL_DIV(s.n, VEC), runs = CEIL_DIV(s.k, INNER_STEP);
    int64_t max = OCL_MAX_PARTIAL_FLOATS / (s.m * s.n), blocks = BUSY_TILES / quads;
    blocks = blocks > max ? max : blocks;
    blocks = blocks > runs ? runs : blocks > OCL_MAX_BLOCKS ? OCL_MAX_BLOCKS : blocks;
    return INNER_STEP * (blocks < 2 ? runs : CEIL_DIV(runs, blocks));
}

static fathom_status gemm_rows(ocl_device *dev, const be_gemm_args *a, gemm_shape s) {
    bool copy = a->tb || s.n % VEC != 0;
    int64_t workspace = copy ? WS_GEMM_ROWS(1, s.k, PADDED(s.n, VEC)) : 0;
    ocl_blocks blocks = ocl_split_workspaces(dev, s.m, workspace > 0 ? workspace : 1);
    TRY(ocl_require(dev, K_gemm_rows));
    TRY(ocl_scratch(dev, be_floats(blocks.count * workspace)));
    return OCL_RUN(dev, K_gemm_rows, blocks.count * (int64_t)dev->group_size[K_gemm_rows], MAT(a->c), VECTOR(a->a),
                   I64(s.ai), I64(s.ak), VECTOR(a->b), I64(s.bk), I64(s.bj), SCRATCH(dev, 0), U32(copy), U32(s.m),
                   U32(s.n), U32(s.k), U32(blocks.rows), F32(a->alpha), F32(a->beta));
}

static fathom_status gemm_inner(ocl_device *dev, const be_gemm_args *a, gemm_shape s) {
    TRY(ocl_require(dev, K_gemm_inner));
    int64_t size = (int64_t)dev->group_size[K_gemm_inner];
    TRY(ocl_scratch(dev, be_floats(WS_GEMM_INNER(s.tiles * size))));
    return OCL_RUN(dev, K_gemm_inner, s.tiles * size, MAT(a->c), VECTOR(a->a), I64(s.ai), I64(s.ak), VECTOR(a->b),
                   I64(s.bk), SCRATCH(dev, 0), U32(s.m), U32(s.n), U32(s.k), U32(CEIL_DIV(s.k, size)), F32(a->alpha),
                   F32(a->beta));
}

/* c = alpha op(a) op(b) + beta c. */
fathom_status ocl_gemm_own(ocl_device *dev, const be_gemm_args *a) {
    gemm_shape s = gemm_shape_of(a);
    int64_t k_block = inner_block(s), blocks = CEIL_DIV(s.k, k_block);
    if (blocks == 1 || a->tb)
        return gemm_rows(dev, a, s);
    if (s.tiles <= INNER_MAX_TILES && s.k <= INNER_MAX_K)
        return gemm_inner(dev, a, s);
    TRY(ocl_scratch(dev, be_floats(WS_GEMM_BLOCKS(blocks, s.m, s.n))));
    TRY(OCL_RUN_2D(dev, K_gemm_blocks, s.tiles, blocks, SCRATCH(dev, 0), VECTOR(a->a), I64(s.ai), I64(s.ak),
                   VECTOR(a->b), I64(s.bk), U32(s.m), U32(s.n), U32(s.k), U32(k_block)));
    return OCL_RUN(dev, K_gemm_combine, s.m * ocl_vecs(s.n), MAT(a->c), SCRATCH(dev, 0), U32(s.m), U32(s.n),
                   U32(blocks), F32(a->alpha), F32(a->beta));
}

/* c = alpha op(a) op(b) + beta c. *code is the status of CLBlast, as opposed to a failure to grow scratch. A product is
 * several launches, so profiling measures it by the host clock. */
fathom_status ocl_gemm_clblast(ocl_device *dev, const be_gemm_args *a, cl_int *code) {
    gemm_shape s = gemm_shape_of(a);
    CLBlastTranspose ta = a->ta ? CLBlastTransposeYes : CLBlastTransposeNo;
    CLBlastTranspose tb = a->tb ? CLBlastTransposeYes : CLBlastTransposeNo;
    size_t m = (size_t)s.m, n = (size_t)s.n, k = (size_t)s.k, need = 0;
    size_t ao = (size_t)a->a.off, bo = (size_t)a->b.off, co = (size_t)a->c.off;
    size_t ald = (size_t)a->a.ld, bld = (size_t)a->b.ld, cld = (size_t)a->c.ld;
    bool timed = dev->profile && !dev->host_clock;
    double start = 0.0;
    dev->blas_used = dev->pending = true;
    *code = (cl_int)CLBlastSGemmTempBufferSize(CLBlastLayoutRowMajor, ta, tb, m, n, k, ao, ald, bo, bld, co, cld,
                                               &dev->queue, &need);
    CL_TRY(dev, "CLBlastSGemmTempBufferSize", "gemm", *code);
    TRY(ocl_scratch(dev, need > 64 ? need : 64));
    if (timed) {
        TRY(ocl_sync(dev));
        start = clock_seconds();
    }
    *code = (cl_int)CLBlastSgemmWithTempBuffer(
        CLBlastLayoutRowMajor, ta, tb, m, n, k, a->alpha, (cl_mem)a->a.buf->handle, ao, ald, (cl_mem)a->b.buf->handle,
        bo, bld, a->beta, (cl_mem)a->c.buf->handle, co, cld, &dev->queue, NULL, dev->scratch);
    CL_TRY(dev, "CLBlastSgemmWithTempBuffer", "gemm", *code);
    dev->counters.launches++;
    dev->time[dev->op].launches += dev->profile;
    if (timed) {
        TRY(ocl_sync(dev));
        dev->time[dev->op].seconds += clock_seconds() - start;
    }
    return FATHOM_OK;
}

/* Shortest side up to which the own kernels compute a product. */
static int64_t own_gemm_max_side(const ocl_device *dev) {
    if (dev->tuning.own_gemm > 0)
        return dev->tuning.own_gemm;
    return dev->traits->own_gemm_max_side;
}

/* c = alpha op(a) op(b) + beta c. */
fathom_status ocl_gemm(ocl_device *dev, const be_gemm_args *a) {
    gemm_shape s = gemm_shape_of(a);
    int64_t own = own_gemm_max_side(dev);
    if (s.m <= own || s.n <= own || s.k <= own)
        return ocl_gemm_own(dev, a);
    if (dev->blas == OCL_BLAS_UNTRIED)
        TRY(ocl_check_clblast(dev));
    if (dev->blas == OCL_BLAS_UNUSABLE)
        return ocl_gemm_own(dev, a);
    cl_int code;
    return ocl_gemm_clblast(dev, a, &code);
}
