/* ocl_dense.c - matrix products: own kernels (cl/dense.cl) for a short side, CLBlast for the rest.
 *
 * Of CLBlast only SgemmWithTempBuffer is used: the plain call allocates itself
 * and terminates the process when memory is short. */
#include "backend/opencl/ocl.h"
#include "core/clock.h"

#include <clblast_c.h>

#define FILL_GROUPS 256           /* work-groups that fill a device; with fewer the inner dimension is split */
#define SPLIT_MIN_K 512           /* a shorter inner dimension takes one launch, */
#define SPLIT_STEP 8              /* a longer one blocks of a multiple of it, */
#define SPLIT_MIN_BLOCK 24        /* at least so long */
#define INNER_MAX_TILES 64        /* gemm_inner: largest result in 4 x 4, */
#define INNER_MAX_K 8192          /* and longest inner dimension: 32 rows for each work-item, */
#define INNER_MAX_LOADS (1 << 17) /* rows that all its work-groups read; more take longer than two launches */
#define PANEL_MAX_BYTES 12288     /* local memory of the panels of gemm_tiles */

typedef struct gemm_shape {
    int64_t m, n, k;
    int64_t k_block;                    /* the inner dimension is cut into blocks of this length */
    int64_t down, across, parts, depth; /* of a work-group of gemm_tiles: args.h */
} gemm_shape;

static int64_t inner_of(const be_gemm_args *a) { return a->ta ? a->a.rows : a->a.cols; }

static int64_t power_of_two(int64_t at_least, int64_t most) {
    int64_t p = 1;
    while (p < at_least && p < most)
        p *= 2;
    return p;
}

static int64_t tiles_of(gemm_shape s) { return CEIL_DIV(s.m, VEC * s.down) * CEIL_DIV(s.n, VEC * s.across); }

/* Length of a block of the inner dimension: enough blocks to fill the device, few enough for the workspace. */
static int64_t inner_block(gemm_shape s) {
    int64_t blocks = CEIL_DIV(FILL_GROUPS, tiles_of(s)), max = OCL_MAX_PARTIAL_FLOATS / (s.m * PADDED(s.n, VEC));
    blocks = blocks > max ? max : blocks;
    if (s.k < SPLIT_MIN_K || blocks < 2)
        return s.k;
    int64_t length = PADDED(CEIL_DIV(s.k, blocks), SPLIT_STEP);
    return length < SPLIT_MIN_BLOCK ? SPLIT_MIN_BLOCK : length;
}

/* Tiles of 64 work-items for any work-group size, so that the order of sums does not depend on it: as wide as the
 * result, then as high, and while they do not fill the device lower, with the inner dimension in parts. Without parts
 * larger work-groups have higher tiles. */
static gemm_shape gemm_shape_of(const be_gemm_args *a, int64_t size) {
    gemm_shape s = {.m = a->c.rows, .n = a->c.cols, .k = inner_of(a), .depth = 32};
    s.across = PADDED(power_of_two(ocl_vecs(s.n), 8), 2);
    s.down = power_of_two(CEIL_DIV(s.m, VEC), 64 / s.across);
    while (s.down > 4 && tiles_of(s) < FILL_GROUPS / 2 && s.k >= 64 * 64 / (s.across * s.down))
        s.down /= 2;
    s.parts = power_of_two(64 / (s.across * s.down), GEMM_MAX_PARTS);
    s.k_block = inner_block(s);
    if (s.parts == 1)
        s.depth = 16;
    if (s.parts == 1 && size > 64)
        s.down = size / s.across;
    while ((GEMM_PANEL(s.depth, VEC * s.down) + GEMM_PANEL(s.depth, VEC * s.across)) * 4 > PANEL_MAX_BYTES)
        s.depth /= 2;
    return s;
}

static fathom_status gemm_inner(ocl_device *dev, const be_gemm_args *a, gemm_shape s) {
    TRY(ocl_require(dev, K_gemm_inner));
    int64_t size = (int64_t)dev->group_size[K_gemm_inner];
    return OCL_RUN(dev, K_gemm_inner, CEIL_DIV(s.m, VEC) * ocl_vecs(s.n) * size, BUF(a->c), BUF(a->a), BUF(a->b),
                   ocl_local((size_t)(4 * size) * sizeof(cl_float4)),
                   ARGS(gemm_inner_args, .c = ocl_mat(a->c), .a = ocl_mat(a->a), .b = ocl_mat(a->b), .m = (u32)s.m,
                        .n = (u32)s.n, .k = (u32)s.k, .alpha = a->alpha, .beta = a->beta));
}

/* c = alpha op(a) op(b) + beta c; with several blocks of the inner dimension their products are left at `place`. */
static fathom_status gemm_tiles(ocl_device *dev, const be_gemm_args *a, gemm_shape s, const ocl_place *place) {
    int64_t blocks = CEIL_DIV(s.k, s.k_block), n_pad = PADDED(s.n, VEC);
    bool split = blocks > 1;
    int64_t floats = GEMM_PANEL(s.depth, VEC * s.down) + GEMM_PANEL(s.depth, VEC * s.across);
    if (s.parts > 1)
        floats += 16 * s.down * s.across;
    return OCL_RUN(dev, K_gemm_tiles, tiles_of(s) * blocks * (int64_t)dev->group_size[K_gemm_tiles],
                   split ? ocl_mem(place->mem) : BUF(a->c), BUF(a->a), BUF(a->b),
                   ocl_local((size_t)floats * sizeof(cl_float)),
                   ARGS(gemm_tiles_args, .c = split ? (mat_args){(u32)place->off, (u32)n_pad, true} : ocl_mat(a->c),
                        .a = {ocl_mat(a->a), (u32)s.m, !a->ta}, .b = {ocl_mat(a->b), (u32)s.n, a->tb},
                        .cols = (u32)(split ? n_pad : s.n), .k = (u32)s.k, .k_block = (u32)s.k_block,
                        .across = (u32)s.across, .down = (u32)s.down, .parts = (u32)s.parts, .depth = (u32)s.depth,
                        .alpha = split ? 1.0f : a->alpha, .beta = split ? 0.0f : a->beta));
}

/* c = alpha op(a) op(b) + beta c. */
fathom_status ocl_gemm_own(ocl_device *dev, const be_gemm_args *a) {
    TRY(ocl_require(dev, K_gemm_tiles));
    gemm_shape s = gemm_shape_of(a, (int64_t)dev->group_size[K_gemm_tiles]);
    int64_t quads = CEIL_DIV(s.m, VEC) * ocl_vecs(s.n), blocks = CEIL_DIV(s.k, s.k_block);
    if (a->ta && !a->tb && quads <= INNER_MAX_TILES && s.k <= INNER_MAX_K && quads * s.k <= INNER_MAX_LOADS)
        return gemm_inner(dev, a, s);
    if (blocks == 1)
        return gemm_tiles(dev, a, s, NULL);
    ocl_place place;
    bool gradient = a->alpha == 1.0f && a->beta == 1.0f;
    int64_t width = WS_ROWS(1, s.m, PADDED(s.n, VEC));
    TRY(ocl_place_blocks(dev, blocks * width, gradient, &place));
    TRY(gemm_tiles(dev, a, s, &place));
    return OCL_COMBINE(dev, place, width, blocks, a->alpha, a->beta, {a->c, 0});
}

/* c = alpha op(a) op(b) + beta c. *code is the status of CLBlast, as opposed to a failure to grow scratch. A product is
 * several launches, so profiling measures it by the host clock. */
fathom_status ocl_gemm_clblast(ocl_device *dev, const be_gemm_args *a, cl_int *code) {
    CLBlastTranspose ta = a->ta ? CLBlastTransposeYes : CLBlastTransposeNo;
    CLBlastTranspose tb = a->tb ? CLBlastTransposeYes : CLBlastTransposeNo;
    size_t m = (size_t)a->c.rows, n = (size_t)a->c.cols, k = (size_t)inner_of(a), need = 0;
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
    int64_t own = own_gemm_max_side(dev);
    TRY(OCL_SETTLE(dev, a->c, a->a, a->b));
    if (a->c.rows <= own || a->c.cols <= own || inner_of(a) <= own)
        return ocl_gemm_own(dev, a);
    if (dev->blas == OCL_BLAS_UNTRIED)
        TRY(ocl_check_clblast(dev));
    if (dev->blas == OCL_BLAS_UNUSABLE)
        return ocl_gemm_own(dev, a);
    cl_int code;
    return ocl_gemm_clblast(dev, a, &code);
}
