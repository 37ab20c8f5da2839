/* ocl_limits.c - device limits as reported by the driver, for `fathom doctor --report`. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "backend/opencl/ocl.h"

typedef enum limit_format { TEXT, NUMBER, BYTES, BITS } limit_format;

/* By number where headers differ: vendor extensions, and queries of later OpenCL versions. */
static const struct limit {
    cl_device_info query;
    limit_format format;
    const char *name;
} limits[] = {
    {CL_DEVICE_VENDOR, TEXT, "vendor"},
    {CL_DEVICE_VERSION, TEXT, "version"},
    {CL_DEVICE_OPENCL_C_VERSION, TEXT, "OpenCL C"},
    {CL_DEVICE_PROFILE, TEXT, "profile"},
    {0x4038, TEXT, "board (AMD)"},
    {CL_DEVICE_VENDOR_ID, BITS, "vendor id"},
    {CL_DEVICE_MAX_COMPUTE_UNITS, NUMBER, "compute units"},
    {CL_DEVICE_MAX_CLOCK_FREQUENCY, NUMBER, "clock, MHz"},
    {CL_DEVICE_ADDRESS_BITS, NUMBER, "address bits"},
    {CL_DEVICE_GLOBAL_MEM_SIZE, BYTES, "memory"},
    {CL_DEVICE_MAX_MEM_ALLOC_SIZE, BYTES, "largest buffer"},
    {CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, BYTES, "cache"},
    {CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE, BYTES, "cache line"},
    {CL_DEVICE_LOCAL_MEM_SIZE, BYTES, "local memory"},
    {CL_DEVICE_LOCAL_MEM_TYPE, NUMBER, "local memory type (1 dedicated, 2 global)"},
    {CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE, BYTES, "constant memory"},
    {CL_DEVICE_HOST_UNIFIED_MEMORY, NUMBER, "host-unified memory"},
    {CL_DEVICE_MEM_BASE_ADDR_ALIGN, NUMBER, "alignment, bits"},
    {CL_DEVICE_MAX_WORK_GROUP_SIZE, NUMBER, "largest work-group"},
    {0x1067, NUMBER, "work-group size multiple"},
    {0x4003, NUMBER, "warp size (NVIDIA)"},
    {0x4043, NUMBER, "wavefront size (AMD)"},
    {CL_DEVICE_MAX_PARAMETER_SIZE, BYTES, "kernel arguments"},
    {CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, NUMBER, "native float vector"},
    {CL_DEVICE_SINGLE_FP_CONFIG, BITS, "float arithmetic"},
    {CL_DEVICE_DOUBLE_FP_CONFIG, BITS, "double arithmetic"},
    {CL_DEVICE_PROFILING_TIMER_RESOLUTION, NUMBER, "timer resolution, ns"},
    {CL_DEVICE_QUEUE_PROPERTIES, BITS, "queue properties"},
    {CL_DEVICE_COMPILER_AVAILABLE, NUMBER, "compiler available"},
    {CL_DEVICE_ERROR_CORRECTION_SUPPORT, NUMBER, "error correction"},
    {CL_DEVICE_EXTENSIONS, TEXT, "extensions"},
};

typedef struct text_out {
    char *text;
    size_t size, used;
} text_out;

__attribute__((format(printf, 2, 3))) static void add(text_out *out, const char *format, ...) {
    va_list args;
    va_start(args, format);
    int more = vsnprintf(out->text + out->used, out->size - out->used, format, args);
    va_end(args);
    out->used = more < 0 || (size_t)more >= out->size - out->used ? out->size - 1 : out->used + (size_t)more;
}

/* Numbers have 4 or 8 bytes, as the driver reports. */
static void add_limit(text_out *out, cl_device_id id, const struct limit *limit) {
    char answer[4096] = "";
    size_t got = 0;
    if (clGetDeviceInfo(id, limit->query, sizeof answer - 1, answer, &got) != CL_SUCCESS || got == 0 ||
        got >= sizeof answer)
        return;
    uint64_t number = 0;
    memcpy(&number, answer, got < sizeof number ? got : sizeof number);
    switch (limit->format) {
    case TEXT:
        add(out, "%s: %s\n", limit->name, answer);
        break;
    case NUMBER:
        add(out, "%s: %" PRIu64 "\n", limit->name, number);
        break;
    case BYTES:
        add(out, "%s: %" PRIu64 " bytes\n", limit->name, number);
        break;
    case BITS:
        add(out, "%s: 0x%" PRIx64 "\n", limit->name, number);
    }
}

void ocl_limits(const be_info *info, char *text, size_t size) {
    text_out out = {text, size, 0};
    cl_platform_id platform;
    cl_device_id id;
    size_t items[16] = {0};
    text[0] = '\0';
    if (ocl_find_device(&platform, &id, info) != FATHOM_OK)
        return;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        add_limit(&out, id, &limits[i]);
    if (clGetDeviceInfo(id, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof items, items, NULL) == CL_SUCCESS)
        add(&out, "work-items: %zu x %zu x %zu\n", items[0], items[1], items[2]);
}
