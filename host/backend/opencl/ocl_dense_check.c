/* ocl_dense_check.c - checks a small product against the host before a device is used: the
 * own kernels when it is opened, CLBlast before its first product. Some drivers compute
 * wrong products and report no error. */
#include <math.h>

#include "backend/opencl/ocl.h"

#define CLBLAST_INVALID_LOCAL_MEM (-2046) /* CLBlastInvalidLocalMemUsage */

/* c = op(a) op(b), m x n, inner dimension k, of small integers, so that the product is exact. own_case has partial
 * tiles and is long enough for every own kernel; blas_case is larger than the tiles of CLBlast. */
typedef struct check_shape {
    int m, n, k;
} check_shape;
static const check_shape own_case = {9, 6, 520}, blas_case = {67, 65, 70};

static float entry(int64_t i, int64_t salt) { return (float)((i * 7 + salt + (i / 13) * 3) % 11 - 5); }

static int count_wrong(const float *a, const float *b, const float *c, check_shape s, bool ta, bool tb) {
    int count = 0;
    for (int i = 0; i < s.m; i++)
        for (int j = 0; j < s.n; j++) {
            float sum = 0.0f;
            for (int k = 0; k < s.k; k++)
                sum += a[ta ? k * s.m + i : i * s.k + k] * b[tb ? j * s.k + k : k * s.n + j];
            count += !(fabsf(c[i * s.n + j] - sum) <= 0.5f);
        }
    return count;
}

/* *bad = wrong entries over all four combinations of transposes; *code = status of CLBlast. */
static fathom_status check_products(ocl_device *dev, bool blas, check_shape s, int *bad, cl_int *code) {
    int64_t a = s.m * s.k, b = s.k * s.n, c = s.m * s.n, all = a + b + c;
    float *host = NULL;
    void *handle = NULL;
    fathom_status status;
    TRY_OUT(ocl_host->alloc((void **)&host, (size_t)all, 1, sizeof *host, "product check"));
    for (int64_t i = 0; i < a + b; i++)
        host[i] = entry(i, i < a ? 0 : 3);
    TRY_OUT(ocl_alloc(dev, &handle, be_floats(all), "product check"));
    *bad = 0;
    be_buf buf = {.bytes = be_floats(all), .handle = handle};
    for (int t = 0; t < 4 && *bad == 0; t++) {
        bool ta = t & 1, tb = t & 2;
        be_gemm_args args = {.c = be_view(&buf, a + b, s.m, s.n),
                             .a = be_view(&buf, 0, ta ? s.k : s.m, ta ? s.m : s.k),
                             .b = be_view(&buf, a, tb ? s.n : s.k, tb ? s.k : s.n),
                             .ta = ta,
                             .tb = tb,
                             .alpha = 1.0f};
        TRY_OUT(ocl_upload(dev, handle, 0, host, be_floats(all)));
        TRY_OUT(blas ? ocl_gemm_clblast(dev, &args, code) : ocl_gemm_own(dev, &args));
        TRY_OUT(ocl_download(dev, host + a + b, handle, be_floats(a + b), be_floats(c)));
        *bad = count_wrong(host, host + a, host + a + b, s, ta, tb);
    }
out:
    if (handle)
        ocl_release(dev, handle);
    ocl_host->free(host);
    return status;
}

static fathom_status fail_wrong_product(const ocl_device *dev, const char *kernels, check_shape s, int bad) {
    return ocl_host->fail(
        FATHOM_DEVICE,
        "%s computes wrong matrix products with %s (%d of %d entries of the check); update its driver or "
        "use --device cpu",
        dev->name, kernels, bad, s.m * s.n);
}

fathom_status ocl_check_own_gemm(ocl_device *dev) {
    int bad;
    cl_int code;
    be_counters before = dev->counters;
    TRY(check_products(dev, false, own_case, &bad, &code));
    int64_t builds = dev->counters.builds, allocations = dev->counters.allocations;
    dev->counters = before; /* not work of the caller, except programs and scratch that remain */
    dev->counters.builds = builds;
    dev->counters.allocations = allocations;
    return bad && !dev->trust ? fail_wrong_product(dev, "fathom's own kernels (dense.cl)", own_case, bad) : FATHOM_OK;
}

/* CLBlast's kernels exceed the device (work-group size, local memory, compiler): the own kernels, correct for every
 * shape, are used instead. */
static bool is_unsupported(cl_int code) {
    return code == CL_INVALID_WORK_GROUP_SIZE || code == CL_INVALID_WORK_ITEM_SIZE ||
           code == CLBLAST_INVALID_LOCAL_MEM || code == CL_BUILD_PROGRAM_FAILURE || code == CL_OUT_OF_RESOURCES;
}

fathom_status ocl_check_clblast(ocl_device *dev) {
    int bad = 0;
    cl_int code = CL_SUCCESS;
    be_counters before = dev->counters;
    if (!dev->blas_used && dev->compiling)
        dev->compiling(dev->name, BE_COMPILES_CLBLAST);
    dev->blas = OCL_BLAS_UNUSABLE;
    fathom_status status = check_products(dev, true, blas_case, &bad, &code);
    if (status != FATHOM_OK && !is_unsupported(code)) {
        dev->blas = OCL_BLAS_UNTRIED;
        return status;
    }
    int64_t allocations = dev->counters.allocations;
    dev->counters = before;
    dev->counters.allocations = allocations;
    dev->counters.builds++;
    if (bad && !dev->trust)
        return fail_wrong_product(dev, "CLBlast", blas_case, bad);
    if (status == FATHOM_OK && !bad) /* with `trust` the own kernels replace wrong ones */
        dev->blas = OCL_BLAS_GOOD;
    return FATHOM_OK;
}
