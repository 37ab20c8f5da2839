/* ocl_module.c - driver table of the OpenCL back end, the only export of the module. */
#include "backend/opencl/ocl.h"

const be_host *ocl_host;

#define X(op)                                                                     \
    static fathom_status dispatch_##op(void *state, const be_##op##_args *args) { \
        ocl_device *dev = state;                                                  \
        TRY(ocl_begin_op(dev, BE_OP_##op));                                       \
        return ocl_end_op(dev, ocl_##op(dev, args));                              \
    }
BE_OPERATIONS(X)
#undef X

static const be_driver driver = {
    .version = BE_DRIVER_VERSION,
    .name = "opencl",
    .list = ocl_list,
    .describe = ocl_describe,
    .limits = ocl_limits,
    .open = ocl_open,
    .identify = ocl_identify,
    .close = ocl_close,
    .alloc = ocl_alloc,
    .release = ocl_release,
    .wrap = ocl_wrap,
    .unwrap = ocl_unwrap,
    .upload = ocl_upload,
    .download = ocl_download,
    .sync = ocl_sync,
    .csr_plan_bytes = ocl_csr_plan_bytes,
    .csr_make_plan = ocl_csr_make_plan,
    .count = ocl_count,
    .profile = ocl_profile,
    .run =
        {
#define X(op) .op = dispatch_##op,
            BE_OPERATIONS(X)
#undef X
        },
};

FATHOM_API const be_driver *be_module_entry(const be_host *host);

const be_driver *be_module_entry(const be_host *host) {
    ocl_host = host;
    return &driver;
}
