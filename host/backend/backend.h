/* backend.h - THE CONTRACT between the mathematics (nn, metrics, train) and the
 * devices. Read this first.
 *
 * A device runs named operations (operations.h) on views of buffers (views.h). There are two back ends, `cpu` and
 * `opencl`, both complete; driver.h is the side they fill in. Callers use the
 * checked functions below, which validate shapes once for both.
 *
 *     be_device *dev;
 *     TRY(be_open(&dev, "auto", NULL));
 *     be_buf *buf;
 *     TRY(be_alloc(dev, &buf, be_floats(2 * n * d), "activations"));
 *     be_mat x = be_view(buf, 0, n, d), y = be_view(buf, n * d, n, d);
 *     TRY(be_activate(dev, &(be_activate_args){.y = y, .x = x, .act = {.relu = true}}));
 *     TRY(be_download(dev, host, buf, 0, be_floats(n * d)));      // waits
 *
 * Letters: n nodes, F input features, d width, C classes, G groups, nnz stored
 * entries; v a node, j a column, g a group. A gradient is the name with g in
 * front. Fields are ordered: outputs, inputs, numbers.
 *
 * Rules for every operation
 *  - Matrices are row-major float32, indices int32, row offsets int64.
 *  - Outputs are overwritten, whatever they held (NaN too), unless documented as `+=`;
 *    parameter gradients are `+=`. Between the columns and the leading dimension
 *    nothing is written.
 *  - An output overlaps an input only where documented as "may be", and then exactly.
 *  - A view whose `buf` is NULL is absent; only fields marked [optional] may be.
 *  - Operations enqueue in order and return; only be_download and be_sync wait.
 *    A failure of the device may surface at a later call.
 *  - Sums have a fixed order: the same call on the same device gives the same
 *    bits; on the CPU for any number of threads. */
#ifndef BACKEND_BACKEND_H
#define BACKEND_BACKEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backend/operations.h"
#include "core/status.h"

typedef struct be_device be_device;

/* be_gemm(dev, &args), be_spmm(dev, &args) and so on: check, then enqueue. */
#define X(op) fathom_status be_##op(be_device *dev, const be_##op##_args *args);
BE_OPERATIONS(X)
#undef X

typedef enum be_op {
#define X(op) BE_OP_##op,
    BE_OPERATIONS(X)
#undef X
        BE_OP_COUNT
} be_op;

const char *be_op_name(be_op op);

/* ---- buffers ---------------------------------------------------------------- */

/* `what` names the buffer in the message when memory is short. The content is undefined. */
fathom_status be_alloc(be_device *dev, be_buf **buf, size_t bytes, const char *what);
/* *buf = a buffer over `bytes` of the caller's memory, neither copied nor freed, on a device that computes in host
 * memory (be_has_host_memory: the CPU). The memory must stay valid until be_free; memory that is only read may be
 * constant. */
bool be_has_host_memory(const be_device *dev);
fathom_status be_wrap_host(be_device *dev, be_buf **buf, const void *memory, size_t bytes);
/* *buf = a buffer over a memory object of the caller (cl_mem) on a device opened by be_open_shared; a reference is kept
 * until be_free. Refused with FATHOM_USAGE if it is not a buffer of the device's context that kernels may read, and
 * write if `written`; `what` names it in the message. */
fathom_status be_wrap_shared(be_device *dev, be_buf **buf, void *memory, bool written, const char *what);
size_t be_bytes(const be_buf *buf);
/* Do two views have bytes in common? Also through two buffers over one memory object, or over parts of one. */
bool be_overlap(be_mat x, be_mat y);
void be_free(be_device *dev, be_buf *buf); /* waits for pending work unless wrapped on a shared device; accepts NULL */
/* Offsets in bytes. Upload copies `source` before it returns; download waits. */
fathom_status be_upload(be_device *dev, be_buf *buf, size_t offset, const void *source, size_t bytes);
fathom_status be_download(be_device *dev, void *target, const be_buf *buf, size_t offset, size_t bytes);
fathom_status be_sync(be_device *dev);

/* Checks every index (indptr rising from 0 to nnz, 0 <= indices < cols, eids a permutation's
 * entries 0 <= eids < nnz) and uploads; eids may be NULL. be_csr_free accepts an empty one. */
fathom_status be_csr_upload(be_device *dev, be_csr *csr, int64_t rows, int64_t cols, const int64_t *indptr,
                            const int32_t *indices, const int32_t *eids, const char *what);
/* The same for arrays that outlive the matrix: not copied where the device computes in host memory. */
fathom_status be_csr_wrap_host(be_device *dev, be_csr *csr, int64_t rows, int64_t cols, const int64_t *indptr,
                               const int32_t *indices, const char *what);
/* Lets the back end derive from a matrix on the device what its loops need (csr->plan); be_csr_upload and
 * be_csr_wrap_host have called it without a transpose. Results do not depend on it, but for the rounding of very
 * long rows (thousands of entries, OpenCL). `transpose` [optional]: that of csr, with the same entry ids and ascending
 * columns in each row; it must stay as long as csr. */
fathom_status be_csr_prepare(be_device *dev, be_csr *csr, const be_csr *transpose);
void be_csr_free(be_device *dev, be_csr *csr);
/* Device bytes of such a matrix, for plans. */
int64_t be_csr_bytes(int64_t rows, int64_t nnz, bool eids);

/* ---- devices ---------------------------------------------------------------- */

#define BE_TEXT 160

typedef enum be_kind { BE_CPU, BE_GPU_DISCRETE, BE_GPU_INTEGRATED, BE_ACCELERATOR, BE_OPENCL_CPU } be_kind;

typedef struct be_info {
    char selector[24]; /* what --device takes: "cpu", "opencl:0" */
    char backend[16];  /* "cpu" or "opencl" */
    char name[BE_TEXT], platform[BE_TEXT], driver[BE_TEXT];
    char uuid[48], pci[24];  /* identity of a GPU as its driver reports it, or "" */
    char alias[2 * BE_TEXT]; /* the same GPU through other drivers, or "" */
    be_kind kind;
    int platform_index, device_index, opencl_index; /* -1 for the CPU back end */
    int64_t memory_bytes, max_alloc_bytes, local_bytes;
    int compute_units, max_group_size;
} be_info;

const char *be_kind_name(be_kind kind); /* "cpu", "gpu", "integrated gpu", "accelerator", "opencl cpu" */

/* All devices in one flat list, the native CPU first, and notes about platforms
 * without devices or a module that does not load. A GPU found through a second
 * driver is an alias: it is stored after the `count` rows (up to `all`), can be
 * selected by its selector, but has no row number. */
typedef struct be_list {
    be_info *info;
    int count, all;
    int chosen;        /* the row `auto` takes */
    char why[BE_TEXT]; /* why that one */
    char (*note)[2 * BE_TEXT];
    int notes;
} be_list;

fathom_status be_list_devices(be_list *list);
/* The devices that the selectors (cpu,auto,opencl:1) may mean. OpenCL drivers, which take 50 to 100 MB and a tenth of a
 * second, are not loaded for the CPU alone, nor for `auto` on a machine that has no GPU. */
fathom_status be_list_for(be_list *list, const char *selectors);
void be_list_free(be_list *list);

/* Finds the row a device selector means: auto, cpu, gpu, N, opencl:N, opencl:P:D or
 * part of a name. Unknown or ambiguous: FATHOM_DEVICE, with the candidates in the message. */
fathom_status be_find(const be_list *list, const char *selector, int *row);

/* The fastest parameters measured on a device; 0: the default of the back end. Results stay within the same bounds,
 * but sums over a work-group have another order, so bits may differ from those of another tuning. */
typedef struct be_tuning {
    int group;    /* work-items of a work-group, a power of two (OpenCL) */
    int own_gemm; /* products with a side up to this use fathom's kernel, others CLBlast (OpenCL) */
} be_tuning;

/* What may take long to compile, unless the driver has it in its cache. */
typedef enum be_compiled { BE_COMPILES_KERNELS, BE_COMPILES_CLBLAST, BE_COMPILED_COUNT } be_compiled;

/* OpenCL objects of the caller: a cl_context, a cl_device_id, a cl_command_queue. */
typedef struct be_shared {
    void *context, *device, *queue;
} be_shared;

typedef struct be_options {
    int threads;  /* CPU back end; 0: one per core */
    bool profile; /* time every operation */
    bool trust;   /* use the device even if a check of its results fails */
    be_tuning tuning;
    void (*tuned)(void *user, be_tuning *tuning,
                  const be_info *info); /* fills in the tuning record of the device; or NULL */
    void *user;
    /* Called once for each: when the kernels built so far took long, and before CLBlast is first used, whose kernels
     * come in one piece; may be NULL. */
    void (*compiling)(const char *device, be_compiled what);
    const be_shared *shared; /* set by be_open_shared: work in the caller's context and queue; else NULL */
} be_options;

/* selector NULL means $FATHOM_DEVICE, then auto. options may be NULL. A device named by
 * the caller is opened or the call fails; `auto` falls back to the CPU when its first
 * choice does not open, and be_device_note gives the reason (else ""). */
fathom_status be_open(be_device **dev, const char *selector, const be_options *options);
fathom_status be_open_row(be_device **dev, const be_list *list, int row, const be_options *options);
/* The device of the caller's OpenCL objects, of which references are kept until be_close. Operations are enqueued in
 * the caller's queue, which executes in order; the caller waits for it. */
fathom_status be_open_shared(be_device **dev, const be_shared *shared, const be_options *options);
void be_close(be_device *dev); /* waits; frees remaining buffers; accepts NULL */
const be_info *be_device_info(const be_device *dev);
const char *be_device_note(const be_device *dev);

bool be_trusted(const be_device *dev); /* opened with `trust` */

/* Operations as bits, 1 << be_op: those called since the device was opened, and those that passed a check of their
 * results there, which the caller keeps. */
uint64_t be_used(const be_device *dev);
uint64_t *be_checked(be_device *dev);

/* Counters since the device was opened. The CPU back end counts operations as launches. */
typedef struct be_counters {
    int64_t launches, blocking_reads, bytes_read, bytes_written, builds, allocations, live_bytes, peak_bytes;
    int64_t rounds, short_rounds; /* runs of the CPU's queue; those for which not all threads had a core */
} be_counters;
be_counters be_count(const be_device *dev);
/* Did other programs take the cores in most rounds? Times are then not those of this device. */
static inline bool be_was_crowded(const be_counters *c) { return 2 * c->short_rounds > c->rounds; }

/* Time of an operation since the device was opened; zeros unless opened with `profile`. Waits. */
typedef struct be_op_time {
    double seconds;
    int64_t calls, launches; /* the CPU back end: one launch a call */
} be_op_time;
fathom_status be_profile(be_device *dev, be_op op, be_op_time *time);

/* A line about a back end for `doctor`: its libraries and configuration, or why it is not available (then false). */
bool be_describe(const char *backend, char *text, size_t size);
/* Every limit of a device as its driver reports it, one "name: value" per line. */
void be_limits(const be_info *info, char *text, size_t size);

#endif
