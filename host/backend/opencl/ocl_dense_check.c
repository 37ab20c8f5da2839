/* ocl_dense_check.c - a product on a small case against the host, before a device
 * is trusted: the own kernel when it is opened, CLBlast when it is first needed. Some
 * drivers give wrong products without any error. */
#include <math.h>

#include "backend/opencl/ocl.h"

/* c = op(a) op(b), m x n, inner k; entries are small whole numbers, so the right product is exact. */
enum { M = 67, N = 65, K = 130, A = M * K, B = K * N, C = M * N };

static float entry(int64_t i, int64_t salt) { return (float)((i * 7 + salt + (i / 13) * 3) % 11 - 5); }

static int wrong(const float *host, bool ta, bool tb) {
    const float *a = host, *b = host + A, *c = host + A + B;
    int count = 0;
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            float sum = 0.0f;
            for (int k = 0; k < K; k++)
                sum += a[ta ? k * M + i : i * K + k] * b[tb ? j * K + k : k * N + j];
            count += !(fabsf(c[i * N + j] - sum) <= 0.5f);
        }
    return count;
}

/* The four cases of transposes; 0 wrong entries is what we want. *code: CLBlast's status. */
static fathom_status compare(ocl_device *dev, bool blas, int *bad, cl_int *code) {
    float *host = NULL;
    void *handle = NULL;
    fathom_status status;
    TRY_OUT(ocl_host->alloc((void **)&host, A + B + C, 1, sizeof *host, "product check"));
    for (int i = 0; i < A + B; i++)
        host[i] = entry(i, i < A ? 0 : 3);
    TRY_OUT(ocl_alloc(dev, &handle, be_floats(A + B + C), "product check"));
    *bad = 0;
    be_buf buf = {.bytes = be_floats(A + B + C), .handle = handle};
    for (int t = 0; t < 4 && *bad == 0; t++) {
        bool ta = t & 1, tb = t & 2;
        be_gemm_args args = {.c = be_view(&buf, A + B, M, N),
                             .a = be_view(&buf, 0, ta ? K : M, ta ? M : K),
                             .b = be_view(&buf, A, tb ? N : K, tb ? K : N),
                             .ta = ta,
                             .tb = tb,
                             .alpha = 1.0f};
        TRY_OUT(ocl_upload(dev, handle, 0, host, be_floats(A + B + C)));
        TRY_OUT(blas ? ocl_gemm_clblast(dev, &args, code) : ocl_gemm_own(dev, &args));
        TRY_OUT(ocl_download(dev, host + A + B, handle, be_floats(A + B), be_floats(C)));
        *bad = wrong(host, ta, tb);
    }
out:
    if (handle)
        ocl_release(dev, handle);
    ocl_host->free(host);
    return status;
}

static fathom_status distrust(const ocl_device *dev, const char *how, int bad) {
    return ocl_host->fail(
        FATHOM_DEVICE,
        "%s multiplies matrices wrongly with %s (%d of %d entries of the check); update its driver or "
        "use --device cpu",
        dev->name, how, bad, C);
}

fathom_status ocl_check_own_gemm(ocl_device *dev) {
    int bad;
    cl_int code;
    be_counters before = dev->counters;
    TRY(compare(dev, false, &bad, &code));
    int64_t builds = dev->counters.builds, allocations = dev->counters.allocations;
    dev->counters = before; /* the check is not the caller's work; what it left behind is counted */
    dev->counters.builds = builds;
    dev->counters.allocations = allocations;
    return bad ? distrust(dev, "fathom's kernel", bad) : FATHOM_OK;
}

/* A device on which CLBlast's kernels do not fit (work-group size, local memory, compiler) goes on with the own
 * kernel, which is right for every shape, only slower. */
static bool does_not_fit(cl_int code) {
    return code == CL_INVALID_WORK_GROUP_SIZE || code == CL_INVALID_WORK_ITEM_SIZE || code == -2046 ||
           code == CL_BUILD_PROGRAM_FAILURE || code == CL_OUT_OF_RESOURCES;
}

fathom_status ocl_check_clblast(ocl_device *dev) {
    int bad = 0;
    cl_int code = CL_SUCCESS;
    be_counters before = dev->counters;
    dev->blas = OCL_BLAS_UNUSABLE;
    fathom_status status = compare(dev, true, &bad, &code);
    if (status != FATHOM_OK && !does_not_fit(code)) {
        dev->blas = OCL_BLAS_UNTRIED;
        return status;
    }
    int64_t allocations = dev->counters.allocations;
    dev->counters = before;
    dev->counters.allocations = allocations;
    dev->counters.builds++;
    if (bad)
        return distrust(dev, "CLBlast", bad);
    if (status == FATHOM_OK)
        dev->blas = OCL_BLAS_GOOD;
    return FATHOM_OK;
}
