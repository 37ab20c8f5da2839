/* ocl_program.c - builds kernels on first use, one .cl file at a time. The source is embedded
 * (cl/embed.cmake) or read from $FATHOM_CL_DIR. Build logs show the original file and line:
 * each part starts with #line, and its own #include lines, satisfied by the parts before it,
 * are commented out. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "backend/opencl/ocl.h"
#include "backend/opencl/ocl_sources.h"

#define MAX_TEXT (1 << 20)
#define REPORT_SECONDS 0.6 /* CPU seconds of building before a note; from a cache 0.15, on busy cores 0.45 */

static const char *const headers[] = {"philox.h", "args.h", "args_pairwise.h", "common.h"};
enum { HEADERS = 4, PARTS = HEADERS + 1 };

static const char *const file_names[] = {
#define X(file) #file ".cl",
    OCL_FILES(X)
#undef X
};

static const struct {
    ocl_file file;
    const char *name;
} kernels[] = {
#define K(file, name) {OCL_FILE_##file, #name},
    OCL_KERNELS(K)
#undef K
};

const char *ocl_kernel_name(ocl_kernel kernel) { return kernels[kernel].name; }

/* ---- text ---- */

/* A folder of another user could contain hostile kernels. */
static fathom_status check_folder(const char *folder) {
    struct stat info;
    if (stat(folder, &info) != 0 || !S_ISDIR(info.st_mode))
        return ocl_host->fail(FATHOM_USAGE, "FATHOM_CL_DIR: %s is not a folder", folder);
    if (info.st_uid != geteuid() && info.st_uid != 0)
        return ocl_host->fail(FATHOM_USAGE, "FATHOM_CL_DIR: %s belongs to another user; copy it", folder);
    return FATHOM_OK;
}

static fathom_status read_disk(char **text, const char *folder, const char *name) {
    char path[4096];
    long size = 0;
    fathom_status status = FATHOM_OK;
    TRY(check_folder(folder));
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* a pipe does not block; seeking fails */
    FILE *file = fd >= 0 ? fdopen(fd, "rb") : NULL;
    if (fd >= 0 && !file)
        close(fd);
    if (!file || fseek(file, 0, SEEK_END) != 0 || (size = ftell(file)) < 0 || size > MAX_TEXT ||
        fseek(file, 0, SEEK_SET) != 0)
        status = ocl_host->fail(FATHOM_USAGE, "FATHOM_CL_DIR: %s cannot be read", path);
    else
        status = ocl_host->alloc((void **)text, (size_t)size + 64, 1, 1, "kernel source");
    if (status == FATHOM_OK) {
        int head = snprintf(*text, 64, "#line 1 \"%s\"\n", name);
        if (fread(*text + head, 1, (size_t)size, file) != (size_t)size)
            status = ocl_host->fail(FATHOM_USAGE, "FATHOM_CL_DIR: %s cannot be read completely", path);
    }
    if (file)
        fclose(file);
    return status;
}

static fathom_status read_embedded(char **text, const char *name) {
    for (int i = 0; i < ocl_source_count; i++)
        if (strcmp(ocl_source[i].name, name) == 0) {
            TRY(ocl_host->alloc((void **)text, ocl_source[i].size + 64, 1, 1, "kernel source"));
            int head = snprintf(*text, 64, "#line 1 \"%s\"\n", name);
            memcpy(*text + head, ocl_source[i].text, ocl_source[i].size);
            return FATHOM_OK;
        }
    return ocl_host->fail(FATHOM_DEVICE, "%s is not embedded in this build", name);
}

static fathom_status read_part(char **text, const char *name) {
    const char *folder = getenv("FATHOM_CL_DIR");
    if (folder && *folder)
        TRY(read_disk(text, folder, name));
    else
        TRY(read_embedded(text, name));
    for (char *line = *text; (line = strstr(line, "\n#include \"")) != NULL;)
        memcpy(line + 1, "//", 2);
    return FATHOM_OK;
}

/* ---- building ---- */

/* The message includes the log from its first error on, truncated. */
static fathom_status build_failure(ocl_device *dev, const char *name, cl_program program, cl_int code) {
    char *log = NULL;
    size_t size = 0;
    clGetProgramBuildInfo(program, dev->id, CL_PROGRAM_BUILD_LOG, 0, NULL, &size);
    if (size == 0 || size > MAX_TEXT || ocl_host->alloc((void **)&log, size + 1, 1, 1, "build log") != FATHOM_OK)
        return ocl_fail(dev, "clBuildProgram", name, code);
    if (clGetProgramBuildInfo(program, dev->id, CL_PROGRAM_BUILD_LOG, size, log, NULL) != CL_SUCCESS)
        log[0] = '\0';
    const char *error = strstr(log, "error");
    while (error && error > log && error[-1] != '\n')
        error--;
    fathom_status status = ocl_host->fail(FATHOM_DEVICE, "clBuildProgram(%s): %s (%d) on %s; build log:\n%.1400s", name,
                                          ocl_code_name(code), (int)code, dev->name, error ? error : log);
    ocl_host->free(log);
    return status;
}

static fathom_status build(ocl_device *dev, ocl_file file) {
    char *text[PARTS] = {NULL}, options[64];
    const char *parts[PARTS];
    cl_program program = NULL;
    cl_int code;
    fathom_status status;
    for (int i = 0; i < PARTS; i++) {
        TRY_OUT(read_part(&text[i], i < HEADERS ? headers[i] : file_names[file]));
        parts[i] = text[i];
    }
    program = clCreateProgramWithSource(dev->context, PARTS, parts, NULL, &code);
    CL_TRY_OUT(dev, "clCreateProgramWithSource", file_names[file], code);
    snprintf(options, sizeof options, "-cl-std=CL1.2");
    clock_t start = clock();
    code = clBuildProgram(program, 1, &dev->id, options, NULL, NULL);
    double before = dev->build_seconds;
    dev->build_seconds += (double)(clock() - start) / CLOCKS_PER_SEC;
    if (before <= REPORT_SECONDS && dev->build_seconds > REPORT_SECONDS && dev->compiling)
        dev->compiling(dev->name, BE_COMPILES_KERNELS);
    if (code != CL_SUCCESS) {
        status = build_failure(dev, file_names[file], program, code);
        goto out;
    }
    dev->program[file] = program;
    program = NULL;
    dev->counters.builds++;
out:
    if (program)
        clReleaseProgram(program);
    for (int i = 0; i < PARTS; i++)
        ocl_host->free(text[i]);
    return status;
}

/* Products hold a tile of the result and its parts in local memory, gemm_inner many work-items per small result. */
static size_t preferred_group_size(const ocl_device *dev, ocl_kernel kernel) {
    bool sparse = kernel == K_spmm || kernel == K_aggregate;
    int preferred = kernel == K_gemm_inner ? dev->traits->inner_group_size
                    : sparse               ? dev->traits->sparse_group_size
                                           : dev->traits->group_size;
    size_t size = (size_t)(dev->tuning.group > 0 ? dev->tuning.group : preferred);
    bool product = kernel == K_gemm_inner || kernel == K_gemm_tiles;
    return product && size > GEMM_MAX_GROUP ? GEMM_MAX_GROUP : size;
}

/* A power of two: reductions halve the work-group. */
static fathom_status choose_group_size(ocl_device *dev, ocl_kernel kernel) {
    size_t max_size = 0, group_size = preferred_group_size(dev, kernel);
    CL_TRY(dev, "clGetKernelWorkGroupInfo", kernels[kernel].name,
           clGetKernelWorkGroupInfo(dev->kernel[kernel], dev->id, CL_KERNEL_WORK_GROUP_SIZE, sizeof max_size, &max_size,
                                    NULL));
    while (group_size > 1 && (group_size > max_size || group_size > dev->max_group_size))
        group_size /= 2;
    dev->group_size[kernel] = group_size;
    return FATHOM_OK;
}

fathom_status ocl_require(ocl_device *dev, ocl_kernel kernel) {
    ocl_file file = kernels[kernel].file;
    cl_int code;
    if (dev->group_size[kernel])
        return FATHOM_OK;
    if (!dev->program[file])
        TRY(build(dev, file));
    if (!dev->kernel[kernel]) {
        dev->kernel[kernel] = clCreateKernel(dev->program[file], kernels[kernel].name, &code);
        if (code != CL_SUCCESS)
            dev->kernel[kernel] = NULL;
        CL_TRY(dev, "clCreateKernel", kernels[kernel].name, code);
    }
    return choose_group_size(dev, kernel);
}
