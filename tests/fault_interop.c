/* fault_interop.c - every OpenCL call that fathom makes for a device of the caller's fails in turn, through
 * tests/layers: opening, a normalisation forward and backward on buffers, closing. No signal, a message that names the
 * call, the caller's objects keep exactly the caller's references, and no success for work that was not done. labels:
 * opencl */
#define CL_TARGET_OPENCL_VERSION 120
#include "fathom/opencl.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/mem.h"
#include "support/support.h"

enum { N = 40, D = 6, G = 2, BLOCK = G * D, FLOATS = 4 * N * D + 4 * BLOCK };
#define CODE -5
#define SAMPLE 40 /* places without --long */

static void (*layer_plan)(const char *);
static const char *(*layer_fired)(void);
static long (*layer_calls)(const char *), (*layer_live)(void);

static cl_device_id id;
static cl_context context;
static cl_command_queue queue;
static cl_mem memory;
static float input[FLOATS];

void setUp(void) {
    if (!memory)
        TEST_IGNORE_MESSAGE("no OpenCL layer or device; install pocl-opencl-icd");
}

void tearDown(void) {}

static fathom_opencl_array at(size_t offset) { return (fathom_opencl_array){memory, offset}; }

/* Buffer: x, y, gx, gy, weight, bias, lin_weight, gradient of weight. */
static fathom_status compute(fathom_norm *norm, fathom_norm_state *state) {
    const size_t rows = N * D, blocks = 4 * rows;
    const fathom_opencl_norm_weights w = {
        .size = sizeof w, .weight = at(blocks), .bias = at(blocks + BLOCK), .lin_weight = at(blocks + 2 * BLOCK)};
    const fathom_opencl_norm_gradients g = {.size = sizeof g, .weight = at(blocks + 3 * BLOCK)};
    TRY(fathom_norm_forward_opencl(norm, at(rows), at(0), N, &w, state));
    return fathom_norm_backward_opencl(norm, at(2 * rows), &g, at(3 * rows), at(0), N, &w, state);
}

static fathom_status one_run(void) {
    fathom_device *device = NULL;
    fathom_norm *norm = NULL;
    fathom_norm_state *state = NULL;
    fathom_norm_options o;
    fathom_status status;
    TRY_OUT(fathom_norm_options_init(&o, sizeof o));
    o.width = D;
    o.groups = G;
    TRY_OUT(fathom_device_from_opencl(&device, context, id, queue, NULL));
    TRY_OUT(fathom_norm_make(&norm, device, &o));
    TRY_OUT(fathom_norm_state_make(&state, norm));
    TRY_OUT(compute(norm, state));
out:
    fathom_norm_state_free(state);
    fathom_norm_free(norm);
    fathom_device_close(device);
    return status;
}

/* The test's own calls are not counted: no plan is set, or it has fired. */
static void put(void) {
    TEST_ASSERT_EQUAL_INT(0, clEnqueueWriteBuffer(queue, memory, CL_TRUE, 0, sizeof input, input, 0, NULL, NULL));
}

static void get(float *result) {
    TEST_ASSERT_EQUAL_INT(0, clEnqueueReadBuffer(queue, memory, CL_TRUE, 0, sizeof input, result, 0, NULL, NULL));
}

static void each_call_fails(void) {
    static float want[FLOATS], got[FLOATS];
    long tried = 0, fired = 0, survived = 0;
    put();
    long live = layer_live();
    TEST_ASSERT_EQUAL_INT_MESSAGE(FATHOM_OK, one_run(), fathom_last_error()); /* builds the kernels */
    layer_plan(NULL);
    put();
    layer_plan(NULL);
    TEST_ASSERT_EQUAL_INT_MESSAGE(FATHOM_OK, one_run(), fathom_last_error());
    long calls = layer_calls(NULL);
    get(want);
    TEST_ASSERT_EQUAL_INT(live, layer_live());
    long step = support_long() || calls < SAMPLE ? 1 : calls / SAMPLE;
    for (long place = 1; place <= calls; place += step) {
        char plan[64], text[512];
        int64_t blocks = mem_live();
        layer_plan(NULL);
        put();
        snprintf(plan, sizeof plan, "any:%ld:%d", place, CODE);
        layer_plan(plan);
        fathom_status status = one_run();
        const char *call = layer_fired();
        snprintf(text, sizeof text, "%s at %s: status %d: %.300s", plan, call ? call : "no call", (int)status,
                 status ? fathom_last_error() : "");
        layer_plan(NULL);
        TEST_ASSERT_EQUAL_INT_MESSAGE(live, layer_live(), text);
        TEST_ASSERT_EQUAL_INT_MESSAGE(blocks, mem_live(), text);
        get(got);
        if (status == FATHOM_OK)
            TEST_ASSERT_EQUAL_MEMORY_MESSAGE(want, got, sizeof got, text);
        else
            TEST_ASSERT_TRUE_MESSAGE(
                call && strstr(fathom_last_error(), call) && strstr(fathom_last_error(), "CL_OUT_OF_RESOURCES"), text);
        tried++;
        fired += call != NULL;
        survived += call != NULL;
    }
    printf("TALLY|1,2,3,5|OpenCL: every call in the caller's context|%ld|%ld|%ld\n", tried, fired, survived);
    TEST_ASSERT_TRUE_MESSAGE(fired > 0, "no fault fired");
}

static void open_device(void) {
    cl_platform_id platform;
    cl_int code;
    if (clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS ||
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &id, NULL) != CL_SUCCESS)
        return;
    context = clCreateContext(NULL, 1, &id, NULL, NULL, &code);
    queue = clCreateCommandQueue(context, id, 0, &code);
    memory = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof input, NULL, &code);
    for (int i = 0; i < FLOATS; i++)
        input[i] = (float)sin(0.7 * i * i);
}

int main(void) {
    const char *build = getenv("BUILD_DIR");
    char path[4096];
    snprintf(path, sizeof path, "%s/tests/ocl_layer.so", build ? build : ".");
    setenv("OPENCL_LAYERS", path, 1);
    if (access("/etc/OpenCL/vendors/pocl.icd", R_OK) == 0)
        setenv("OCL_ICD_VENDORS", "/etc/OpenCL/vendors/pocl.icd", 1);
    void *layer = dlopen(path, RTLD_NOW);
    if (layer) {
        *(void **)&layer_plan = dlsym(layer, "ocl_layer_plan");
        *(void **)&layer_fired = dlsym(layer, "ocl_layer_fired");
        *(void **)&layer_calls = dlsym(layer, "ocl_layer_calls");
        *(void **)&layer_live = dlsym(layer, "ocl_layer_live");
        open_device();
    }
    UNITY_BEGIN();
    RUN_TEST(each_call_fails);
    if (memory)
        clReleaseMemObject(memory);
    if (queue)
        clReleaseCommandQueue(queue);
    if (context)
        clReleaseContext(context);
    return support_end();
}
