/* opencl_interop.c - fathom/opencl.h: a device from the caller's context and queue, norms on the caller's buffers with
 * the same bits as on host arrays of that device, between kernels of the caller, with offsets and sub-buffers; and
 * everything it refuses. labels: opencl */
#define CL_TARGET_OPENCL_VERSION 120
#include "fathom/opencl.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/support.h"

#define OK(call) TEST_ASSERT_EQUAL_INT_MESSAGE(FATHOM_OK, (call), fathom_last_error())
#define USAGE(call, word)                                                                       \
    do {                                                                                        \
        TEST_ASSERT_EQUAL_INT(FATHOM_USAGE, (call));                                            \
        TEST_ASSERT_NOT_NULL_MESSAGE(strstr(fathom_last_error(), (word)), fathom_last_error()); \
    } while (0)
#define CL(call) TEST_ASSERT_EQUAL_INT(CL_SUCCESS, (call))

enum { N = 67, D = 7, G = 3, BLOCK = G * D };
/* Places in the buffer, in floats: every array starts at an odd one. */
enum {
    X = 5,
    Y = X + N * D + 2,
    GX = Y + N * D + 2,
    GY = GX + N * D + 2,
    GAMMA = GY + N * D + 2,
    BETA = GAMMA + BLOCK,
    U = BETA + BLOCK,
    C = U + BLOCK,
    MEAN = C + G,
    VAR = MEAN + BLOCK,
    GGAMMA = VAR + BLOCK,
    GBETA = GGAMMA + BLOCK,
    GU = GBETA + BLOCK,
    GC = GU + BLOCK,
    FLOATS = GC + G
};
#define ALL (FLOATS * sizeof(float))

static cl_platform_id platform;
static cl_device_id id;
static cl_context context;
static cl_command_queue queue;
static cl_mem memory;
static fathom_device *device;
static fathom_norm *norm;
static fathom_norm_state *state;
static float host[FLOATS];

static fathom_opencl_array at(size_t offset) { return (fathom_opencl_array){memory, offset}; }

static fathom_opencl_norm_weights weights(void) {
    return (fathom_opencl_norm_weights){.size = sizeof(fathom_opencl_norm_weights),
                                        .weight = at(GAMMA),
                                        .bias = at(BETA),
                                        .lin_weight = at(U),
                                        .lin_bias = at(C),
                                        .running_mean = at(MEAN),
                                        .running_var = at(VAR)};
}

static fathom_opencl_norm_gradients gradients(void) {
    return (fathom_opencl_norm_gradients){.size = sizeof(fathom_opencl_norm_gradients),
                                          .weight = at(GGAMMA),
                                          .bias = at(GBETA),
                                          .lin_weight = at(GU),
                                          .lin_bias = at(GC)};
}

static void fill(void) {
    for (int i = 0; i < FLOATS; i++)
        host[i] = (float)sin(0.7 * i * i) * (i < GAMMA ? 2.0f : 0.5f) + (i >= VAR && i < GGAMMA ? 2.0f : 0.0f);
    for (int i = GGAMMA; i < FLOATS; i++)
        host[i] = NAN; /* overwritten */
}

void setUp(void) {
    cl_int code;
    if (!platform)
        TEST_IGNORE_MESSAGE("no OpenCL device; install pocl-opencl-icd");
    fill();
    context = clCreateContext(NULL, 1, &id, NULL, NULL, &code);
    CL(code);
    queue = clCreateCommandQueue(context, id, 0, &code);
    CL(code);
    memory = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, ALL, host, &code);
    CL(code);
    OK(fathom_device_from_opencl(&device, context, id, queue, NULL));
}

/* Of the buffer; fault_interop.c counts those of context and queue, which drivers themselves keep more of. */
static cl_uint references(void) {
    cl_uint count = 0;
    CL(clGetMemObjectInfo(memory, CL_MEM_REFERENCE_COUNT, sizeof count, &count, NULL));
    return count;
}

static void free_norm(void) {
    fathom_norm_state_free(state);
    state = NULL;
    fathom_norm_free(norm);
    norm = NULL;
}

void tearDown(void) {
    if (!platform)
        return;
    free_norm();
    fathom_device_close(device);
    device = NULL;
    TEST_ASSERT_EQUAL_INT(1, references());
    clReleaseMemObject(memory);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
}

static void make(int32_t kind) {
    fathom_norm_options o;
    OK(fathom_norm_options_init(&o, sizeof o));
    o.kind = kind;
    o.width = D;
    o.groups = G;
    o.lambda = 0.3;
    free_norm();
    OK(fathom_norm_make(&norm, device, &o));
    OK(fathom_norm_state_make(&state, norm));
}

static void read_back(float *to) { CL(clEnqueueReadBuffer(queue, memory, CL_TRUE, 0, ALL, to, 0, NULL, NULL)); }

/* ---- results ---- */

/* The same on host arrays, through copies: a second layer of the same device. */
static void on_host_arrays(int32_t kind) {
    make(kind);
    fathom_norm_weights w = {sizeof w, host + GAMMA, host + BETA, host + U, host + C, host + MEAN, host + VAR};
    fathom_norm_gradients g = {sizeof g, host + GGAMMA, host + GBETA, host + GU, host + GC};
    OK(fathom_norm_forward(norm, host + Y, host + X, N, &w, state));
    OK(fathom_norm_backward(norm, host + GX, &g, host + GY, host + X, N, &w, state));
    free_norm();
}

static void on_buffers(int32_t kind) {
    const fathom_opencl_norm_weights w = weights();
    const fathom_opencl_norm_gradients g = gradients();
    make(kind);
    OK(fathom_norm_forward_opencl(norm, at(Y), at(X), N, &w, state));
    OK(fathom_norm_backward_opencl(norm, at(GX), &g, at(GY), at(X), N, &w, state));
}

/* Every float of the buffer, those between the arrays too: batch norm has parameters of length d, so that the rest of
 * its blocks stays as it was. */
static void same_bits(int32_t kind) {
    static float got[FLOATS];
    on_buffers(kind);
    read_back(got);
    on_host_arrays(kind);
    TEST_ASSERT_EQUAL_MEMORY(host, got, ALL);
}

static void batch_norm_as_on_host_arrays(void) { same_bits(FATHOM_NORM_BATCH); }
static void pair_norm_as_on_host_arrays(void) { same_bits(FATHOM_NORM_PAIR); }
static void group_norm_as_on_host_arrays(void) { same_bits(FATHOM_NORM_GROUP); }

static void evaluation_and_in_place_backward(void) {
    static float got[FLOATS], want[N * D];
    const fathom_opencl_norm_weights w = weights();
    on_buffers(FATHOM_NORM_GROUP);
    read_back(got);
    memcpy(want, got + GX, sizeof want);
    OK(fathom_norm_forward_opencl(norm, at(Y), at(X), N - 3, &w, NULL)); /* does not disturb backward */
    OK(fathom_norm_backward_opencl(norm, at(GY), NULL, at(GY), at(X), N, &w, state));
    read_back(got);
    TEST_ASSERT_EQUAL_MEMORY(want, got + GY, sizeof want);
    float y[N * D];
    fathom_norm_weights h = {sizeof h, got + GAMMA, got + BETA, got + U, got + C, got + MEAN, got + VAR};
    OK(fathom_norm_forward(norm, y, got + X, N - 3, &h, NULL));
    TEST_ASSERT_EQUAL_MEMORY(y, got + Y, (N - 3) * D * sizeof *y);
}

/* x is made by a kernel of the caller before, y is read by one after, and the caller waits once. */
static void between_kernels_of_the_caller(void) {
    static const char *text =
        "__kernel void twice(__global float *a, uint from) { a[from + get_global_id(0)] *= 2.0f; }";
    static float got[FLOATS];
    const size_t items = N * D;
    const cl_uint from[] = {X, Y};
    const fathom_opencl_norm_weights w = weights();
    cl_int code;
    cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, &code);
    CL(clBuildProgram(program, 1, &id, NULL, NULL, NULL));
    cl_kernel twice = clCreateKernel(program, "twice", &code);
    make(FATHOM_NORM_GROUP);
    for (int i = 0; i < 2; i++) {
        CL(clSetKernelArg(twice, 0, sizeof memory, &memory));
        CL(clSetKernelArg(twice, 1, sizeof *from, &from[i]));
        CL(clEnqueueNDRangeKernel(queue, twice, 1, NULL, &items, NULL, 0, NULL, NULL));
        if (i == 0)
            OK(fathom_norm_forward_opencl(norm, at(Y), at(X), N, &w, state));
    }
    read_back(got);
    clReleaseKernel(twice);
    clReleaseProgram(program);
    for (int i = 0; i < N * D; i++)
        host[X + i] *= 2.0f;
    fathom_norm_weights h = {sizeof h, host + GAMMA, host + BETA, host + U, host + C, host + MEAN, host + VAR};
    OK(fathom_norm_forward(norm, host + Y, host + X, N, &h, state));
    for (int i = 0; i < N * D; i++)
        host[Y + i] *= 2.0f;
    TEST_ASSERT_EQUAL_MEMORY(host + Y, got + Y, N * D * sizeof *got);
}

static void sub_buffers(void) {
    static float got[FLOATS];
    cl_uint align = 0;
    cl_int code;
    const fathom_opencl_norm_weights w = weights();
    CL(clGetDeviceInfo(id, CL_DEVICE_MEM_BASE_ADDR_ALIGN, sizeof align, &align, NULL));
    align /= 8; /* bytes */
    cl_buffer_region region = {Y * sizeof(float) / align * align, 0};
    region.size = ALL - region.origin;
    cl_mem part = clCreateSubBuffer(memory, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &code);
    CL(code);
    make(FATHOM_NORM_GROUP);
    size_t skip = region.origin / sizeof(float);
    OK(fathom_norm_forward_opencl(norm, (fathom_opencl_array){part, Y - skip}, at(X), N, &w, state));
    read_back(got);
    if (X + N * D > (int)skip)
        USAGE(fathom_norm_forward_opencl(norm, (fathom_opencl_array){part, X + N * D - 1 - skip}, at(X), N, &w, state),
              "overlap its input");
    clReleaseMemObject(part);
    on_host_arrays(FATHOM_NORM_GROUP);
    TEST_ASSERT_EQUAL_MEMORY(host + Y, got + Y, N * D * sizeof *got);
}

/* The functions of fathom.h that compute on host data take the device, too. */
static void training_in_the_callers_queue(void) {
    fathom_data *data = NULL;
    fathom_model *model = NULL;
    fathom_train_options o;
    fathom_device_info info = {.size = sizeof info};
    OK(fathom_train_options_init(&o, sizeof o));
    o.layers = 2;
    o.epochs = 3;
    OK(fathom_data_load(&data, "karate", NULL));
    OK(fathom_train(&model, device, data, &o));
    OK(fathom_device_describe(device, &info));
    TEST_ASSERT_EQUAL_STRING("opencl", info.backend);
    TEST_ASSERT_EQUAL_STRING_LEN("opencl:", info.selector, 7);
    fathom_model_free(model);
    fathom_data_free(data);
}

/* ---- refusals ---- */

static void other_contexts_and_queues(void) {
    cl_int code;
    fathom_device *none = NULL;
    cl_context other = clCreateContext(NULL, 1, &id, NULL, NULL, &code);
    CL(code);
    cl_mem foreign = clCreateBuffer(other, CL_MEM_READ_WRITE, ALL, NULL, &code);
    const fathom_opencl_norm_weights w = weights();
    USAGE(fathom_device_from_opencl(NULL, context, id, queue, NULL), "device is NULL");
    USAGE(fathom_device_from_opencl(&none, NULL, id, queue, NULL), "context is NULL");
    USAGE(fathom_device_from_opencl(&none, context, NULL, queue, NULL), "id is NULL");
    USAGE(fathom_device_from_opencl(&none, context, id, NULL, NULL), "queue is NULL");
    USAGE(fathom_device_from_opencl(&none, other, id, queue, NULL), "another context");
    USAGE(fathom_device_from_opencl(&none, context, (cl_device_id)(void *)&code, queue, NULL), "another device");
    cl_command_queue unordered = clCreateCommandQueue(context, id, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &code);
    if (unordered) {
        USAGE(fathom_device_from_opencl(&none, context, id, unordered, NULL), "out of order");
        clReleaseCommandQueue(unordered);
    }
    TEST_ASSERT_NULL(none);
    make(FATHOM_NORM_GROUP);
    USAGE(fathom_norm_forward_opencl(norm, at(Y), (fathom_opencl_array){foreign, X}, N, &w, state),
          "buffer of x belongs to another context");
    clReleaseMemObject(foreign);
    clReleaseContext(other);
}

static void buffers_that_do_not_fit(void) {
    fathom_opencl_norm_weights w = weights();
    fathom_opencl_norm_gradients g = gradients();
    cl_int code;
    cl_mem fixed = clCreateBuffer(context, CL_MEM_READ_ONLY, ALL, NULL, &code);
    cl_mem small = clCreateBuffer(context, CL_MEM_READ_WRITE, (N * D - 1) * sizeof(float), NULL, &code);
    make(FATHOM_NORM_GROUP);
    USAGE(fathom_norm_forward_opencl(norm, (fathom_opencl_array){NULL, 0}, at(X), N, &w, state), "y.buffer is NULL");
    USAGE(fathom_norm_forward_opencl(norm, at(Y), at(X), N, NULL, state), "needs weight and bias");
    USAGE(fathom_norm_forward_opencl(norm, (fathom_opencl_array){small, 0}, at(X), N, &w, state), "y needs");
    USAGE(fathom_norm_forward_opencl(norm, at(Y), at(FLOATS - N * D + 1), N, &w, state), "x needs");
    USAGE(fathom_norm_forward_opencl(norm, at(Y), at(SIZE_MAX), N, &w, state), "x needs");
    USAGE(fathom_norm_forward_opencl(norm, at(X + 1), at(X), N, &w, state), "overlap its input");
    USAGE(fathom_norm_forward_opencl(norm, (fathom_opencl_array){fixed, 0}, at(X), N, &w, state), "CL_MEM_READ_WRITE");
    w.lin_weight.offset = FLOATS - BLOCK + 1;
    USAGE(fathom_norm_forward_opencl(norm, at(Y), at(X), N, &w, state), "lin_weight needs");
    w = weights();
    OK(fathom_norm_forward_opencl(norm, at(Y), at(X), N, &w, state));
    g.lin_bias.offset = FLOATS - G + 1;
    USAGE(fathom_norm_backward_opencl(norm, at(GX), &g, at(GY), at(X), N, &w, state), "gradient of lin_bias needs");
    USAGE(fathom_norm_backward_opencl(norm, at(GX), NULL, at(GX + D), at(X), N, &w, state), "gx must be gy");
    USAGE(fathom_norm_backward_opencl(norm, at(GX), NULL, at(GY), at(X + 1), N, &w, state), "x differs");
    w.lin_weight = at(GAMMA);
    USAGE(fathom_norm_backward_opencl(norm, at(GX), NULL, at(GY), at(X), N, &w, state), "weight or lin_weight");
    w = weights();
    OK(fathom_norm_backward_opencl(norm, at(GX), NULL, at(GY), at(X), N, &w, state)); /* a refusal spoils nothing */
    clReleaseMemObject(fixed);
    clReleaseMemObject(small);
}

static void memory_of_the_host_must_be_aligned(void) {
    static _Alignas(64) float space[N * D + 16];
    const fathom_opencl_norm_weights w = weights();
    cl_int code;
    make(FATHOM_NORM_GROUP);
    for (int shift = 0; shift < 2; shift++) {
        cl_mem host_memory = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, N * D * sizeof(float),
                                            space + shift, &code);
        if (code != CL_SUCCESS)
            continue; /* the driver refuses it itself */
        fathom_opencl_array y = {host_memory, 0};
        if (shift == 0)
            OK(fathom_norm_forward_opencl(norm, y, at(X), N, &w, state));
        else
            USAGE(fathom_norm_forward_opencl(norm, y, at(X), N, &w, state), "aligned to 16 bytes");
        clFinish(queue);
        clReleaseMemObject(host_memory);
    }
}

static void devices_that_are_not_shared(void) {
    const fathom_opencl_norm_weights w = weights();
    fathom_device *cpu = NULL;
    fathom_norm *alone = NULL;
    fathom_norm_options o;
    OK(fathom_norm_options_init(&o, sizeof o));
    o.width = D;
    o.groups = G;
    OK(fathom_device_open(&cpu, "cpu", NULL));
    OK(fathom_norm_make(&alone, cpu, &o));
    USAGE(fathom_norm_forward_opencl(alone, at(Y), at(X), N, &w, NULL), "not opened from the context");
    fathom_norm_free(alone);
    fathom_device_close(cpu);
}

int main(void) {
    if (clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS ||
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &id, NULL) != CL_SUCCESS)
        platform = NULL;
    UNITY_BEGIN();
    RUN_TEST(batch_norm_as_on_host_arrays);
    RUN_TEST(pair_norm_as_on_host_arrays);
    RUN_TEST(group_norm_as_on_host_arrays);
    RUN_TEST(evaluation_and_in_place_backward);
    RUN_TEST(between_kernels_of_the_caller);
    RUN_TEST(sub_buffers);
    RUN_TEST(training_in_the_callers_queue);
    RUN_TEST(other_contexts_and_queues);
    RUN_TEST(buffers_that_do_not_fit);
    RUN_TEST(memory_of_the_host_must_be_aligned);
    RUN_TEST(devices_that_are_not_shared);
    return support_end();
}
