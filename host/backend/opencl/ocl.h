/* ocl.h - internals of the OpenCL back end: one struct per open device, the
 * list of kernels, and the calls that every ocl_<topic>.c uses. Only this
 * directory includes <CL/cl.h> and CLBlast.
 *
 *     return OCL_RUN(dev, K_fill, ocl_items(y), BUF(y),
 *                    ARGS(fill_args, .y = ocl_mat(y), .rows = (u32)y.rows, .cols = (u32)y.cols, .value = a->value));
 *
 * A launch gives a kernel, the number of work-items it needs (rounded up to
 * whole work-groups; kernels check the range), the buffers in order, and the
 * kernel's struct of cl/args.h.
 * Only ocl_download, ocl_release, ocl_sync and ocl_close wait. */
#ifndef BACKEND_OPENCL_OCL_H
#define BACKEND_OPENCL_OCL_H

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

typedef struct ocl_timer { /* a profiling event to be read, and its operation */
    cl_event event;
    be_op op;
} ocl_timer;

#define OCL_TIMERS 1024
#define OCL_SUM_TABLE 1024

/* Sums of blocks that one launch adds to results in at most two buffers. */
#define OCL_MAX_SUMS 64
typedef struct ocl_sums {
    block_sum sum[OCL_MAX_SUMS];
    int count;
    cl_mem out[2];
    int64_t vecs; /* of the largest result */
} ocl_sums;

/* What launches choose by the kind of a device. The kernels are the same for all. */
typedef struct ocl_traits {
    const char *name;
    int group_size;            /* preferred work-group size, */
    int inner_group_size;      /* of gemm_inner, which has few work-groups, */
    int sparse_group_size;     /* and of spmm and aggregate, where all tasks of a tile of 16 columns run side by side */
    int64_t own_gemm_max_side; /* shortest side up to which the own kernels compute a product, without tuning */
} ocl_traits;

typedef struct ocl_device {
    cl_device_id id;
    cl_context context;
    cl_command_queue queue;
    cl_program program[OCL_FILE_COUNT];
    cl_kernel kernel[K_COUNT];
    size_t group_size[K_COUNT]; /* work-group size of each kernel; 0 until ocl_require */
    size_t max_group_size;
    be_tuning tuning;
    bool trust;                                              /* continue when a product is wrong */
    void (*compiling)(const char *device, be_compiled what); /* or NULL */
    double build_seconds;                                    /* CPU time of building own kernels */
    const ocl_traits *traits;
    char name[BE_TEXT];
    int64_t memory_bytes, max_alloc_bytes;
    size_t used_bytes;     /* in buffers */
    bool pending;          /* commands enqueued since the last clFinish */
    cl_int deferred_error; /* of a clFinish in ocl_release, reported by the next call that returns a status */
    char reread[1 << 20];  /* second copy of a download, in chunks */
    bool unified_memory;   /* shared with the host */
    bool staging_tried;
    cl_mem staging_buf; /* pinned memory for uploads, mapped at `staging`; NULL: none */
    void *staging;

    cl_mem scratch; /* grow-only; owned by the running operation */
    size_t scratch_bytes;

    /* Copy of sums[0 .. sum_count - 1], which sum_combine reads; also the argument for an absent view, which nothing
     * reads. */
    cl_mem sum_table;
    block_sum sums[OCL_SUM_TABLE];
    int sum_count;
    ocl_sums held; /* to be added, with the blocks in held_blocks, of which held_floats are in use */
    cl_mem held_blocks;
    int64_t held_floats;
    bool shared; /* the caller's context and queue */

    bool blas_used; /* CLBlast caches programs of this context */
    enum { OCL_BLAS_UNTRIED, OCL_BLAS_GOOD, OCL_BLAS_UNUSABLE } blas;

    be_counters counters;
    bool profile, host_clock; /* host_clock: the event timers are unusable */
    be_op op;                 /* the running operation */
    double op_start;
    be_op_time time[BE_OP_COUNT];
    ocl_timer timer[OCL_TIMERS];
    int timers;
} ocl_device;

extern const be_host *ocl_host;

/* ---- errors (ocl_errors.c) ---- */

const char *ocl_code_name(cl_int code);
/* Message "clEnqueueNDRangeKernel(group_apply): CL_OUT_OF_RESOURCES ..."; memory codes give FATHOM_MEMORY. */
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

/* ---- listing devices (ocl_list.c); open devices and buffers (ocl_device.c) ---- */

fathom_status ocl_list(be_found *found);
void ocl_describe(char *text, size_t size);
void ocl_limits(const be_info *info, char *text, size_t size);
fathom_status ocl_find_device(cl_platform_id *platform, cl_device_id *id, const be_info *info);
/* Describes a device that the process uses already. Its selector is "opencl" where the loader does not list it. */
fathom_status ocl_describe_device(cl_device_id id, be_info *info);

fathom_status ocl_open(void **state, const be_info *info, const be_options *options);
void ocl_close(void *state);
fathom_status ocl_alloc(void *state, void **handle, size_t bytes, const char *what);
void ocl_release(void *state, void *handle);
fathom_status ocl_sync(void *state);
void ocl_count(void *state, be_counters *counters);
fathom_status ocl_report_deferred(ocl_device *dev); /* an error found by ocl_release */
/* The caller's objects (ocl_shared.c). */
fathom_status ocl_identify(be_info *info, const be_shared *shared);
fathom_status ocl_adopt(ocl_device *dev, const be_shared *shared);
fathom_status ocl_wrap(void *state, be_buf *buf, void *memory, bool written, const char *what);
void ocl_unwrap(void *state, void *handle);
/* Grows the scratch buffer to at least `bytes`; its contents are undefined. */
fathom_status ocl_scratch(ocl_device *dev, size_t bytes);

/* ---- transfers (ocl_transfer.c) ---- */

fathom_status ocl_upload(void *state, void *handle, size_t offset, const void *source, size_t bytes);
fathom_status ocl_download(void *state, void *target, void *handle, size_t offset, size_t bytes);
void ocl_release_staging(ocl_device *dev);

/* ---- programs (ocl_program.c) ---- */

/* Builds the file of a kernel on first use and chooses its work-group size. */
fathom_status ocl_require(ocl_device *dev, ocl_kernel kernel);
const char *ocl_kernel_name(ocl_kernel kernel);

/* ---- profiling (ocl_profile.c) ---- */

fathom_status ocl_begin_op(ocl_device *dev, be_op op);
fathom_status ocl_end_op(ocl_device *dev, fathom_status status);
fathom_status ocl_collect_events(ocl_device *dev); /* after clFinish */
void ocl_profile(void *state, be_op op, be_op_time *time);
fathom_status ocl_open_profile(ocl_device *dev); /* tests the event timers */
void ocl_release_events(ocl_device *dev);

/* ---- launches (ocl_launch.c) ---- */

/* Largest buffer: kernels index in 32 bits. */
#define OCL_MAX_BUFFER_BYTES ((INT64_C(1) << 32) * (int64_t)sizeof(cl_float) - (INT64_C(1) << 20))

typedef struct ocl_arg {
    size_t size;
    enum { OCL_MEM, OCL_LOCAL, OCL_STRUCT } kind;
    union {
        cl_mem mem;
        const void *structure;
    } as;
} ocl_arg;

static inline ocl_arg ocl_mem(cl_mem v) { return (ocl_arg){sizeof(cl_mem), OCL_MEM, {.mem = v}}; }
static inline ocl_arg ocl_buf(const be_buf *b) { return ocl_mem(b ? (cl_mem)b->handle : NULL); }
static inline ocl_arg ocl_local(size_t bytes) { return (ocl_arg){bytes, OCL_LOCAL, {.mem = NULL}}; }

/* The struct of a kernel, args.h: ARGS(fill_args, .rows = ..., .y = ocl_mat(y)). */
#define ARGS(type, ...) ((ocl_arg){sizeof(type), OCL_STRUCT, {.structure = &(const type){__VA_ARGS__}}})
#define BUF(m) ocl_buf((m).buf)
#define SCRATCH_BUF(dev) ocl_mem((dev)->scratch)

/* Where a matrix is in its buffer, and likewise what starts at float `at` of the scratch buffer. */
static inline mat_args ocl_mat(be_mat m) {
    return (mat_args){(u32)m.off, (u32)m.ld, m.off % VEC == 0 && m.ld % VEC == 0};
}
/* Of the columns of any head. */
static inline mat_args ocl_head_mat(be_mat m, int64_t heads) {
    mat_args args = ocl_mat(m);
    args.aligned = args.aligned && (heads == 1 || m.cols / heads % VEC == 0);
    return args;
}

act_args ocl_act_args(be_act act);

/* Launches a kernel with `items` work-items (at least one work-group); _2D: global_y in dimension 1. */
#define OCL_RUN(dev, k, items, ...)                                    \
    ocl_launch((dev), (k), (items), 1, (const ocl_arg[]){__VA_ARGS__}, \
               sizeof((const ocl_arg[]){__VA_ARGS__}) / sizeof(ocl_arg))
#define OCL_RUN_2D(dev, k, items, global_y, ...)                                \
    ocl_launch((dev), (k), (items), (global_y), (const ocl_arg[]){__VA_ARGS__}, \
               sizeof((const ocl_arg[]){__VA_ARGS__}) / sizeof(ocl_arg))
/* Vectors per row of `cols` columns. */
static inline int64_t ocl_vecs(int64_t cols) { return CEIL_DIV(cols, VEC); }
/* Smallest b with 2^b >= count, at most max. */
static inline u32 ocl_bits(int64_t count, u32 max) {
    u32 bits = 0;
    while (bits < max && INT64_C(1) << bits < count)
        bits++;
    return bits;
}
/* Work-items of an elementwise kernel: one per row and vec columns. */
static inline int64_t ocl_items(be_mat m) { return m.rows * ocl_vecs(m.cols); }
/* Work-items of `count` work-groups; needs ocl_require. */
static inline int64_t ocl_group_items(const ocl_device *dev, ocl_kernel kernel, int64_t count) {
    return count * (int64_t)dev->group_size[kernel];
}
fathom_status ocl_launch(ocl_device *dev, ocl_kernel kernel, int64_t items, int64_t global_y, const ocl_arg *args,
                         size_t count);

/* ---- tables of sparse matrices (ocl_csr.c) ---- */

size_t ocl_csr_plan_bytes(be_csr *csr, const int64_t *indptr);
void ocl_csr_make_plan(void *memory, be_csr *csr, const int64_t *indptr, const be_csr *transpose);

/* ---- sums over rows (ocl_blocks.c) ---- */

#define OCL_MAX_BLOCKS 256 /* added one after the other */
#define OCL_MAX_PARTIAL_FLOATS (INT64_C(1) << 22)

typedef struct ocl_blocks {
    int64_t count, rows; /* rows per block; the last may have fewer */
} ocl_blocks;

/* Splits n rows into blocks that are multiples of RUN_ROWS: at most OCL_MAX_BLOCKS, and at most OCL_MAX_PARTIAL_FLOATS
 * with `width` floats per block. */
ocl_blocks ocl_split(int64_t n, int64_t width);
/* Blocks for sum_blocks and similar kernels: enough to fill a device. */
ocl_blocks ocl_split_rows(int64_t n, int64_t width);
rows_args ocl_rows(be_mat x, ocl_blocks blocks);
int64_t ocl_row_items(const ocl_device *dev, ocl_kernel kernel, rows_args rows, ocl_blocks blocks); /* ocl_require */
#define OCL_ROWS_LOCAL(values) ocl_local((size_t)((values)*ROW_ITEMS) * sizeof(cl_float4))
#define OCL_COMBINE_LOCAL(values) ocl_local((size_t)((values)*COMBINE_VECS * COMBINE_RUNS) * sizeof(cl_float4))

typedef struct ocl_stats {
    be_mat mean, var, rmean, rvar; /* G x d; the last two may be absent */
    float momentum;
} ocl_stats;
/* Statistics of n rows from those of blocks in scratch (stats_combine). */
fathom_status ocl_combine_stats(ocl_device *dev, const ocl_stats *s, int64_t n, ocl_blocks blocks);

/* ---- adding blocks (ocl_sums.c) ---- */

/* Where an operation leaves its blocks: the buffer and the first float in it. */
typedef struct ocl_place {
    cl_mem mem;
    int64_t off;
    bool held; /* added later */
} ocl_place;

/* Memory for blocks; can_wait: nothing else reads the results until they are added, with alpha 1 and beta 0 or 1. */
fathom_status ocl_place_blocks(ocl_device *dev, int64_t floats, bool can_wait, ocl_place *to);

/* A result, or none, and where its rows begin in the first block; rows are padded to VEC. */
typedef struct ocl_sum {
    be_mat out;
    int64_t at;
} ocl_sum;
#define OCL_MAX_RESULTS 2
/* out = alpha sum_b p[at + b stride] + beta out, blocks ascending, for up to OCL_MAX_RESULTS results; now, or held. */
fathom_status ocl_combine(ocl_device *dev, ocl_place from, const ocl_sum *sums, int count, int64_t stride,
                          int64_t blocks, float alpha, float beta);
#define OCL_COMBINE(dev, from, stride, blocks, alpha, beta, ...) \
    ocl_combine((dev), (from), (const ocl_sum[]){__VA_ARGS__},   \
                sizeof((const ocl_sum[]){__VA_ARGS__}) / sizeof(ocl_sum), (stride), (blocks), (alpha), (beta))

/* Adds all held sums. ocl_settle: if a matrix has such a result; ocl_settle_before: if the operation does not look for
 * itself. ocl_drop_held: forgets those of a buffer. */
fathom_status ocl_add_held(ocl_device *dev);
void ocl_drop_held(ocl_device *dev, cl_mem released);
fathom_status ocl_settle(ocl_device *dev, const be_mat *mats, int count);
fathom_status ocl_settle_before(ocl_device *dev, be_op op);
#define OCL_SETTLE(dev, ...) \
    ocl_settle((dev), (const be_mat[]){__VA_ARGS__}, sizeof((const be_mat[]){__VA_ARGS__}) / sizeof(be_mat))

/* ---- operations ---- */

#define X(op) fathom_status ocl_##op(ocl_device *dev, const be_##op##_args *a);
BE_OPERATIONS(X)
#undef X

/* Why this process cannot list OpenCL devices, or "" (ocl_probe.c). */
const char *ocl_probe_failure(void);

/* Check a small product against the host (ocl_dense_check.c). */
fathom_status ocl_check_own_gemm(ocl_device *dev);
fathom_status ocl_check_clblast(ocl_device *dev);
fathom_status ocl_gemm_own(ocl_device *dev, const be_gemm_args *a);
fathom_status ocl_gemm_clblast(ocl_device *dev, const be_gemm_args *a, cl_int *code);

#endif
