/* ocl.h - the inside of the OpenCL back end: one struct per open device, the
 * table of kernels, and the few calls every ocl_<topic>.c is written in. The
 * only folder that sees <CL/cl.h> and CLBlast.
 *
 *     return OCL_RUN(dev, K_fill, elements / 4, MAT(a->y), I32(a->y.cols), F32(a->value));
 *
 * A launch names a kernel, the number of work-items that have something to do
 * (rounded up to whole work-groups; kernels check) and the arguments in order.
 * Nothing here waits but ocl_download, ocl_sync and ocl_close. */
#ifndef BACKEND_OPENCL_OCL_H
#define BACKEND_OPENCL_OCL_H

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#include <CL/cl.h>

#include "args.h"
#include "backend/driver.h"
#include "backend/opencl/ocl_kernels.h"

typedef enum ocl_kernel {
#define K(file, name) K_##name,
    OCL_KERNELS(K)
#undef K
        K_COUNT
} ocl_kernel;

typedef enum ocl_file {
#define FILE_ENTRY(file) OCL_FILE_##file,
    OCL_FILES(FILE_ENTRY)
#undef FILE_ENTRY
        OCL_FILE_COUNT
} ocl_file;

typedef struct ocl_timer { /* an event waiting to be read, and whose time it is */
    cl_event event;
    be_op op;
} ocl_timer;

#define OCL_TIMERS 1024

typedef struct ocl_device {
    cl_device_id id;
    cl_context context;
    cl_command_queue queue;
    cl_program program[OCL_FILE_COUNT];
    cl_kernel kernel[K_COUNT];
    size_t group[K_COUNT]; /* work-group size chosen for each kernel */
    size_t max_group;
    be_tuning tuning;
    bool trust;                                              /* go on when a product is wrong */
    void (*compiling)(const char *device, be_compiled what); /* or NULL */
    double build_seconds;                                    /* of own kernels */
    int64_t units;                                           /* compute units, of a CPU */
    int64_t rooms; /* work-groups of a kernel that fill a room of their own first */
    int columns;   /* of a row that a work-item takes at once: COLUMNS of cl/common.h */
    char name[BE_TEXT];
    int64_t memory_bytes, max_alloc_bytes;
    size_t used_bytes; /* in buffers */
    bool unwaited;     /* work was enqueued whose end, good or bad, nobody was told yet */
    cl_int late;       /* what a wait found of it while a buffer was given back */
    char again[1 << 20]; /* the second copy of what is read back, a piece at a time */

    cl_mem scratch; /* grow-only; an operation owns it until it returns */
    size_t scratch_bytes;
    cl_mem nothing; /* stands in for an absent view; never read */

    bool blas_used; /* CLBlast holds programs of this context */
    enum { OCL_BLAS_UNTRIED, OCL_BLAS_GOOD, OCL_BLAS_UNUSABLE } blas;

    be_counters counters;
    bool profile, host_clock; /* host_clock: the device's timers are nonsense */
    be_op op;                 /* the operation under way */
    double op_start;
    be_op_time time[BE_OP_COUNT];
    ocl_timer timer[OCL_TIMERS];
    int timers;
} ocl_device;

extern const be_host *ocl_host;

/* ---- failures (ocl_errors.c) ---- */

const char *ocl_code_name(cl_int code);
/* "clEnqueueNDRangeKernel(group_apply): CL_OUT_OF_RESOURCES"; memory codes become FATHOM_MEMORY. */
fathom_status ocl_fail(ocl_device *dev, const char *call, const char *object, cl_int code);

#define CL_TRY(dev, call, object, expression)                  \
    do {                                                       \
        cl_int code_ = (expression);                           \
        if (code_ != CL_SUCCESS)                               \
            return ocl_fail((dev), (call), (object), (code_)); \
    } while (0)

#define CL_TRY_OUT(dev, call, object, expression)                \
    do {                                                         \
        cl_int code_ = (expression);                             \
        if (code_ != CL_SUCCESS) {                               \
            status = ocl_fail((dev), (call), (object), (code_)); \
            goto out;                                            \
        }                                                        \
    } while (0)

/* ---- devices (ocl_list.c) and their life (ocl_device.c) ---- */

fathom_status ocl_list(be_found *found);
void ocl_describe(char *text, size_t size);
void ocl_limits(const be_info *info, char *text, size_t size);
fathom_status ocl_pick(cl_platform_id *platform, cl_device_id *id, const be_info *info);

fathom_status ocl_open(void **state, const be_info *info, const be_options *options);
void ocl_close(void *state);
fathom_status ocl_alloc(void *state, void **handle, size_t bytes, const char *what);
void ocl_release(void *state, void *handle);
fathom_status ocl_upload(void *state, void *handle, size_t offset, const void *source, size_t bytes);
fathom_status ocl_download(void *state, void *target, void *handle, size_t offset, size_t bytes);
fathom_status ocl_sync(void *state);
void ocl_count(void *state, be_counters *counters);
/* Grows the scratch buffer to `bytes`; its content is undefined. */
fathom_status ocl_scratch(ocl_device *dev, size_t bytes);

/* ---- programs (ocl_program.c) ---- */

/* Builds the file of a kernel when it is first asked for. */
fathom_status ocl_need(ocl_device *dev, ocl_kernel kernel);
const char *ocl_kernel_name(ocl_kernel kernel);

/* ---- time (ocl_profile.c) ---- */

double ocl_now(void);
fathom_status ocl_begin(ocl_device *dev, be_op op);
fathom_status ocl_end(ocl_device *dev, fathom_status status);
fathom_status ocl_collect(ocl_device *dev); /* after a finish: reads the pending events */
void ocl_profile(void *state, be_op op, be_op_time *time);
fathom_status ocl_profile_open(ocl_device *dev); /* finds out whether the device's clock can be used */
void ocl_profile_drop(ocl_device *dev);

/* ---- launches (ocl_launch.c) ---- */

typedef struct ocl_arg {
    size_t size;
    enum { OCL_VALUE, OCL_MEM, OCL_LOCAL } kind;
    union {
        cl_mem mem;
        cl_long i64;
        cl_uint u32;
        cl_float f32;
        act_args act;
    } as;
} ocl_arg;

static inline ocl_arg ocl_i64(int64_t v) { return (ocl_arg){sizeof(cl_long), OCL_VALUE, {.i64 = v}}; }
static inline ocl_arg ocl_u32(int64_t v) { return (ocl_arg){sizeof(cl_uint), OCL_VALUE, {.u32 = (cl_uint)v}}; }
static inline ocl_arg ocl_f32(float v) { return (ocl_arg){sizeof(cl_float), OCL_VALUE, {.f32 = v}}; }
static inline ocl_arg ocl_mem(cl_mem v) { return (ocl_arg){sizeof(cl_mem), OCL_MEM, {.mem = v}}; }
static inline ocl_arg ocl_buf(const be_buf *b) { return ocl_mem(b ? (cl_mem)b->handle : NULL); }
static inline ocl_arg ocl_local(size_t bytes) { return (ocl_arg){bytes, OCL_LOCAL, {.mem = NULL}}; }
static inline ocl_arg ocl_act(act_args v) { return (ocl_arg){sizeof v, OCL_VALUE, {.act = v}}; }

#define U32(v) ocl_u32(v)
#define I64(v) ocl_i64(v)
#define F32(v) ocl_f32(v)
#define MAT(m) ocl_buf((m).buf), ocl_i64((m).off), ocl_i64((m).ld) /* buffer, offset, leading dimension */
#define VEC(m) ocl_buf((m).buf), ocl_i64((m).off)                  /* buffer, offset; index lists too */
#define SCRATCH(dev, at) ocl_mem((dev)->scratch), ocl_i64(at)      /* a place in the scratch, in floats */
#define CSR(a) VEC((a).ptr), VEC((a).idx), VEC((a).eid), ocl_u32((a).eid.buf != NULL)
#define ACT(a) ocl_act(ocl_act_of(a))
#define LOCAL_FLOATS(dev, kernel) ocl_local((dev)->group[kernel] * sizeof(cl_float)) /* after ocl_need */

act_args ocl_act_of(be_act act);

/* Launches `items` work-items of a kernel (at least one work-group). */
#define OCL_RUN(dev, k, items, ...)                                    \
    ocl_launch((dev), (k), (items), 1, (const ocl_arg[]){__VA_ARGS__}, \
               sizeof((const ocl_arg[]){__VA_ARGS__}) / sizeof(ocl_arg))
#define OCL_RUN_2D(dev, k, items, layers, ...)                                \
    ocl_launch((dev), (k), (items), (layers), (const ocl_arg[]){__VA_ARGS__}, \
               sizeof((const ocl_arg[]){__VA_ARGS__}) / sizeof(ocl_arg))
/* Work-items across a row of `cols` columns. */
static inline int64_t ocl_across(const ocl_device *dev, int64_t cols) {
    return (cols + dev->columns - 1) / dev->columns;
}
fathom_status ocl_launch(ocl_device *dev, ocl_kernel kernel, int64_t items, int64_t layers, const ocl_arg *args,
                         size_t count);

/* ---- sums over rows (ocl_blocks.c) ---- */

#define OCL_BLOCK 64 /* rows whose mean and centred sum are taken at once */

typedef struct ocl_blocks {
    int64_t count, rows; /* blocks, and rows of each (the last has the rest) */
} ocl_blocks;

/* Cuts n rows into blocks of whole OCL_BLOCKs: at most 256 blocks, and at most 4 Mi
 * partial floats at `width` floats per block. */
ocl_blocks ocl_cut(int64_t n, int64_t width);
/* The same for work-groups that fill a room of `width` floats of scratch before they begin: at most dev->rooms. */
ocl_blocks ocl_cut_rows(const ocl_device *dev, int64_t n, int64_t width);
/* out_i = (add ? out_i : 0) + sum over blocks of scratch[at + b * stride + i], i < len, in block order; `also`, if it
 * is there, the same of the `len` floats behind. */
fathom_status ocl_combine(ocl_device *dev, be_mat out, be_mat also, int64_t at, int64_t stride, ocl_blocks blocks,
                          bool add);

/* ---- operations ---- */

#define X(op) fathom_status ocl_##op(ocl_device *dev, const be_##op##_args *a);
BE_OPERATIONS(X)
#undef X

/* Why the drivers cannot be asked for their devices in this process, or "" (ocl_probe.c). */
const char *ocl_probe_failure(void);

/* Compares both kinds of product with the host on a small case (ocl_dense_check.c). */
fathom_status ocl_check_own_gemm(ocl_device *dev);
fathom_status ocl_check_clblast(ocl_device *dev);
fathom_status ocl_gemm_own(ocl_device *dev, const be_gemm_args *a);
fathom_status ocl_gemm_clblast(ocl_device *dev, const be_gemm_args *a, cl_int *code);

#endif
