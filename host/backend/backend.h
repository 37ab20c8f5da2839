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
 * front. Fields stand in this order: outputs, inputs, numbers.
 *
 * Rules for every operation
 *  - Matrices are row-major float32, indices int32, row offsets int64.
 *  - Outputs are overwritten, whatever they held (NaN too), unless `+=` is said;
 *    parameter gradients are `+=`. Between the columns and the leading dimension
 *    nothing is written.
 *  - An output overlaps an input only where "may be" is said, and then exactly.
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

/* `what` names the buffer in the sentence when memory is short. The content is undefined. */
fathom_status be_alloc(be_device *dev, be_buf **buf, size_t bytes, const char *what);
/* *buf = `bytes` of the caller's own memory, used where it lies and never given back, on a device that computes there
 * (be_borrows: the CPU). It must stay until be_free, and what is only read may be constant. */
bool be_borrows(const be_device *dev);
fathom_status be_borrow(be_device *dev, be_buf **buf, const void *memory, size_t bytes);
void be_free(be_device *dev, be_buf *buf); /* waits for pending work; accepts NULL */
/* Offsets in bytes. Upload copies `source` before it returns; download waits. */
fathom_status be_upload(be_device *dev, be_buf *buf, size_t offset, const void *source, size_t bytes);
fathom_status be_download(be_device *dev, void *target, const be_buf *buf, size_t offset, size_t bytes);
fathom_status be_sync(be_device *dev);

/* Checks every index (ptr rising from 0 to nnz, 0 <= idx < cols, eid a permutation's
 * entries 0 <= eid < nnz) and uploads; eid may be NULL. be_csr_free accepts an empty one. */
fathom_status be_csr_upload(be_device *dev, be_csr *csr, int64_t rows, int64_t cols, const int64_t *ptr,
                            const int32_t *idx, const int32_t *eid, const char *what);
/* The same for arrays that stay as long as the matrix: they are borrowed where the device can. */
fathom_status be_csr_keep(be_device *dev, be_csr *csr, int64_t rows, int64_t cols, const int64_t *ptr,
                          const int32_t *idx, const char *what);
void be_csr_free(be_device *dev, be_csr *csr);

/* ---- devices ---------------------------------------------------------------- */

#define BE_TEXT 160

typedef enum be_kind { BE_CPU, BE_GPU_DISCRETE, BE_GPU_INTEGRATED, BE_ACCELERATOR, BE_OPENCL_CPU } be_kind;

typedef struct be_info {
    char word[24];    /* what --device takes: "cpu", "opencl:0" */
    char backend[16]; /* "cpu" or "opencl" */
    char name[BE_TEXT], platform[BE_TEXT], driver[BE_TEXT];
    char uuid[48], pci[24];  /* identity of a GPU as its driver tells it, or "" */
    char alias[2 * BE_TEXT]; /* the same card through other drivers, or "" */
    be_kind kind;
    int platform_index, device_index, opencl_index; /* -1 for the CPU back end */
    int64_t memory_bytes, max_alloc_bytes, local_bytes;
    int compute_units, max_group_size;
} be_info;

const char *be_kind_name(be_kind kind); /* "cpu", "gpu", "integrated gpu", "accelerator", "opencl cpu" */

/* All devices in one flat list, the native CPU first, and what there is to say
 * about platforms without devices or a module that does not load. A card seen
 * through a second driver is an alias: it follows the shown rows (up to `all`) and
 * can still be asked for by its word, but has no row of its own. */
typedef struct be_list {
    be_info *info;
    int count, all;
    int chosen;        /* the row `auto` takes */
    char why[BE_TEXT]; /* why that one */
    char (*note)[2 * BE_TEXT];
    int notes;
} be_list;

fathom_status be_list_devices(be_list *list);
/* The devices among which the words (cpu,auto,opencl:1) are to be found. Who asks for the CPU, or for `auto` where no
 * card can be, does not pay for OpenCL: its drivers take 50 to 100 MB and a tenth of a second. */
fathom_status be_list_for(be_list *list, const char *words);
void be_list_free(be_list *list);

/* Finds the row a device word means: auto, cpu, gpu, N, opencl:N, opencl:P:D or
 * part of a name. Unknown or ambiguous: FATHOM_DEVICE, candidates in the sentence. */
fathom_status be_find(const be_list *list, const char *word, int *row);

/* What measuring found to be fastest on a device; 0: the back end's own choice. Results stay within the same bounds,
 * but sums over a work-group have another order, so bits may differ from those of another tuning. */
typedef struct be_tuning {
    int group;    /* work-items of a work-group, a power of two (OpenCL) */
    int columns;  /* of a row that a work-item takes at once, 4 or 16 (OpenCL) */
    int own_gemm; /* matrix products with a side up to this use the own kernel, others CLBlast (OpenCL) */
} be_tuning;

/* What a driver compiles so long that a user wonders, unless it has it in its cache. */
typedef enum be_compiled { BE_COMPILES_KERNELS, BE_COMPILES_CLBLAST, BE_COMPILED_COUNT } be_compiled;

typedef struct be_options {
    int threads;  /* CPU back end; 0: one per core */
    bool profile; /* time every operation */
    bool trust;   /* use the device even when a check of its results fails */
    be_tuning tuning;
    void (*tuned)(void *user, be_tuning *tuning,
                  const be_info *info); /* fills in what is known of the device; or NULL */
    void *user;
    /* Called once for each: when the kernels built so far took long, and before CLBlast is first used, whose kernels
     * come in one piece; may be NULL. */
    void (*compiling)(const char *device, be_compiled what);
} be_options;

/* word NULL means $FATHOM_DEVICE, then auto. options may be NULL. A device named by
 * the caller is opened or the call fails; `auto` goes on to the CPU when its first
 * choice does not open, and be_device_note says why (else ""). */
fathom_status be_open(be_device **dev, const char *word, const be_options *options);
fathom_status be_open_row(be_device **dev, const be_list *list, int row, const be_options *options);
void be_close(be_device *dev); /* frees what is left; accepts NULL */
const be_info *be_device_info(const be_device *dev);
const char *be_device_note(const be_device *dev);

bool be_trusted(const be_device *dev); /* opened with `trust` */

/* Operations as bits, 1 << be_op: those called since the device was opened, and those that passed a check of their
 * results there, which the caller keeps. */
uint64_t be_used(const be_device *dev);
uint64_t *be_checked(be_device *dev);

/* What the device did since it was opened. The CPU back end counts operations as launches. */
typedef struct be_counters {
    int64_t launches, blocking_reads, bytes_read, bytes_written, builds, allocations, live_bytes, peak_bytes;
} be_counters;
be_counters be_count(const be_device *dev);

/* What an operation took since the device was opened; zeros unless opened with `profile`. Waits. */
typedef struct be_op_time {
    double seconds;
    int64_t calls, launches; /* the CPU back end: one launch a call */
} be_op_time;
fathom_status be_profile(be_device *dev, be_op op, be_op_time *time);

/* A line about a back end for `doctor`: its libraries and configuration, or why it is not there (then false). */
bool be_describe(const char *backend, char *text, size_t size);
/* Every limit of a device as its driver tells it, "name: value" a line. */
void be_limits(const be_info *info, char *text, size_t size);

#endif
