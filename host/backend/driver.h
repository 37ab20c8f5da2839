/* driver.h - the interface that a back end implements. Callers use backend.h, whose
 * wrappers validate shapes, bounds and aliasing before anything here is called.
 *
 * `cpu` is linked into libfathom. `opencl` is a module loaded at run time: it
 * exports be_module_entry and nothing else, calls the host through be_host, links no symbol of libfathom and is never
 * unloaded. */
#ifndef BACKEND_DRIVER_H
#define BACKEND_DRIVER_H

#include "backend/backend.h"

#define BE_DRIVER_VERSION 9 /* raised with every change of this file or of backend.h */

/* `handle` belongs to the back end: the memory itself, or a cl_mem. */
struct be_buf {
    be_device *dev;
    size_t bytes;
    void *handle;
    bool borrowed;       /* the caller's memory: not freed */
    void *root;          /* of a wrapped memory object: that object, or the one that it is a part of; else NULL */
    size_t root_offset;  /* its first byte in `root` */
    be_buf *next, *prev; /* all live buffers of the device */
};

/* Services of the host for a module. */
typedef struct be_host {
    fathom_status (*fail)(fathom_status status, const char *format, ...);
    fathom_status (*alloc)(void **pointer, size_t rows, size_t cols, size_t size, const char *what);
    void (*free)(void *pointer);
} be_host;

/* Filled by `list`: devices in loader order; the host adds selectors, aliases and the choice. */
typedef struct be_found {
    be_info *info; /* be_host.alloc'd, freed by the host */
    int count;
    char (*note)[2 * BE_TEXT];
    int notes;
} be_found;

typedef struct be_driver {
    int version;      /* BE_DRIVER_VERSION */
    const char *name; /* "cpu", "opencl" */
    bool host_memory; /* a handle is an address of the host: the caller's memory can be a buffer */

    /* Lists devices. Finding none is not an error: notes give the reason. */
    fathom_status (*list)(be_found *found);
    void (*describe)(char *text, size_t size);
    void (*limits)(const be_info *info, char *text, size_t size);

    /* `state` is private to the back end and passed to every function below. */
    fathom_status (*open)(void **state, const be_info *info, const be_options *options);
    /* [optional] Checks the caller's objects and describes their device, for `open` with options->shared. */
    fathom_status (*identify)(be_info *info, const be_shared *shared);
    void (*close)(void *state); /* waits for pending work, frees everything */

    fathom_status (*alloc)(void *state, void **handle, size_t bytes, const char *what);
    void (*release)(void *state, void *handle);
    /* [optional, with identify] Fills in handle, bytes, root and root_offset; see be_wrap_shared. unwrap does not wait.
     */
    fathom_status (*wrap)(void *state, be_buf *buf, void *memory, bool written, const char *what);
    void (*unwrap)(void *state, void *handle);
    fathom_status (*upload)(void *state, void *handle, size_t offset, const void *source, size_t bytes);
    fathom_status (*download)(void *state, void *target, void *handle, size_t offset, size_t bytes);
    fathom_status (*sync)(void *state);
    /* [optional] What the back end derives from a sparse matrix for its own loops or kernels: the bytes, and writing them to
     * memory of the host, the plan itself with host_memory, else uploaded. Both may set the plan_ fields of `csr`.
     * indptr: the matrix's own, off applied. `transpose` may be NULL: see be_csr_prepare. */
    size_t (*csr_plan_bytes)(be_csr *csr, const int64_t *indptr);
    void (*csr_make_plan)(void *memory, be_csr *csr, const int64_t *indptr, const be_csr *transpose);
    void (*count)(
        void *state,
        be_counters *counters); /* launches, reads, writes, builds; memory is counted by the host, but for scratch */
    void (*profile)(void *state, be_op op, be_op_time *time);

    struct {
#define X(op) fathom_status (*op)(void *state, const be_##op##_args *args);
        BE_OPERATIONS(X)
#undef X
    } run;
} be_driver;

extern const be_driver cpu_driver;

/* The only symbol of the OpenCL module. */
typedef const be_driver *be_module_entry_fn(const be_host *host);
#define BE_MODULE_ENTRY "be_module_entry"

struct be_device {
    const be_driver *driver;
    void *state;
    be_info info;
    char note[CORE_MESSAGE_MAX];
    be_buf *buffers;
    int64_t allocations, live_bytes, peak_bytes;
    _Atomic long opener; /* the process that opened it (core/forked.h) */
    bool trusted;
    uint64_t used, checked;
};

/* Was it opened by the process this one was forked from, so that its driver's threads are missing here? */
bool be_is_foreign(be_device *dev);

#endif
