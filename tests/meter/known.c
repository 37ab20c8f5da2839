/* known.c - kernels whose counts are known by hand, for opencl_gpu_meter.sh: launched by the preloaded gpu_meter.so,
 * 4096 work-items in groups of 64, so 128 warps. Loads are of x, stores of y; 4096 floats are 512 sectors. */
#define CL_TARGET_OPENCL_VERSION 120
#define _GNU_SOURCE
#include <CL/cl.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

enum { ITEMS = 4096, GROUP = 64, KERNELS = 6, BYTES = 1 << 20 };

/* sectors / words * 8, lanes, loads of an item, barriers, as METER_OUT has them */
static const char *const names[KERNELS] = {
    "plain",    /* 512 + 512 sectors, 8192 words: 1.00 */
    "shared",   /* 128 loads of one sector, 512: 640 of 4097 words: 1.25 */
    "strided",  /* each lane its own sector: 4096 + 512, 8192 words: 4.50 */
    "vectors",  /* 16 bytes a lane: 2048 + 2048, 32768 words: 1.00 */
    "triangle", /* item m of a group loads m + 1 rows: 18432 sectors, 2080 words */
    "mirror"};  /* through local memory with one barrier: 1.00 */
static const char *text =
    "__kernel void plain(__global float *y, __global const float *x) {\n"
    "    y[get_global_id(0)] = x[get_global_id(0)];\n"
    "}\n"
    "__kernel void shared(__global float *y, __global const float *x) { y[get_global_id(0)] = x[0]; }\n"
    "__kernel void strided(__global float *y, __global const float *x) {\n"
    "    y[get_global_id(0)] = x[8 * get_global_id(0)];\n"
    "}\n"
    "__kernel void vectors(__global float *y, __global const float *x) {\n"
    "    vstore4(vload4(get_global_id(0), x), get_global_id(0), y);\n"
    "}\n"
    "__kernel void triangle(__global float *y, __global const float *x) {\n"
    "    float sum = 0.0f;\n"
    "    for (uint k = 0; k <= get_local_id(0); k++)\n"
    "        sum += x[64 * k + get_local_id(0)];\n"
    "    if (sum != sum)\n"
    "        y[0] = sum;\n"
    "}\n"
    "__kernel void mirror(__global float *y, __global const float *x, __local float *tile) {\n"
    "    uint m = get_local_id(0), n = get_local_size(0);\n"
    "    tile[m] = x[get_global_id(0)];\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    y[get_global_id(0)] = tile[n - 1 - m];\n"
    "}\n";

int main(void) {
    void (*start)(void) = NULL;
    void *symbol = dlsym(RTLD_DEFAULT, "gpu_meter_start");
    const size_t items = ITEMS, group = GROUP;
    cl_device_id id;
    cl_int code;
    memcpy(&start, &symbol, sizeof start);
    if (!start || clGetDeviceIDs(NULL, CL_DEVICE_TYPE_ALL, 1, &id, NULL))
        return 1;
    cl_context context = clCreateContext(NULL, 1, &id, NULL, NULL, &code);
    cl_command_queue queue = clCreateCommandQueue(context, id, 0, &code);
    cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, &code);
    cl_mem x = clCreateBuffer(context, CL_MEM_READ_WRITE, BYTES, NULL, &code);
    cl_mem y = clCreateBuffer(context, CL_MEM_READ_WRITE, BYTES, NULL, &code);
    if (clBuildProgram(program, 1, &id, "-cl-std=CL1.2", NULL, NULL))
        return 1;
    for (int i = 0; i < KERNELS; i++) {
        cl_kernel kernel = clCreateKernel(program, names[i], &code);
        if (code || clSetKernelArg(kernel, 0, sizeof y, &y) || clSetKernelArg(kernel, 1, sizeof x, &x) ||
            (strcmp(names[i], "mirror") == 0 && clSetKernelArg(kernel, 2, GROUP * sizeof(float), NULL)))
            return 1;
        for (int counted = 0; counted < 2; counted++) { /* the first launch, before the start, must not count */
            if (counted)
                start();
            if (clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, &group, 0, NULL, NULL))
                return 1;
        }
        clReleaseKernel(kernel);
    }
    return 0;
}
