/* share_queue.c - group normalisation between two kernels of an OpenCL program: buffers and queue are shared, and
 * nothing waits for the host until the result is read. cc share_queue.c $(pkg-config --cflags --libs fathom) -lOpenCL
 * -o share_queue && ./share_queue */
#define CL_TARGET_OPENCL_VERSION 120
#include <fathom/opencl.h>
#include <stdio.h>

enum { N = 200, D = 8, G = 4, X = 0, Y = N * D, WEIGHTS = 2 * N * D, FLOATS = WEIGHTS + 5 * G * D };

static const char *text = "__kernel void make(__global float *a, uint weights, uint block) {\n"
                          "    uint i = get_global_id(0), k = (i - weights) / block;\n"
                          "    a[i] = i < weights || k == 2 ? sin(0.37f * i * i) : k == 0 || k == 4 ? 1.0f : 0.0f;\n"
                          "}\n"
                          "__kernel void relu(__global float *y, uint first) {\n"
                          "    uint i = first + get_global_id(0);\n"
                          "    y[i] = fmax(y[i], 0.0f);\n"
                          "}\n";

static int launch(cl_command_queue queue, cl_kernel kernel, size_t items) {
    return clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, NULL, 0, NULL, NULL);
}

int main(void) {
    cl_platform_id platform;
    cl_device_id id;
    cl_int code = clGetPlatformIDs(1, &platform, NULL);
    if (code || clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &id, NULL)) {
        puts("no OpenCL device");
        return 0;
    }
    cl_context context = clCreateContext(NULL, 1, &id, NULL, NULL, &code);
    cl_command_queue queue = clCreateCommandQueue(context, id, 0, &code);
    cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, &code);
    if (clBuildProgram(program, 1, &id, NULL, NULL, NULL))
        return 1;
    cl_kernel make = clCreateKernel(program, "make", &code), relu = clCreateKernel(program, "relu", &code);
    cl_mem a = clCreateBuffer(context, CL_MEM_READ_WRITE, FLOATS * sizeof(float), NULL, &code);
    const cl_uint weights = WEIGHTS, block = G * D, first = Y;
    clSetKernelArg(make, 0, sizeof a, &a);
    clSetKernelArg(make, 1, sizeof weights, &weights);
    clSetKernelArg(make, 2, sizeof block, &block);
    clSetKernelArg(relu, 0, sizeof a, &a);
    clSetKernelArg(relu, 1, sizeof first, &first);

    fathom_device *device = NULL;
    fathom_norm *norm = NULL;
    fathom_norm_state *state = NULL;
    fathom_norm_options options;
    const fathom_opencl_array x = {a, X}, y = {a, Y};
    const fathom_opencl_norm_weights w = {.size = sizeof w,
                                          .weight = {a, WEIGHTS},
                                          .bias = {a, WEIGHTS + G * D},
                                          .lin_weight = {a, WEIGHTS + 2 * G * D},
                                          .running_mean = {a, WEIGHTS + 3 * G * D},
                                          .running_var = {a, WEIGHTS + 4 * G * D}};
    fathom_norm_options_init(&options, sizeof options);
    options.width = D;
    options.groups = G;
    if (fathom_device_from_opencl(&device, context, id, queue, NULL) || fathom_norm_make(&norm, device, &options) ||
        fathom_norm_state_make(&state, norm) || launch(queue, make, FLOATS) ||
        fathom_norm_forward_opencl(norm, y, x, N, &w, state) || launch(queue, relu, N * D)) {
        fprintf(stderr, "share_queue: %s\n", fathom_last_error());
        return 1;
    }
    float result[N * D];
    double sum = 0, least = 0;
    clEnqueueReadBuffer(queue, a, CL_TRUE, Y * sizeof(float), sizeof result, result, 0, NULL, NULL);
    for (int i = 0; i < N * D; i++) {
        sum += (double)result[i];
        least = (double)result[i] < least ? (double)result[i] : least;
    }
    printf("mean of relu(norm(x)): %.4f, least %.4f\n", sum / (N * D), least);
    fathom_norm_state_free(state);
    fathom_norm_free(norm);
    fathom_device_close(device);
    clReleaseMemObject(a);
    clReleaseKernel(make);
    clReleaseKernel(relu);
    clReleaseProgram(program);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    return !(sum > 0 && least == 0);
}
